package netboxipaddress

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

const theirs = "c1/team-b/x/y"

// aFixed wants one address, as often as its table takes it but once.
func aFixed(mg *v1alpha1.NetBoxIPAddress) {
	mg.Spec.ForProvider.From, mg.Spec.ForProvider.Address = nil, "10.77.0.40/24"
}

// rivalsOf says which records have the fixed address, ours and others.
func rivalsOf(f *fakeNetBox) (own bool, others int) {
	for _, ip := range f.records {
		if ip.Marker(testField) == ours {
			own = true
		} else {
			others++
		}
	}
	return own, others
}

// TestTwoAtOnce: in a table that lets two have one address, both of two that were made in the same moment are never kept, however the one
// who looks fares on the way.
func TestTwoAtOnce(t *testing.T) {
	noRight := &netbox.Error{Kind: netbox.KindForbidden, Op: "delete", Needs: netbox.Right{Permission: "ipam.delete_ipaddress", ObjectType: "ipam.ipaddress"}}
	cases := map[string]struct {
		reason string
		rival  netbox.IPAddress
		fault  func(*fakeNetBox)
		// crash is the failpoint at which the process ends.
		crash string
		// stays says that our record does, once the other one has gone; kept that it isn't taken back meanwhile.
		kept bool
		says string
	}{
		"Second":       {reason: "the other one was first", rival: record(5, "10.77.0.40/24", theirs), says: "another record's"},
		"First":        {reason: "the other one is later, and goes by itself as soon as it looks", rival: record(500, "10.77.0.40/24", theirs), kept: true, says: "it's waited whether that goes"},
		"Person":       {reason: "a person's goes never, whatever its number", rival: record(500, "10.77.0.40/25", ""), says: "of somebody else"},
		"DeleteLost":   {reason: "the answer to the deletion is lost", rival: record(5, "10.77.0.40/24", theirs), fault: func(f *fakeNetBox) { f.lose["Delete"] = kind(netbox.KindUnknownOutcome) }, says: "another record's"},
		"DeleteFailed": {reason: "there's no right to delete", rival: record(5, "10.77.0.40/24", theirs), fault: func(f *fakeNetBox) { f.fail["Delete"] = noRight }, kept: true, says: `made for this resource in the same moment, couldn't be deleted again yet: the token of ClusterProviderConfig "netbox" is valid but may not delete: it may be read-only, or lack permission ipam.delete_ipaddress`},
		"PostLost":     {reason: "the answer to the POST is lost", rival: record(5, "10.77.0.40/24", theirs), fault: func(f *fakeNetBox) { f.lose["Create"] = kind(netbox.KindUnknownOutcome) }, says: "another record's"},
		"LookFailed":   {reason: "it can't be looked", rival: record(5, "10.77.0.40/24", theirs), fault: func(f *fakeNetBox) { f.fail["FindHost"] = kind(netbox.KindServerError) }, kept: true, says: "so"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.loose = true
			h, mg := newHarness(f), newAddress(aFixed)
			e := h.connect(t, mg)
			if _, err := e.Observe(t.Context(), mg); err != nil {
				t.Fatal(err)
			}
			f.records = append(f.records, tc.rival)
			if tc.fault != nil {
				tc.fault(f)
			}
			meta.SetExternalCreatePending(mg, time.Now())
			_, err := e.Create(t.Context(), mg)
			own, others := rivalsOf(f)
			if err == nil || !strings.Contains(err.Error(), tc.says) || own != tc.kept || others != 1 || meta.GetExternalName(mg) != "" {
				t.Errorf("%s: %v, ours there %v, others %d, name %q", tc.reason, err, own, others, meta.GetExternalName(mg))
			}
			clear(f.fail)
			clear(f.lose)
			for range 3 {
				_ = h.reconcile(t, mg)
				h.now = h.now.Add(retryAfter)
			}
			if own, others = rivalsOf(f); own || others != 1 || mg.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
				t.Errorf("%s: in the end ours there %v, others %d, %+v", tc.reason, own, others, mg.GetCondition(xpv2.TypeReady))
			}
		})
	}
}

// TestRivalGoes: the earlier of two is kept once the later one has gone.
func TestRivalGoes(t *testing.T) {
	f := newFake()
	f.loose = true
	h, mg := newHarness(f), newAddress(aFixed)
	e := h.connect(t, mg)
	if _, err := e.Observe(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	f.records = append(f.records, record(500, "10.77.0.40/24", theirs))
	meta.SetExternalCreatePending(mg, time.Now())
	if _, err := e.Create(t.Context(), mg); reasonOf(err) != v1alpha1.ReasonConflict {
		t.Fatal(err)
	}
	for range 3 {
		if err := h.reconcile(t, mg); reasonOf(err) != v1alpha1.ReasonConflict {
			t.Fatalf("it waits: %v", err)
		}
		h.now = h.now.Add(5 * time.Second)
	}
	f.records = slices.DeleteFunc(f.records, func(ip netbox.IPAddress) bool { return ip.ID == 500 })
	if err := h.settle(t, mg); err != nil || mg.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue || len(f.writes()) != 1 {
		t.Errorf("%v, %+v, writes %v", err, mg.GetCondition(xpv2.TypeReady), f.writes())
	}
}

// TestKilledAtOnce: who was killed between the POST and the look after it is looked for by the next process, before anybody is told.
func TestKilledAtOnce(t *testing.T) {
	f := newFake()
	f.loose = true
	f.records = []netbox.IPAddress{record(5, "10.77.0.40/24", theirs), record(6, "10.77.0.40/24", ours)}
	h, mg := newHarness(f), newAddress(aFixed)
	askedAgo(0)(mg)
	if err := h.reconcile(t, mg); reasonOf(err) != v1alpha1.ReasonConflict {
		t.Errorf("got %v", err)
	}
	if own, others := rivalsOf(f); own || others != 1 {
		t.Errorf("records %+v", f.records)
	}
	// What was never asked for, as far as is known here, may be in use: this cluster's data was set back.
	f.records = []netbox.IPAddress{record(5, "10.77.0.40/24", theirs), record(6, "10.77.0.40/24", ours)}
	mg = newAddress(aFixed, managedBy(xpv2.ManagementActionAll))
	if err := h.reconcile(t, mg); reasonOf(err) != v1alpha1.ReasonConflict || len(f.records) != 2 {
		t.Errorf("got %v, records %+v", err, f.records)
	}
	// So may one that was recorded.
	mg = newAddress(aFixed, named("6"))
	if err := h.reconcile(t, mg); err != nil || len(f.records) != 2 {
		t.Errorf("got %v, records %+v", err, f.records)
	}
}

// TestAdoptedAtOnce: what may have been a person's before it was marked isn't deleted, whoever else has its address by now.
func TestAdoptedAtOnce(t *testing.T) {
	f := newFake()
	f.loose = true
	f.records = []netbox.IPAddress{record(5, "10.77.0.40/24", ours), record(500, "10.77.0.40/24", "")}
	h, mg := newHarness(f), newAddress(aFixed, params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Adopt = v1alpha1.AdoptIfUnowned }))
	meta.SetExternalCreatePending(mg, time.Now())
	if err := h.reconcile(t, mg); reasonOf(err) != v1alpha1.ReasonConflict || len(f.records) != 2 {
		t.Errorf("got %v, records %+v", err, f.records)
	}
}

// TestRestoredAtOnce: an address that is made again isn't doubled either.
func TestRestoredAtOnce(t *testing.T) {
	f := newFake()
	f.loose = true
	h, mg := newHarness(f), newAddress(named("5"), params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.WhenLost = v1alpha1.LostRestore }))
	mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{ID: 5, Address: "10.77.0.11/24", Marker: ours}
	e := h.connect(t, mg)
	if _, err := e.Observe(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	f.records = []netbox.IPAddress{record(9, "10.77.0.11/24", theirs)}
	_, err := e.Create(t.Context(), mg)
	if own, _ := rivalsOf(f); reasonOf(err) != v1alpha1.ReasonLost || own || !strings.Contains(err.Error(), "record 9 has the address by now") {
		t.Errorf("got %v, %+v", err, f.records)
	}
}

// TestMisplaced: a record that NetBox made elsewhere than it was asked for, and that couldn't be taken back, isn't taken for what was asked for.
func TestMisplaced(t *testing.T) {
	f := newFake()
	stray := record(7, "10.77.0.7/24", ours)
	stray.VRF = &netbox.VRF{ID: 3, Name: "prod"}
	f.records = []netbox.IPAddress{stray}
	h, mg := newHarness(f), newAddress()
	meta.SetExternalCreatePending(mg, time.Now())
	err := h.reconcile(t, mg)
	if reasonOf(err) != v1alpha1.ReasonConflict || !strings.Contains(err.Error(), `is 10.77.0.7/24 of VRF "prod", where prefix "10.77.0.0/24" of any table is asked for`) || len(f.writes()) != 0 {
		t.Errorf("got %v, writes %v", err, f.writes())
	}
	f.fail["FindPrefix"] = kind(netbox.KindNotFound)
	if err := h.reconcile(t, newAddress(func(m *v1alpha1.NetBoxIPAddress) { meta.SetExternalCreatePending(m, time.Now()) })); err != nil {
		t.Errorf("what can't be read says nothing: %v", err)
	}
	clear(f.fail)
	named("7")(mg)
	if err := h.reconcile(t, mg); err != nil || mg.Status.AtProvider.ID != 7 {
		t.Errorf("a person says that it's fine: %v, %+v", err, mg.Status.AtProvider)
	}
	f.records, f.fail["Allocate"] = []netbox.IPAddress{stray}, kind(netbox.KindUnknownOutcome)
	other := newAddress()
	if err := h.reconcile(t, other); reasonOf(err) != v1alpha1.ReasonConflict {
		t.Errorf("nor where it's found right after it was asked for: %v", err)
	}
}

// TestPlacedBehind: an earlier try, whose answer was lost, came to a source behind the one that is asked by now. Its record is found right after
// it was asked for anew, and is right: nobody is told to delete it.
func TestPlacedBehind(t *testing.T) {
	for name, tc := range map[string]struct {
		address string
		want    xpv2.ConditionReason
	}{
		"First":     {"10.77.0.7/24", ""},
		"Second":    {"10.78.0.7/24", ""},
		"Elsewhere": {"10.79.0.7/24", v1alpha1.ReasonConflict},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.records = []netbox.IPAddress{record(7, tc.address, ours)}
			h, mg := newHarness(f), newAddress(managedBy(xpv2.ManagementActionAll))
			mg.Spec.ForProvider.From = append(from("10.77.0.0/24"), from("10.78.0.0/24")...)
			if err := h.reconcile(t, mg); reasonOf(err) != tc.want || (tc.want == "") != (meta.GetExternalName(mg) == "7") || len(f.writes()) != 1 {
				t.Errorf("%v, named %q, writes %v", err, meta.GetExternalName(mg), f.writes())
			}
		})
	}
}
