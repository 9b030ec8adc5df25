package netboxipaddress

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// look is one reconcile: Observe, and Create where it leads there. A record's number is recorded only by Create.
func (h *harness) look(t *testing.T, mg *v1alpha1.NetBoxIPAddress) error {
	t.Helper()
	e := h.connect(t, mg)
	o, err := e.Observe(t.Context(), mg)
	if err == nil && !o.ResourceExists && creates(mg) {
		_, err = e.Create(t.Context(), mg)
	}
	return err
}

// TestLoss: somebody deleted the record of an address that a machine uses. No other one is ever taken in its place.
func TestLoss(t *testing.T) {
	seen := func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{ID: 5, Address: "10.77.0.11/24", Marker: ours}
		mg.SetConditions(xpv2.Available())
	}
	restore := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.WhenLost = v1alpha1.LostRestore })
	fixed := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From, p.Address = nil, "10.77.0.40/24" })
	another := record(9, "10.77.0.11/32", "c1/team-b/db-1/u9")
	another.URL = "https://netbox.example/api/ipam/ip-addresses/9/"
	cases := map[string]struct {
		reason string
		mg     []edit
		fake   func(*fakeNetBox)
		ready  xpv2.ConditionReason
		texts  []string
		writes []string
		// err is the reason of an error, and says a part of its text.
		err  xpv2.ConditionReason
		says string
	}{
		"Hold": {
			reason: "a person decides", mg: []edit{seen}, ready: v1alpha1.ReasonLost,
			texts: []string{`record 5 of address "10.77.0.11/24" was deleted`, "whenLost: Restore", "delete this resource"},
		},
		"HoldAlsoNew": {reason: "also before it was ever Ready", mg: []edit{func(mg *v1alpha1.NetBoxIPAddress) {
			mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{ID: 5, Address: "10.77.0.11/24", Marker: ours}
		}}, ready: v1alpha1.ReasonLost},
		"Unknown":        {reason: "status is lost: nobody knows which address it was", ready: v1alpha1.ReasonLost, texts: []string{"nobody knows any more which address it had"}},
		"RestoreUnknown": {reason: "what isn't known isn't restored", mg: []edit{restore}, ready: v1alpha1.ReasonLost},
		"HoldFixed":      {reason: "a fixed address is known from spec", mg: []edit{fixed}, ready: v1alpha1.ReasonLost, texts: []string{`"10.77.0.40/24"`}},
		"RestoreFixed":   {reason: "and is made again from there", mg: []edit{fixed, restore}, writes: []string{"Create"}},
		"Restore":        {reason: "the same address", mg: []edit{seen, restore}, ready: "Available", writes: []string{"Create"}},
		"RestoreTaken": {
			reason: "somebody else has it by now: also in a table that would take a second one", mg: []edit{seen, restore}, fake: func(f *fakeNetBox) { f.records = append(f.records, another) },
			ready: v1alpha1.ReasonLost, texts: []string{"record 9 (https://netbox.example/api/ipam/ip-addresses/9/) has the address by now", "free the address there"},
		},
		"RestoreHidden": {
			reason: "or a record that the token may not see", mg: []edit{seen, restore},
			fake: func(f *fakeNetBox) {
				f.fail["Create"] = &netbox.Error{Kind: netbox.KindInvalid, Fields: []string{"address"}}
			},
			ready: "Available", err: v1alpha1.ReasonLost, writes: []string{"Create"},
		},
		"RestorePopulated": {
			reason: "or a range around it is full of what NetBox doesn't know", mg: []edit{seen, restore},
			fake: func(f *fakeNetBox) {
				f.fail["Create"] = &netbox.Error{Kind: netbox.KindInvalid, Fields: []string{"address"}}
				f.ranges = []netbox.Parent{inRange(13, "10.77.0.10/24", "10.77.0.50/24")}
				f.ranges[0].Populated = true
			},
			ready: "Available", err: v1alpha1.ReasonLost, says: "which is marked as populated, has the address by now", writes: []string{"Create"},
		},
		"RestoreLost": {
			reason: "made, and the answer is lost", mg: []edit{seen, restore}, fake: func(f *fakeNetBox) { f.lose["Create"] = kind(netbox.KindUnknownOutcome) },
			ready: "Available", writes: []string{"Create"},
		},
		"Down":   {reason: "what can't be asked for isn't lost", mg: []edit{seen}, fake: func(f *fakeNetBox) { f.fail["Get"] = kind(netbox.KindUnreachable) }, ready: "Available", err: v1alpha1.ReasonUnreachable},
		"Hidden": {reason: "what is forbidden isn't lost", mg: []edit{seen}, fake: func(f *fakeNetBox) { f.fail["Get"] = kind(netbox.KindForbidden) }, ready: "Available", err: v1alpha1.ReasonForbidden},
		"Elsewhere": {reason: "its marker is on another record: renumbered, not lost", mg: []edit{seen}, fake: func(f *fakeNetBox) {
			f.records = append(f.records, record(6, "10.77.0.11/24", ours))
		}, ready: "Available"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			if tc.fake != nil {
				tc.fake(f)
			}
			h, mg := newHarness(f), newAddress(append([]edit{named("5")}, tc.mg...)...)
			err := h.look(t, mg)
			if reasonOf(err) != tc.err || (err != nil && !strings.Contains(err.Error(), tc.says)) {
				t.Fatalf("%s: %v, want %q with %q", tc.reason, err, tc.err, tc.says)
			}
			c := mg.GetCondition(xpv2.TypeReady)
			if c.Reason != tc.ready || (c.Status == corev1.ConditionTrue) != (tc.ready == "Available") {
				t.Errorf("%s: %+v, want %q", tc.reason, c, tc.ready)
			}
			for _, s := range tc.texts {
				if !strings.Contains(c.Message, s) {
					t.Errorf("%s: %q lacks %q", tc.reason, c.Message, s)
				}
			}
			if diff := cmp.Diff(tc.writes, f.writes()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if len(tc.writes) > 0 && tc.err == "" {
				if ip, err := f.FindByMarker(t.Context(), ours); err != nil || ip.Address.Addr().String() == "10.77.0.1" {
					t.Errorf("%s: got %v, %v", tc.reason, ip, err)
				}
			}
		})
	}
}

// TestLossIsToldOnce: one event when it's noticed, and one look at NetBox's log.
func TestLossIsToldOnce(t *testing.T) {
	f := newFake()
	h, mg := newHarness(f), newAddress(named("5"))
	mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{ID: 5, Address: "10.77.0.11/24", Marker: ours}
	mg.SetConditions(xpv2.Available())
	asked := func() int { return strings.Count(strings.Join(f.calls, " "), "Changes") }
	for range 3 {
		if err := h.look(t, mg); err != nil {
			t.Fatal(err)
		}
	}
	if len(h.events) != 1 || !strings.HasPrefix(h.events[0], "Lost: record 5") || asked() != 1 {
		t.Errorf("events %q, %d looks at the log", h.events, asked())
	}
	if mg.Status.AtProvider.Address != "10.77.0.11/24" {
		t.Errorf("the machine keeps what it has: %+v", mg.Status.AtProvider)
	}
	f.fail["Changes"] = kind(netbox.KindUnreachable)
	other := newAddress(named("7"), func(mg *v1alpha1.NetBoxIPAddress) { mg.UID = "u2" })
	for range 2 {
		if err := h.look(t, other); err != nil {
			t.Errorf("nothing waits for the log: %v", err)
		}
	}
	if asked() != 3 {
		t.Errorf("a log that couldn't be read is read later: %d looks", asked())
	}
}

// TestLossIsBelieved: a thousand losses don't ask for themselves every few seconds. What a person does about one is
// looked at, at once.
func TestLossIsBelieved(t *testing.T) {
	f := newFake()
	h, mg := newHarness(f), newAddress(named("5"), managedBy(xpv2.ManagementActionAll))
	h.MaxAge = maxAge(time.Minute)
	mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{ID: 5, Address: "10.77.0.11/24", Marker: ours}
	edited := record(5, "10.77.0.11/24", ours)
	edited.Status = "reserved"
	steps := []struct {
		why    string
		before func()
		gets   int
		want   xpv2.ConditionReason
	}{
		{"it's found out", func() {}, 1, v1alpha1.ReasonLost},
		{"and believed", func() { h.now = h.now.Add(15 * time.Second) }, 1, v1alpha1.ReasonLost},
		{"at the next look", func() { h.now = h.now.Add(15 * time.Second) }, 1, v1alpha1.ReasonLost},
		{"and the next", func() { h.now = h.now.Add(15 * time.Second) }, 1, v1alpha1.ReasonLost},
		{"and the next", func() { h.now = h.now.Add(15 * time.Second) }, 1, v1alpha1.ReasonLost},
		{"for a while", func() { h.now = h.now.Add(longestAge - time.Minute) }, 2, v1alpha1.ReasonLost},
		{"NetBox tells of a record with our marker", func() { h.doubt("u1") }, 3, v1alpha1.ReasonLost},
		{"it's among all that were seen, and gone again", func() { f.seen = []netbox.IPAddress{edited} }, 4, v1alpha1.ReasonLost},
		{"a person names another record", func() { f.seen = nil; meta.SetExternalName(mg, "6") }, 5, v1alpha1.ReasonLost},
		{"a person who decides isn't kept waiting", func() { mg.Generation++; mg.Spec.ForProvider.WhenLost = v1alpha1.LostRestore }, 6, v1alpha1.ReasonLost},
	}
	for _, s := range steps {
		s.before()
		if err := h.look(t, mg); err != nil {
			t.Fatalf("%s: %v", s.why, err)
		}
		if gets := strings.Count(strings.Join(f.calls, " "), " Get"); gets != s.gets || mg.GetCondition(xpv2.TypeReady).Reason != s.want {
			t.Errorf("%s: %d looks, %+v", s.why, gets, mg.GetCondition(xpv2.TypeReady))
		}
	}
	if err := h.look(t, mg); err != nil || mg.Status.AtProvider.Address != "10.77.0.11/24" || len(f.records) != 1 {
		t.Errorf("%v, %+v, %+v", err, mg.Status.AtProvider, f.records)
	}
}

// TestBelief: what was found of many at once is asked for again at a rate that NetBox can bear.
func TestBelief(t *testing.T) {
	cases := map[string]struct {
		reason string
		age    time.Duration
		of     int
		want   time.Duration
	}{
		"Live": {"where each record is read at each look, nothing is believed", 0, 1, 0},
		"One":  {"longer than the pause between two looks", maxAge(time.Minute), 1, longestAge},
		"Many": {"one deletion may take thousands along", maxAge(time.Minute), 5000, 1000 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := NewConnector(Options{MaxAge: tc.age})
			for i := range tc.of {
				c.standings.put(types.UID(fmt.Sprint(i)), stay{of: "cfg"})
				c.standings.put(types.UID(fmt.Sprint("other", i)), stay{of: "other"})
			}
			if got := c.belief(c.standings.count("cfg")); got != tc.want {
				t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

func TestLostWords(t *testing.T) {
	in := inputs{config: `ClusterProviderConfig "netbox"`}
	cases := map[string]struct {
		reason string
		err    lostError
		want   string
	}{
		"By": {
			"who did it", lostError{id: 5, address: "10.77.0.11/24", by: "bob"},
			`record 5 of address "10.77.0.11/24" was deleted in the NetBox of ClusterProviderConfig "netbox" by "bob", by itself or with the interface or device that had it: a machine may be using the address, so no other one is taken in its place; set spec.forProvider.whenLost: Restore to have it made again, or delete this resource to give it up`,
		},
		"Hidden": {
			"who has it can't be seen", lostError{id: 5, address: "10.77.0.11/24", restore: true},
			`record 5 of address "10.77.0.11/24" was deleted in the NetBox of ClusterProviderConfig "netbox", and NetBox refuses to make it again: the address was given to a record that its token may not see, or is in a range that was marked as populated; free it there, or delete this resource to give it up`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := sentence(tc.err, in)
			if got.reason != v1alpha1.ReasonLost || got.message != tc.want {
				t.Errorf("%s: %s: %s", tc.reason, got.reason, got.message)
			}
		})
	}
}

func TestLastSeen(t *testing.T) {
	cases := map[string]struct {
		in   v1alpha1.NetBoxIPAddressObservation
		want string
		vrf  int64
		ok   bool
	}{
		"Never":  {v1alpha1.NetBoxIPAddressObservation{}, "invalid Prefix", 0, false},
		"Global": {v1alpha1.NetBoxIPAddressObservation{ID: 1, Address: "10.0.0.1/24"}, "10.0.0.1/24", 0, true},
		"VRF":    {v1alpha1.NetBoxIPAddressObservation{ID: 1, Address: "10.0.0.1/24", VRF: &v1alpha1.VRFObservation{ID: 3}}, "10.0.0.1/24", 3, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, vrf, ok := lastSeen(tc.in)
			if p.String() != tc.want || ok != tc.ok || (vrf != nil) != (tc.vrf != 0) || (vrf != nil && vrf.ID != tc.vrf) {
				t.Errorf("got %v, %v, %v", p, vrf, ok)
			}
		})
	}
}

// TestRestoreWithoutRefused: an address that was set aside for a resource comes back, also where NetBox refuses something else that spec asks for by now.
func TestRestoreWithoutRefused(t *testing.T) {
	for name, untagged := range map[string]bool{"Known": false, "Gone": true} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			aside := record(9, "10.77.0.11/24", "")
			aside.Status, aside.CustomFields[testField], aside.CustomFields[testNote] = netbox.StatusDeprecated, nil, ours+" 2999-09-01T10:00:00Z"
			f.records, f.untagged = []netbox.IPAddress{aside}, untagged
			h, mg := newHarness(f), newAddress(named("5"), params(func(p *v1alpha1.NetBoxIPAddressParameters) {
				p.WhenLost, p.Status, p.Tags = v1alpha1.LostRestore, "active", []string{"managed"}
			}))
			mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{ID: 5, Address: "10.77.0.11/24", Marker: ours}
			if err := h.look(t, mg); err != nil {
				t.Fatal(err)
			}
			want := []string{"Adopt"}
			if untagged {
				want = append(want, "Adopt")
			}
			if diff := cmp.Diff(want, f.writes()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if ip := f.records[0]; ip.Marker(testField) != ours || ip.Status != "active" || meta.GetExternalName(mg) != "9" {
				t.Errorf("%+v, named %q", ip, meta.GetExternalName(mg))
			}
		})
	}
}
