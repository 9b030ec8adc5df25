package netboxipaddress

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestOutstanding holds when a resource that is being deleted has to wait for a record that may still come.
func TestOutstanding(t *testing.T) {
	type step = func(*Connector, *v1alpha1.NetBoxIPAddress)
	asks := func(ago time.Duration) step {
		return func(c *Connector, mg *v1alpha1.NetBoxIPAddress) {
			c.asks(mg)
			meta.SetExternalCreatePending(mg, time.Now().Add(-ago))
		}
	}
	answers := func(err error) step {
		return func(c *Connector, mg *v1alpha1.NetBoxIPAddress) {
			c.answers(mg, err, netbox.IsUnknownOutcome(err), false)
		}
	}
	dies := func(c *Connector, _ *v1alpha1.NetBoxIPAddress) { *c = *NewConnector(c.Options) }
	// passes has all that is known be so much longer ago.
	passes := func(d time.Duration) step {
		return func(c *Connector, mg *v1alpha1.NetBoxIPAddress) {
			if at, ok := c.unanswered.get(mg.GetUID()); ok {
				c.unanswered.put(mg.GetUID(), at.Add(-d))
			}
			if at := givenUp(mg.GetAnnotations()); !at.IsZero() {
				meta.AddAnnotations(mg, map[string]string{v1alpha1.AnnotationUnanswered: at.Add(-d).Format(time.RFC3339)})
			}
			meta.SetExternalCreatePending(mg, meta.GetExternalCreatePending(mg).Add(-d))
		}
	}
	appears := func(c *Connector, mg *v1alpha1.NetBoxIPAddress) { c.appears(mg) }
	finds := func(c *Connector, mg *v1alpha1.NetBoxIPAddress) { c.answers(mg, nil, true, false) }
	takesOff := func(_ *Connector, mg *v1alpha1.NetBoxIPAddress) {
		meta.RemoveAnnotations(mg, meta.AnnotationKeyExternalCreatePending)
	}
	lost := &netbox.Error{Kind: netbox.KindUnknownOutcome}
	cases := map[string]struct {
		reason string
		before []step
		want   bool
	}{
		"Never":    {reason: "Nothing was asked for."},
		"Killed":   {reason: "Nobody knows what became of it.", before: []step{asks(time.Second), dies}, want: true},
		"Queued":   {reason: "It may have been sent long after it was begun.", before: []step{asks(70 * time.Second), dies}, want: true},
		"Long":     {reason: "It would have come by now.", before: []step{asks(3 * time.Minute), dies}},
		"Lost":     {reason: "NetBox may carry it out yet.", before: []step{asks(time.Second), answers(lost)}, want: true},
		"LostDead": {reason: "Nor does it matter who asked.", before: []step{asks(time.Second), answers(lost), dies}, want: true},
		"LostSoon": {
			reason: "Our timeout may be 5 s: NetBox works at a request for two minutes all the same.", want: true,
			before: []step{asks(5 * time.Second), answers(lost), passes(105 * time.Second)},
		},
		"LostSoonDead": {
			reason: "Whoever waited for it.", want: true, before: []step{asks(5 * time.Second), answers(lost), dies, passes(105 * time.Second)},
		},
		"LostSoonOver": {reason: "It would have come by now.", before: []step{asks(5 * time.Second), answers(lost), passes(3 * time.Minute)}},
		"RefusedSoon": {
			reason: "What was answered isn't waited for.", before: []step{asks(5 * time.Second), answers(&netbox.Error{Kind: netbox.KindInvalid})},
		},
		"LostLate": {reason: "The call itself took long.", before: []step{asks(3 * time.Minute), answers(lost)}, want: true},
		"LostLateDead": {
			reason: "And whoever waited for it is dead.", before: []step{asks(3 * time.Minute), answers(lost), dies}, want: true,
		},
		"Came": {reason: "The one that may come was found.", before: []step{asks(time.Second), dies, appears}},
		"CameOfTwo": {
			reason: "One of two was.", before: []step{asks(time.Second), dies, asks(0), dies, appears}, want: true,
		},
		"CameWhileLost": {
			reason: "What was found is of the first or of the second.", before: []step{asks(time.Second), dies, asks(0), finds}, want: true,
		},
		"CameOfItself": {reason: "It was asked for once, and found.", before: []step{asks(0), finds}},
		"Ahead":        {reason: "A time that has yet to come holds nothing for long.", before: []step{asks(-24 * time.Hour), dies}, want: true},
		"AheadNote": {reason: "Nor does one that somebody wrote.", want: true, before: []step{func(_ *Connector, mg *v1alpha1.NetBoxIPAddress) {
			meta.AddAnnotations(mg, map[string]string{v1alpha1.AnnotationUnanswered: "2999-01-01T00:00:00Z"})
		}}},
		"TakenOff":         {reason: "Somebody took off when it was begun.", before: []step{asks(time.Second), dies, takesOff}, want: true},
		"TakenOffAnswered": {reason: "What was answered isn't waited for.", before: []step{asks(time.Second), answers(nil), dies, takesOff}},
		"TakenOffLong": {reason: "Nor is anything for longer than it may come.", before: []step{asks(time.Second), dies, takesOff, func(c *Connector, mg *v1alpha1.NetBoxIPAddress) {
			c.ahead.put(mg.GetUID(), sight{mg.GetAnnotations()[v1alpha1.AnnotationAsked], time.Now().Add(-3 * time.Minute)})
		}}},
		"TakenOffAgain": {reason: "That of what was asked for before says nothing of it.", want: true, before: []step{func(c *Connector, mg *v1alpha1.NetBoxIPAddress) {
			c.ahead.put(mg.GetUID(), sight{"before", time.Now().Add(-time.Hour)})
		}, asks(time.Second), takesOff}},
		"Refused":  {reason: "NetBox said no.", before: []step{asks(time.Second), answers(&netbox.Error{Kind: netbox.KindInvalid})}},
		"Made":     {reason: "It was asked for once, and recorded.", before: []step{asks(time.Second), answers(nil)}},
		"MadeDead": {reason: "By one that is dead.", before: []step{asks(time.Second), answers(nil), dies}},
		"Again": {
			reason: "The second try's answer says nothing of the first.", want: true,
			before: []step{asks(time.Second), answers(lost), asks(0), answers(nil)},
		},
		"AgainDead": {
			reason: "Not to a third one, either.", want: true,
			before: []step{asks(time.Second), answers(lost), dies, asks(0), answers(nil), dies},
		},
		"KilledAgain": {
			reason: "Two were killed, one after the other.", want: true,
			before: []step{asks(2 * time.Second), dies, asks(time.Second), dies, asks(0), answers(nil)},
		},
		"KilledLongAgo": {
			reason: "What was asked for first would have come by now.",
			before: []step{asks(3 * time.Minute), dies, asks(time.Second), answers(nil), dies},
		},
		"AnotherAsks": {
			reason: "Two run at once: what the other asked for isn't answered here.", want: true,
			before: []step{asks(time.Second), answers(nil), func(c *Connector, mg *v1alpha1.NetBoxIPAddress) { asks(0)(NewConnector(c.Options), mg) }},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var again time.Time
			c := NewConnector(Options{Again: func(_ types.NamespacedName, at time.Time) { again = at }})
			mg := &v1alpha1.NetBoxIPAddress{}
			mg.UID = "u"
			for _, f := range tc.before {
				f(c, mg)
			}
			err := (&external{connector: c}).outstanding(mg)
			var o outstandingError
			if errors.As(err, &o) != tc.want {
				t.Fatalf("%s\ngot %v", tc.reason, err)
			}
			if tc.want && !strings.Contains(sentence(err, inputs{config: `ProviderConfig "n"`}).message, o.until.UTC().Format(time.RFC3339)) {
				t.Errorf("it isn't said until when: %v", sentence(err, inputs{}))
			}
			if most := time.Now().Add(askingFor + outstandingFor + skew); o.until.After(most) {
				t.Errorf("it's held until %s, for longer than anything may come", o.until)
			}
			if !again.Equal(o.until) {
				t.Errorf("it's to be looked at when that is over, at %s, and is so at %s", o.until, again)
			}
		})
	}
}

// TestFoundWhileLost holds that a POST without an answer stays one, though the record of an earlier one is found when it's looked for.
func TestFoundWhileLost(t *testing.T) {
	f := newFake()
	h, mg := newHarness(f), newAddress()
	h.asks(mg)
	h.answers(mg, &netbox.Error{Kind: netbox.KindUnknownOutcome}, true, false)
	first := time.Now().Add(-50 * time.Second)
	h.unanswered.put(mg.GetUID(), first)
	meta.AddAnnotations(mg, map[string]string{v1alpha1.AnnotationUnanswered: first.UTC().Format(time.RFC3339)})
	e := h.connect(t, mg)
	if _, err := e.Observe(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	f.fail["Allocate"] = &netbox.Error{Kind: netbox.KindUnknownOutcome}
	f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", ours)} // The first one's.
	began := time.Now().Add(-time.Second)
	if _, err := e.Create(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	if since := h.unansweredSince(mg); since.Before(began) {
		t.Errorf("the second may come until a minute after %s, which is when the first was given up", since)
	}
}

// TestGivenUpLatest: two POSTs have no answer. What is written down is when the later of them was given up, which isn't always the one that
// was asked for later: another process may be slow, and alive.
func TestGivenUpLatest(t *testing.T) {
	c, mg := NewConnector(Options{}), newAddress()
	c.asks(mg)
	meta.SetExternalCreatePending(mg, time.Now())
	latest := meta.GetExternalCreatePending(mg).Add(askingFor) // By then the first has given up.
	next := NewConnector(Options{})
	next.asks(mg)
	meta.SetExternalCreatePending(mg, time.Now().Add(-time.Minute)) // By another clock.
	next.answers(mg, kind(netbox.KindUnknownOutcome), true, false)
	if until, _ := NewConnector(Options{}).mayCome(mg); !until.Equal(latest.Add(outstandingFor)) {
		t.Errorf("it's waited until %s, want %s", until, latest.Add(outstandingFor))
	}
}

// TestForgotten: a POST without an answer is forgotten once it can't be carried out any more. Nothing is looked for on its account then.
func TestForgotten(t *testing.T) {
	lost := &netbox.Error{Kind: netbox.KindUnknownOutcome}
	at := func(h *harness, mg *v1alpha1.NetBoxIPAddress, when time.Time) {
		h.unanswered.put(mg.GetUID(), when)
		meta.AddAnnotations(mg, map[string]string{v1alpha1.AnnotationUnanswered: when.UTC().Format(time.RFC3339)})
	}
	cases := map[string]struct {
		reason string
		ago    time.Duration
		calls  []string
	}{
		"Now":  {"It may come yet.", time.Second, []string{"Preflight", "Get", "Delete", "Preflight", "Get", "FindByMarker"}},
		"Long": {"It can't.", 2 * time.Minute, []string{"Preflight", "Get", "Delete", "Preflight"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			h, mg := newHarness(f), newAddress()
			h.asks(mg)
			h.answers(mg, lost, true, false)
			meta.SetExternalCreateFailed(mg, time.Now())
			if err := h.settle(t, mg); err != nil {
				t.Fatal(err)
			}
			at(h, mg, time.Now().Add(-tc.ago))
			deleted(mg)
			f.calls = nil
			for range 2 {
				_, _ = h.deleteOnce(t, mg)
			}
			if diff := cmp.Diff(tc.calls, f.calls); diff != "" {
				t.Errorf("%s calls (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	h, mg := newHarness(newFake()), newAddress()
	for ago, want := range map[time.Duration]bool{time.Second: true, 3 * time.Minute: false} {
		at(h, mg, time.Now().Add(-ago))
		meta.SetExternalCreatePending(mg, time.Now().Add(-ago-askingFor))
		h.asks(mg)
		_, noted := mg.GetAnnotations()[v1alpha1.AnnotationUnanswered]
		if _, known := h.unanswered.get(mg.GetUID()); noted != want || known != want {
			t.Errorf("the next asking, %s later: noted %v, known %v, want %v", ago, noted, known, want)
		}
	}
}

// TestUntouched: what was asked for may be in NetBox, whichever annotations somebody took off.
func TestUntouched(t *testing.T) {
	cases := map[string]struct {
		reason string
		mg     []edit
		want   bool
	}{
		"Never":    {"nothing was asked for", nil, true},
		"Pending":  {"it's written when that was", []edit{func(mg *v1alpha1.NetBoxIPAddress) { meta.SetExternalCreatePending(mg, time.Now()) }}, false},
		"TakenOff": {"and may be taken off", []edit{func(mg *v1alpha1.NetBoxIPAddress) { NewConnector(Options{}).asks(mg) }}, false},
		"Named":    {"a record is named", []edit{named("5")}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mg := newAddress(tc.mg...)
			if untouched(mg) {
				t.Errorf("%s, and it isn't being deleted", tc.reason)
			}
			now := metav1.Now()
			mg.SetDeletionTimestamp(&now)
			if got := untouched(mg); got != tc.want {
				t.Errorf("%s: got %v", tc.reason, got)
			}
		})
	}
}

// TestLateAsking: a Create whose process stood still after it was written down that it asks doesn't ask any more: nobody may wait for its record.
func TestLateAsking(t *testing.T) {
	for ago, asks := range map[time.Duration]bool{outstandingFor - 10*time.Second: true, outstandingFor + time.Second: false} {
		f := newFake()
		h, mg := newHarness(f), newAddress()
		e := h.connect(t, mg)
		if _, err := e.Observe(t.Context(), mg); err != nil {
			t.Fatal(err)
		}
		meta.SetExternalCreatePending(mg, time.Now().Add(-ago))
		_, err := e.Create(t.Context(), mg)
		if (err == nil) != asks || (len(f.writes()) == 1) != asks || !asks && reasonOf(err) != v1alpha1.ReasonUnreachable {
			t.Errorf("%s later: %v, %v", ago, err, f.calls)
		}
		if _, may := h.mayCome(mg); may {
			t.Errorf("%s later: what wasn't asked for, or came, is waited for", ago)
		}
		meta.SetExternalCreatePending(mg, time.Now())
		if err := h.reconcile(t, mg); err != nil || len(f.records) != 1 {
			t.Errorf("%s later, the next look: %v, %+v", ago, err, f.records)
		}
	}
}
