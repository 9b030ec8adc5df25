package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

type registryCmd struct {
	Listen string `default:"127.0.0.1:0" help:"Address to listen on, without TLS."`
}

// Run serves until it's told to stop. The first line that it prints is its address.
func (c *registryCmd) Run(ctx context.Context) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %q: %w", c.Listen, err)
	}
	fmt.Println(l.Addr())
	s := &http.Server{Handler: handler(), ReadHeaderTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() }) // Nobody waits for an answer any more.
	defer stop()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("the registry ended: %w", err)
	}
	return nil
}

func handler() http.Handler {
	return registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0)))
}
