package netbox_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestLife is an address from its wish to its end, on each version; the marker's field is made on the way.
func TestLife(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			l.apply("web-1")
			mg := l.settle("web-1", ready)
			a := l.only()
			o := mg.Status.AtProvider
			if o.Address != "10.77.0.1/29" || strconv.FormatInt(a.ID, 10) != meta.GetExternalName(mg) || o.Prefix == nil || o.Prefix.CIDR != "10.77.0.0/29" {
				t.Errorf("status: %+v, prefix %+v", o, o.Prefix)
			}
			l.still(mg)
			if l.posts() != 1 {
				t.Errorf("%d POSTs", l.posts())
			}
			// Each is one that Crossplane's circuit breaker counts: that it's about to be made, what was made, and that it's there.
			if l.changes != 3 {
				t.Errorf("%d changes on the way, want 3", l.changes)
			}
			l.remove()
			l.settle("web-1", gone)
			if len(l.netbox.Addresses()) != 0 {
				t.Errorf("left behind: %+v", l.netbox.Addresses())
			}
		})
	}
}

// TestCrash is a kill between the POST and its recording, and answers that were lost in every way.
func TestCrash(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.apply("web-1")
	l.crash = "netbox-after-post"
	for i := 0; !l.once("web-1"); i++ {
		if i > 5 {
			t.Fatal("it never came to the failpoint")
		}
	}
	l.only()
	if n := meta.GetExternalName(l.get("web-1")); n != "" {
		t.Fatalf("recorded already: %s", n)
	}
	l.crash = ""
	l.restart()
	l.settle("web-1", ready)
	l.only()
	if l.posts() != 1 {
		t.Errorf("%d POSTs", l.posts())
	}
	for _, k := range []netbox.FaultKind{netbox.FaultEOFAfter, netbox.FaultHangAfter, netbox.FaultErrorAfter, netbox.FaultDisconnect, netbox.FaultServerErrorHTML, netbox.FaultServerErrorJSON} {
		t.Run(string(k), func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddMarkerField(field)
			l.meets(k, hasty)
			l.netbox.Inject(netbox.Fault{Kind: k, Method: http.MethodPost, Times: 1})
			l.apply("web-1")
			l.settle("web-1", ready)
			l.only()
			t.Log(faultRow("NetBox makes an address: "+string(k), 1, l.netbox.FaultsMet()[k]))
		})
	}
}

// TestLateRecord: the client gave up, NetBox carries the POST out later; the next POST meets its marker (858).
func TestLateRecord(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddMarkerField(field)
	l.meets(netbox.FaultDelay, brief)
	l.netbox.Inject(netbox.Fault{Kind: netbox.FaultDelay, Delay: brief * 3 / 2, Method: http.MethodPost, Times: 2})
	l.apply("web-1")
	l.settle("web-1", ready)
	l.only()
}

// TestDeletedAfterCrash: what was made and never recorded is freed all the same.
func TestDeletedAfterCrash(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.apply("web-1")
	l.crash = "netbox-after-post"
	for !l.once("web-1") {
		continue
	}
	l.crash = ""
	l.outstanding = time.Nanosecond // TestDeletedBeforeItsRecord has what comes late.
	l.restart()
	l.remove()
	l.settle("web-1", gone)
	if len(l.netbox.Addresses()) != 0 {
		t.Errorf("left behind: %+v", l.netbox.Addresses())
	}
}

// TestHandsOff holds that pause, observe and orphan really stop writes.
func TestHandsOff(t *testing.T) {
	policies := func(p ...xpv2.ManagementAction) func(*v1alpha1.NetBoxIPAddress) {
		return func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ManagementPolicies = p }
	}
	t.Run("Observe", func(t *testing.T) {
		l := newLab(t, "4.6.8")
		l.apply("web-1", policies(xpv2.ManagementActionObserve))
		for range 3 {
			l.once("web-1")
		}
		if l.netbox.Writes() != 0 {
			t.Errorf("writes: %+v", l.netbox.Requests())
		}
	})
	t.Run("Paused", func(t *testing.T) {
		l := newLab(t, "4.6.8")
		l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
			meta.AddAnnotations(mg, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
		})
		for range 3 {
			l.once("web-1")
		}
		if len(l.netbox.Requests()) != 0 {
			t.Errorf("requests: %+v", l.netbox.Requests())
		}
	})
	t.Run("Orphan", func(t *testing.T) {
		l := newLab(t, "4.6.8")
		l.apply("web-1", policies(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionLateInitialize))
		l.settle("web-1", ready)
		l.remove()
		l.settle("web-1", gone)
		l.only()
	})
	t.Run("ForeignFinalizer", func(t *testing.T) {
		l := newLab(t, "4.6.8")
		l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) { meta.AddFinalizer(mg, v1alpha1.FinalizerHeldByClaim) })
		l.settle("web-1", ready)
		l.remove()
		for range 3 {
			l.once("web-1")
		}
		l.only()
		mg := l.get("web-1")
		meta.RemoveFinalizer(mg, v1alpha1.FinalizerHeldByClaim)
		if err := l.kube.Update(t.Context(), mg); err != nil {
			t.Fatal(err)
		}
		l.settle("web-1", gone)
	})
}

// TestTroublesHeal: each cause is told on the resource, nothing is half-made, and without a restart it heals when the cause goes.
func TestTroublesHeal(t *testing.T) {
	later := func(l *lab) { l.now = l.now.Add(time.Minute) }
	cases := map[string]struct {
		spoil func(*lab) (mend func())
		want  xpv2.ConditionReason
		text  string
	}{
		"Full": {func(l *lab) func() {
			var ids []int64
			for i := 1; i <= 6; i++ {
				ids = append(ids, l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix(fmt.Sprintf("10.77.0.%d/29", i))}))
			}
			return func() { l.netbox.RemoveAddress(ids[3]) }
		}, v1alpha1.ReasonExhausted, `no address is free in prefix "10.77.0.0/29"`},
		"NoPrefix": {func(l *lab) func() {
			l.netbox.RemovePrefix(1)
			return func() { l.netbox.AddCIDR("10.77.0.0/29") }
		}, v1alpha1.ReasonNotFound, `the prefix "10.77.0.0/29"`},
		"BadToken": {func(l *lab) func() {
			l.netbox.RemoveToken(secret)
			return func() { l.netbox.AddToken(netbox.Token{Secret: secret}) }
		}, v1alpha1.ReasonUnauthorized, "doesn't accept the token"},
		"ReadOnly": {func(l *lab) func() {
			l.netbox.RemoveToken(secret)
			l.netbox.AddToken(netbox.Token{Secret: secret, ReadOnly: true})
			return func() {
				l.netbox.RemoveToken(secret)
				l.netbox.AddToken(netbox.Token{Secret: secret})
			}
		}, v1alpha1.ReasonForbidden, "may be read-only"},
		"Down":   {func(l *lab) func() { return l.netbox.Inject(netbox.Fault{Kind: netbox.FaultServerErrorHTML}) }, v1alpha1.ReasonUnreachable, "can't be reached"},
		"Absent": {func(l *lab) func() { return l.netbox.Inject(netbox.Fault{Kind: netbox.FaultDisconnect}) }, v1alpha1.ReasonUnreachable, "can't be reached"},
		"NoField": {func(l *lab) func() {
			l.netbox.RemoveCustomField(field)
			l.netbox.RemoveToken(secret)
			l.netbox.AddToken(netbox.Token{Secret: secret, Rights: []string{"view prefix", "view ipaddress", "add ipaddress", "change ipaddress", "delete ipaddress", "view customfield"}})
			return func() { l.netbox.AddMarkerField(field) }
		}, v1alpha1.ReasonInvalid, `"filter_logic":"exact"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddMarkerField(field)
			mend := tc.spoil(l)
			l.apply("web-1")
			mg := l.settle("web-1", because(tc.want))
			if m := mg.GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, tc.text) || strings.Contains(m, secret) {
				t.Errorf("message %q lacks %q", m, tc.text)
			}
			if len(l.netbox.Markers(field)) != 0 {
				t.Errorf("half-made: %+v", l.netbox.Addresses())
			}
			l.still(mg)
			mend()
			later(l)
			l.settle("web-1", ready)
			if n := len(l.netbox.WithMarker(field, clusterID+"/team-a/web-1/uid-web-1")); n != 1 {
				t.Errorf("%d records", n)
			}
			t.Log(faultRow("NetBox heals: "+name, 1, 1))
		})
	}
}

// TestDownLater: an address that was given stays Ready while NetBox is down, and isn't asked for twice.
func TestDownLater(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.apply("web-1")
	l.settle("web-1", ready)
	mend := l.netbox.Inject(netbox.Fault{Kind: netbox.FaultServerErrorJSON})
	l.once("web-1")
	mg := l.get("web-1")
	if mg.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue || mg.GetCondition(xpv2.TypeSynced).Status != corev1.ConditionFalse {
		t.Errorf("conditions: %+v", mg.Status.Conditions)
	}
	mend()
	l.settle("web-1", ready)
	l.only()
}

// TestRestored: saved YAML comes back with a new UID, and takes its own record over; another's it doesn't.
func TestRestored(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddMarkerField(field)
	own := l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.5/29"), CustomFields: map[string]any{field: clusterID + "/team-a/web-1/before"}})
	l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) { meta.SetExternalName(mg, strconv.FormatInt(own, 10)) })
	mg := l.settle("web-1", ready)
	if a := l.only(); a.ID != own || mg.Status.AtProvider.Address != "10.77.0.5/29" || l.posts() != 0 {
		t.Errorf("record %+v, status %+v", a, mg.Status.AtProvider)
	}
	for name, marker := range map[string]string{"other": clusterID + "/team-b/web-1/x", "cluster": "decaf/team-a/cluster/uid-cluster", "bare": ""} {
		id := l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.99.0.5/29"), CustomFields: map[string]any{field: marker}})
		before := l.netbox.Writes()
		l.apply(name, func(mg *v1alpha1.NetBoxIPAddress) { meta.SetExternalName(mg, strconv.FormatInt(id, 10)) })
		l.settle(name, because(v1alpha1.ReasonConflict))
		if l.netbox.Writes() != before {
			t.Errorf("%s: something was written", name)
		}
	}
}

// TestUnknownField: 4.4.10 to 4.5.7 drop a custom field that they don't know and say nothing. It's written once, and told.
func TestUnknownField(t *testing.T) {
	l := newLab(t, "4.4.10")
	l.netbox.AddMarkerField(field)
	l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ForProvider.CustomFields = map[string]apiextv1.JSON{"purpose": {Raw: []byte(`"web"`)}}
	})
	for range 4 {
		l.once("web-1")
	}
	writes := l.netbox.Writes()
	for range 4 {
		l.once("web-1")
	}
	mg := l.get("web-1")
	if c := mg.GetCondition(xpv2.TypeSynced); !strings.Contains(c.Message, "kept something else") || l.netbox.Writes() != writes {
		t.Errorf("Synced %v, %d writes after %d", c, l.netbox.Writes(), writes)
	}
	if c := mg.GetCondition(xpv2.TypeReady); c.Status != corev1.ConditionTrue {
		t.Errorf("Ready: got %v; it has its address", c)
	}
	l.netbox.AddCustomField(netbox.CustomField{Name: "purpose", Type: "text", FilterLogic: "loose", ObjectTypes: []string{"ipam.ipaddress"}})
	l.now = l.now.Add(11 * time.Minute)
	l.settle("web-1", ready)
	if a := l.only(); a.CustomFields["purpose"] != "web" {
		t.Errorf("record %+v", a)
	}
}

// TestDrift: what the spec says is put back, what people added stays.
func TestDrift(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddTag(netbox.Named{ID: 1, Name: "Pool", Slug: "pool"})
	l.netbox.AddTag(netbox.Named{ID: 2, Name: "Human", Slug: "human"})
	l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.Tags = []string{"pool"} })
	l.settle("web-1", ready)
	l.netbox.ChangeAddress(l.only().ID, func(a *netbox.Address) {
		a.Tags, a.Status, a.Description = []int64{2}, "reserved", "by hand"
	})
	l.once("web-1")
	l.settle("web-1", ready)
	if a := l.only(); a.Status != "active" || a.Description != "by hand" || !cmp.Equal(a.Tags, []int64{1, 2}) {
		t.Errorf("record %+v", a)
	}
}
