package httpboot

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

// copying is a listener whose connections count what they're given, and the kernel doesn't send by itself.
type copying struct {
	net.Listener

	octets atomic.Int64
}

func (k *copying) Accept() (net.Conn, error) {
	c, err := k.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &copied{TCPConn: c.(*net.TCPConn), k: k}, nil
}

type copied struct {
	*net.TCPConn

	k *copying
}

func (c *copied) Write(b []byte) (int, error) {
	c.k.octets.Add(int64(len(b)))
	return c.TCPConn.Write(b)
}

func (c *copied) ReadFrom(r io.Reader) (int64, error) {
	n, err := c.TCPConn.ReadFrom(r)
	c.k.octets.Add(n)
	return n, err
}

// serving serves a file at a listener, by send, until the test has ended.
func serving(t *testing.T, l net.Listener, file string, send func(http.ResponseWriter, *http.Request, *os.File)) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- Serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			f, err := os.Open(file)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = f.Close() }()
			send(w, r, f)
		}), slog.New(slog.DiscardHandler))
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestFilesAreSentByTheKernel: one wrapper that hides what net/http looks for, and each byte of an image is copied twice.
func TestFilesAreSentByTheKernel(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 3<<20/16+7)
	file := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &copying{Listener: inner}
	serving(t, l, file, func(w http.ResponseWriter, r *http.Request, f *os.File) { serve(&recorder{ResponseWriter: w}, r, f) })
	get := func(path, ask string) []byte {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+inner.Addr().String()+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if ask != "" {
			req.Header.Set("Range", ask)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	// net/http may send a first part with the header.
	const sniffed = 4096
	for _, path := range []string{"/", ipxe.PathBoot + "token/image"} { // By net/http, and in front of it.
		before := l.octets.Load()
		if got := get(path, ""); !bytes.Equal(got, data) || l.octets.Load()-before > sniffed {
			t.Errorf("%s: %d of %d bytes came, %d of them not from the kernel", path, len(got), len(data), l.octets.Load()-before)
		}
		before = l.octets.Load()
		if got := get(path, "bytes=1048570-2097162"); !bytes.Equal(got, data[1048570:2097163]) || l.octets.Load()-before > sniffed {
			t.Errorf("%s: a range of %d bytes came, %d of them not from the kernel", path, len(got), l.octets.Load()-before)
		}
	}
}

// connected are the two ends of a connection.
func connected(t *testing.T) (ours, machines net.Conn) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	machines, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = machines.Close() })
	ours, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ours.Close() })
	return ours, machines
}

// TestCopied: a file of a kind that the kernel can't send by itself is copied.
func TestCopied(t *testing.T) {
	fd, err := unix.Eventfd(7, unix.EFD_CLOEXEC) // Its eight octets are read, and there's nothing else that can be done with it.
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "eventfd")
	defer func() { _ = f.Close() }()
	ours, machines := connected(t)
	if _, ok, err := sendNow(ours, &part{LimitedReader: io.LimitedReader{R: f, N: 8}}); ok || err != nil {
		t.Fatalf("the kernel sends it: %v, %v", ok, err)
	}
	if n, err := (&counted{Conn: ours}).ReadFrom(&part{LimitedReader: io.LimitedReader{R: f, N: 8}}); n != 8 || err != nil {
		t.Errorf("%d octets went out, %v", n, err)
	}
	b := make([]byte, 8)
	if _, err := io.ReadFull(machines, b); err != nil || b[0]|b[7] != 7 {
		t.Errorf("%v came, %v", b, err)
	}
}

// TestSendNow: who takes nothing isn't waited for where net/http has memory for each; what doesn't go now goes once there's room, and not after the deadline.
func TestSendNow(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "image"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	const size = 64 << 20
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	c, machine := connected(t)
	all := int64(0)
	send := func() *part {
		t.Helper()
		p := &part{LimitedReader: io.LimitedReader{R: f, N: size - all}}
		n, ok, err := sendNow(c, p)
		if !ok || err != nil || n+p.N != size-all {
			t.Fatalf("%d sent, %d left, %v: %v", n, p.N, ok, err)
		}
		all += n
		return p
	}
	p := send()
	for p.N > 0 && all < size { // Until it's full.
		before := all
		if p = send(); all == before {
			break
		}
	}
	if all == 0 || all == size || p.room == nil {
		t.Fatalf("%d of %d octets went to a machine that takes none", all, size)
	}
	_ = c.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
	if err := p.room(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("it takes nothing: %v", err)
	}
	_ = c.SetWriteDeadline(time.Now().Add(time.Minute))
	took := make(chan int64, 1)
	go func() {
		n, _ := io.Copy(io.Discard, machine)
		took <- n
	}()
	for all < size {
		if err := p.room(); err != nil {
			t.Fatal(err)
		}
		p = send()
	}
	if p.room != nil {
		t.Error("all is sent, and more is waited for")
	}
	_ = c.Close()
	if n := <-took; n != size {
		t.Errorf("%d octets came", n)
	}
}

// TestPathsAreCleaned: firmware joins its base and a name with a slash too many, and follows no redirection.
func TestPathsAreCleaned(t *testing.T) {
	cases := map[string]struct{ reason, path, want string }{
		"Clean":    {"nothing to do", "/v1/firmware/snponly.efi", "/v1/firmware/snponly.efi"},
		"Double":   {"a slash too many in the middle", "/v1//firmware/snponly.efi", "/v1/firmware/snponly.efi"},
		"Leading":  {"and in front", "//v1/firmware/snponly.efi", "/v1/firmware/snponly.efi"},
		"Dots":     {"a folder that's left again", "/v1/x/../firmware/./snponly.efi", "/v1/firmware/snponly.efi"},
		"Above":    {"there is nothing above the root", "/../../v1/x", "/v1/x"},
		"Trailing": {"a slash at the end says something else", "/v1//firmware/", "/v1/firmware/"},
		"Escaped":  {"what is written as %2f is part of a name", "/v1//firmware/..%2fx", "/v1/firmware/..%2fx"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mux, got := http.NewServeMux(), ""
			mux.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) { got = r.URL.EscapedPath() })
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://x/", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if req.URL, err = url.Parse("http://x" + tc.path); err != nil {
				t.Fatal(err)
			}
			cleaned(mux).ServeHTTP(discard{}, req)
			if got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// discard is an answer that nobody reads.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}
