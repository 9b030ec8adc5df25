package wire

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"
)

func TestRead(t *testing.T) {
	relay := func(inner []byte) []byte {
		return Forward(netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fe80::1"), inner)
	}
	deep := []byte{1, 0, 0, 7}
	for range maxRelays + 1 {
		deep = relay(deep)
	}
	two := relay([]byte{1, 0, 0, 7})
	two = append(two, two[relaySize:]...)
	cases := map[string]struct {
		reason string
		packet []byte
		want   error
	}{
		"Empty":     {"nothing", nil, ErrShort},
		"Short":     {"half a header", []byte{1, 0}, ErrShort},
		"Header":    {"no options", []byte{1, 0, 0, 7}, nil},
		"Half":      {"half an option's header", []byte{1, 0, 0, 7, 0, 1, 0}, ErrOptions},
		"Behind":    {"an option that goes on", []byte{1, 0, 0, 7, 0, 1, 0, 9, 1}, ErrOptions},
		"Relay":     {"a relay", relay([]byte{1, 0, 0, 7}), nil},
		"RelayHalf": {"half a relay's header", relay([]byte{1, 0, 0, 7})[:20], ErrShort},
		"RelayNone": {"a relay without a message", relay(nil), ErrRelay},
		"RelayTwo":  {"one with two", two, ErrRelay},
		"Deep":      {"RFC 8415 section 7.6", deep, ErrNested},
		"Inside":    {"what a relay passes on is broken", relay([]byte{1, 0, 0, 7, 0}), ErrOptions},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := &Message{}
			if err := m.Read(tc.packet); !errors.Is(err, tc.want) {
				t.Errorf("%s: %v, want %v", tc.reason, err, tc.want)
			}
		})
	}
}

// TestWriter: another library reads what is written.
func TestWriter(t *testing.T) {
	as := []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fd00::2")}
	w := &Writer{}
	w.Begin(nil, Advertise, [3]byte{1, 2, 3}, nil)
	w.Bytes(OptionClientID, []byte{0, 3, 0, 1, 1, 2, 3, 4, 5, 6})
	w.OpenIA(OptionIANA, [4]byte{9, 8, 7, 6}, time.Minute, 2*time.Minute)
	w.Address(netip.MustParseAddr("fd00::9"), time.Hour)
	w.Close()
	w.Addresses(OptionDNS, as)
	w.Addresses(OptionSNTP, as[:1])
	w.Domain(OptionDomain, "a.example")
	w.Domain(OptionDomain, "..")
	w.NTP(as)
	w.Status(NoAddresses, "none")
	d, err := dhcpv6.FromBytes(w.End())
	if err != nil {
		t.Fatal(err)
	}
	m, _ := d.(*dhcpv6.Message)
	if got := m.Options.DNS(); len(got) != 2 || !got[0].Equal(net.ParseIP("fd00::1")) {
		t.Errorf("DNS %v", got)
	}
	if got := m.Options.NTPServers(); len(got) != 2 {
		t.Errorf("NTP %v", got)
	}
	if m.GetOneOption(dhcpv6.OptionSNTPServerList) != nil {
		t.Error("an option without any address")
	}
	if got := m.GetOption(dhcpv6.OptionDomainSearchList); len(got) != 1 || m.Options.DomainSearchList().Labels[0] != "a.example" {
		t.Errorf("domains %v", got)
	}
	if ia := m.Options.OneIANA(); ia == nil || ia.T2 != 2*time.Minute || !ia.Options.OneAddress().IPv6Addr.Equal(net.ParseIP("fd00::9")) {
		t.Errorf("association %v", ia)
	}
	if s := m.Options.Status(); s == nil || s.StatusCode != 2 || s.StatusMessage != "none" {
		t.Errorf("status %v", s)
	}
}

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]uint32{-time.Second: 0, time.Minute: 60, 1 << 62: 1<<32 - 2} {
		if got := Seconds(d); got != want {
			t.Errorf("%s: %d, want %d", d, got, want)
		}
	}
}

// FuzzRead: the reader never breaks, leaves what it reads as it was, and finds what another library finds.
func FuzzRead(f *testing.F) {
	f.Add([]byte{1, 0, 0, 7, 0, 1, 0, 1, 5})
	f.Add(Forward(netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fe80::1"), []byte{1, 0, 0, 7, 0, 3, 0, 12, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0}))
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		m := &Message{}
		err := m.Read(b)
		if !bytes.Equal(b, before) {
			t.Error("it was written into")
		}
		if err != nil {
			return
		}
		_ = m.Asked(OptionDNS)
		for ia := range m.IAs() {
			for range ia.Addresses() {
				_ = StatusOf(ia.Options)
			}
		}
		d, err := dhcpv6.FromBytes(b)
		if err != nil {
			return // It's stricter: of options that we don't read, too.
		}
		inner, err := d.GetInnerMessage()
		if err != nil {
			return
		}
		if Type(inner.MessageType) != m.Type || inner.TransactionID != m.XID {
			t.Errorf("%s %x, and another library finds %s %x", m.Type, m.XID, inner.MessageType, inner.TransactionID)
		}
		if id := inner.GetOneOption(dhcpv6.OptionClientID); (id != nil) != m.Options.Has(OptionClientID) {
			t.Errorf("client %v", id)
		}
	})
}
