package wire

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

// packet is a request: a header with file and server name, and options.
func packet(file, sname string, options ...byte) []byte {
	b := make([]byte, atOptions)
	b[0], b[1], b[2] = BootRequest, 1, 6
	copy(b[atXID:], "\x01\x02\x03\x04")
	copy(b[atChaddr:], "\x52\x54\x00\x99\x00\x13")
	copy(b[atFile:], file)
	copy(b[atSname:], sname)
	copy(b[atCookie:], cookie)
	return bytes.Join([][]byte{b, options}, nil)
}

func TestGet(t *testing.T) {
	cases := map[string]struct {
		reason string
		data   []byte
		code   byte
		want   string
		has    bool
	}{
		"Plain":        {"an option", packet("", "", 12, 2, 'a', 'b', 255), 12, "ab", true},
		"Padded":       {"with padding around", packet("", "", 0, 0, 12, 1, 'a', 0, 255), 12, "a", true},
		"Empty":        {"there, and nothing in it", packet("", "", 12, 0, 255), 12, "", true},
		"Absent":       {"not there", packet("", "", 12, 0, 255), 13, "", false},
		"BehindEnd":    {"what comes after the end isn't an option", packet("", "", 255, 12, 1, 'a'), 12, "", false},
		"NoEnd":        {"firmware that forgets the end", packet("", "", 12, 1, 'a'), 12, "a", true},
		"Pieces":       {"RFC 3396: joined in order", packet("", "", 12, 1, 'a', 60, 1, 'x', 12, 2, 'b', 'c', 255), 12, "abc", true},
		"File":         {"RFC 2132 §9.3: options in the file field", packet("\x0c\x01f\xff", "", 52, 1, 1, 255), 12, "f", true},
		"Sname":        {"in the server's name", packet("", "\x0c\x01s\xff", 52, 1, 2, 255), 12, "s", true},
		"Both":         {"in both: the file field comes first", packet("\x0c\x01f", "\x0c\x01s", 12, 1, 'o', 52, 1, 3, 255), 12, "ofs", true},
		"NotSaid":      {"without option 52 they're names", packet("\x0c\x01f\xff", "\x0c\x01s\xff", 255), 12, "", false},
		"SaidByFields": {"what a field says of itself isn't asked", packet("\x34\x01\x03\xff", "\x0c\x01s\xff", 52, 1, 1, 255), 12, "", false},
		"BrokenField":  {"a field that's broken says no more, the rest holds", packet("\x0c\xff", "", 52, 1, 1, 12, 1, 'o', 255), 12, "o", true},
		"OverBorder":   {"an option doesn't go on in the next field", packet(string(bytes.Repeat([]byte{0}, 126))+"\x0c\x05", "", 52, 1, 1, 255), 12, "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var m Message
			if err := m.Read(tc.data); err != nil {
				t.Fatal(err)
			}
			if got := string(m.Get(tc.code)); got != tc.want || m.Has(tc.code) != tc.has {
				t.Errorf("%s: got %q, %v", tc.reason, got, m.Has(tc.code))
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		data   []byte
		want   error
	}{
		"Nothing":   {"no packet", nil, ErrShort},
		"HalfAHead": {"cut", packet("", "")[:239], ErrShort},
		"NoCookie":  {"BOOTP", append(make([]byte, 240), 255), ErrCookie},
		"NoLength":  {"a code alone", packet("", "", 12), ErrOptions},
		"TooLong":   {"more than there is", packet("", "", 12, 5, 'a'), ErrOptions},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var m Message
			if err := m.Read(packet("", "", 12, 1, 'x', 255)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want.Error(), m.Read(tc.data).Error()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if m.Has(12) {
				t.Errorf("%s: what was read before is still there", tc.reason)
			}
		})
	}
}

// answer makes a reply to a request.
func answer(tb testing.TB, req []byte, fill func(*Reply)) *Reply {
	tb.Helper()
	var m Message
	if err := m.Read(req); err != nil {
		tb.Fatal(err)
	}
	r := &Reply{}
	r.Answer(&m, Offer)
	fill(r)
	return r
}

func TestReplyLeavesOut(t *testing.T) {
	long := bytes.Repeat([]byte{'x'}, 200)
	fill := func(r *Reply) {
		r.Bytes(15, 2, long)
		r.Bytes(12, 1, long)
		r.Bytes(67, 0, []byte("file"))
		r.Text(66, 3, "10.0.0.1")
	}
	cases := map[string]struct {
		reason   string
		most     int
		overload bool
		want     []byte // codes in the options field
		sname    []byte
	}{
		"All":      {"it fits", 1472, false, []byte{12, 15, 53, 66, 67, 82}, nil},
		"One":      {"what is least needed goes first", 500, false, []byte{15, 53, 66, 67, 82}, nil},
		"Two":      {"then the next", 300, false, []byte{53, 66, 67, 82}, nil},
		"Needed":   {"what is needed stays, whatever the size", 240, false, []byte{53, 67, 82}, nil},
		"Overload": {"a system reads the server's name field", 258, true, []byte{53, 67, 52, 82}, []byte{66, 8, '1', '0', '.', '0', '.', '0', '.', '1', 255}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := answer(t, packet("", "", 53, 1, 1, 82, 1, 9, 255), fill)
			r.Overload = tc.overload
			out := r.Append(nil, tc.most)
			var codes []byte
			for i := atOptions; out[i] != OptionEnd; i += 2 + int(out[i+1]) {
				codes = append(codes, out[i])
			}
			if diff := cmp.Diff(tc.want, codes); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if got := out[atSname : atSname+len(tc.sname)]; !bytes.Equal(got, tc.sname) {
				t.Errorf("%s: the server's name is %x", tc.reason, got)
			}
			var m Message
			out[0] = BootRequest
			if err := m.Read(out); err != nil || m.Type() != Offer || string(m.Get(67)) != "file" {
				t.Errorf("%s: our own answer can't be read: %v", tc.reason, err)
			}
			if tc.overload && string(m.Get(66)) != "10.0.0.1" {
				t.Errorf("%s: option 66 is %q", tc.reason, m.Get(66))
			}
		})
	}
}

// TestReplyLeavesOutFew: of what is needed as little, the longest goes first.
func TestReplyLeavesOutFew(t *testing.T) {
	r := answer(t, packet("", "", 53, 1, 1, 255), func(r *Reply) {
		for code, size := range map[byte]int{101: 13, 150: 8, 224: 192, 225: 191} {
			r.Bytes(code, 1, bytes.Repeat([]byte{'x'}, size))
		}
	})
	out := r.Append(nil, 500)
	var codes []byte
	for i := atOptions; out[i] != OptionEnd; i += 2 + int(out[i+1]) {
		codes = append(codes, out[i])
	}
	slices.Sort(codes)
	if diff := cmp.Diff([]byte{53, 101, 150, 225}, codes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReplyKeeps(t *testing.T) {
	req := packet("", "", 53, 1, 1, 61, 0, 82, 3, 1, 1, 'x', 255)
	copy(req[atFlags:], "\x80\x00")
	copy(req[atGiaddr:], "\x0a\x00\x00\x01")
	copy(req[atChaddr+6:], "memory of a phone")
	req[atHops], req[8], req[9] = 3, 1, 2
	r := answer(t, req, func(r *Reply) {
		r.Yours(netip.MustParseAddr("10.0.0.2"))
		r.Server(netip.MustParseAddr("10.0.0.3"))
		r.Addresses(6, Needed, netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("10.0.0.4"))
		r.Addresses(42, Needed, netip.MustParseAddr("2001:db8::1"))
		if !r.File("snponly.efi") || r.File(string(bytes.Repeat([]byte{'f'}, fileSize))) {
			t.Error("a name and its NUL must fit")
		}
	})
	for range 2 { // The memory may be used again.
		p, err := dhcpv4.FromBytes(r.Append(make([]byte, 0, 100), 548))
		if err != nil {
			t.Fatal(err)
		}
		want := dhcpv4.Options{53: {2}, 6: {10, 0, 0, 4}, 61: nil, 82: {1, 1, 'x'}}
		if diff := cmp.Diff(want, p.Options); diff != "" {
			t.Errorf("options (-want +got):\n%s", diff)
		}
		if p.HopCount != 3 || p.Flags != 0x8000 || p.NumSeconds != 0 || p.GatewayIPAddr.String() != "10.0.0.1" ||
			p.YourIPAddr.String() != "10.0.0.2" || p.ServerIPAddr.String() != "10.0.0.3" || p.BootFileName != "snponly.efi" ||
			p.ClientHWAddr.String() != "52:54:00:99:00:13" {
			t.Errorf("header: %s", p.Summary())
		}
		if got := r.Append(nil, 548); len(got) != leastSize || bytes.Contains(got, []byte("memory")) {
			t.Errorf("%d bytes, or something of the client's memory", len(got))
		}
	}
}

func TestLongOptionInPieces(t *testing.T) {
	long := bytes.Repeat([]byte("0123456789"), 60)
	out := answer(t, packet("", "", 53, 1, 1, 255), func(r *Reply) { r.Bytes(119, Needed, long) }).Append(nil, 1472)
	p, err := dhcpv4.FromBytes(out)
	if err != nil || !bytes.Equal(p.Options[119], long) {
		t.Errorf("%v; RFC 3396 wants pieces of at most 255", err)
	}
}

// TestHardware: a packet that nobody has read says the hardware address that it says once it's read, or none.
func TestHardware(t *testing.T) {
	packet := func(length byte, size int) []byte {
		b := make([]byte, size)
		b[2] = length
		copy(b[28:], []byte{0x52, 0x54, 0, 1, 2, 3, 4, 5})
		copy(b[236:], []byte{99, 130, 83, 99})
		return b
	}
	cases := map[string]struct {
		reason string
		b      []byte
		want   bool
	}{
		"Ethernet":   {"six octets", packet(6, 300), true},
		"InfiniBand": {"none, as RFC 4390 has it", packet(0, 300), false},
		"Long":       {"another kind of link", packet(8, 300), false},
		"Short":      {"no DHCP header", packet(6, 300)[:200], false},
		"Empty":      {"nothing", nil, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			hw, ok := Hardware(tc.b)
			if ok != tc.want {
				t.Fatalf("%s: %t", tc.reason, ok)
			}
			var m Message
			if err := m.Read(tc.b); ok && (err != nil || !bytes.Equal(m.Hardware(), binary.BigEndian.AppendUint64(nil, hw)[2:])) {
				t.Errorf("%s: %x, read %x, %v", tc.reason, hw, m.Hardware(), err)
			}
		})
	}
}
