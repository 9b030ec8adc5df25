package wire

import (
	"bytes"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// FuzzRead compares what is read with what another library reads, which knows nothing of option overload.
func FuzzRead(f *testing.F) {
	f.Add(packet("", "", 53, 1, 1, 60, 9, 'P', 'X', 'E', 'C', 'l', 'i', 'e', 'n', 't', 255))
	f.Add(packet("undionly.kpxe", "", 53, 1, 3, 82, 4, 1, 2, 'a', 'b', 0, 0, 255, 0))
	f.Add(packet("\x0c\x01f\xff", "\x0c\x01s\xff", 12, 1, 'o', 52, 1, 3, 255))
	f.Add(packet("", "", 12, 1, 'a', 12, 1, 'b'))
	f.Fuzz(func(t *testing.T, data []byte) {
		var m Message
		err := m.Read(data)
		want, theirs := dhcpv4.FromBytes(data)
		if theirs != nil {
			want, theirs = dhcpv4.FromBytes(append(bytes.Clone(data), OptionEnd)) // They want an end mark.
		}
		if err != nil {
			return // They take some packets whose last option is cut in the middle of its length.
		}
		if theirs != nil {
			t.Fatalf("read what another can't read: %v", theirs)
		}
		if len(m.overloaded()) == 0 {
			for code := range 256 {
				c := byte(code)
				if c == OptionPad || c == OptionEnd {
					continue
				}
				v, has := want.Options[c]
				if has != m.Has(c) || !bytes.Equal(v, m.Get(c)) {
					t.Fatalf("option %d is %x (%v), another reads %x (%v)", c, m.Get(c), m.Has(c), v, has)
				}
			}
		}
		if m.XID() != want.TransactionID || !bytes.Equal(m.Hardware(), want.ClientHWAddr) || m.IsRequest() != (want.OpCode == dhcpv4.OpcodeBootRequest) {
			t.Fatal("the header differs")
		}
		written(t, &m)
	})
}

// written answers a message, and reads the answer.
func written(t *testing.T, m *Message) {
	t.Helper()
	var r Reply
	r.Answer(m, ACK)
	for code := range 256 {
		if c := byte(code); m.Has(c) && c != OptionType && c != OptionClientID && c != OptionRelayAgent && c != OptionOverload {
			r.Bytes(c, uint8(code%4), m.Get(c))
		}
	}
	r.Overload = m.Has(OptionClass)
	const most = 548
	out := r.Append(nil, most)
	p, err := dhcpv4.FromBytes(out)
	if err != nil {
		t.Fatalf("an answer that can't be read: %v", err)
	}
	if p.TransactionID != m.XID() || p.MessageType() != dhcpv4.MessageTypeAck || len(out) < leastSize {
		t.Fatalf("not an answer to this: %s", p.Summary())
	}
	if m.Has(OptionRelayAgent) && !bytes.Equal(p.Options[OptionRelayAgent], m.Get(OptionRelayAgent)) {
		t.Fatal("option 82 must come back as it came")
	}
}
