package tftp

import (
	"bytes"
	"encoding/binary"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// hall is a loop that a test turns by hand.
type hall struct {
	*loop

	list  []unix.EpollEvent
	ended []Outcome
}

func newHall(t *testing.T) *hall {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	h := &hall{list: make([]unix.EpollEvent, events)}
	h.loop, err = newLoop(New(Config{PerClient: 64, Observe: func(o Outcome) { h.ended = append(h.ended, o) }}), conn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.close)
	h.now = time.Now()
	return h
}

// begins has a client ask for a file.
func (h *hall) begins(t *testing.T, file []byte) (*net.UDPConn, *running) {
	t.Helper()
	c := client(t)
	to := c.LocalAddr().(*net.UDPAddr).AddrPort()
	to = netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
	r := &running{transfer: newTransfer(len(file), 512, 1, false), client: to, file: file, timeout: time.Minute}
	h.start("", r, to, netip.MustParseAddr("127.0.0.1"))
	return c, r
}

// turned is the loop's turns until a client has something, or for so long: the number of the block, or 0.
func (h *hall) turned(t *testing.T, c *net.UDPConn, patience time.Duration) uint16 {
	t.Helper()
	b := make([]byte, 2000)
	for end := time.Now().Add(patience); ; {
		n, err := pollNow(h.poll, h.list)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range h.list[:n] {
			h.ready(int(e.Fd))
		}
		h.round()
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if n, _ = c.Read(b); n >= headerSize {
			return binary.BigEndian.Uint16(b[2:])
		}
		if !time.Now().Before(end) {
			return 0
		}
	}
}

// until turns the loop until a transfer has ended.
func (h *hall) until(t *testing.T, c *net.UDPConn, r *running) {
	t.Helper()
	for end := time.Now().Add(patient); !r.ended && time.Now().Before(end); {
		h.turned(t, c, 0)
	}
}

// patient is how long a busy computer is waited for.
const patient = 10 * time.Second

// acks says that a client has a block.
func (h *hall) acks(t *testing.T, c *net.UDPConn, r *running, block uint16) {
	t.Helper()
	from, err := unix.Getsockname(r.fd)
	if err != nil {
		t.Fatal(err)
	}
	to, _ := addrPort(from)
	if _, err := c.WriteToUDPAddrPort(binary.BigEndian.AppendUint16([]byte{0, opACK}, block), to); err != nil {
		t.Fatal(err)
	}
}

// TestCrowd: a transfer loses nothing when its loop begins to read in turn, nor when it ends that; those that begin or end meanwhile are as any others.
func TestCrowd(t *testing.T) {
	h := newHall(t)
	file := bytes.Repeat([]byte("x"), 512*4)
	early, a := h.begins(t, file)
	step := func(what string, c *net.UDPConn, want uint16) {
		t.Helper()
		patience := patient
		if want == 0 {
			patience = 0
		}
		if got := h.turned(t, c, patience); got != want {
			t.Fatalf("%s: block %d, want %d", what, got, want)
		}
	}
	step("by epoll", early, 1)
	h.acks(t, early, a, 1)
	h.gather()
	step("what came before the crowd", early, 2)
	late, b := h.begins(t, file)
	step("begun in the crowd", late, 1)
	h.acks(t, late, b, 1)
	step("in the crowd", late, 2)
	step("nothing twice", late, 0)
	h.acks(t, early, a, 2)
	h.acks(t, late, b, 2)
	h.scatter()
	step("what came in the crowd", early, 3)
	step("what came in the crowd", late, 3)
	h.gather()
	for n := uint16(3); n <= 4; n++ {
		h.acks(t, early, a, n)
		step("in another crowd", early, n+1)
	}
	h.acks(t, early, a, 5)
	h.until(t, early, a)
	if !a.ended || !slices.Equal(h.ended, []Outcome{Sent}) || h.byClient[b.client] != b {
		t.Fatalf("ended: %v", h.ended)
	}
	// Who has gone is heard of in a crowd, too: the port's word for it comes with what is sent next.
	_ = late.Close()
	h.send(b, b.next())
	h.until(t, early, b)
	if !b.ended || !slices.Equal(h.ended, []Outcome{Sent, Aborted}) {
		t.Errorf("ended: %v", h.ended)
	}
	h.round()
	h.scatter()
	if len(h.bySocket) != 0 || h.crowd.on || len(h.crowd.members) != 0 {
		t.Errorf("%d sockets and %d members are left", len(h.bySocket), len(h.crowd.members))
	}
}

// TestCrowded: it's by what comes in a turn that a loop changes, and a little more or less doesn't.
func TestCrowded(t *testing.T) {
	cases := map[string]struct {
		reason  string
		on      bool
		packets int
		since   time.Duration
		want    bool
	}{
		"Few":    {"one or two clients", false, crowded - 1, turn, false},
		"Many":   {"a rack boots", false, crowded, turn, true},
		"Early":  {"the turn isn't over", false, 10 * crowded, turn - 1, false},
		"Fewer":  {"still worth it", true, sparse, turn, true},
		"Sparse": {"it would wait in vain", true, sparse - 1, turn, false},
		"Pause":  {"the turn isn't over", true, 0, turn - 1, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := newHall(t)
			h.crowd.on, h.crowd.packets, h.crowd.began = tc.on, tc.packets, h.now.Add(-tc.since)
			h.count()
			if h.crowd.on != tc.want {
				t.Errorf("%s: crowd %v", tc.reason, h.crowd.on)
			}
		})
	}
}

// TestCrowdServes: hundreds of files at once arrive whole, by epoll and in turn as it comes.
func TestCrowdServes(t *testing.T) {
	to := served(t, func(c *Config) { c.PerClient, c.Timeout = 64, patient })
	const clients, files = 32, 8
	wrong := make(chan string, clients)
	for range clients {
		go func() {
			for range files {
				data, _, err := fetch(to, BIOS, 512)
				if err != nil || !bytes.Equal(data, content()) {
					wrong <- "a file isn't as it was"
					return
				}
			}
			wrong <- ""
		}()
	}
	for range clients {
		if w := <-wrong; w != "" {
			t.Error(w)
		}
	}
}
