package kubesource

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
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
		},
		Mode: "Install", Method: "DiskImage", CommandLine: []string{"a"}, UserDataFormat: "CloudInit", UserDataSecret: "x", UserDataDigest: "y",
		ProfileDigest: "z", InstallGeneration: 2, Otherwise: "Hold", LocalBoot: "Exit", InstallTimeoutSeconds: 1800,
		Artifacts: []v1alpha1.PlanArtifacts{{
			Arch: "amd64", Kernel: v1alpha1.Artifact{URL: "k", Digest: "kd"}, Initrds: []v1alpha1.Artifact{{URL: "i", Digest: "id"}},
			Image: &v1alpha1.PlanImage{URL: "m", Digest: "md", Format: "Raw", Compression: "Zstd"},
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
		},
		Mode: boot.ModeInstall, Method: boot.MethodDiskImage, CommandLine: []string{"a"}, UserDataFormat: "CloudInit", UserDataSecret: "x",
		UserDataDigest: "y", ProfileDigest: "z", InstallGeneration: 2, InstalledGeneration: 1, Otherwise: boot.OtherwiseHold, LocalBoot: boot.LocalBootExit,
		InstallTimeout: 30 * time.Minute,
		Artifacts: []boot.Artifacts{{
			Arch: boot.AMD64, Kernel: boot.Artifact{URL: "k", Digest: "kd"}, Initrds: []boot.Artifact{{URL: "i", Digest: "id"}},
			Image: &boot.Image{Artifact: boot.Artifact{URL: "m", Digest: "md"}, Format: "Raw", Compression: "Zstd"},
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
		"Off":        {"nobody's", &v1alpha1.NetworkDHCP{Mode: "Off"}, nil, false, nil, "Off"},
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

func TestRecordRoundTrip(t *testing.T) {
	result := &boot.Result{GrantID: "g", Generation: 1, PlanDigest: "d", At: t0(), Message: "m"}
	want := session.Record{
		Session: boot.Session{
			OpenedGrantID: "g", Opened: []boot.Opened{{Nonce: "n", At: t0(), By: "b"}}, Acknowledged: "r", Installed: result, Failed: result,
			Consumed: &boot.Consumption{GrantID: "g", HostUID: "h", EntryUID: "e", Generation: 1, PlanDigest: "d", Nonce: "n", At: t0(), By: "b"},
		},
		Progress: session.Progress{
			Stage: boot.StageInstalled, Reason: "x", Boots: 3, Report: "y",
			Timeline: session.Timeline{DHCP: t0(), Firmware: t0(), Script: t0(), Kernel: t0(), Began: t0(), Installed: t0(), BootedFromDisk: t0()},
		},
	}
	got := RecordOf(&v1alpha1.BootSession{Status: StatusOf(want)})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	spec := RecordOf(&v1alpha1.BootSession{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web", UID: "u", ResourceVersion: "7"},
		Spec: v1alpha1.BootSessionSpec{
			EntryUID: "e", Revocation: &v1alpha1.Revocation{ID: "r"},
			Grant: &v1alpha1.Grant{ID: "g", HostUID: "h", EntryUID: "e", Generation: 1, PlanDigest: "d", Expires: metav1.NewTime(t0())},
		},
	})
	wantSpec := session.Record{Name: boot.Name{Namespace: "team", Name: "web"}, Session: boot.Session{
		UID: "u", EntryUID: "e", Revision: "7", Revocation: "r",
		Grant: &boot.Grant{ID: "g", HostUID: "h", EntryUID: "e", Generation: 1, PlanDigest: "d", Expires: t0()},
	}}
	if diff := cmp.Diff(wantSpec, spec); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
