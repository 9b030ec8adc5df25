package tftp

import (
	"bytes"
	"encoding/binary"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestWindow: OVMF asks for 4 blocks at a time, loaders for 16. Where one port is shared none is agreed on: a forged ACK would have it sent.
func TestWindow(t *testing.T) {
	for _, window := range []int{2, 4, 16, 64, 1000} {
		for _, single := range []bool{false, true} {
			// Nothing is lost here, and a busy computer is no reason to send again.
			to := served(t, func(c *Config) { c.SinglePort, c.Timeout = single, 10*time.Second })
			c := client(t)
			oack, tid := exchange(t, c, to, "\x00\x01undionly.kpxe\x00octet\x00blksize\x001024\x00windowsize\x00"+strconv.Itoa(window)+"\x00")
			kept := min(window, maxWindow)
			if single {
				kept = 1
				if strings.Contains(string(oack), "windowsize") {
					t.Fatalf("OACK %q agrees on a window at a shared port", oack)
				}
			} else if want := "windowsize\x00" + strconv.Itoa(kept) + "\x00"; !strings.Contains(string(oack), want) {
				t.Fatalf("OACK %q, want a window of %d", oack, kept)
			}
			got := receive(t, c, tid, 1024, kept)
			if !bytes.Equal(got, content()) {
				t.Errorf("window %d, single port %v: %d bytes came", window, single, len(got))
			}
		}
	}
}

// receive is a client of RFC 7440.
func receive(t *testing.T, c *net.UDPConn, tid *net.UDPAddr, size, window int) []byte {
	t.Helper()
	var got []byte
	had, inWindow := 0, 0
	ack := func() {
		t.Helper()
		b := binary.BigEndian.AppendUint16([]byte{0, opACK}, uint16(had&0xffff))
		if _, err := c.WriteToUDP(b, tid); err != nil {
			t.Fatal(err)
		}
		inWindow = 0
	}
	ack()
	b := make([]byte, 70000)
	for {
		if err := c.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
			t.Fatal(err)
		}
		n, from, err := c.ReadFromUDP(b)
		if err != nil {
			t.Fatalf("behind block %d: %v", had, err)
		}
		if from.Port != tid.Port || binary.BigEndian.Uint16(b) != opDATA || binary.BigEndian.Uint16(b[2:]) != uint16((had+1)&0xffff) {
			t.Fatalf("behind block %d came %x from %s", had, b[:headerSize], from)
		}
		had, inWindow = had+1, inWindow+1
		got = append(got, b[headerSize:n]...)
		last := n-headerSize < size
		if last || inWindow == window {
			ack()
		}
		if last {
			return got
		}
	}
}

// TestRequestAgain: a request that comes twice is one transfer, whatever was lost or doubled.
func TestRequestAgain(t *testing.T) {
	outcomes := make(chan Outcome, 8)
	to := served(t, func(c *Config) { c.Observe, c.Timeout = func(o Outcome) { outcomes <- o }, time.Minute })
	c := client(t)
	first, tid := exchange(t, c, to, rrq("1468"))
	second, from := exchange(t, c, to, rrq("1468"))
	if !bytes.Equal(first, second) || from.Port != tid.Port {
		t.Fatalf("%q from %s, then %q from %s: a second transfer", first, tid, second, from)
	}
	data, _ := exchange(t, c, tid, "\x00\x04\x00\x00")
	if binary.BigEndian.Uint16(data) != opDATA {
		t.Fatalf("%x", data)
	}
	if _, err := c.WriteToUDP([]byte(rrq("1468")), to); err != nil { // The network's own copy, late.
		t.Fatal(err)
	}
	for n := range 3 { // The rest of the window of 4, and nothing else.
		more := make([]byte, 2000)
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, _, err := c.ReadFromUDP(more); err != nil || binary.BigEndian.Uint16(more[2:]) != uint16(n+2) {
			t.Fatalf("%x, %v", more[:4], err)
		}
	}
	_ = c.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if n, _, err := c.ReadFromUDP(make([]byte, 2000)); err == nil {
		t.Fatalf("%d bytes that nobody asked for", n)
	}
	another, _ := exchange(t, c, to, "\x00\x01undionly.kpxe\x00octet\x00tsize\x000\x00")
	if binary.BigEndian.Uint16(another) != opOACK || <-outcomes != Aborted {
		t.Errorf("%x: another request from the same port begins anew", another)
	}
}

// TestLostACK: what isn't acknowledged comes again, by itself and once a timeout; a doubled ACK brings nothing.
func TestLostACK(t *testing.T) {
	to := served(t, func(c *Config) { c.Timeout = 2 * time.Second })
	c := client(t)
	first, tid := exchange(t, c, to, "\x00\x01undionly.kpxe\x00octet\x00")
	again := make([]byte, 2000)
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	n, _, err := c.ReadFromUDP(again)
	if err != nil || !bytes.Equal(first, again[:n]) {
		t.Fatalf("%x, %v: want block 1 again", again[:min(n, 4)], err)
	}
	if second, _ := exchange(t, c, tid, "\x00\x04\x00\x01"); binary.BigEndian.Uint16(second[2:]) != 2 {
		t.Fatalf("%x", second[:4])
	}
	if _, err := c.WriteToUDP([]byte("\x00\x04\x00\x01"), tid); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, _, err := c.ReadFromUDP(again); err == nil {
		t.Fatalf("%x after a doubled ACK: the Sorcerer's Apprentice", again[:min(n, 4)])
	}
}

// TestGoneClient: whose port is closed has gone, and its place is free at once.
func TestGoneClient(t *testing.T) {
	outcomes := make(chan Outcome, 8)
	to := served(t, func(c *Config) { c.Observe, c.Timeout = func(o Outcome) { outcomes <- o }, time.Second })
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	_, tid := exchange(t, c, to, rrq("1468"))
	_, _ = exchange(t, c, tid, "\x00\x04\x00\x00")
	_ = c.Close()
	began := time.Now()
	// The port is heard of when something is sent there again: after one timeout.
	if o := <-outcomes; o != Aborted || time.Since(began) > 4*time.Second {
		t.Errorf("%s after %s: want the port's word for it, not %d timeouts", o, time.Since(began), retries)
	}
}

// TestStrangerIsSpared: an answer to an address that never says anything is short and ends soon.
func TestStrangerIsSpared(t *testing.T) {
	to := served(t, func(c *Config) { c.Timeout = 20 * time.Millisecond })
	for _, ask := range []string{rrq("1468"), "\x00\x01undionly.kpxe\x00octet\x00"} {
		c := client(t)
		if _, err := c.WriteToUDP([]byte(ask), to); err != nil {
			t.Fatal(err)
		}
		packets, sum := 0, 0
		b := make([]byte, 70000)
		for {
			_ = c.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
			n, _, err := c.ReadFromUDP(b)
			if err != nil {
				break
			}
			packets, sum = packets+1, sum+n
		}
		if packets != 1+unproven || sum > (1+unproven)*(defaultBlock+headerSize) {
			t.Errorf("%d packets, %d bytes to somebody who asked once with %d", packets, sum, len(ask))
		}
	}
}

// TestFloodLeavesRoom: requests in the name of others take places, but not from a machine that answers.
func TestFloodLeavesRoom(t *testing.T) {
	to := served(t, func(c *Config) { c.PerClient, c.Total, c.Timeout = 4, 8, time.Minute })
	for range 20 {
		c := client(t)
		if _, err := c.WriteToUDP([]byte(rrq("1468")), to); err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(5 * time.Second)
	for {
		got, _, err := fetch(to, BIOS, 1468)
		if err == nil && bytes.Equal(got, content()) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("a machine that answers gets nothing: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func TestNetASCII(t *testing.T) {
	if got := string(ascii([]byte("a\nb\rc\r\n"))); got != "a\r\nb\r\x00c\r\x00\r\n" {
		t.Errorf("%q", got)
	}
	if r, ok := parse([]byte("\x00\x01f\x00NetASCII\x00")); !ok || !r.ascii {
		t.Error("modes are written in any letters (RFC 1350 §5)")
	}
	if _, ok := parse([]byte("\x00\x01f\x00mail\x00")); ok {
		t.Error("mode mail is obsolete")
	}
}

// FuzzParse: whatever is asked, the answer is short and holds only what is kept.
func FuzzParse(f *testing.F) {
	f.Add([]byte(rrq("1468")))
	f.Add([]byte("\x00\x01f\x00octet\x00blksize\x0065464\x00timeout\x003\x00tsize\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < headerSize {
			return
		}
		r, ok := parse(data)
		if !ok {
			return
		}
		b := r.oack(1 << 20)
		if len(b) > 80 || r.block != 0 && (r.block < defaultBlock || r.block > maxBlock) || r.window > maxWindow || r.timeout > mostTimeout {
			t.Fatalf("%+v answered by %q", r, b)
		}
	})
}
