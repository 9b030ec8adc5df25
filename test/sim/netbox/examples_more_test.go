package netbox_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxlink"
)

// TestUnverifiedExample applies the example of a NetBox whose certificate nobody signed to each version: it serves, and the config says at what price.
func TestUnverifiedExample(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			l.netbox.AddMarkerField(field)
			l.netbox.AddCIDR("10.77.0.0/24")
			front := httptest.NewTLSServer(l.netbox)
			t.Cleanup(front.Close)
			pc, mg := configured(t, "unverified.yaml")
			l.config.Ref = config.Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: pc.GetName()}
			l.config.Config = *pc.Spec.NetBox.DeepCopy()
			l.config.Config.URL, l.config.Config.MarkerField = front.URL, field // As the API server fills it in.
			l.apply(mg.GetName(), as(mg))
			l.settle(mg.GetName(), ready)
			f := netboxlink.New(netboxlink.Options{ClusterID: clusterID, AllowLoopback: true}).Inspect(t.Context(), l.config)
			if f.Reason != "" || !strings.Contains(f.Message, "isn't verified (tls.verify: None)") {
				t.Errorf("the config says %+v", f)
			}
			l.config.Config.TLS, l.config.SecretVersion = nil, "2"
			l.apply("verifies", as(mg))
			l.settle("verifies", because(v1alpha1.ReasonUntrustedCertificate))
		})
	}
}

// TestSetAsideExample does what the example says to each version: the record of the first is deleted before the second one asks. The second gets another
// address, and the first one its own, with the very record that was set aside for it.
func TestSetAsideExample(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			l.netbox.AddCIDR("10.77.0.0/24")
			wishes := example(t, "set-aside.yaml")
			first, second := wishes[0], wishes[1]
			l.apply(first.GetName(), as(first))
			had := l.settle(first.GetName(), ready).Status.AtProvider.Address
			marker := clusterID + "/team-a/" + first.GetName() + "/uid-" + first.GetName()
			l.netbox.RemoveAddress(l.netbox.WithMarker(field, marker)[0].ID)
			l.apply(second.GetName(), as(second))
			got := l.settle(second.GetName(), ready).Status.AtProvider.Address
			if got == had || !strings.Contains(strings.Join(l.told, "\n"), "SetAside: address "+had) {
				t.Errorf("the second one got %s, the first one had %s; told %q", got, had, l.told)
			}
			aside := l.netbox.Addresses()[0]
			if note, _ := aside.CustomFields["crossplane_released"].(string); aside.Address.String() != had || aside.Status != "deprecated" || !strings.HasPrefix(note, marker+" ") {
				t.Errorf("set aside: %+v", aside)
			}
			l.once(first.GetName())
			if is := l.settle(first.GetName(), ready).Status.AtProvider; is.Address != had || is.ID != aside.ID {
				t.Errorf("the first one has %s by record %d, and had %s; record %d was set aside", is.Address, is.ID, had, aside.ID)
			}
			if all := l.netbox.Addresses(); len(all) != 2 {
				t.Errorf("NetBox has %+v", all)
			}
		})
	}
}

// TestPoliciesExample: the example of policies leaves to its namespaces what it says, and no more.
func TestPoliciesExample(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, namespace, from, dnsName, tenant string
		// has is the tenant that the address has; "" that it's NotAllowed.
		has string
	}{
		"Other":  {"no name of another zone", "team-a", "10.77.1.0/24", "www.bank.example", "", ""},
		"Theirs": {"nor of another namespace's", "team-b", "10.77.1.0/24", "db.team-a.example", "", ""},
		"Prefix": {"no other prefix", "team-b", "10.77.2.0/24", "db.team-b.example", "", ""},
		"Own":    {"what is its own, with its tenant", "team-b", "10.77.1.0/24", "db.team-b.example", "", "platform"},
		"Tenant": {"whatever its resource says", "team-a", "10.77.1.0/24", "db.team-a.example", "platform", "web"},
		"First":  {"in each of its prefixes", "team-a", "10.77.2.0/24", "", "platform", "web"},
	} {
		t.Run(name, func(t *testing.T) {
			pc, _ := configured(t, "policies.yaml")
			l := newRackLab(t, "4.6.8")
			l.config.Config.Policies, l.namespace = pc.Spec.NetBox.Policies, tc.namespace
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
				p := &mg.Spec.ForProvider
				p.From = []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{CIDR: tc.from}}}
				p.DNSName = &tc.dnsName
				if tc.tenant != "" {
					p.Tenant = &v1alpha1.SlugReference{Slug: tc.tenant}
				}
			})
			done := ready
			if tc.has == "" {
				done = because(v1alpha1.ReasonNotAllowed)
			}
			if got := l.settle("web-1", done).Status.AtProvider.Tenant; got != tc.has {
				t.Errorf("%s: tenant %q, want %q", tc.reason, got, tc.has)
			}
		})
	}
}
