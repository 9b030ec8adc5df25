package bootspec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestPlanPort: a port is in a status as an entry may write it, and no MAC is an empty list there, which the schema wants.
func TestPlanPort(t *testing.T) {
	e := entry(func(p *v1alpha1.Plan) {
		p.MACs, p.Port = []string{}, &v1alpha1.SwitchPort{CircuitID: "0x0004000F0011", RemoteID: "leaf-1"}
	})
	p, ok, err := PlanOf(e)
	if want := (boot.Port{Circuit: "0x0004000f0011", Remote: "leaf-1"}); err != nil || !ok || p.Port == nil || *p.Port != want || !p.PlacedAlone() {
		t.Fatalf("%v %v", p.Port, err)
	}
	out := PlanStatus(p)
	if diff := cmp.Diff(&v1alpha1.SwitchPort{CircuitID: "0x0004000f0011", RemoteID: "leaf-1"}, out.Port); diff != "" || out.MACs == nil {
		t.Errorf("%v %s", out.MACs, diff)
	}
	if _, _, err := PlanOf(entry(func(p *v1alpha1.Plan) { p.Port = &v1alpha1.SwitchPort{CircuitID: "0x1"} })); err == nil {
		t.Error("half an octet is none")
	}
}

func TestRawUID(t *testing.T) {
	at := func(circuit, remote string, macs ...string) string {
		return RawUID(v1alpha1.MachineSelector{MACs: macs, Port: &v1alpha1.SwitchPort{CircuitID: circuit, RemoteID: remote}})
	}
	const mac = "52:54:00:00:00:01"
	cases := map[string]struct {
		reason string
		a, b   string
		same   bool
	}{
		"Spelling":  {"one port, written in two ways", at("0x65746830", ""), at("eth0", ""), true},
		"Other":     {"another port", at("eth0", ""), at("eth1", ""), false},
		"Remote":    {"the same name at another switch", at("eth0", "a"), at("eth0", "b"), false},
		"Letters":   {"the same letters", at("eth", "0"), at("eth0", ""), false},
		"MAC":       {"a machine is known by its MACs where it has any", at("eth0", "", mac), RawHostUID([]string{mac}), true},
		"Neither":   {"nothing", RawUID(v1alpha1.MachineSelector{}), "", true},
		"Malformed": {"no port at all", at("0x1", ""), "", true},
	}
	for name, tc := range cases {
		if got := tc.a == tc.b; got != tc.same {
			t.Errorf("%s: %s: %q and %q", name, tc.reason, tc.a, tc.b)
		}
	}
}

func TestCheckPort(t *testing.T) {
	relays := []string{"10.77.0.2/32"}
	cases := map[string]struct {
		reason    string
		namespace string
		dhcp      *v1alpha1.NetworkDHCP
		macs      []string
		want      string
	}{
		"Relay":     {"a relay is named", "infra", &v1alpha1.NetworkDHCP{Relays: relays}, nil, ""},
		"RelayOnly": {"and alone heard", "infra", &v1alpha1.NetworkDHCP{Mode: v1alpha1.DHCPRelayOnly, Relays: relays}, nil, ""},
		"NoDHCP":    {"nobody is named", "infra", nil, nil, "machine.port needs dhcp.relays"},
		"NoRelay":   {"nor here", "infra", &v1alpha1.NetworkDHCP{}, nil, "machine.port needs dhcp.relays"},
		"Proxy":     {"another server gives the addresses", "infra", &v1alpha1.NetworkDHCP{Mode: v1alpha1.DHCPProxy, Relays: relays}, nil, "machine.port needs dhcp.mode"},
		"Off":       {"no DHCP at all", "infra", &v1alpha1.NetworkDHCP{Mode: v1alpha1.DHCPOff, Relays: relays}, nil, "machine.port needs dhcp.mode"},
		"Tenant":    {"a tenant names no place", "team", &v1alpha1.NetworkDHCP{Relays: relays}, nil, "machine.port may be set only in the BootNetwork's own namespace"},
		"TenantMAC": {"nor a MAC", "team", &v1alpha1.NetworkDHCP{Relays: relays}, []string{"52:54:00:00:00:01"}, "machine.macs may be set only in the BootNetwork's own namespace"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := Parts{Entry: &v1alpha1.BootEntry{}, Network: &v1alpha1.BootNetwork{}}
			p.Entry.Namespace, p.Network.Namespace, p.Network.Name, p.Network.Spec.DHCP = tc.namespace, "infra", "rack", tc.dhcp
			p.Entry.Spec.ForProvider.Machine = v1alpha1.MachineSelector{MACs: tc.macs, Port: &v1alpha1.SwitchPort{CircuitID: "eth0"}}
			prob := CheckRawMachine(p)
			if (prob == nil) != (tc.want == "") || prob != nil && !strings.Contains(prob.Message, tc.want) {
				t.Errorf("%s: %v", tc.reason, prob)
			}
		})
	}
}

// TestValidPort: what an API server's admission would say is said without one, too.
func TestValidPort(t *testing.T) {
	const mac = "52:54:00:00:00:01"
	port := func(circuit, remote string) *v1alpha1.SwitchPort {
		return &v1alpha1.SwitchPort{CircuitID: circuit, RemoteID: remote}
	}
	cases := map[string]struct {
		reason     string
		machine    v1alpha1.MachineSelector
		generation int64
		want       string
	}{
		"Alone":        {"a place", v1alpha1.MachineSelector{Port: port("eth0", "")}, 0, ""},
		"Beside":       {"a machine in its place", v1alpha1.MachineSelector{MACs: []string{mac}, Port: port("", "0x00ab")}, 1, ""},
		"AloneInstall": {"a place isn't installed", v1alpha1.MachineSelector{Port: port("eth0", "")}, 1, "machine.port without machine.macs installs nothing"},
		"Claim":        {"a claim's machine is its host", v1alpha1.MachineSelector{HostClaimRef: &v1alpha1.LocalReference{Name: "x"}, Port: port("eth0", "")}, 0, "exactly one of hostClaimRef and macs must be set"},
		"Empty":        {"nothing to look for", v1alpha1.MachineSelector{Port: port("", "")}, 0, "port needs a circuitID or a remoteID"},
		"Digits":       {"half an octet", v1alpha1.MachineSelector{Port: port("0xabc", "")}, 0, "a port's ids are printable ASCII, or 0x"},
		"Newline":      {"what isn't printable", v1alpha1.MachineSelector{Port: port("x", "a\nb")}, 0, "a port's ids are printable ASCII, or 0x"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := &v1alpha1.BootEntry{}
			e.Namespace, e.Name = "lab", "m1"
			p := &e.Spec.ForProvider
			p.Machine, p.ProfileRef.Name, p.Install.Generation = tc.machine, "x", tc.generation
			p.Networks = []v1alpha1.EntryNetwork{{Name: "boot", NetworkRef: v1alpha1.NamespacedReference{Name: "x"}, Addresses: []v1alpha1.EntryAddress{{Address: "10.0.0.1/24"}}}}
			var says []string
			for _, f := range ValidEntry(e) {
				says = append(says, f.Message)
			}
			if all := strings.Join(says, "; "); tc.want == "" && all != "" || !strings.Contains(all, tc.want) {
				t.Errorf("%s: %s", tc.reason, all)
			}
		})
	}
}
