package tftp

import (
	"net"
	"net/netip"
	"testing"
	"time"
)

// FuzzAsked: whatever comes to the server's port, and goes on coming from there, one client has one transfer at most, and its place is free
// afterwards.
func FuzzAsked(f *testing.F) {
	f.Add([]byte(rrq("1468")), []byte{0, 4, 0, 0})
	f.Add([]byte("\x00\x01undionly.kpxe\x00netascii\x00windowsize\x0064\x00tsize\x000\x00"), []byte{0, 4, 0, 1})
	f.Add([]byte("\x00\x02undionly.kpxe\x00octet\x00"), []byte{0, 5, 0, 8, 'o', 0})
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		f.Fatal(err)
	}
	s := New(Config{Files: Load("/does/not/exist"), SinglePort: true})
	l, err := newLoop(s, conn)
	_ = conn.Close()
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(l.close)
	client := netip.MustParseAddrPort("127.0.0.1:9")
	f.Fuzz(func(t *testing.T, first, second []byte) {
		l.now = time.Now()
		for _, b := range [][]byte{first, second, first, second, second} {
			if len(b) >= headerSize {
				l.asked(b, client, addr("127.0.0.1"))
			}
			if len(l.byClient) != s.Running() || len(l.byClient) > 1 {
				t.Fatalf("%d transfers, %d places", len(l.byClient), s.Running())
			}
		}
		for _, r := range l.byClient {
			l.end(r, Aborted, errStopping)
		}
		if s.Running() != 0 {
			t.Fatalf("%d places aren't free", s.Running())
		}
	})
}
