package tftp

import (
	"bytes"
	"encoding/binary"
	"net"
	"strings"
	"testing"
	"time"
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
