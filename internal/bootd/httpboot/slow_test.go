package httpboot

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

// TestSlowReader: ten thousand machines behind one link of 1 Gb/s get some 12 kB/s each, which is 750 kB a minute. Here a minute takes
// a second, and a machine gets 500 KiB in that.
func TestSlowReader(t *testing.T) {
	for name, path := range map[string]string{"ByNetHTTP": "/", "InFront": ipxe.PathBoot + "token/image"} {
		t.Run(name, func(t *testing.T) { testSlowReader(t, path) })
	}
}

func testSlowReader(t *testing.T, path string) {
	t.Helper()
	t.Parallel()
	const patience, rate = time.Second, 50 << 10 // a tenth of a second
	file := filepath.Join(t.TempDir(), "image")
	data := bytes.Repeat([]byte("0123456789abcdef"), 4<<20/16)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serving(t, inner, file, func(w http.ResponseWriter, r *http.Request, f *os.File) { serveWithin(w, r, f, patience) })
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.(*net.TCPConn).SetReadBuffer(32 << 10)
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	got, b := 0, make([]byte, rate)
	for began := time.Now(); got < len(data); {
		n, err := c.Read(b)
		got += n
		if err != nil {
			break
		}
		time.Sleep(time.Until(began.Add(time.Duration(got) * 100 * time.Millisecond / rate)))
	}
	if got < len(data) {
		t.Errorf("%d of %d bytes came: a machine that takes all that it's sent is cut off", got, len(data))
	}
}
