package boot

import (
	"net/netip"
	"strings"
	"testing"
)

func TestPortID(t *testing.T) {
	cases := map[string]struct {
		reason string
		octets string
		want   string
	}{
		"Text":    {"as the relay writes it", "ge-1/0/1.0:43", "ge-1/0/1.0:43"},
		"Blank":   {"a leading blank is of it", " PON 1/1/07/01:1.0.1", " PON 1/1/07/01:1.0.1"},
		"Binary":  {"VLAN, module, port", "\x00\x04\x00\x0f\x00\x11", "0x0004000f0011"},
		"Typed":   {"text behind a type and a length", "\x00\x09Ethernet1", "0x000945746865726e657431"},
		"Hex":     {"text that looks like hexadecimal digits can't be taken for them", "0xab", "0x30786162"},
		"UTF8":    {"what isn't ASCII", "é", "0xc3a9"},
		"NUL":     {"a NUL at the end is of it", "eth0\x00", "0x6574683000"},
		"Empty":   {"an empty sub-option says nothing", "", ""},
		"Longest": {"as long as a sub-option may be", strings.Repeat("x", 255), strings.Repeat("x", 255)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			id := PortID([]byte(tc.octets))
			if id != tc.want || string(PortBytes(id)) != tc.octets {
				t.Errorf("%s: %q, and back %q", tc.reason, id, PortBytes(id))
			}
			if again, err := ParsePortID(id); err != nil || again != id {
				t.Errorf("%s: read back it's %q, %v", tc.reason, again, err)
			}
		})
	}
}

func TestParsePortID(t *testing.T) {
	cases := map[string]struct {
		reason, text, want string
		wrong              bool
	}{
		"Capitals": {reason: "digits of either case", text: "0x00AB", want: "0x00ab"},
		"Text":     {reason: "text as hexadecimal digits is the text", text: "0x65746830", want: "eth0"},
		"Odd":      {reason: "half an octet", text: "0xabc", wrong: true},
		"NoDigits": {reason: "none", text: "0x", wrong: true},
		"Letters":  {reason: "no digits", text: "0xzz", wrong: true},
		"Newline":  {reason: "what isn't printable", text: "eth0\n", wrong: true},
		"UTF8":     {reason: "what isn't ASCII", text: "é", wrong: true},
		"Long":     {reason: "more than a sub-option holds", text: strings.Repeat("x", 256), wrong: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got, err := ParsePortID(tc.text); got != tc.want || (err != nil) != tc.wrong {
				t.Errorf("%s: %q, %v", tc.reason, got, err)
			}
		})
	}
}

// TestPortMark: a script token says of one port, and of none else, that its machine was seen behind it.
func TestPortMark(t *testing.T) {
	const nonce = "0123456789abcdef"
	none, here, there := (*Port)(nil), &Port{Circuit: "Ethernet1"}, &Port{Circuit: "Ethernet", Remote: "1"}
	cases := map[string]struct {
		reason string
		nonce  string
		of     *Port
		want   bool
	}{
		"None":      {"a plan without a port asks nothing", nonce, none, true},
		"Behind":    {"behind its port", here.Mark(nonce, true), here, true},
		"Elsewhere": {"not behind its port", here.Mark(nonce, false), here, false},
		"Another":   {"another port, of the same letters", there.Mark(nonce, true), here, false},
		"Before":    {"a token from before the plan had a port", none.Mark(nonce, true), here, false},
		"Nonceless": {"no nonce at all", "", here, false},
	}
	for name, tc := range cases {
		if got := tc.of.Marked(tc.nonce); got != tc.want {
			t.Errorf("%s: %s: %t", name, tc.reason, got)
		}
	}
	if none.Mark(nonce, false) != nonce {
		t.Error("of a plan without a port the nonce stays as it is")
	}
	if len(here.Mark(nonce, true)) != len(nonce) {
		t.Error("a nonce has its length")
	}
}

func TestResolvePort(t *testing.T) {
	network := SegmentConfig{Name: Name{"infra", "rack-7"}, Subnets: []Subnet{{CIDR: netip.MustParsePrefix("10.77.0.0/24")}, {CIDR: netip.MustParsePrefix("fd00:77::/64")}}}
	port := &Port{Circuit: "Ethernet1/12"}
	cases := map[string]struct {
		reason  string
		machine Machine
		entry   Entry
		want    string
	}{
		"Alone": {
			reason: "a place, for what installs nothing", machine: Machine{Port: port}, entry: Entry{Addresses: prefixes("10.77.0.11/24")},
		},
		"AloneInstalls": {
			reason: "a port says where a machine is, and not which", machine: Machine{Port: port},
			entry: Entry{Addresses: prefixes("10.77.0.11/24"), InstallGeneration: 1}, want: "machine.port without machine.macs installs nothing",
		},
		"AloneIPv6": {
			reason: "nobody could find it there", machine: Machine{Port: port}, entry: Entry{Addresses: prefixes("10.77.0.11/24", "fd00:77::11/64")}, want: "one address of IPv4",
		},
		"AloneInterface": {
			reason: "its system's network is known by MACs", machine: Machine{Port: port},
			entry: Entry{Addresses: prefixes("10.77.0.11/24"), Interface: &Interface{}}, want: "networks[0].interface needs machine.macs",
		},
		"Beside": {
			reason: "the MAC says which", machine: Machine{MACs: []string{"52:54:00:00:00:01"}, Port: port},
			entry: Entry{Addresses: prefixes("10.77.0.11/24", "fd00:77::11/64"), InstallGeneration: 1},
		},
		"Neither": {
			reason: "as ever", entry: Entry{Addresses: prefixes("10.77.0.11/24")}, want: "no MAC address",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, prob := Resolve(tc.entry, Profile{Mode: ModeInstall}, network, tc.machine)
			switch {
			case tc.want == "" && (prob != nil || p.Port != tc.machine.Port):
				t.Errorf("%s: %v", tc.reason, prob)
			case tc.want != "" && (prob == nil || !strings.Contains(prob.Message, tc.want)):
				t.Errorf("%s: %v", tc.reason, prob)
			}
		})
	}
}

// TestPortIsNoPartOfThePlan: where a machine is plugged in changes no byte on its disk, and no grant that was given.
func TestPortIsNoPartOfThePlan(t *testing.T) {
	if plan().Digest() != plan(func(p *Plan) { p.Port = &Port{Circuit: "Ethernet1"} }).Digest() {
		t.Error("the digest is another one")
	}
}

// TestDecidePort: a plan whose machine is a port's installs nothing, whatever was granted; beside MACs a port is the gate's to look at.
func TestDecidePort(t *testing.T) {
	alone := plan(func(p *Plan) { p.Port, p.MACs = &Port{Circuit: "Ethernet1"}, nil })
	beside := plan(func(p *Plan) { p.Port = &Port{Circuit: "Ethernet1"} })
	if d := Decide(Facts{Now: noon, Plan: alone, Session: session(), Synced: true, Arch: AMD64}); d != (Decision{AnswerHold, DecidedPlaceOnly}) {
		t.Errorf("by a port alone: %v", d)
	}
	if d := Decide(Facts{Now: noon, Plan: beside, Session: session(), Synced: true, Arch: AMD64}); d.Answer != AnswerInstall {
		t.Errorf("beside MACs: %v", d)
	}
}

// TestStatePorts: a port is one plan's on each segment, also of those that come later.
func TestStatePorts(t *testing.T) {
	at := func(uid, network, circuit string) *Plan {
		return plan(func(p *Plan) {
			p.EntryUID, p.Entry.Name, p.MACs = uid, uid, nil
			p.Network.Name.Name, p.Port = network, &Port{Circuit: circuit}
		})
	}
	s := StateOf(nil, []*Plan{at("a", "rack-7", "1"), at("b", "rack-7", "1"), at("c", "rack-8", "1")}, nil)
	if p, ok := s.ByPort(Name{"infra", "rack-7"}, Port{Circuit: "1"}); !ok || p.EntryUID != "a" || s.Refused["b"] != p.Entry || s.Len() != 2 {
		t.Errorf("rack-7: %v, refused %v", p, s.Refused)
	}
	if _, ok := s.ByPort(Name{"infra", "rack-9"}, Port{Circuit: "1"}); ok {
		t.Error("another segment has its own")
	}
	if _, ok := s.With([]*Plan{at("d", "rack-7", "1")}); ok {
		t.Error("a port that another has can't come later")
	}
	n, ok := s.With([]*Plan{at("d", "rack-7", "2")})
	if !ok {
		t.Fatal("one that's free can")
	}
	if p, ok := n.ByPort(Name{"infra", "rack-7"}, Port{Circuit: "2"}); !ok || p.EntryUID != "d" {
		t.Errorf("it came later: %v", p)
	}
	if _, ok := n.With([]*Plan{at("e", "rack-7", "2")}); ok {
		t.Error("nor one that came later, too")
	}
	if (StateOf(nil, []*Plan{plan()}, nil)).HasPorts() {
		t.Error("nobody names a port")
	}
}
