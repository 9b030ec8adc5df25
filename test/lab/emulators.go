package lab

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// Prefix is the only prefix of the NetBox emulator: that of the network in examples/demo.
const Prefix = "10.77.0.0/24"

// NetBoxToken lets the provider into the NetBox emulator.
const NetBoxToken = "0123456789abcdef0123456789abcdef01234567"

// gateway of Prefix, which nobody else may be given.
const gateway = "10.77.0.1"

func newNetBox() *netbox.Server {
	s := netbox.New(netbox.Options{})
	s.AddToken(netbox.Token{Name: "provider", Secret: NetBoxToken})
	s.AddCIDR(Prefix)
	s.AddAddress(netbox.Address{Address: mustPrefix(gateway + "/24"), Status: "active", Description: "gateway"})
	return s
}

// Artifacts serves files by HTTP on loopback. What it serves can be changed at any time.
type Artifacts struct {
	server   *http.Server
	base     string
	mu       sync.Mutex
	contents map[string][]byte
	requests map[string]int
}

// Names of the files that are served from the start.
const (
	KernelFile = "vmlinuz"
	InitrdFile = "initrd.img"
	ImageFile  = "disk.raw"
)

func newArtifacts() (*Artifacts, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot serve artifacts: %w", err)
	}
	a := &Artifacts{base: "http://" + l.Addr().String() + "/", contents: map[string][]byte{}, requests: map[string]int{}}
	// Simulated machines load and hash these as real ones would; only their size matters.
	a.Put(KernelFile, bytes.Repeat([]byte("kernel\n"), 64<<10))
	a.Put(InitrdFile, bytes.Repeat([]byte("initrd\n"), 128<<10))
	a.Put(ImageFile, bytes.Repeat([]byte("disk image\n"), 256<<10))
	a.server = &http.Server{Handler: a, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = a.server.Serve(l) }() // Ends by close.
	return a, nil
}

// Put serves content as name, in place of what was there.
func (a *Artifacts) Put(name string, content []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.contents[name] = content
}

// URL of a file.
func (a *Artifacts) URL(name string) string { return a.base + name }

// Digest of a file as "sha256:…".
func (a *Artifacts) Digest(name string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := sha256.Sum256(a.contents[name])
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Requests is how often a file was asked for, in whatever part.
func (a *Artifacts) Requests(name string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.requests[name]
}

// ServeHTTP implements http.Handler.
func (a *Artifacts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	a.mu.Lock()
	content, ok := a.contents[name]
	a.requests[name]++
	a.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}

func (a *Artifacts) close() {
	if err := a.server.Close(); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return // It goes with the process.
	}
}
