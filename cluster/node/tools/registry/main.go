// Command registry serves OCI images over plain HTTP: those that it's told to build at its start, and whatever is pushed later.
// Blobs are files, manifests are in memory: nothing outlives it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to serve at")
	blobs := flag.String("blobs", "", "folder for blobs, which must exist")
	images := flag.String("images", "", "JSON file with the list of images to build and serve")
	flag.Parse()
	if err := run(*listen, *blobs, *images); err != nil {
		fmt.Fprintln(os.Stderr, "registry:", err)
		os.Exit(1)
	}
}

func run(listen, blobs, list string) error {
	images, err := read(list)
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", listen)
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	s := &http.Server{
		Handler: registry.New(
			registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs)),
			registry.WithReferrersSupport(true),
			registry.Logger(log.New(os.Stdout, "", log.LstdFlags|log.Lmicroseconds)),
		),
		ReadHeaderTimeout: time.Minute,
	}
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	for _, i := range images {
		if err := push(l.Addr().String(), i); err != nil {
			return err
		}
		fmt.Println("serving", i.Name)
	}
	return <-failed
}

func read(list string) ([]Image, error) {
	if list == "" {
		return nil, nil
	}
	b, err := os.ReadFile(list)
	if err != nil {
		return nil, fmt.Errorf("cannot read the list of images: %w", err)
	}
	var images []Image
	if err := json.Unmarshal(b, &images); err != nil {
		return nil, fmt.Errorf("cannot understand the list of images %q: %w", list, err)
	}
	return images, nil
}

func push(to string, i Image) error {
	img, err := i.Build()
	if err != nil {
		return fmt.Errorf("cannot build image %q: %w", i.Name, err)
	}
	ref, err := name.ParseReference(to+"/"+i.Name, name.Insecure)
	if err != nil {
		return fmt.Errorf("cannot name image %q: %w", i.Name, err)
	}
	if err := remote.Write(ref, img); err != nil {
		return fmt.Errorf("cannot serve image %q: %w", i.Name, err)
	}
	return nil
}
