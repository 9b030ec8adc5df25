package netbox_test

import (
	"context"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// readyWith says that a resource is Ready with an address.
func (l *lab) readyWith(name, address string) bool {
	mg := l.get(name)
	return mg != nil && ready(mg) && mg.Status.AtProvider.Address == address
}

// pair is web-1, whose record somebody moved away from the first address of a prefix, and web-2, which was given that since.
func (l *lab) pair(change ...func(*v1alpha1.NetBoxIPAddress)) (one int64) {
	l.apply("web-1", append([]func(*v1alpha1.NetBoxIPAddress){l.ofThis}, change...)...)
	one = l.settle("web-1", ready).Status.AtProvider.ID
	first := l.get("web-1").Status.AtProvider.Address
	l.moves(one, strings.Replace(first, ".1/", ".5/", 1))
	l.apply("web-2", append([]func(*v1alpha1.NetBoxIPAddress){l.ofThis}, change...)...)
	l.settle("web-2", ready)
	l.passes(2, time.Minute, "web-1", "web-2")
	return one
}

// adoptsOlder is web-1, whose record somebody moved away from the first address, and web-2, which adopted an older one that was put there.
func (l *lab) adoptsOlder(change ...func(*v1alpha1.NetBoxIPAddress)) (one, old int64) {
	old = l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.6/29"), Status: "active"})
	l.apply("web-1", l.ofThis, regains)
	one = l.settle("web-1", ready).Status.AtProvider.ID
	l.moves(one, "10.77.0.5/29")
	l.moves(old, "10.77.0.1/29")
	l.apply("web-2", append([]func(*v1alpha1.NetBoxIPAddress){l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ForProvider.Adopt = v1alpha1.AdoptExternalName
		meta.SetExternalName(mg, strconv.FormatInt(old, 10))
	}}, change...)...)
	l.settle("web-2", ready)
	return one, old
}

// TestLaterHolder: of two that have had one address the one that was given it last is who a machine may be using it as, whatever the numbers of their
// records are, and whatever either of them went through meanwhile.
func TestLaterHolder(t *testing.T) {
	const first = "10.77.0.1/29"
	cases := map[string]struct {
		reason string
		// do what comes to both of them, and say who mustn't be Ready with the address at the end.
		do func(l *lab) (not string)
	}{
		"AdoptedOlder": {"web-2 adopted a record that is older than web-1's, and both are deleted", func(l *lab) string {
			one, old := l.adoptsOlder()
			l.netbox.RemoveAddress(one)
			l.netbox.RemoveAddress(old)
			return "web-1"
		}},
		"NumbersAnew": {"NetBox is restored to before both, and gives web-2's record a lower number than web-1's had", func(l *lab) string {
			l.netbox.AddMarkerField(field)
			before := l.netbox.Backup()
			l.apply("before", l.ofThis)
			l.settle("before", ready)
			l.delete("before")
			l.settle("before", gone)
			l.pair(regains)
			l.netbox.Restore(before)
			l.passes(6, 11*time.Minute, "web-1", "web-2")
			l.netbox.RemoveAddress(l.get("web-2").Status.AtProvider.ID)
			return "web-1"
		}},
		"BackupOfLater": {"web-1 was put back once web-2 was deleted, and web-2 comes back from a backup", func(l *lab) string {
			one := l.pair(regains)
			was := l.get("web-2")
			l.delete("web-2")
			l.passes(6, 11*time.Minute, "web-1", "web-2")
			was.UID, was.ResourceVersion = "uid-of-web-2", ""
			l.create(was)
			l.restart()
			l.passes(4, 11*time.Minute, "web-2", "web-1")
			l.netbox.RemoveAddress(one)
			l.passes(4, time.Minute, "web-2") // web-1 doesn't know of it yet.
			return "web-2"
		}},
		"Unmarked": {"the marker of web-1's record was cleared for a while, so that it said something else than Moved", func(l *lab) string {
			one := l.pair()
			marker := l.record(one).CustomFields[field]
			l.mark(one, nil)
			l.passes(1, 11*time.Minute, "web-1", "web-2")
			l.netbox.RemoveAddress(l.get("web-2").Status.AtProvider.ID)
			l.passes(1, 11*time.Minute, "web-1", "web-2")
			l.moves(one, first)
			l.mark(one, marker)
			return "web-1"
		}},
		"Observed": {"web-1 was only observed for a while", func(l *lab) string {
			one := l.pair()
			l.rewrite("web-1", observes)
			l.passes(1, 11*time.Minute, "web-1", "web-2")
			l.netbox.RemoveAddress(l.get("web-2").Status.AtProvider.ID)
			l.moves(one, first)
			l.passes(3, 11*time.Minute, "web-1", "web-2")
			if l.readyWith("web-1", first) {
				l.t.Error("it's Ready while it's only observed")
			}
			l.rewrite("web-1", manages)
			return "web-1"
		}},
		"NetBoxRestored": {"web-1 had lost its record, which is there again as NetBox was restored to before it was moved", func(l *lab) string {
			l.netbox.AddMarkerField(field)
			l.apply("web-1", l.ofThis)
			one := l.settle("web-1", ready).Status.AtProvider.ID
			before := l.netbox.Backup()
			l.moves(one, "10.77.0.5/29")
			l.apply("web-2", l.ofThis)
			l.settle("web-2", ready)
			l.netbox.RemoveAddress(one)
			l.passes(2, time.Minute, "web-1", "web-2")
			l.netbox.Restore(before)
			return "web-1"
		}},
		"ByHand": {"web-1's record is made again by hand, with its marker, where web-2 has lost its own", func(l *lab) string {
			one := l.pair()
			marker := l.record(one).CustomFields[field]
			l.netbox.RemoveAddress(one)
			l.netbox.RemoveAddress(l.get("web-2").Status.AtProvider.ID)
			l.passes(2, time.Minute, "web-1", "web-2")
			l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix(first), Status: "active", CustomFields: map[string]any{field: marker}})
			return "web-1"
		}},
		"TwoNames": {"web-2 goes by another provider config, which has another name of the same NetBox", func(l *lab) string {
			other := l.config
			other.Name, other.UID = "netbox-b", "cfg-b"
			other.Config.URL = strings.Replace(other.Config.URL, "127.0.0.1", "localhost", 1)
			l.resolve = func(_ context.Context, mg *v1alpha1.NetBoxIPAddress) (config.NetBox, error) {
				if ref := mg.GetProviderConfigReference(); ref != nil && ref.Name == other.Name {
					return other, nil
				}
				return l.config, nil
			}
			l.restart()
			l.apply("web-1", l.ofThis)
			l.moves(l.settle("web-1", ready).Status.AtProvider.ID, "10.77.0.5/29")
			l.apply("web-2", func(mg *v1alpha1.NetBoxIPAddress) {
				mg.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: other.Name}
				mg.Spec.ForProvider.Drift = v1alpha1.DriftReport
			})
			l.settle("web-2", ready)
			l.once("web-1")
			l.moves(l.get("web-2").Status.AtProvider.ID, "10.77.0.6/29")
			return "web-1"
		}},
	}
	for name, tc := range cases {
		for _, turns := range [][]string{{"web-1", "web-2"}, {"web-2", "web-1"}} {
			t.Run(name+"/"+turns[0], func(t *testing.T) {
				l := newLab(t, "4.6.8")
				not := tc.do(l)
				l.passes(8, 11*time.Minute, turns...)
				if l.readyWith(not, first) {
					t.Errorf("%s: %s is Ready with the address of another one's machine; it says %q, the other one %q", tc.reason, not, l.says("web-1"), l.says("web-2"))
				}
			})
		}
	}
}

// TestLaterHolderInALooseTable: where NetBox takes an address twice, web-1's record that was put back by hand beside web-2's isn't used, whatever web-1 said meanwhile.
func TestLaterHolderInALooseTable(t *testing.T) {
	for name, between := range map[string]func(l *lab, one int64){
		"Unmarked": func(l *lab, one int64) { l.mark(one, nil) },
		"Observed": func(l *lab, _ int64) { l.rewrite("web-1", observes) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddMarkerField(field)
			loose := l.netbox.AddVRF(netbox.VRF{Name: "loose"})
			l.netbox.AddPrefix(netbox.Prefix{Prefix: netip.MustParsePrefix("10.88.0.0/29"), VRF: loose, Status: "active"})
			one := l.pair(func(mg *v1alpha1.NetBoxIPAddress) {
				mg.Spec.ForProvider.From = []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{CIDR: "10.88.0.0/29"}}}
			})
			marker := l.record(one).CustomFields[field]
			between(l, one)
			l.passes(1, 11*time.Minute, "web-1", "web-2")
			l.moves(one, "10.88.0.1/29")
			l.mark(one, marker)
			for _, then := range []func(*v1alpha1.NetBoxIPAddress){func(*v1alpha1.NetBoxIPAddress) {}, manages} {
				l.rewrite("web-1", then)
				l.passes(4, 11*time.Minute, "web-1", "web-2")
				if l.readyWith("web-1", "10.88.0.1/29") || !l.readyWith("web-2", "10.88.0.1/29") {
					t.Errorf("web-1 says %q, web-2 %q", l.says("web-1"), l.says("web-2"))
				}
			}
		})
	}
}

// TestObservedIsNoLoss: what was only looked at isn't made again as what was lost; and what was made again is remembered, though it's only observed since.
func TestObservedIsNoLoss(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.apply("web-1", l.ofThis, regains)
	l.settle("web-1", ready)
	l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.6/29"), Status: "active"})
	l.rewrite("web-1", observes)
	l.rewrite("web-1", namedSo("2"))
	l.passes(2, time.Minute, "web-1")
	l.netbox.RemoveAddress(1)
	l.netbox.RemoveAddress(2)
	l.rewrite("web-1", manages)
	l.rewrite("web-1", namedSo("1"))
	l.passes(6, 11*time.Minute, "web-1")
	if l.readyWith("web-1", "10.77.0.6/29") {
		t.Error("it's Ready with an address that it only looked at")
	}

	again := newLab(t, "4.6.8")
	again.apply("web-1", again.ofThis, regains)
	again.settle("web-1", ready)
	again.netbox.RemoveAddress(1)
	for range 4 {
		if meta.GetExternalName(again.get("web-1")) == "2" {
			break
		}
		again.once("web-1")
	}
	again.rewrite("web-1", observes)
	again.passes(2, time.Minute, "web-1")
	again.netbox.RemoveAddress(2)
	again.restart()
	again.apply("web-2", again.ofThis)
	again.passes(6, 11*time.Minute, "web-2", "web-1")
	if again.readyWith("web-2", "10.77.0.1/29") {
		t.Error("web-2 is given what web-1's machine uses")
	}
}
