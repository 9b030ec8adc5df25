package netbox_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestPoolsOnInterfaces: NetBox puts a pool's first address on no interface, and says so by no more than that a rule is against it.
func TestPoolsOnInterfaces(t *testing.T) {
	for _, v := range versions() {
		for pool, words := range map[string]string{
			"10.79.0.0/29":     `the next free address of prefix "10.79.0.0/29" of the global table is "10.79.0.0/29", a network address`,
			"2001:db8:79::/64": `is "2001:db8:79::/64", a network address`,
		} {
			t.Run(v+"/"+pool, func(t *testing.T) {
				l := newRackLab(t, v)
				l.netbox.AddPrefix(netbox.Prefix{Prefix: netip.MustParsePrefix(pool), IsPool: true})
				l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
					on(device(v1alpha1.UseAdditional))(&mg.Spec.ForProvider)
					mg.Spec.ForProvider.From = []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{CIDR: pool}}}
				})
				l.once("web-1")
				l.once("web-1")
				mg := l.settle("web-1", because(v1alpha1.ReasonInvalid))
				if m := mg.GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, words) {
					t.Errorf("got %q, want %q", m, words)
				}
				l.apply("web-2", func(mg *v1alpha1.NetBoxIPAddress) { // It's known by then.
					on(device(v1alpha1.UseAdditional))(&mg.Spec.ForProvider)
					mg.Spec.ForProvider.From = []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{CIDR: pool}}}
				})
				if m := l.settle("web-2", because(v1alpha1.ReasonInvalid)).GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, words) {
					t.Errorf("another one: got %q, want %q", m, words)
				}
				l.delete("web-2")
				l.settle("web-2", gone)
				if n := l.posts(); n != 1 || len(l.netbox.Addresses()) != 0 {
					t.Errorf("%d POSTs, and NetBox has %+v", n, l.netbox.Addresses())
				}
				l.edit(func(p *v1alpha1.NetBoxIPAddressParameters) {
					p.From = append(p.From, v1alpha1.AddressSource{Prefix: &v1alpha1.PrefixSource{CIDR: "10.77.0.0/29"}})
				})
				mg = l.rest()
				if s := mg.Status.AtProvider.Sources; mg.Status.AtProvider.Address != "10.77.0.1/29" || len(s) != 2 || !strings.Contains(s[0].Message, words) {
					t.Errorf("the next source serves: %+v", mg.Status.AtProvider)
				}
				if got := l.standing(); got != "dcim.interface 1" {
					t.Errorf("it's %q", got)
				}
				l.still(mg)
			})
		}
	}
}

// TestEdgesOnInterfaces: a fixed address of a network's own isn't even asked for, and one that is there stays where it is.
func TestEdgesOnInterfaces(t *testing.T) {
	for _, v := range versions() {
		for _, address := range []string{"10.77.1.0/24", "10.77.1.255/24", "2001:db8:77::/64"} {
			t.Run(v+"/"+address, func(t *testing.T) {
				l := newRackLab(t, v)
				fixed := func(mg *v1alpha1.NetBoxIPAddress) {
					mg.Spec.ForProvider.From, mg.Spec.ForProvider.Address = nil, address
				}
				l.apply("web-0", fixed, func(mg *v1alpha1.NetBoxIPAddress) { on(device(v1alpha1.UsePrimary))(&mg.Spec.ForProvider) })
				before := l.netbox.Writes()
				mg := l.settle("web-0", because(v1alpha1.ReasonInvalid))
				if m := mg.GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, "which NetBox puts on no interface") || l.netbox.Writes() != before {
					t.Errorf("%d writes: %q", l.netbox.Writes()-before, m)
				}
				l.apply("web-1", fixed)
				l.rest()
				l.edit(on(device(v1alpha1.UsePrimary)))
				refused := func(mg *v1alpha1.NetBoxIPAddress) bool {
					return strings.Contains(mg.GetCondition(xpv2.TypeSynced).Message, "which NetBox puts on no interface")
				}
				if mg := l.settle("web-1", refused); !ready(&v1alpha1.NetBoxIPAddress{ObjectMeta: mg.ObjectMeta, Status: synced(mg).Status}) {
					t.Errorf("its owner has it all the same: %+v", mg.Status)
				}
			})
		}
	}
}

// synced is a resource but for what Synced says.
func synced(mg *v1alpha1.NetBoxIPAddress) *v1alpha1.NetBoxIPAddress {
	out := mg.DeepCopy()
	out.SetConditions(xpv2.ReconcileSuccess())
	return out
}

// TestInsidePopulated: a range that is marked as populated takes no record, which isn't to say that another one has the address.
func TestInsidePopulated(t *testing.T) {
	for _, v := range []string{"4.4.10", "4.6.8", "4.7.0-beta1"} {
		t.Run(v, func(t *testing.T) {
			l := newRackLab(t, v)
			l.netbox.AddRange(netbox.Range{Start: netip.MustParsePrefix("10.77.2.40/24"), End: netip.MustParsePrefix("10.77.2.60/24"), MarkPopulated: true})
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
				mg.Spec.ForProvider.From, mg.Spec.ForProvider.Address = nil, "10.77.2.50/24"
			})
			l.once("web-1")
			mg := l.settle("web-1", because(v1alpha1.ReasonConflict))
			want := `NetBox doesn't take address "10.77.2.50/24": it is inside range "10.77.2.40-10.77.2.60/24" of the global table, which is marked as populated`
			if m := mg.GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, want) {
				t.Errorf("got %q, want %q", m, want)
			}
		})
	}
}

// TestTakenSaysWhere: who asks for an address that a machine has is told which, and where its page is.
func TestTakenSaysWhere(t *testing.T) {
	l := newRackLab(t, "4.6.8")
	l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.2.50/24"), Assigned: netbox.Object{Type: "dcim.interface", ID: 1}})
	l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ForProvider.From, mg.Spec.ForProvider.Address = nil, "10.77.2.50/24"
	})
	m := l.settle("web-1", because(v1alpha1.ReasonConflict)).GetCondition(xpv2.TypeReady).Message
	_, rest, ok := strings.Cut(m, `(record 1 of somebody else, on interface "eno1" of device "r7-u12": `)
	page, _, _ := strings.Cut(rest, ")")
	if !ok || page != strings.TrimSuffix(l.netbox.URL(), "/")+"/ipam/ip-addresses/1/" {
		t.Errorf("%s", m)
	}
	for _, r := range l.netbox.Requests() {
		if r.Method != http.MethodGet && strings.Contains(r.Path, "ip-addresses") {
			t.Errorf("%s %s", r.Method, r.Path)
		}
	}
}
