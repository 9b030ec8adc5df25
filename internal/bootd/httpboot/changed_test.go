package httpboot

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

// TestChangedWhileSent: nobody who compares no digest takes for whole a file that was written to while it was sent.
func TestChangedWhileSent(t *testing.T) {
	const size = 64 << 20 // More than two sockets hold.
	for name, path := range map[string]string{"NetHTTP": "/", "InFront": ipxe.PathBoot + "token/image"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "image")
			if err := os.WriteFile(file, make([]byte, size), 0o600); err != nil {
				t.Fatal(err)
			}
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			serving(t, l, file, func(w http.ResponseWriter, r *http.Request, f *os.File) { serve(&recorder{ResponseWriter: w}, r, f) })
			get := func(meanwhile func()) (int64, error) {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+path, http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = resp.Body.Close() }()
				meanwhile()
				return io.Copy(io.Discard, resp.Body)
			}
			if n, err := get(func() {}); n != size || err != nil {
				t.Errorf("as it is: %d bytes, %v", n, err)
			}
			n, err := get(func() {
				f, err := os.OpenFile(file, os.O_WRONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = f.Close() }()
				if _, err := f.WriteAt([]byte("x"), size-1); err != nil {
					t.Fatal(err)
				}
			})
			if n >= size || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("written to: %d bytes, %v", n, err)
			}
			if n, err := get(func() {}); n != size || err != nil {
				t.Errorf("afterwards, as what looks for its digest lets it: %d bytes, %v", n, err)
			}
		})
	}
}
