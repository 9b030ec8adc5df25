package bootspec

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func t0() time.Time { return time.Date(2026, 8, 1, 10, 0, 0, 5000, time.UTC) }

func entry(change func(*v1alpha1.Plan)) *v1alpha1.BootEntry {
	e := &v1alpha1.BootEntry{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team", Name: "web", UID: "entry", CreationTimestamp: metav1.NewTime(t0()), DeletionTimestamp: &metav1.Time{Time: t0()},
	}}
	p := &v1alpha1.Plan{
		EntryUID: "entry", HostUID: "host", Bound: true, MACs: []string{"52-54-00-00-00-0A"}, UUID: "u", Serial: "s", Hostname: "web",
		Network: v1alpha1.PlanNetwork{
			Namespace: "infra", Name: "rack", Address: "10.77.0.11/24", Gateway: "10.77.0.1", DNS: []string{"10.77.0.2"}, NTP: []string{"10.77.0.3"},
			Domain: "example", MTU: 9000, LeaseSeconds: 60,
			Interface: &v1alpha1.EntryInterface{Addressing: "DHCP", MACs: []string{"52-54-00-00-00-0A"}, VLANID: 77, Bond: &v1alpha1.EntryBond{Mode: "LACP"}},
		},
		Mode: "Install", Method: "DiskImage", CommandLine: []string{"a"}, UserDataFormat: "CloudInit", UserDataSecret: "x", UserDataDigest: "y",
		PullSecret: "p", ProfileDigest: "z", InstallGeneration: 2, Otherwise: "Hold", LocalBoot: "Exit", FirstStage: "Shim", InstallTimeoutSeconds: 1800,
		Artifacts: []v1alpha1.PlanArtifacts{{
			Arch: "amd64", Kernel: v1alpha1.Artifact{URL: "k", Digest: "kd"}, Initrds: []v1alpha1.Artifact{{URL: "i", Digest: "id"}},
			Image:       &v1alpha1.PlanImage{URL: "m", Digest: "md", Format: "Raw", Compression: "Zstd"},
			RaspberryPi: &v1alpha1.PlanRaspberryPi{Files: []v1alpha1.PlanFile{{Name: "f", URL: "fu", Digest: "fd"}}, Config: []string{"a=b"}},
		}},
	}
	if change != nil {
		change(p)
	}
	e.Status.AtProvider.Plan, e.Status.AtProvider.InstalledGeneration = p, 1
	return e
}

func TestPlanOf(t *testing.T) {
	want := boot.Plan{
		Entry: boot.Name{Namespace: "team", Name: "web"}, EntryUID: "entry", HostUID: "host", Bound: true, Since: t0(),
		MACs: []boot.MAC{"52:54:00:00:00:0a"}, UUID: "u", Serial: "s", Hostname: "web",
		Network: boot.Network{
			Name: boot.Name{Namespace: "infra", Name: "rack"}, Address: netip.MustParsePrefix("10.77.0.11/24"),
			Gateway: netip.MustParseAddr("10.77.0.1"), DNS: []netip.Addr{netip.MustParseAddr("10.77.0.2")},
			NTP: []netip.Addr{netip.MustParseAddr("10.77.0.3")}, Domain: "example", MTU: 9000, Lease: time.Minute,
			Interface: &boot.Interface{DHCP: true, MACs: []boot.MAC{"52:54:00:00:00:0a"}, VLAN: 77, Bond: &boot.Bond{Name: "bond0", Mode: boot.BondLACP}},
		},
		Mode: boot.ModeInstall, Method: boot.MethodDiskImage, CommandLine: []string{"a"}, UserDataFormat: "CloudInit", UserDataSecret: "x",
		UserDataDigest: "y", ProfileDigest: "z", InstallGeneration: 2, InstalledGeneration: 1, Otherwise: boot.OtherwiseHold, LocalBoot: boot.LocalBootExit,
		FirstStage: boot.FirstStageShim, InstallTimeout: 30 * time.Minute,
		Artifacts: []boot.Artifacts{{
			Arch: boot.AMD64, Kernel: boot.Artifact{URL: "k", Digest: "kd", PullSecret: "p"}, Initrds: []boot.Artifact{{URL: "i", Digest: "id", PullSecret: "p"}},
			Image:       &boot.Image{Artifact: boot.Artifact{URL: "m", Digest: "md", PullSecret: "p"}, Format: "Raw", Compression: "Zstd"},
			RaspberryPi: &boot.RaspberryPi{Files: []boot.NamedArtifact{{Name: "f", Artifact: boot.Artifact{URL: "fu", Digest: "fd", PullSecret: "p"}}}, Config: []string{"a=b"}},
		}},
	}
	got, ok, err := PlanOf(entry(nil))
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); !ok || err != nil || diff != "" {
		t.Errorf("an entry that is being deleted is served still: %t %v -want +got:\n%s", ok, err, diff)
	}
	if _, ok, err := PlanOf(&v1alpha1.BootEntry{}); ok || err != nil {
		t.Errorf("an entry without a plan isn't served: %t %v", ok, err)
	}
}

func TestPlanOfRefuses(t *testing.T) {
	cases := map[string]struct {
		change func(*v1alpha1.Plan)
		says   string
	}{
		"OtherObject": {func(p *v1alpha1.Plan) { p.EntryUID = "before-the-restore" }, `"team/web" is of another object`},
		"MAC":         {func(p *v1alpha1.Plan) { p.MACs = []string{"01:00:5e:00:00:01"} }, "multicast"},
		"Address":     {func(p *v1alpha1.Plan) { p.Network.Address = "10.77.0.11" }, "isn't an address with its mask"},
		"Gateway":     {func(p *v1alpha1.Plan) { p.Network.Gateway = "x" }, `gateway "x"`},
		"DNS":         {func(p *v1alpha1.Plan) { p.Network.DNS = []string{"x"} }, `DNS server "x"`},
		"NTP":         {func(p *v1alpha1.Plan) { p.Network.NTP = []string{"x"} }, `NTP server "x"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, ok, err := PlanOf(entry(tc.change)); ok || err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%t %v, want %q", ok, err, tc.says)
			}
		})
	}
}

// TestAdvertises: what solicitations are answered with is what a network says of IPv6.
func TestAdvertises(t *testing.T) {
	n := &v1alpha1.BootNetwork{Spec: v1alpha1.BootNetworkSpec{
		MTU:     1400,
		Subnets: []v1alpha1.Subnet{{CIDR: "10.77.0.0/24", DNS: []string{"10.77.0.2"}}, {CIDR: "fd00:77::/64", DNS: []string{"fd00:77::53", "fd00:77::53"}}},
		DHCP:    &v1alpha1.NetworkDHCP{LeaseDuration: &metav1.Duration{Duration: time.Hour}},
	}}
	for says, want := range map[string]*boot.Advertisement{
		"": nil, v1alpha1.RouterSolicitationsIgnore: nil,
		v1alpha1.RouterSolicitationsAnswer: {MTU: 1400, Lease: time.Hour, DNS: []netip.Addr{netip.MustParseAddr("fd00:77::53")}},
	} {
		n.Spec.DHCP.RouterSolicitations = says
		g, _, err := SegmentOf(n, nil)
		if diff := cmp.Diff(want, g.Advertises, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); err != nil || diff != "" {
			t.Errorf("%q: %v, -want +got:\n%s", says, err, diff)
		}
	}
}

func TestSegmentOf(t *testing.T) {
	node := map[string]string{"rack": "r7"}
	r7 := &metav1.LabelSelector{MatchLabels: map[string]string{"rack": "r7"}}
	r8 := &metav1.LabelSelector{MatchLabels: map[string]string{"rack": "r8"}}
	cases := map[string]struct {
		reason     string
		dhcp       *v1alpha1.NetworkDHCP
		on         []v1alpha1.ServeOn
		served     bool
		interfaces []string
		mode       boot.SegmentMode
	}{
		"Default":    {"no serveOn: every bootd", nil, nil, true, nil, boot.SegmentAuthoritative},
		"RelayOnly":  {"as it says", &v1alpha1.NetworkDHCP{Mode: "RelayOnly"}, nil, true, nil, boot.SegmentRelayOnly},
		"Proxy":      {"beside another server", &v1alpha1.NetworkDHCP{Mode: "Proxy"}, nil, true, nil, boot.SegmentProxy},
		"Off":        {"without DHCP", &v1alpha1.NetworkDHCP{Mode: "Off"}, nil, true, nil, boot.SegmentOff},
		"Unknown":    {"of a newer version", &v1alpha1.NetworkDHCP{Mode: "Fancy"}, nil, false, nil, "Fancy"},
		"Here":       {"its node is selected", nil, []v1alpha1.ServeOn{{NodeSelector: r7, Interfaces: []string{"eth1"}}}, true, []string{"eth1"}, boot.SegmentAuthoritative},
		"Elsewhere":  {"another node is", nil, []v1alpha1.ServeOn{{NodeSelector: r8}}, false, nil, boot.SegmentAuthoritative},
		"Several":    {"interfaces add up", nil, []v1alpha1.ServeOn{{NodeSelector: r8, Interfaces: []string{"x"}}, {NodeSelector: r7, Interfaces: []string{"eth1"}}, {Interfaces: []string{"eth2"}}}, true, []string{"eth1", "eth2"}, boot.SegmentAuthoritative},
		"AllOfSome":  {"no interfaces means all", nil, []v1alpha1.ServeOn{{NodeSelector: r7, Interfaces: []string{"eth1"}}, {NodeSelector: r7}}, true, nil, boot.SegmentAuthoritative},
		"WithRelays": {"relays are prefixes", &v1alpha1.NetworkDHCP{Relays: []string{"10.77.0.1/32"}}, nil, true, nil, boot.SegmentAuthoritative},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			n := &v1alpha1.BootNetwork{Spec: v1alpha1.BootNetworkSpec{Subnets: []v1alpha1.Subnet{{CIDR: "10.77.0.0/24"}}, DHCP: tc.dhcp, ServeOn: tc.on}}
			g, served, err := SegmentOf(n, node)
			if err != nil || served != tc.served || g.Mode != tc.mode || cmp.Diff(tc.interfaces, g.Interfaces) != "" {
				t.Errorf("%s: %+v, %t, %v", tc.reason, g, served, err)
			}
		})
	}
	for _, n := range []v1alpha1.BootNetworkSpec{
		{Subnets: []v1alpha1.Subnet{{CIDR: "x"}}},
		{DHCP: &v1alpha1.NetworkDHCP{Relays: []string{"x"}}},
		{ServeOn: []v1alpha1.ServeOn{{NodeSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Operator: "x"}}}}}},
	} {
		if _, served, err := SegmentOf(&v1alpha1.BootNetwork{Spec: n}, node); served || err == nil {
			t.Errorf("%+v: %t %v", n, served, err)
		}
	}
}

// TestHostless: what machines are told of, and no host can be, is known, so that somebody can be told.
func TestHostless(t *testing.T) {
	cases := map[string]struct {
		reason string
		subnet v1alpha1.Subnet
		ntp    []string
		want   string
	}{
		"Right":      {"all of them may be hosts", v1alpha1.Subnet{CIDR: "10.77.0.0/24", Gateway: "10.77.0.254", DNS: []string{"10.88.0.255", "127.0.0.53"}, Routes: []v1alpha1.Route{{To: "10.20.0.0/16", Via: "10.77.0.2"}}}, []string{"10.77.0.2"}, ""},
		"Broadcast":  {"a router isn't everybody", v1alpha1.Subnet{CIDR: "10.77.0.0/24", Gateway: "10.77.0.255"}, nil, "10.77.0.255"},
		"Itself":     {"nor the subnet", v1alpha1.Subnet{CIDR: "10.77.0.0/24", Gateway: "10.77.0.1", Routes: []v1alpha1.Route{{To: "10.20.0.0/16", Via: "10.77.0.0"}}}, nil, "10.77.0.0"},
		"TwoOfTwo":   {"both of a link of two are hosts (RFC 3021)", v1alpha1.Subnet{CIDR: "10.77.0.0/31", Gateway: "10.77.0.1"}, nil, ""},
		"NoServer":   {"nobody has it", v1alpha1.Subnet{CIDR: "10.77.0.0/24", DNS: []string{"0.0.0.0"}}, nil, "0.0.0.0"},
		"ManyServer": {"many have it", v1alpha1.Subnet{CIDR: "fd00:77::/64", DNS: []string{"ff02::1"}}, []string{"224.0.1.1"}, "ff02::1 224.0.1.1"},
		"IPv6":       {"of IPv6 the first is the routers' together (RFC 4291 2.6.1), and link-local ones are usual", v1alpha1.Subnet{CIDR: "fd00:77::/64", Gateway: "fe80::1", DNS: []string{"fd00:77::"}}, nil, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g, _, err := SegmentOf(&v1alpha1.BootNetwork{Spec: v1alpha1.BootNetworkSpec{Subnets: []v1alpha1.Subnet{tc.subnet}, NTP: tc.ntp}}, nil)
			if got := strings.Trim(fmt.Sprint(g.Hostless), "[]"); got != tc.want || err != nil {
				t.Errorf("%s: %q, %v, want %q", tc.reason, got, err, tc.want)
			}
		})
	}
}

// TestPlanStatus: a plan that is written into a status and read from it is the same, and has the same digest.
func TestPlanStatus(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.Plan){"Image": nil, "ISO": func(p *v1alpha1.Plan) {
		p.Method, p.Artifacts = "ISO", []v1alpha1.PlanArtifacts{{Arch: "amd64", ISO: &v1alpha1.Artifact{URL: "i", Digest: "id"}}}
	}} {
		t.Run(name, func(t *testing.T) { testPlanStatus(t, entry(change)) })
	}
}

func testPlanStatus(t *testing.T, e *v1alpha1.BootEntry) {
	t.Helper()
	want, _, err := PlanOf(e)
	if err != nil {
		t.Fatal(err)
	}
	e.Status.AtProvider.Plan = PlanStatus(want)
	got, _, err := PlanOf(e)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if e.Status.AtProvider.Plan.Digest != got.Digest() {
		t.Errorf("digest %s, want %s", got.Digest(), e.Status.AtProvider.Plan.Digest)
	}
	if e.Status.AtProvider.Plan.PullSecret != "p" {
		t.Error("the passwords that its files take aren't named")
	}
}

func TestRawHostUID(t *testing.T) {
	cases := map[string]struct {
		reason string
		a, b   []string
		same   bool
	}{
		"Order":    {"in any order", []string{"52:54:00:00:00:01", "52:54:00:00:00:02"}, []string{"52:54:00:00:00:02", "52:54:00:00:00:01"}, true},
		"Spelling": {"however it's spelled", []string{"52-54-00-00-00-0A"}, []string{"52:54:00:00:00:0a"}, true},
		"Another":  {"another machine is another", []string{"52:54:00:00:00:01"}, []string{"52:54:00:00:00:02"}, false},
		"More":     {"and so is one with one NIC more", []string{"52:54:00:00:00:01"}, []string{"52:54:00:00:00:01", "52:54:00:00:00:02"}, false},
	}
	for name, tc := range cases {
		if got := RawHostUID(tc.a) == RawHostUID(tc.b); got != tc.same {
			t.Errorf("%s: %s: the same %t", name, tc.reason, got)
		}
	}
	if RawHostUID(nil) != "" {
		t.Error("no MACs, no machine")
	}
}

// TestAllocated: whoever writes an entry's address down himself isn't told about NetBox, which there needn't be.
func TestAllocated(t *testing.T) {
	cases := map[string]struct {
		reason    string
		addresses []v1alpha1.EntryAddress
		want      bool
	}{
		"Own":  {"it's written down", []v1alpha1.EntryAddress{{Address: "10.77.0.11/24"}}, false},
		"Ref":  {"NetBox gave it", []v1alpha1.EntryAddress{{Ref: &v1alpha1.LocalReference{Name: "web-1"}}}, true},
		"None": {"there's none yet", nil, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := &v1alpha1.BootEntry{}
			e.Spec.ForProvider.Networks = []v1alpha1.EntryNetwork{{Addresses: tc.addresses}}
			if got := Entry(e, nil, nil, 0).Allocated; got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}
