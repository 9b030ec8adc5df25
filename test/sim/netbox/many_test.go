package netbox_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// byRole asks for an address of any prefix of a role.
func byRole(role string) func(*v1alpha1.NetBoxIPAddress) {
	return func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ForProvider.From = []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{Filter: &v1alpha1.PrefixFilter{Role: role}}}}
	}
}

// TestManyFullPrefixes: of hundreds of full prefixes that a filter finds each is asked once, a few by each try; then the one behind them is found,
// and asked alone, until it's full, too; then nobody asks any more, and what is freed is given to who waits.
func TestManyFullPrefixes(t *testing.T) {
	const full, most = 300, 16
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			l.netbox.AddMarkerField(field)
			role := l.netbox.AddRole(netbox.Named{Name: "many", Slug: "many"})
			var first int64
			for i := range full {
				p := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 100, byte(i / 64), byte(i % 64 * 4)}), 32)
				l.netbox.AddPrefix(netbox.Prefix{Prefix: p, Role: role})
				if id := l.netbox.AddAddress(netbox.Address{Address: p}); i == 0 {
					first = id
				}
			}
			l.netbox.AddPrefix(netbox.Prefix{Prefix: netip.MustParsePrefix("10.101.0.0/31"), Role: role})
			until := func(name string, tries int, is func(*v1alpha1.NetBoxIPAddress) bool) (posts int) {
				t.Helper()
				l.apply(name, byRole("many"))
				for range tries {
					before := l.posts()
					l.once(name)
					if n := l.posts() - before; n > most {
						t.Errorf("%d POSTs by one look", n)
					}
					posts += l.posts() - before
					if is(l.get(name)) {
						return posts
					}
				}
				t.Fatalf("%s after %d looks: %+v", name, tries, l.get(name).Status.Conditions)
				return 0
			}
			if n := until("web-1", full/most+4, ready); n != full+1 {
				t.Errorf("the first one: %d POSTs", n)
			}
			l.now = l.now.Add(time.Minute)
			if n := until("web-2", 4, ready); n != 1 {
				t.Errorf("the second one: %d POSTs", n)
			}
			l.now = l.now.Add(time.Minute)
			if n := until("web-3", 4, because(v1alpha1.ReasonExhausted)); n > 1 {
				t.Errorf("one that there's no address for: %d POSTs", n)
			}
			posts := l.posts()
			for range 10 {
				l.now = l.now.Add(20 * time.Second)
				l.once("web-3")
			}
			if l.posts() != posts {
				t.Errorf("%d POSTs of one that waits", l.posts()-posts)
			}
			l.netbox.RemoveAddress(first)
			for range full { // No keeper looks here: the resource does, at a few of them each time.
				l.now = l.now.Add(20 * time.Second)
				if l.once("web-3"); ready(l.get("web-3")) {
					break
				}
			}
			if a := l.get("web-3").Status.AtProvider.Address; a != "10.100.0.0/32" || l.posts() != posts+1 {
				t.Errorf("what was freed: got %q by %d POSTs", a, l.posts()-posts)
			}
		})
	}
}
