package netbox_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// These are complaints of people who use netbox-operator, as docs/netbox-operator.md lists them, for which no other test was there.

// TestOneAddressTwoResources: two resources that want the same fixed address don't share a record, and the deletion of one takes nothing
// from the other.
func TestOneAddressTwoResources(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			same := func(mg *v1alpha1.NetBoxIPAddress) {
				mg.Spec.ForProvider.From, mg.Spec.ForProvider.Address = nil, "10.77.0.5/29"
			}
			l.apply("web-1", same)
			l.settle("web-1", ready)
			l.apply("web-2", same)
			mg := l.settle("web-2", because(v1alpha1.ReasonConflict))
			if m := mg.GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, "of another resource of this cluster") {
				t.Errorf("whose is it? %q", m)
			}
			l.delete("web-2")
			l.settle("web-2", gone)
			l.only() // web-1's
			l.apply("web-3", same)
			l.settle("web-3", because(v1alpha1.ReasonConflict))
			l.remove()
			l.settle("web-1", gone)
			l.now = l.now.Add(11 * time.Minute)
			l.settle("web-3", ready)
		})
	}
}

// TestTenantComesLater: a tenant that doesn't exist costs no address, is named as what is wrong, and when somebody makes it the address is
// taken.
func TestTenantComesLater(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
				mg.Spec.ForProvider.Tenant = &v1alpha1.SlugReference{Slug: "later"}
			})
			mg := l.settle("web-1", because(v1alpha1.ReasonInvalid))
			if m := mg.GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, `no tenant with slug "later"`) || strings.Contains(m, "prefix") {
				t.Errorf("what is wrong? %q", m)
			}
			if n := len(l.netbox.Addresses()); n != 0 {
				t.Errorf("%d addresses were taken", n)
			}
			id := l.netbox.AddTenant(netbox.Named{Name: "Later", Slug: "later"})
			l.now = l.now.Add(11 * time.Minute)
			l.settle("web-1", ready)
			if a := l.only(); a.Tenant != id {
				t.Errorf("record %+v", a)
			}
		})
	}
}

// TestTypedCustomFields: values of custom fields have the types that NetBox gave the fields.
func TestTypedCustomFields(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			set := l.netbox.AddChoiceSet(netbox.ChoiceSet{Name: "zones", Choices: []netbox.Choice{{Value: "a", Label: "Zone A"}}})
			for name, f := range map[string]netbox.CustomField{"vlan": {Type: "integer"}, "spare": {Type: "boolean"}, "zone": {Type: "select", ChoiceSet: set}} {
				f.Name, f.FilterLogic, f.ObjectTypes = name, "exact", []string{"ipam.ipaddress"}
				l.netbox.AddCustomField(f)
			}
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
				mg.Spec.ForProvider.CustomFields = map[string]apiextv1.JSON{"vlan": {Raw: []byte("77")}, "spare": {Raw: []byte("false")}, "zone": {Raw: []byte(`"a"`)}}
			})
			mg := l.settle("web-1", ready)
			a := l.only()
			if got := fmt.Sprintf("%v %v %v", a.CustomFields["vlan"], a.CustomFields["spare"], a.CustomFields["zone"]); got != "77 false a" {
				t.Errorf("record %+v", a.CustomFields)
			}
			l.still(mg)
		})
	}
}

// TestTableOfThePrefix: an address is in the VRF of the prefix that it's from, also where another VRF has a prefix with the same CIDR.
func TestTableOfThePrefix(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			first, second := l.netbox.AddVRF(netbox.VRF{Name: "first"}), l.netbox.AddVRF(netbox.VRF{Name: "second"})
			for _, vrf := range []int64{first, second} {
				l.netbox.AddPrefix(netbox.Prefix{Prefix: netip.MustParsePrefix("10.80.0.0/29"), VRF: vrf})
			}
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
				mg.Spec.ForProvider.From = []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{CIDR: "10.80.0.0/29", VRF: &v1alpha1.VRFSelector{Name: "second"}}}}
			})
			mg := l.settle("web-1", ready)
			if a := l.only(); a.VRF != second || mg.Status.AtProvider.VRF == nil || mg.Status.AtProvider.VRF.Name != "second" {
				t.Errorf("record %+v, status %+v", a, mg.Status.AtProvider)
			}
		})
	}
}

// TestContestedResource: whoever changes the resource at the same moment costs a look, and no second address, wherever that is on the way.
func TestContestedResource(t *testing.T) {
	for n := range 3 { // TestLife counts the changes.
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.apply("web-1")
			for range 6 {
				if l.changes == n {
					l.contested = 1
				}
				_, err := l.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team-a", Name: "web-1"}})
				if err != nil && !kerrors.IsConflict(err) {
					t.Fatal(err)
				}
			}
			l.contested = 0
			mg := l.settle("web-1", ready)
			l.only()
			if l.posts() != 1 {
				t.Errorf("%d POSTs", l.posts())
			}
			if c := mg.GetCondition(xpv2.TypeSynced); strings.Contains(c.Message, "modified") {
				t.Errorf("it's said on the resource: %q", c.Message)
			}
		})
	}
}
