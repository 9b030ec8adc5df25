package httpboot

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestManyBehindOneAddress: while there's room, nobody counts who is behind an address.
func TestManyBehindOneAddress(t *testing.T) {
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := boundClients(inner, 1, 8)
	t.Cleanup(func() { _ = l.Close() })
	for n := range 6 {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		got, err := l.Accept()
		if err != nil {
			t.Fatalf("connection %d: %v", n+1, err)
		}
		t.Cleanup(func() { _ = got.Close() })
	}
	_, same := l.take(netip.MustParseAddr("127.0.0.1"))
	if others, other := l.take(netip.MustParseAddr("127.0.0.2")); same || !other || others != 6 {
		t.Error("once three quarters are taken each client has its share")
	}
}

// TestHoldLittle: of a whole hall the kernel holds less of each than of a few.
func TestHoldLittle(t *testing.T) {
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inner.Close() })
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	for name, tc := range map[string]struct {
		reason       string
		others, want int
	}{
		"First": {"a client that's fast doesn't sleep between two pieces", 0, unsentOfFew},
		"Few":   {"nor does one of some", few - 1, unsentOfFew},
		"Hall":  {"each takes of what the host has", few, unsent},
	} {
		holdLittle(c, tc.others)
		tcp, _ := c.(*net.TCPConn)
		rc, err := tcp.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var got int
		_ = rc.Control(func(fd uintptr) { got, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT) })
		if err != nil || got != tc.want {
			t.Errorf("%s: %s: %d, %v", name, tc.reason, got, err)
		}
	}
}

// TestOneClientLeavesRoom: a machine that opens connections and says nothing is left with its share.
func TestOneClientLeavesRoom(t *testing.T) {
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const most = 3
	l := boundClients(inner, most, most+1)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- Serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }), slog.New(slog.DiscardHandler))
	}()
	dial := func(from string) net.Conn {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err := d.DialContext(t.Context(), "tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	ask := func(c net.Conn) bool {
		t.Helper()
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			return false
		}
		_, err := c.Read(make([]byte, 1))
		return err == nil
	}
	var held []net.Conn
	for range most {
		c := dial("127.0.0.2")
		if !ask(c) {
			t.Fatal("within its share a client is answered")
		}
		held = append(held, c)
	}
	if ask(dial("127.0.0.2")) {
		t.Error("one connection too many was answered")
	}
	if !ask(dial("127.0.0.3")) {
		t.Error("another client got none")
	}
	_ = held[0].Close()
	for !ask(dial("127.0.0.2")) {
		if t.Context().Err() != nil {
			t.Fatal("a place that was given back isn't given again")
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestPlaces: connections leave descriptors for TFTP, for what is fetched and for the notes of installs.
func TestPlaces(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  uint64
		want   int
	}{
		"Unlimited": {"as many as a hall needs", 1<<64 - 1, maxConnections},
		"Container": {"the usual limit of a container", 1 << 20, maxConnections},
		"Exact":     {"two for each, and 2,048 for others", 2*maxConnections + 2048, maxConnections},
		"Unit":      {"an older limit of a unit", 4096, 1024},
		"Soft":      {"the least that's usual: half of it for connections and their files", 1024, 256},
		"None":      {"it isn't left without any", 0, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := placesOf(tc.files); got != tc.want {
				t.Errorf("%s: %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}
