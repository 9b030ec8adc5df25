package netbox_test

import (
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestTagNotForAddresses: NetBox fails over a tag that is for other things than addresses, by a 500 where it allocates. It's named as what is wrong, NetBox is
// asked ever less often for what it fails over, and when the tag is for addresses there's one record.
func TestTagNotForAddresses(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			l.netbox.AddTag(netbox.Named{Name: "Racks", Slug: "racks", ObjectTypes: []string{"dcim.rack"}})
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.Tags = []string{"racks"} })
			mg := l.settle("web-1", because(v1alpha1.ReasonInvalid))
			if m := mg.GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, `tag "racks" isn't for IP addresses`) {
				t.Errorf("what is wrong? %q", m)
			}
			for range 60 {
				l.now = l.now.Add(10 * time.Second)
				l.once("web-1")
			}
			if n := l.posts(); n > 6 { // 30 s, 1 min, 2, 4, 8.
				t.Errorf("%d POSTs in ten minutes", n)
			}
			l.delete("web-1")
			l.now = l.now.Add(5 * time.Minute)
			if n := len(l.netbox.Addresses()); n != 0 {
				t.Errorf("%d addresses were taken", n)
			}
		})
	}
}

// TestValuesOfFields: a value that a custom field doesn't take, by its pattern or its choices, is told as that, and costs no address.
func TestValuesOfFields(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			set := l.netbox.AddChoiceSet(netbox.ChoiceSet{Name: "zones", Choices: []netbox.Choice{{Value: "a", Label: "Zone A"}}})
			for name, f := range map[string]netbox.CustomField{"word": {Type: "text", Pattern: "^[a-z]+$"}, "zone": {Type: "select", ChoiceSet: set}} {
				f.Name, f.FilterLogic, f.ObjectTypes = name, "exact", []string{"ipam.ipaddress"}
				l.netbox.AddCustomField(f)
			}
			for name, says := range map[string]string{"word": `custom field "word" takes a text of the pattern that NetBox has for it`, "zone": "none of its field's choices"} {
				l.apply(name, func(mg *v1alpha1.NetBoxIPAddress) {
					mg.Spec.ForProvider.CustomFields = map[string]apiextv1.JSON{name: {Raw: []byte(`"NOPE"`)}}
				})
				mg := l.settle(name, func(mg *v1alpha1.NetBoxIPAddress) bool { return mg.GetCondition(xpv2.TypeReady).Message != "" })
				if m := mg.GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, says) {
					t.Errorf("%s: what is wrong? %q", name, m)
				}
			}
			if n := len(l.netbox.Addresses()); n != 0 {
				t.Errorf("%d addresses were taken", n)
			}
		})
	}
}

// TestSpellings: an address is the same however it's written, in the spec, its policies and its source; and what is spelled in another way
// than NetBox does is no drift.
func TestSpellings(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			l.netbox.AddCIDR("2001:db8:0:1::/64")
			l.config.Config.Policies = []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, Prefixes: []string{"2001:0DB8:0000::/48"}, DNSZones: []string{"Example"}}}
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
				p := &mg.Spec.ForProvider
				p.From, p.Address = nil, "2001:0DB8:0000:0001:0000::00A5/64"
				p.DNSName, p.Description, p.Comments = new("WEB-1.Example."), new(" a line \n"), new("some\nlines\n")
				p.Status = ""
			})
			l.still(l.settle("web-1", ready))
			l.apply("web-2", func(mg *v1alpha1.NetBoxIPAddress) {
				p := &mg.Spec.ForProvider
				p.From, p.Address, p.Adopt = nil, "2001:db8:0:1::A5/64", v1alpha1.AdoptIfUnowned
			})
			l.settle("web-2", because(v1alpha1.ReasonConflict))
			l.delete("web-2")
			l.settle("web-2", gone)
			l.apply("web-3", func(mg *v1alpha1.NetBoxIPAddress) {
				mg.Spec.ForProvider.From = []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{CIDR: "2001:0DB8:0:01::/64"}}}
			})
			mg := l.settle("web-3", ready)
			if mg.Status.AtProvider.Address != "2001:db8:0:1::1/64" {
				t.Errorf("address %q", mg.Status.AtProvider.Address)
			}
			l.still(mg)
		})
	}
}

// TestSmallest: the smallest networks give what NetBox has in them, and then say that they are full.
func TestSmallest(t *testing.T) {
	for cidr, n := range map[string]int{"10.78.0.0/31": 2, "10.78.0.8/32": 1, "2001:db8::a0/127": 2, "2001:db8::b0/128": 1} {
		for _, v := range versions() {
			t.Run(v+" "+strings.ReplaceAll(cidr, "/", "-"), func(t *testing.T) {
				l := newLab(t, v)
				l.netbox.AddCIDR(cidr)
				of := func(mg *v1alpha1.NetBoxIPAddress) {
					mg.Spec.ForProvider.From = []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{CIDR: cidr}}}
				}
				for i := range n {
					name := "web-" + string(rune('1'+i))
					l.apply(name, of)
					l.still(l.settle(name, ready))
				}
				l.apply("late", of)
				l.settle("late", because(v1alpha1.ReasonExhausted))
			})
		}
	}
}

// TestTenantOfPolicies: a tenant that NetBox lacks is blamed on whom it's of: on spec, or on the policies that set it whatever spec says.
func TestTenantOfPolicies(t *testing.T) {
	const bySpec, byPolicies = `NetBox has no tenant with slug "nope"`, `the policies of ClusterProviderConfig "netbox" give each address tenant (slug) "nope", whatever spec.forProvider says`
	for _, v := range versions() {
		for name, tc := range map[string]struct {
			reason string
			// policy is the tenant of the policies, tenant and tag what spec asks for.
			policy, tenant, tag string
			// made says that the address is there before the policies are.
			made         bool
			says, unsaid string
		}{
			"Spec":    {reason: "spec's own", tenant: "nope", says: bySpec, unsaid: "policies"},
			"Policy":  {reason: "whose namespace can't change the policies", policy: "nope", says: byPolicies, unsaid: "refuses what spec.forProvider says"},
			"Another": {reason: "what spec asks for counts for nothing then", policy: "nope", tenant: "platform", says: byPolicies, unsaid: "refuses what spec.forProvider says"},
			"Both":    {reason: "each is told what is its own", policy: "nope", tag: "nope", says: `NetBox has no tag with slug "nope", or the token may not see it; correct it, or have it made in NetBox; and ` + byPolicies, unsaid: bySpec},
			"Change":  {reason: "policies that are changed later", policy: "nope", made: true, says: byPolicies, unsaid: "refuses what spec.forProvider says"},
		} {
			t.Run(v+"/"+name, func(t *testing.T) {
				l := newRackLab(t, v)
				if tc.made {
					l.apply("web-1", func(*v1alpha1.NetBoxIPAddress) {})
					l.rest()
				}
				l.config.Config.Policies, l.config.Generation = []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, Tenant: tc.policy}}, 2
				if !tc.made {
					l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
						if tc.tenant != "" {
							mg.Spec.ForProvider.Tenant = &v1alpha1.SlugReference{Slug: tc.tenant}
						}
						if tc.tag != "" {
							mg.Spec.ForProvider.Tags = []string{tc.tag}
						}
					})
				}
				for range 3 {
					l.once("web-1")
				}
				m := l.get("web-1").GetCondition(xpv2.TypeSynced).Message
				if !strings.Contains(m, tc.says) || strings.Contains(m, tc.unsaid) {
					t.Errorf("%s: it says %q, want %q and no %q", tc.reason, m, tc.says, tc.unsaid)
				}
			})
		}
	}
}
