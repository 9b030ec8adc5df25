package httpboot

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// kernel is a listener whose connections count what they could hand to the kernel.
type kernel struct {
	net.Listener

	sent atomic.Int64
}

func (k *kernel) Accept() (net.Conn, error) {
	c, err := k.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &kernelConn{TCPConn: c.(*net.TCPConn), k: k}, nil
}

type kernelConn struct {
	*net.TCPConn

	k *kernel
}

func (c *kernelConn) ReadFrom(r io.Reader) (int64, error) {
	n, err := c.TCPConn.ReadFrom(r)
	if l, ok := r.(*io.LimitedReader); ok {
		if _, ok := l.R.(*os.File); ok {
			c.k.sent.Add(n)
		}
	}
	return n, err
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
	l := &kernel{Listener: inner}
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
			serve(&recorder{ResponseWriter: w}, r, f)
		}), slog.New(slog.DiscardHandler))
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	get := func(ask string) []byte {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+inner.Addr().String()+"/", http.NoBody)
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
	const sniffed = 4096 // net/http may send a first part with the header.
	if got := get(""); !bytes.Equal(got, data) || l.sent.Load() < int64(len(data))-sniffed {
		t.Errorf("%d of %d bytes came, %d of them from the kernel", len(got), len(data), l.sent.Load())
	}
	before := l.sent.Load()
	if got := get("bytes=1048570-2097162"); !bytes.Equal(got, data[1048570:2097163]) || l.sent.Load()-before < 1<<20-sniffed {
		t.Errorf("a range of %d bytes came, %d of them from the kernel", len(got), l.sent.Load()-before)
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
