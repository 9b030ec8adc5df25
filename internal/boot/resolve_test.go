package boot

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestResolve(t *testing.T) {
	none := "none"
	entry := func() Entry {
		return Entry{Name: Name{"team-a", "web-1"}, UID: "entry", Addresses: prefixes("10.77.0.11/24"), InstallGeneration: 1}
	}
	profile := func(words []string, ps ...Parameter) Profile {
		return Profile{Name: Name{"infra", "debian"}, Mode: ModeInstall, Method: MethodDiskImage, CommandLine: words, Parameters: ps}
	}
	network := SegmentConfig{
		Name:    Name{"infra", "rack-7"},
		Subnets: []Subnet{{CIDR: netip.MustParsePrefix("10.77.0.0/24"), Gateway: netip.MustParseAddr("10.77.0.1")}},
	}
	machine := Machine{HostUID: "host", Bound: true, MACs: []string{"52-54-00-00-00-01", "52:54:00:00:00:01"}, CommandLine: []string{"console=ttyS1"}}
	role := Parameter{Name: "role", Default: &none, Pattern: "[a-z]{1,8}"}

	cases := map[string]struct {
		reason  string
		entry   func() Entry
		profile Profile
		machine Machine
		words   []string
		address string // "" is the entry's own.
		problem string
	}{
		"Plain":       {reason: "The profile's words, then the host's.", profile: profile([]string{"quiet"}), words: []string{"quiet", "console=ttyS1"}},
		"Default":     {reason: "A parameter has its default.", profile: profile([]string{"role={{ .role }}"}, role), words: []string{"role=none", "console=ttyS1"}},
		"Given":       {reason: "Or the entry's value.", profile: profile([]string{"role={{.role}}"}, role), entry: func() Entry { e := entry(); e.Parameters = map[string]string{"role": "web"}; return e }, words: []string{"role=web", "console=ttyS1"}},
		"NoMatch":     {reason: "A value that doesn't match its pattern never enters a command line.", profile: profile(nil, role), entry: func() Entry { e := entry(); e.Parameters = map[string]string{"role": "web init=/bin/sh"}; return e }, problem: "doesn't match"},
		"SecondWord":  {reason: "Nor does a second word, even where the pattern would let it.", profile: profile(nil, Parameter{Name: "role", Pattern: ".*"}), entry: func() Entry { e := entry(); e.Parameters = map[string]string{"role": "a b"}; return e }, problem: `parameter "role" is "a b", which has ' ' in it: whatever the pattern of BootProfile infra/`},
		"Quoted":      {reason: "Nor a quote, and what does match isn't told that it doesn't.", profile: profile(nil, Parameter{Name: "role", Pattern: ".*"}), entry: func() Entry { e := entry(); e.Parameters = map[string]string{"role": `a"b`}; return e }, problem: `which has '"' in it`},
		"Anchored":    {reason: "A pattern is for the whole value.", profile: profile(nil, Parameter{Name: "role", Pattern: "a|b"}), entry: func() Entry { e := entry(); e.Parameters = map[string]string{"role": "xb"}; return e }, problem: "doesn't match"},
		"BadPattern":  {reason: "A broken pattern is the profile's fault, and said so.", profile: profile(nil, Parameter{Name: "role", Default: &none, Pattern: "("}), problem: "isn't RE2"},
		"NotGiven":    {reason: "Without a default a value is needed.", profile: profile(nil, Parameter{Name: "role"}), problem: "has no default"},
		"Undeclared":  {reason: "What the profile doesn't declare can't be given.", profile: profile(nil), entry: func() Entry { e := entry(); e.Parameters = map[string]string{"x": "y"}; return e }, problem: "isn't declared"},
		"UnknownUsed": {reason: "A word can use declared parameters only.", profile: profile([]string{"{{ .secret }}"}), problem: "doesn't declare it"},
		"Function":    {reason: "There are no functions.", profile: profile([]string{`{{ env "HOME" }}`}), problem: "no plain"},
		"OffSegment":  {reason: "An address of another segment can't boot here.", profile: profile(nil), entry: func() Entry { e := entry(); e.Addresses = prefixes("10.78.0.1/24"); return e }, problem: "isn't in any subnet"},
		"Gateway":     {reason: "What NetBox has no record of it gives away: the segment's gateway isn't taken from it.", profile: profile(nil), entry: func() Entry { e := entry(); e.Addresses, e.Allocated = prefixes("10.77.0.1/24"), true; return e }, problem: "is the gateway of its subnet in BootNetwork infra/rack-7, which a machine would take from it; give NetBox a record of the gateway"},
		"OwnGateway":  {reason: "Where nobody allocates there is no NetBox to be told.", profile: profile(nil), entry: func() Entry { e := entry(); e.Addresses = prefixes("10.77.0.1/24"); return e }, problem: "which a machine would take from it; give the machine another"},
		"First":       {reason: "The first address of a subnet is its own.", profile: profile(nil), entry: func() Entry { e := entry(); e.Addresses = prefixes("10.77.0.0/24"); return e }, problem: "address 10.77.0.0 is the first or the last of subnet"},
		"Last":        {reason: "The last one is everybody's.", profile: profile(nil), entry: func() Entry { e := entry(); e.Addresses = prefixes("10.77.0.255/24"); return e }, problem: "address 10.77.0.255 is the first or the last of subnet"},
		"PartOfIt":    {reason: "An address from a part of the segment has the segment's mask: the gateway is outside that part.", profile: profile(nil), entry: func() Entry { e := entry(); e.Addresses = prefixes("10.77.0.65/26"); return e }, words: []string{"console=ttyS1"}, address: "10.77.0.65/24"},
		"Container":   {reason: "Nor is one from a container of the segment on all of that.", profile: profile(nil), entry: func() Entry { e := entry(); e.Addresses = prefixes("10.77.0.11/16"); return e }, words: []string{"console=ttyS1"}, address: "10.77.0.11/24"},
		"NoMAC":       {reason: "A machine without a MAC can't be recognised.", profile: profile(nil), machine: Machine{HostUID: "host"}, problem: "no MAC"},
		"BadMAC":      {reason: "A multicast MAC is a mistake.", profile: profile(nil), machine: Machine{HostUID: "host", MACs: []string{"01:00:5e:00:00:01"}}, problem: "multicast"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e, m := entry(), machine
			if tc.entry != nil {
				e = tc.entry()
			}
			if tc.machine.HostUID != "" {
				m = tc.machine
			}
			got, prob := Resolve(e, tc.profile, network, m)
			if tc.problem != "" {
				if prob == nil || !strings.Contains(prob.Message, tc.problem) {
					t.Fatalf("%s\nResolve(...): problem %v, want one with %q", tc.reason, prob, tc.problem)
				}
				return
			}
			if prob != nil {
				t.Fatalf("%s\nResolve(...): %v", tc.reason, prob)
			}
			if diff := cmp.Diff(tc.words, got.CommandLine); diff != "" {
				t.Errorf("%s\nResolve(...): -want, +got:\n%s", tc.reason, diff)
			}
			if tc.address == "" {
				tc.address = e.Addresses[0].String()
			}
			if got.Network.Address.String() != tc.address {
				t.Errorf("%s\nResolve(...): address %s, want %s", tc.reason, got.Network.Address, tc.address)
			}
			if len(got.MACs) != 1 || got.Network.Gateway.String() != "10.77.0.1" || got.Network.Lease != defaultLease {
				t.Errorf("%s\nResolve(...): MACs %v, gateway %s, lease %s", tc.reason, got.MACs, got.Network.Gateway, got.Network.Lease)
			}
		})
	}
}
