package netbox_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// lose has web-1 made and seen, and its record deleted in NetBox; without says that its status goes, too.
func (l *lab) lose(without bool) {
	l.t.Helper()
	l.maxAge = 2 * time.Minute
	l.restart()
	l.apply("web-1")
	l.settle("web-1", ready)
	rackLab{l}.rest()
	l.netbox.RemoveAddress(l.netbox.WithMarker(field, clusterID+"/team-a/web-1/uid-web-1")[0].ID)
	if !without {
		return
	}
	mg := l.get("web-1")
	mg.Status = v1alpha1.NetBoxIPAddressStatus{}
	if err := l.kube.Status().Update(l.t.Context(), mg); err != nil {
		l.t.Fatal(err)
	}
}

// made is how many addresses NetBox was asked to make, wherever.
func (l *lab) made() int {
	n := 0
	for _, r := range l.netbox.Requests() {
		if r.Method == http.MethodPost && (strings.HasSuffix(r.Path, "/available-ips/") || strings.HasSuffix(r.Path, "/ip-addresses/")) {
			n++
		}
	}
	return n
}

// TestDisplacedWithoutStatus: the record of an address is deleted whose resource's status is lost, and another one asks: only what the connection has
// seen tells whose it was, which it does once. The provider is killed in the worst moment, and looks on.
func TestDisplacedWithoutStatus(t *testing.T) {
	same := func(*v1alpha1.NetBoxIPAddressParameters) {}
	fixed := func(p *v1alpha1.NetBoxIPAddressParameters) { p.From, p.Address = nil, "10.77.0.1/29" }
	for name, tc := range map[string]struct {
		other func(*v1alpha1.NetBoxIPAddressParameters)
		crash string
		want  string
	}{
		"Lives":       {same, "", "10.77.0.2/29"},
		"Killed":      {same, "netbox-after-allocate", "10.77.0.2/29"},
		"Fixed":       {fixed, "", ""},
		"FixedAdopts": {func(p *v1alpha1.NetBoxIPAddressParameters) { fixed(p); p.Adopt = v1alpha1.AdoptIfUnowned }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.lose(true)
			l.apply("web-2", func(mg *v1alpha1.NetBoxIPAddress) { tc.other(&mg.Spec.ForProvider) })
			if l.crash = tc.crash; tc.crash != "" {
				killed := l.once("web-2") // At its first look, or at the one that follows.
				if !killed && !l.once("web-2") {
					t.Fatal("it wasn't killed")
				}
				l.crash = ""
			}
			for range 8 {
				l.once("web-2")
				l.now = l.now.Add(time.Minute)
			}
			if mg := l.get("web-2"); mg.Status.AtProvider.Address != tc.want || ready(mg) != (tc.want != "") {
				t.Errorf("web-2 has %q, want %q: %+v", mg.Status.AtProvider.Address, tc.want, mg.Status.Conditions)
			}
			aside := slices.ContainsFunc(l.netbox.Addresses(), func(a netbox.Address) bool {
				note, _ := a.CustomFields["crossplane_released"].(string)
				return a.Address.String() == "10.77.0.1/29" && a.Status == "deprecated" && strings.HasPrefix(note, clusterID+"/team-a/web-1/uid-web-1 ")
			})
			if aside != (tc.want != "") {
				t.Errorf("set aside: %v, %+v", aside, l.netbox.Addresses())
			}
			if tc.want == "" {
				l.notMade("web-2", "may be using it")
			}
			t.Log(faultRow("a record is deleted in NetBox whose resource has lost its status, and another asks: "+name, 1, 1))
		})
	}
}

// TestAdoptsWhatIsLost: who would take over whatever has an address doesn't make it anew, either, where that was another's: NetBox isn't asked for it, and
// it's had back.
func TestAdoptsWhatIsLost(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.lose(false)
	made := l.made()
	l.apply("web-2", func(mg *v1alpha1.NetBoxIPAddress) {
		p := &mg.Spec.ForProvider
		p.From, p.Address, p.Adopt = nil, "10.77.0.1/29", v1alpha1.AdoptIfUnowned
	})
	for range 6 {
		l.once("web-2")
		l.now = l.now.Add(time.Minute)
	}
	if n := l.made() - made; n != 0 {
		t.Errorf("NetBox was asked for %d", n)
	}
	l.notMade("web-2", "may be using it")
	l.restore()
	t.Log(faultRow("a record is deleted in NetBox, and another would adopt its address", 1, 1))
}

// restore holds that web-1 has its address back, as it was.
func (l *lab) restore() netbox.Address {
	l.t.Helper()
	const address = "10.77.0.1/29"
	l.edit(func(p *v1alpha1.NetBoxIPAddressParameters) {
		p.WhenLost, p.Drift = v1alpha1.LostRestore, v1alpha1.DriftReport
	})
	l.once("web-1")
	mg := l.settle("web-1", ready)
	is := l.netbox.WithMarker(field, clusterID+"/team-a/web-1/uid-web-1")
	if len(is) != 1 || is[0].Address.String() != address || mg.Status.AtProvider.Address != address {
		l.t.Fatalf("web-1 says %+v, and has %+v", mg.Status.AtProvider, is)
	}
	return is[0]
}

// TestSetAsideIsBare: nothing of what one tenant wrote stays on an address that is set aside for another one, which has it back with the mask it had.
func TestSetAsideIsBare(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddCIDR("10.77.0.0/28")
	l.netbox.AddTenant(netbox.Named{Name: "Blue", Slug: "blue"})
	l.netbox.AddTag(netbox.Named{Name: "Prod", Slug: "prod"})
	l.netbox.AddCustomField(netbox.CustomField{Name: "purpose", Type: "text", ObjectTypes: []string{"ipam.ipaddress"}})
	l.lose(false)
	l.apply("web-2", func(mg *v1alpha1.NetBoxIPAddress) {
		p := &mg.Spec.ForProvider
		p.From[0].Prefix.CIDR = "10.77.0.0/28"
		p.Description, p.Comments, p.Role, p.Tenant = new("secret"), new("secret"), new("loopback"), &v1alpha1.SlugReference{Slug: "blue"}
		p.Tags, p.CustomFields = []string{"prod"}, map[string]apiextv1.JSON{"purpose": {Raw: []byte(`"secret"`)}}
	})
	if mg := l.settle("web-2", ready); mg.Status.AtProvider.Address != "10.77.0.2/28" {
		t.Fatalf("web-2 has %+v", mg.Status.AtProvider)
	}
	bare := func(a netbox.Address) {
		t.Helper()
		if a.Description != "" || a.Comments != "" || a.Role != "" || a.Tenant != 0 || len(a.Tags) != 0 || a.CustomFields["purpose"] != nil {
			t.Errorf("it says %+v", a)
		}
	}
	i := slices.IndexFunc(l.netbox.Addresses(), func(a netbox.Address) bool { return a.Address.String() == "10.77.0.1/28" && a.Status == "deprecated" })
	if i < 0 {
		t.Fatalf("nothing is set aside: %+v", l.netbox.Addresses())
	}
	bare(l.netbox.Addresses()[i])
	bare(l.restore())
	t.Log(faultRow("an address is set aside that another tenant's request made", 1, 1))
}

// TestRestoredWhole: an address that was set aside for who lost it comes back with all that spec asks for: what it lost there is nobody's change, and
// isn't left out where changes are only reported.
func TestRestoredWhole(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			l.netbox.AddTag(netbox.Named{Name: "Nodes", Slug: "nodes"})
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
				p := &mg.Spec.ForProvider
				p.WhenLost, p.Drift, p.DNSName, p.Tags, p.Description = v1alpha1.LostRestore, v1alpha1.DriftReport, new("web-1.example"), []string{"nodes"}, new("ours")
			})
			l.settle("web-1", ready)
			was := l.only()
			l.netbox.RemoveAddress(was.ID)
			l.apply("web-2")
			l.settle("web-2", ready)
			mg := l.settle("web-1", func(mg *v1alpha1.NetBoxIPAddress) bool { return ready(mg) && mg.Status.AtProvider.ID != was.ID })
			all := l.netbox.WithMarker(field, clusterID+"/team-a/web-1/uid-web-1")
			if len(all) != 1 || all[0].Address != was.Address || all[0].DNSName != was.DNSName || all[0].Description != was.Description || len(all[0].Tags) != 1 || all[0].Status != "active" {
				t.Errorf("it's %+v, and was %+v", all, was)
			}
			if len(mg.Status.AtProvider.Drift) != 0 || slices.ContainsFunc(l.told, func(s string) bool { return strings.HasPrefix(s, "Drift") }) {
				t.Errorf("%+v, told %q", mg.Status.AtProvider.Drift, l.told)
			}
			l.still(mg)
		})
	}
}

// TestRestoredWithoutTag: it comes back also where NetBox has no such tag as spec asks for by now: that is said then, and isn't anybody's change, also
// where those are only reported.
func TestRestoredWithoutTag(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			tag := l.netbox.AddTag(netbox.Named{Name: "Nope", Slug: "nope"})
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
				p := &mg.Spec.ForProvider
				p.WhenLost, p.Drift, p.Tags = v1alpha1.LostRestore, v1alpha1.DriftReport, []string{"nope"}
			})
			l.settle("web-1", ready)
			was := l.only()
			l.netbox.RenameTag(tag, "yes")
			l.netbox.RemoveAddress(was.ID)
			l.apply("web-2")
			l.settle("web-2", ready)
			for range 4 {
				l.once("web-1")
			}
			all := l.netbox.WithMarker(field, clusterID+"/team-a/web-1/uid-web-1")
			if len(all) != 1 || all[0].Address != was.Address || all[0].Status != "active" {
				t.Errorf("it's %+v, and was %+v", all, was)
			}
			mg := l.get("web-1")
			if says := mg.GetCondition(xpv2.TypeReady).Message + mg.GetCondition(xpv2.TypeSynced).Message; !strings.Contains(says, `no tag with slug "nope"`) || mg.Status.AtProvider.Address != was.Address.String() {
				t.Errorf("it says %q, of %q", says, mg.Status.AtProvider.Address)
			}
			if len(mg.Status.AtProvider.Drift) != 0 || mg.Status.AtProvider.AppliedGeneration != 0 || slices.ContainsFunc(l.told, func(s string) bool { return strings.HasPrefix(s, "Drift") }) {
				t.Errorf("it says that somebody changed it: %+v, %q", mg.Status.AtProvider.Drift, l.told)
			}
		})
	}
}
