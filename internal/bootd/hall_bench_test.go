package bootd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/httpboot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/logging"
	"github.com/crossplane-contrib/provider-baremetal/internal/heap"
)

const hallSite = `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootNetwork
metadata: {namespace: bench, name: bench}
spec:
  subnets: [{cidr: 10.64.0.0/14, gateway: 10.64.0.2, dns: [10.64.0.3]}]
  dhcp: {mode: RelayOnly, relays: ["10.64.0.1/32"]}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootProfile
metadata: {namespace: bench, name: bench}
spec:
  mode: Live
  method: Kernel
  artifacts: [{arch: amd64, kernel: {url: "http://10.99.0.2/vmlinuz", digest: "sha256:%x"}}]
`

// hallAddress is that of a hall's machine by its number.
func hallAddress(machine int) [4]byte {
	at := 256 + machine
	return [4]byte{10, byte(64 + at>>16), byte(at >> 8), byte(at)} //nolint:gosec // There are fewer.
}

// hall is a bootd of so many machines that netboot each time, and what each of them asks.
func hall(b *testing.B, machines int) (d *daemon, asked [][]byte) {
	b.Helper()
	kernel := []byte("a kernel")
	sum := sha256.Sum256(kernel)
	c := Config{Name: "b", StateDir: b.TempDir(), SpecDir: b.TempDir(), Logger: slog.New(logging.New(io.Discard, slog.LevelInfo))}
	site := fmt.Appendf(nil, hallSite, sum)
	for i := range machines {
		at := hallAddress(i)
		site = fmt.Appendf(site, `---
{"apiVersion":"baremetal.m.crossplane.io/v1alpha1","kind":"BootEntry","metadata":{"namespace":"bench","name":"m5254%08x"},"spec":{"forProvider":{"machine":{"macs":["52:54:00:%02x:%02x:%02x"]},"profileRef":{"name":"bench"},"install":{"generation":0},"networks":[{"name":"boot","networkRef":{"name":"bench"},"addresses":[{"address":"10.%d.%d.%d/14"}]}]}}}
`, i, i>>16, i>>8&255, i&255, at[1], at[2], at[3])
	}
	cached := filepath.Join(c.StateDir, "artifacts")
	for name, content := range map[string][]byte{filepath.Join(c.SpecDir, "site.yaml"): site, filepath.Join(cached, fmt.Sprintf("sha256-%x", sum)): kernel} {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	c, err := c.complete()
	if err != nil {
		b.Fatal(err)
	}
	d, err = assemble(c)
	if err != nil {
		b.Fatal(err)
	}
	runs := sync.WaitGroup{}
	b.Cleanup(runs.Wait) // They write to the folders until they've ended.
	for _, run := range []func(context.Context) error{d.source.Run, d.sessions.Run, d.cache.Run} {
		runs.Go(func() { _ = run(b.Context()) })
	}
	for d.state() == nil || d.state().Len() < machines || len(d.keys()) == 0 {
		time.Sleep(time.Millisecond)
	}
	st := d.state()
	for p := range st.All() {
		token, ok := dhcp.ScriptToken(st, d.keys(), p, p.MACs[0], p.EntryUID, false, time.Now())
		if !ok {
			b.Fatal("there's no key")
		}
		asked = append(asked, fmt.Appendf(nil, "GET /v1/boot/%s/script.ipxe?arch=7 HTTP/1.1\r\nHost: 10.99.0.1:8080\r\n\r\n", token))
	}
	return d, asked
}

// wire is a connection of a machine that asks again as soon as it's answered, without a kernel in between.
type wire struct {
	net.Conn

	next func() []byte
	// gone is closed when whoever looks whether the machine has gone needn't look any more; nil: nobody looks.
	gone chan struct{}
	ends chan struct{}
}

func (w *wire) Read(b []byte) (int, error) {
	if w.gone != nil {
		<-w.gone
		return 0, os.ErrDeadlineExceeded
	}
	next := w.next()
	if next == nil {
		return 0, io.EOF
	}
	return copy(b, next), nil
}

func (*wire) Write(b []byte) (int, error) {
	if !bytes.HasPrefix(b, []byte("HTTP/1.1 200 OK\r\n")) {
		panic(string(b))
	}
	return len(b), nil
}

func (w *wire) SetReadDeadline(t time.Time) error {
	switch {
	case t.IsZero():
		w.gone = make(chan struct{})
	case w.gone != nil && time.Until(t) < 0:
		close(w.gone)
	default:
		w.gone = nil
	}
	return nil
}

func (w *wire) Close() error                   { close(w.ends); return nil }
func (*wire) LocalAddr() net.Addr              { return &net.TCPAddr{IP: net.IPv4(10, 99, 0, 1), Port: 8080} }
func (*wire) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(10, 99, 0, 2), Port: 4711} }
func (*wire) SetWriteDeadline(time.Time) error { return nil }

type wires struct {
	c      chan net.Conn
	closed chan struct{}
}

func (l *wires) Accept() (net.Conn, error) {
	select {
	case c := <-l.c:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}
func (l *wires) Close() error   { close(l.closed); return nil }
func (l *wires) Addr() net.Addr { return &net.TCPAddr{} }

// BenchmarkHall is what a script of each of ten thousand machines costs in turn, but for the kernel's part.
func BenchmarkHall(b *testing.B) {
	heap.Spare(heap.OfBootd)
	d, asked := hall(b, 10000)
	l := &wires{c: make(chan net.Conn), closed: make(chan struct{})}
	machines := d.activity.watch(d.http(listeners{}).Handler())
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	go func() { _ = httpboot.Serve(ctx, l, beside(machines, http.NewServeMux()), d.c.Logger) }()
	run := func(n int) {
		w := &wire{ends: make(chan struct{}), next: func() []byte {
			n--
			if n < 0 {
				return nil
			}
			return asked[rand.IntN(len(asked))] //nolint:gosec // Not a secret.
		}}
		l.c <- w
		<-w.ends
	}
	run(3 * len(asked))
	b.ReportAllocs()
	b.ResetTimer()
	run(b.N)
}
