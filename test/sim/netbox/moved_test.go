package netbox_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// given asks for one fixed address.
func given(mg *v1alpha1.NetBoxIPAddress) {
	mg.Spec.ForProvider.From, mg.Spec.ForProvider.Address = nil, "10.77.0.1/29"
}

// TestMovedByPeople: alice gives a record another address, or VRF, on each version. It's put back where that's asked for and nobody else has
// the address by now; else the resource isn't Ready and says so. What its status says of the address stays, and the look at all records
// is enough to see it.
func TestMovedByPeople(t *testing.T) {
	moves := map[string]func(a *netbox.Address, vrf int64){
		"Address": func(a *netbox.Address, _ int64) { a.Address = netip.MustParsePrefix("10.77.0.5/29") },
		"VRF":     func(a *netbox.Address, vrf int64) { a.VRF = vrf },
	}
	wishes := map[string]func(*v1alpha1.NetBoxIPAddress){"From": func(*v1alpha1.NetBoxIPAddress) {}, "Fixed": given}
	for _, v := range versions() {
		for move, change := range moves {
			for wish, ask := range wishes {
				for _, drift := range []v1alpha1.DriftPolicy{v1alpha1.DriftCorrect, v1alpha1.DriftReport} {
					t.Run(strings.Join([]string{v, move, wish, string(drift)}, "/"), func(t *testing.T) {
						l := newLab(t, v)
						l.maxAge = time.Minute
						l.restart()
						vrf := l.netbox.AddVRF(netbox.VRF{Name: "prod"})
						l.apply("web-1", ask, func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.Drift = drift })
						l.settle("web-1", ready)
						before := l.only()
						l.now = l.now.Add(2 * time.Minute)
						l.netbox.ChangeAddressAs("alice", before.ID, func(a *netbox.Address) { change(a, vrf) })
						l.once("web-1")
						mg, a := l.get("web-1"), l.only()
						if o := mg.Status.AtProvider; o.Address != "10.77.0.1/29" || o.VRF != nil || len(l.told) != 1 || !strings.Contains(l.told[0], `"alice"`) {
							t.Errorf("status %+v, told %q", o, l.told)
						}
						c := mg.GetCondition(xpv2.TypeReady)
						if drift == v1alpha1.DriftCorrect {
							if a.Address != before.Address || a.VRF != 0 || !ready(mg) || !strings.HasPrefix(l.told[0], "DriftCorrected: ") {
								t.Errorf("the record is %+v, %+v, told %q", a, c, l.told)
							}
							return
						}
						if c.Reason != v1alpha1.ReasonMoved || !strings.Contains(c.Message, `(changed by "alice"`) || a.Address == before.Address && a.VRF == 0 || !strings.HasPrefix(l.told[0], "Moved: ") {
							t.Errorf("the record is %+v, %+v, told %q", a, c, l.told)
						}
						l.still(mg)
						l.remove()
						l.stuck(a)
						if wish == "From" {
							l.netbox.ChangeAddressAs("alice", a.ID, func(a *netbox.Address) { a.Address, a.VRF = before.Address, before.VRF })
						} else {
							mg := l.get("web-1")
							mg.Spec.ForProvider.Release = &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseKeep}
							if err := l.kube.Update(t.Context(), mg); err != nil {
								t.Fatal(err)
							}
						}
						l.settle("web-1", gone)
						if all := l.netbox.Addresses(); (wish == "From") != (len(all) == 0) || len(l.netbox.Markers(field)) != 0 || wish == "Fixed" && all[0].Address != a.Address {
							t.Errorf("left behind: %+v", all)
						}
					})
				}
			}
		}
	}
}

// stuck holds that web-1, which is being deleted, doesn't release its record, which somebody moved, and says so in Synced and by an event.
func (l *lab) stuck(is netbox.Address) {
	l.t.Helper()
	writes := l.netbox.Writes()
	l.said = nil
	for range 3 {
		l.once("web-1")
	}
	const says = `(changed by "alice"`
	mg := l.get("web-1")
	c, told := mg.GetCondition(xpv2.TypeSynced), strings.Join(l.said, "\n")
	if c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, says) || !strings.Contains(told, "CannotDeleteExternalResource: ") || !strings.Contains(told, says) {
		l.t.Errorf("%+v, said %s", c, told)
	}
	if a := l.only(); l.netbox.Writes() != writes || a.Address != is.Address || a.VRF != is.VRF {
		l.t.Errorf("%d writes, it's %+v", l.netbox.Writes()-writes, a)
	}
}

// TestMovedAndTaken: the next one has got the address meanwhile. Neither loses its record, and the first says who has it; when that goes, the
// record goes back. In a table that takes two the address isn't doubled either, and one that our token doesn't see is found by NetBox's refusal.
func TestMovedAndTaken(t *testing.T) {
	for _, v := range versions() {
		for _, table := range []string{"Global", "Loose", "Hidden"} {
			t.Run(v+"/"+table, func(t *testing.T) {
				l := newLab(t, v)
				prefix := v1alpha1.PrefixSource{CIDR: "10.77.0.0/29"}
				if table == "Loose" {
					vrf := l.netbox.AddVRF(netbox.VRF{Name: "loose"})
					l.netbox.AddPrefix(netbox.Prefix{Prefix: netip.MustParsePrefix("10.88.0.0/29"), VRF: vrf, Status: "active"})
					prefix.CIDR = "10.88.0.0/29"
				}
				from := func(mg *v1alpha1.NetBoxIPAddress) {
					mg.Spec.ForProvider.From = []v1alpha1.AddressSource{{Prefix: &prefix}}
				}
				l.apply("web-1", from)
				l.settle("web-1", ready)
				home := l.only()
				l.netbox.ChangeAddressAs("alice", home.ID, func(a *netbox.Address) { a.Address = netip.PrefixFrom(a.Address.Addr().Next().Next().Next(), 29) })
				next := home
				next.ID, next.CustomFields, next.Description = 0, nil, "the next one's"
				thief := l.netbox.AddAddress(next)
				if table == "Hidden" {
					l.netbox.RemoveToken(secret)
					l.netbox.AddToken(netbox.Token{Secret: secret, Rights: []string{
						"view prefix", "view ipaddress", "add ipaddress", "change ipaddress", "delete ipaddress", "view customfield", "view objectchange",
					}, Sees: func(a netbox.Address) bool { return a.ID != thief }})
				}
				mg := l.settle("web-1", because(v1alpha1.ReasonMoved))
				want := "has the address by now"
				if table == "Hidden" {
					want = "NetBox refuses to have it put back"
				}
				if c := mg.GetCondition(xpv2.TypeReady); !strings.Contains(c.Message, want) || mg.Status.AtProvider.Address != home.Address.String() {
					t.Errorf("%+v, status %+v", c, mg.Status.AtProvider)
				}
				writes := l.netbox.Writes()
				for range 3 {
					l.once("web-1")
				}
				if l.netbox.Writes() != writes || len(l.netbox.Addresses()) != 2 {
					t.Errorf("%d writes, records %+v", l.netbox.Writes()-writes, l.netbox.Addresses())
				}
				l.netbox.RemoveAddress(thief)
				l.now = l.now.Add(time.Minute)
				l.settle("web-1", ready)
				if a := l.only(); a.Address != home.Address || a.VRF != home.VRF {
					t.Errorf("it's %+v", a)
				}
			})
		}
	}
}

// TestMovedMeanwhile: what alice changes in the middle of putting back isn't overwritten, and an answer that is lost changes nothing.
func TestMovedMeanwhile(t *testing.T) {
	for _, v := range versions() {
		for _, k := range []netbox.FaultKind{netbox.FaultEOFAfter, netbox.FaultErrorAfter, netbox.FaultDisconnect} {
			t.Run(v+"/"+string(k), func(t *testing.T) {
				l := newLab(t, v)
				l.apply("web-1")
				l.settle("web-1", ready)
				l.netbox.ChangeAddressAs("alice", l.only().ID, func(a *netbox.Address) {
					a.Address, a.Description = netip.MustParsePrefix("10.77.0.5/29"), "hers"
				})
				l.netbox.Inject(netbox.Fault{Kind: k, Method: http.MethodPatch, Times: 1})
				l.once("web-1")
				l.settle("web-1", ready)
				if a := l.only(); a.Address.String() != "10.77.0.1/29" || a.Description != "hers" {
					t.Errorf("it's %+v", a)
				}
			})
		}
	}
}

// TestHeldWithoutLateInitialize: managementPolicies without LateInitialize keep the number of a record that was found out of the annotations. A
// loss is held all the same, and steady looks cost no request for each.
func TestHeldWithoutLateInitialize(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddMarkerField(field)
	l.maxAge = time.Minute
	l.restart()
	l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionDelete}
	})
	l.crash = "netbox-after-post"
	for !l.once("web-1") {
		continue
	}
	l.crash = ""
	l.restart()
	standing := func(mg *v1alpha1.NetBoxIPAddress) bool {
		return mg.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue && mg.Status.AtProvider.ID != 0
	}
	mg := l.settle("web-1", standing)
	if meta.GetExternalName(mg) != "" {
		t.Fatalf("it's named %s", meta.GetExternalName(mg))
	}
	l.netbox.ForgetRequests()
	for range 5 {
		l.once("web-1")
	}
	if r := l.netbox.Requests(); len(r) > 1 || len(r) == 1 && r[0].Path != "/api/ipam/ip-addresses/" { // The look at all records.
		t.Errorf("%d requests in 5 looks: %+v", len(r), r)
	}
	l.netbox.RemoveAddress(mg.Status.AtProvider.ID)
	l.now = l.now.Add(2 * time.Minute)
	l.settle("web-1", because(v1alpha1.ReasonLost))
	if l.posts() != 0 || len(l.netbox.Addresses()) != 0 {
		t.Errorf("something was made: %+v", l.netbox.Addresses())
	}
	mg = l.get("web-1")
	mg.SetAnnotations(nil)
	if err := l.kube.Update(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	l.restart()
	l.once("web-1")
	l.settle("web-1", because(v1alpha1.ReasonLost))
	if l.posts() != 0 {
		t.Error("something was made once the annotations were off")
	}
}

// TestFixedTwice: two resources that ask for one address at the same moment, in a VRF that takes both, whoever is killed on the way: one has it.
func TestFixedTwice(t *testing.T) {
	for _, v := range versions() {
		for _, crash := range []bool{false, true} {
			t.Run(v, func(t *testing.T) {
				l := newLab(t, v)
				l.netbox.AddMarkerField(field)
				vrf := l.netbox.AddVRF(netbox.VRF{Name: "loose"})
				l.netbox.AddPrefix(netbox.Prefix{Prefix: netip.MustParsePrefix("10.88.0.0/24"), VRF: vrf, Status: "active"})
				ask := func(mg *v1alpha1.NetBoxIPAddress) {
					mg.Spec.ForProvider.From, mg.Spec.ForProvider.Address = nil, "10.88.0.5/24"
				}
				l.apply("web-1", ask)
				l.apply("web-2", ask)
				if crash {
					for _, name := range []string{"web-2", "web-1"} {
						l.netbox.AddAddress(netbox.Address{
							Address: netip.MustParsePrefix("10.88.0.5/24"), VRF: vrf, CustomFields: map[string]any{field: clusterID + "/team-a/" + name + "/uid-" + name},
						})
						mg := l.get(name)
						meta.SetExternalCreatePending(mg, l.now.Add(-time.Minute))
						meta.AddAnnotations(mg, map[string]string{v1alpha1.AnnotationAsked: "a word"})
						if err := l.kube.Update(t.Context(), mg); err != nil {
							t.Fatal(err)
						}
					}
				}
				for range 5 {
					l.once("web-1")
					l.once("web-2")
					l.now = l.now.Add(10 * time.Second)
				}
				one, two := l.get("web-1"), l.get("web-2")
				if n := len(l.netbox.Addresses()); n != 1 || ready(one) == ready(two) {
					t.Errorf("%d records, Ready %+v and %+v", n, one.Status.Conditions, two.Status.Conditions)
				}
			})
		}
	}
}
