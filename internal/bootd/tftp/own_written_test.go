package tftp

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// lying are artifacts that are all one file.
type lying struct{ path string }

func (l lying) Await(context.Context, boot.Artifact) error { return nil }

func (l lying) Open(boot.Artifact) (*os.File, func(), error) {
	f, err := os.Open(l.path)
	return f, func() {}, err
}

// TestWrittenWhileSent: no loader, which looks at no digest, has the end of a file that was written to while it was sent.
func TestWrittenWhileSent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kernel")
	whole := bytes.Repeat([]byte("k"), 3*512+7)
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	outcomes := make(chan Outcome, 8)
	to := served(t, func(c *Config) {
		c.Observe = func(o Outcome) { outcomes <- o }
		c.Own = own("token/kernel", func(ctx context.Context) (Content, error) {
			return OpenArtifact(ctx, lying{path}, boot.Artifact{}, "kernel")
		})
	})
	got, from := begun(t, to)
	for n := byte(1); len(got) < len(whole); n++ {
		got = append(got, next(t, from, n)...)
	}
	if !bytes.Equal(got, whole) {
		t.Fatalf("%d of %d bytes came", len(got), len(whole))
	}
	next(t, from, 4)
	if o := <-outcomes; o != Sent {
		t.Fatalf("it's %s", o)
	}
	_, from = begun(t, to)
	next(t, from, 1)
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), len(whole)), 0o600); err != nil {
		t.Fatal(err)
	}
	next(t, from, 2)
	if b := next(t, from, 3); b != nil {
		t.Errorf("the end came: %d bytes", len(b))
	}
	if o := <-outcomes; o != Aborted {
		t.Errorf("it's %s", o)
	}
}

// begun asks for the kernel, and gives its first block and who sends it.
func begun(t *testing.T, to *net.UDPAddr) ([]byte, *ends) {
	t.Helper()
	c := client(t)
	if _, err := c.WriteToUDP([]byte("\x00\x01token/kernel\x00octet\x00"), to); err != nil {
		t.Fatal(err)
	}
	e := &ends{c: c}
	first := e.read(t)
	return first, e
}

// ends are a client, and the port that sends to it.
type ends struct {
	c    *net.UDPConn
	from *net.UDPAddr
}

// next acknowledges a block, and gives the one behind it; nil: none comes.
func next(t *testing.T, e *ends, n byte) []byte {
	t.Helper()
	if _, err := e.c.WriteToUDP([]byte{0, opACK, 0, n}, e.from); err != nil {
		t.Fatal(err)
	}
	return e.read(t)
}

func (e *ends) read(t *testing.T) []byte {
	t.Helper()
	b := make([]byte, 600)
	_ = e.c.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
	n, from, err := e.c.ReadFromUDP(b)
	if err != nil {
		return nil
	}
	e.from = from
	return b[4:n]
}
