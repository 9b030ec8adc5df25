package proc

import (
	"net"
	"os"
	"strconv"
	"testing"
)

func newPorts(t *testing.T, dir string) *Ports {
	t.Helper()
	p, err := NewPorts(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func TestPortsAreGivenOnce(t *testing.T) {
	dir := t.TempDir()
	a, b := newPorts(t, dir), newPorts(t, dir)
	seen := map[int]bool{}
	for range 200 {
		for _, p := range []*Ports{a, b} {
			n, err := p.Next()
			if err != nil {
				t.Fatal(err)
			}
			if seen[n] {
				t.Fatalf("port %d was given twice", n)
			}
			seen[n] = true
		}
	}
	a.Close()
	b.Close()
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 0 {
		t.Errorf("%d lock files are left", len(left))
	}
}

func TestTakenPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // Only listened.
	_, s, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	if newPorts(t, t.TempDir()).lock(port) {
		t.Errorf("port %d is given though a server listens there", port)
	}
}
