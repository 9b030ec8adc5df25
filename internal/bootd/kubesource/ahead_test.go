package kubesource

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
)

func cacheReport() artifacts.Report {
	return artifacts.Report{
		Files: 1, Bytes: 2, Limit: 3, Digests: []string{"sha256:x"}, Fetching: []string{"sha256:y"},
		Failed: []artifacts.Failure{{Digest: "sha256:z", Reason: artifacts.ReasonFetch, Message: strings.Repeat("é", 300)}},
	}
}

// cacheShown is what a heartbeat says of it: no more than its schema takes.
func cacheShown() v1alpha1.BootServerCache {
	return v1alpha1.BootServerCache{
		Files: 1, SizeBytes: 2, LimitBytes: 3, Digests: []string{"sha256:x"}, Fetching: []string{"sha256:y"},
		Failed: []v1alpha1.BootServerFailure{{Digest: "sha256:z", Reason: "ArtifactUnavailable", Message: strings.Repeat("é", 256)}},
	}
}

func bootProfile(namespace, url string) *v1alpha1.BootProfile {
	return &v1alpha1.BootProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "p"},
		Spec:       v1alpha1.BootProfileSpec{Artifacts: []v1alpha1.ProfileArtifacts{{Kernel: &v1alpha1.Artifact{URL: url, Digest: "sha256:x"}}}},
	}
}

func bootNetwork(name string, change func(*v1alpha1.BootNetworkSpec)) *v1alpha1.BootNetwork {
	n := &v1alpha1.BootNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: name}}
	n.Spec.Subnets = []v1alpha1.Subnet{{CIDR: "10.77.0.0/24"}}
	if change != nil {
		change(&n.Spec)
	}
	return n
}

// TestAhead: what a tenant's profile names isn't fetched before a network that is served here lets it boot. A new state, by which it's
// fetched, is made where the files change, and not for each heartbeat that a profile's status counts.
func TestAhead(t *testing.T) {
	s := newSource(t, &log{}, &clock{now: t0()})
	s.o.Node = map[string]string{"rack": "7"}
	if s.Ahead() != nil {
		t.Error("nothing is known yet")
	}
	tb := listed(t, s, "1", nil, nil)
	elsewhere := bootNetwork("elsewhere", func(n *v1alpha1.BootNetworkSpec) {
		n.AllowedProfileNamespaces = &v1alpha1.AllowedNamespaces{From: v1alpha1.AllowedFromAll}
		n.ServeOn = []v1alpha1.ServeOn{{NodeSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"rack": "8"}}}}
	})
	opened := bootNetwork("rack", func(n *v1alpha1.BootNetworkSpec) {
		n.AllowedProfileNamespaces = &v1alpha1.AllowedNamespaces{From: v1alpha1.AllowedFromNames, Names: []string{"team"}}
	})
	for _, step := range []struct {
		reason string
		do     func(any) error
		what   any
		want   []string
		anew   bool
	}{
		{"a profile without a network", tb.profiles.Add, bootProfile("infra", "infra"), nil, false},
		{"that of its own namespace", tb.networks.Add, bootNetwork("rack", nil), []string{"infra"}, true},
		{"one that other nodes serve", tb.networks.Add, elsewhere, []string{"infra"}, true},
		{"a tenant's profile", tb.profiles.Add, bootProfile("team", "team"), []string{"infra"}, true},
		{"that is let in", tb.networks.Update, opened, []string{"infra", "team"}, true},
		{"its status alone", tb.profiles.Update, bootProfile("team", "team"), []string{"infra", "team"}, true},
		{"its status again", tb.profiles.Update, bootProfile("team", "team"), []string{"infra", "team"}, false},
		{"another file", tb.profiles.Update, bootProfile("team", "other"), []string{"infra", "other"}, true},
		{"a profile that is gone", tb.profiles.Delete, bootProfile("infra", ""), []string{"other"}, true},
		{"something else", tb.profiles.Add, bootSession("1", ""), []string{"other"}, false},
	} {
		select {
		case <-s.rebuild:
		default:
		}
		if err := step.do(step.what); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range s.Ahead() {
			got = append(got, a.URL)
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", step.reason, diff)
		}
		if anew := len(s.rebuild) > 0; anew != step.anew {
			t.Errorf("%s: a new state: %t", step.reason, anew)
		}
	}
}

// TestServedSubnets: where a machine is answered on a subnet that its network doesn't say any more, this bootd's address there is one of its own to the
// others, who would take it for a foreign server's.
func TestServedSubnets(t *testing.T) {
	s := newSource(t, &log{}, &clock{now: t0()})
	tb := listed(t, s, "7", nil, nil)
	rack := boot.Name{Namespace: "infra", Name: "rack"}
	now, before := netip.MustParsePrefix("10.87.0.0/24"), netip.MustParsePrefix("10.77.0.0/24")
	tb.networks.rows = map[boot.Name]network{rack: {segment: boot.Segment{Name: rack, Subnets: []netip.Prefix{now}}}}
	p := boot.Plan{EntryUID: "u", MACs: []boot.MAC{"52:54:00:00:00:01"}}
	p.Network.Name, p.Network.Address = rack, netip.MustParsePrefix("10.77.0.9/24")
	tb.entries.rows = map[boot.Name]boot.Plan{{Namespace: "team", Name: "web"}: p}
	is := func(when string, want ...netip.Prefix) {
		t.Helper()
		if diff := cmp.Diff(want, s.served(tb)[0].Subnets, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	is("before the first state", now)
	s.publish(tb)
	is("once it's served", now, before)
	later := netip.MustParsePrefix("10.97.0.0/24")
	tb.networks.rows[rack] = network{segment: boot.Segment{Name: rack, Subnets: []netip.Prefix{later}}}
	is("before the state knows of the next edit", later)
	s.publish(tb)
	is("and then", later, before)
}
