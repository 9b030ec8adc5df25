package tftp

import (
	"bytes"
	"encoding/binary"
	"net"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestHostileRequests: what a client may ask in the name of anybody. The server answers with an error or with what it keeps,
// and goes on serving.
func TestHostileRequests(t *testing.T) {
	rrq := func(options ...string) string {
		return "\x00\x01undionly.kpxe\x00octet\x00" + strings.Join(append(options, ""), "\x00")
	}
	cases := map[string]struct {
		reason string
		ask    string
		op     uint16 // of the first answer; 0: none has to come
		holds  string
	}{
		"BlksizeZero":     {"RFC 2348 §1: 8 is the least; an option that isn't kept is left out", rrq("blksize", "0"), 3, ""},
		"BlksizeTiny":     {"blocks of 8 would take 130,000 packets", rrq("blksize", "8"), 3, ""},
		"BlksizeHuge":     {"more than a packet holds", rrq("blksize", "65465"), 3, ""},
		"BlksizeNegative": {"no size", rrq("blksize", "-1"), 3, ""},
		"BlksizeOverflow": {"no number", rrq("blksize", "99999999999999999999"), 3, ""},
		"BlksizeText":     {"no number either", rrq("blksize", "0x200"), 3, ""},
		"TsizeNonsense":   {"what it is isn't asked for but told", rrq("tsize", "-5"), 6, "tsize\x0069136\x00"},
		"NoMode":          {"half a request", "\x00\x01undionly.kpxe\x00", 0, ""},
		"NoName":          {"a request of nothing", "\x00\x01\x00octet\x00", 5, ""},
		"LongName":        {"an answer holds nothing of it", "\x00\x01" + strings.Repeat("a", 400) + "\x00octet\x00", 5, "file not found"},
		"ManyOptions":     {"those that are known, and no others", rrq("a", "1", "b", "2", "multicast", "", "tsize", "0"), 6, "tsize"},
		"Data":            {"of no transfer", "\x00\x03\x00\x01data", 0, ""},
		"Ack":             {"of no transfer", "\x00\x04\x00\x01", 0, ""},
		"Empty":           {"no packet", "", 0, ""},
		"Opcode":          {"no such thing", "\xff\xff\xff\xff", 0, ""},
	}
	outcomes := make(chan Outcome, 64)
	to := served(t, func(c *Config) { c.PerClient, c.Observe = 64, func(o Outcome) { outcomes <- o } })
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := client(t)
			if tc.op == 0 {
				if _, err := c.WriteToUDP([]byte(tc.ask), to); err != nil {
					t.Fatal(err)
				}
				return
			}
			got, tid := exchange(t, c, to, tc.ask)
			if op := binary.BigEndian.Uint16(got); op != tc.op || !strings.Contains(string(got), tc.holds) || len(got) > 516 {
				t.Errorf("%s: answered %q", tc.reason, got[:min(len(got), 80)])
			}
			_, _ = c.WriteToUDP([]byte("\x00\x05\x00\x00\x00"), tid) // And away.
		})
	}
	if got, _, err := fetch(to, BIOS, 1468); err != nil || !bytes.Equal(got, content()) {
		t.Errorf("it doesn't serve any more: %v", err)
	}
}

// TestRepeatedRequests: firmware repeats a request that it thinks lost, and a flood of them in one machine's name leaves room
// for another's.
func TestRepeatedRequests(t *testing.T) {
	to := served(t, func(c *Config) { c.PerClient, c.Total = 2, 3 })
	flood, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 2)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flood.Close() })
	for range 50 {
		if _, err := flood.WriteToUDP([]byte(rrq("1468")), to); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(20 * time.Millisecond) // All are taken or refused.
	if got, _, err := fetch(to, BIOS, 1468); err != nil || !bytes.Equal(got, content()) {
		t.Errorf("another machine gets nothing: %v", err)
	}
}

// TestForgedAcknowledgement: where all transfers share one port, who asked in another's name can acknowledge in it, too. Each of its packets is
// answered by a block at most, and the last by a few more.
func TestForgedAcknowledgement(t *testing.T) {
	to := served(t, func(c *Config) { c.SinglePort, c.Timeout = true, 20*time.Millisecond })
	c := client(t) // It's whoever is asked for in its name: what it sends is all forged, and sent blindly.
	const acks = 5
	sent := [][]byte{[]byte("\x00\x01undionly.kpxe\x00octet\x00blksize\x001468\x00windowsize\x0064\x00")}
	for n := range acks {
		sent = append(sent, []byte{0, opACK, 0, byte(n)})
	}
	for _, b := range sent {
		if _, err := c.WriteToUDP(b, to); err != nil {
			t.Fatal(err)
		}
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
	if most := 1 + acks + unproven; packets > most || sum > most*(1468+headerSize) {
		t.Errorf("%d packets, %d bytes to somebody who asked for nothing, by %d forged ones", packets, sum, len(sent))
	}
}

// TestAskedOfAll: a request that was broadcast is answered by nobody (RFC 1123 §4.2.3.5): one packet would have every server send.
func TestAskedOfAll(t *testing.T) {
	for name, tc := range map[string]struct {
		reason    string
		spec, dst [4]byte
		all       bool
	}{
		"Own":       {"our own address", [4]byte{10, 0, 0, 1}, [4]byte{10, 0, 0, 1}, false},
		"Limited":   {"the limited broadcast", [4]byte{10, 0, 0, 1}, [4]byte{255, 255, 255, 255}, true},
		"Directed":  {"a network's own", [4]byte{10, 0, 0, 1}, [4]byte{10, 0, 0, 255}, true},
		"Multicast": {"a group's", [4]byte{10, 0, 0, 1}, [4]byte{224, 0, 0, 1}, true},
	} {
		oob := append(make([]byte, unix.CmsgSpace(0)), make([]byte, unix.SizeofInet4Pktinfo)...)
		h := (*unix.Cmsghdr)(unsafe.Pointer(&oob[0])) //nolint:gosec // As the kernel lays it out.
		h.Level, h.Type = unix.IPPROTO_IP, unix.IP_PKTINFO
		h.SetLen(unix.CmsgLen(unix.SizeofInet4Pktinfo))
		copy(oob[unix.CmsgLen(0)+4:], tc.spec[:])
		copy(oob[unix.CmsgLen(0)+8:], tc.dst[:])
		if _, all := destination(oob); all != tc.all {
			t.Errorf("%s: %s: %t", name, tc.reason, all)
		}
	}
}
