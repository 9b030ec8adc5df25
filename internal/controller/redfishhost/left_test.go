package redfishhost

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// heard are events, as people read them.
type heard struct {
	event.Recorder

	events *[]string
}

func (h heard) Event(_ runtime.Object, e event.Event) {
	*h.events = append(*h.events, string(e.Type)+" "+string(e.Reason)+" "+e.Message)
}

// TestLateOfALeavingHost: what may come late is waited for by a host that is deleted, for some minutes after it was told, or after a boot, and last of
// all.
func TestLateOfALeavingHost(t *testing.T) {
	on := redfish.PowerOn
	leaves := wishBoot(0, false)
	leaves.leaving = true
	order := moved{First: "b", Was: []string{"a", "b"}, Time: t0, Power: on, LastReset: t0.Add(-time.Hour)}
	booted, older := order, order
	booted.Booted = t0
	older.Time = time.Time{}
	late := func(m moved) *journal { return &journal{Boot: boots{Late: []moved{m}}} }
	waits, back := outcome{wait: true}, outcome{do: actPutBack, write: true, state: begun}
	notYet, came := shownAs(on, "", "", "a", "b"), shownAs(on, "", "", "b", "a")
	mid := t0.Add(orderRest - time.Second)
	runNext(t, map[string]nextCase{
		"Told":       {reason: "It was told a moment ago.", want: leaves, j: late(order), seen: notYet, now: t1, out: waits},
		"Came":       {reason: "It came.", want: leaves, j: late(order), seen: came, now: t3, out: back},
		"Minutes":    {reason: "Nine minutes.", want: leaves, j: late(order), seen: notYet, now: mid, out: waits},
		"Over":       {reason: "Nobody knows when there's a boot.", want: leaves, j: late(order), seen: notYet, now: t0.Add(orderRest)},
		"Older":      {reason: "A journal that doesn't tell when.", want: leaves, j: late(older), seen: notYet, now: t1},
		"Boots":      {reason: "A boot is seen.", want: leaves, j: late(order), seen: wasReset(notYet), now: t1, out: outcome{write: true}},
		"Booted":     {reason: "Firmware takes its time.", want: leaves, j: late(booted), seen: notYet, now: mid, out: waits},
		"BootedLong": {reason: "Then it's looked at strictly.", want: leaves, j: late(booted), seen: notYet, now: t4, out: back},
		"Override":   {reason: "What is there is taken away first.", want: leaves, j: &journal{Override: "Pxe", Boot: boots{Late: []moved{order}}}, seen: shownAs(on, "Pxe", redfish.EnabledOnce, "a", "b"), now: t1, out: outcome{do: actClearBoot, write: true, state: begun, override: "Pxe"}},
		"Stays":      {reason: "A host that stays doesn't wait.", want: wishBoot(0, false), j: late(order), seen: notYet, now: t1},
	})
	v := view{want: leaves, j: late(order), seen: notYet, now: t1, lap: func(act) lap { return lap{} }}
	if c := showBoot(v, inputs{address: "10.0.0.1"}); len(c) != 1 || c[0].Reason != v1alpha1.ReasonReleasing || !strings.Contains(c[0].Message, "10 minutes") {
		t.Errorf("it doesn't say why it stays: %+v", c)
	}
}

// TestLeft: all that may stay on the machine of a host that goes is told, in words, and each thing once.
func TestLeft(t *testing.T) {
	order := moved{First: "Boot0003", Was: []string{"Boot0001", "Boot0003"}}
	own := moved{First: "Pxe", Resource: "/redfish/v1/own", Was: []string{"Normal"}}
	for name, tc := range map[string]struct {
		reason string
		j      *journal
		want   string
	}{
		"None":    {reason: "No journal."},
		"Nothing": {reason: "Nothing is ours.", j: &journal{BootOnce: 3}},
		"Over":    {reason: "What is over isn't there.", j: &journal{Act: &act{Action: actResetOff, State: done}}},
		"Late":    {reason: "It may come.", j: &journal{Boot: boots{Late: []moved{order, own}}}, want: `boot option "Boot0003" at the front of the boot order, which may come yet; the vendor's own boot setting for Pxe in /redfish/v1/own, which may come yet`},
		"Once":    {reason: "Of two words about one thing the certain one.", j: &journal{Boot: boots{Moved: &order, Late: []moved{order}}}, want: `boot option "Boot0003" at the front of the boot order`},
		"Begun":   {reason: "Nobody knows whether it's there.", j: &journal{Act: &act{Action: actSetBootOnce, State: begun, Target: "Pxe"}}, want: "the boot override Pxe"},
		"All": {
			reason: "In the order of what hurts.",
			j:      &journal{Override: "Cd", Media: map[string]insertedRecord{"DVD": {}, "CD": {}}, Boot: boots{Lasting: &lasting{Target: "Hdd"}}, Act: &act{Action: actResetOff, State: begun}},
			want:   "a reset that is under way; the boot override Cd; the boot source Hdd for every boot; an image in the CD drive; an image in the DVD drive",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, strings.Join(tc.j.left(), "; ")); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTellLeft: an event tells of it, of a size that the API server takes; and of a journal that can't be read that it goes.
func TestTellLeft(t *testing.T) {
	long := &journal{}
	for range maxLate {
		long.Boot.Late = append(long.Boot.Late, moved{First: strings.Repeat("x", 600)})
	}
	for name, tc := range map[string]struct {
		reason, journal, want string
	}{
		"Nothing": {reason: "Nothing is left.", journal: (&journal{}).String()},
		"Late":    {reason: "Something may come.", journal: (&journal{Boot: boots{Late: []moved{{First: "b"}}}}).String(), want: `Warning LeftOnMachine this host is deleted, and on the machine behind BMC "10.0.0.1" may be left: boot option "b"`},
		"Long":    {reason: "A lot.", journal: long.String(), want: "Warning LeftOnMachine"},
		"Newer":   {reason: "What a newer version wrote.", journal: `{"needs":99,"boot":{"unheard":1}}`, want: "Warning Outdated this host is deleted, and with it the journal of a newer version"},
		"Shape":   {reason: "In another shape.", journal: `{"needs":99,"boot":"unheard","act":[7]}`, want: "Warning Outdated"},
	} {
		t.Run(name, func(t *testing.T) {
			h := sharing("a", "10.0.0.1")
			h.Annotations[v1alpha1.AnnotationJournal] = tc.journal
			e, _ := lookingAt(t, h)
			var events []string
			e.connector.Recorder, e.connector.Gates = heard{events: &events}, forgetful{n: new(int), distrusted: new(int)}
			e.leave(t.Context(), h)
			const most = 1024
			if got := strings.Join(events, "\n"); (tc.want == "") != (got == "") || !strings.HasPrefix(got, tc.want) || len(got) > most {
				t.Errorf("%s\nevents %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestCrowdedOut: who is waited for no more, since three newer ones are, is told; who was seen, or put back, isn't.
func TestCrowdedOut(t *testing.T) {
	with := func(first ...string) *journal {
		j := &journal{}
		for _, f := range first {
			j.expect(act{Rung: string(redfish.RungOrder), Option: f + "\nx"})
		}

		return j
	}
	for name, tc := range map[string]struct {
		reason        string
		before, after *journal
		want          []string
	}{
		"None":   {reason: "There was no journal.", after: with("a")},
		"Room":   {reason: "There is room.", before: with("a", "b"), after: with("a", "b", "c")},
		"Fourth": {reason: "The oldest goes.", before: with("a", "b", "c"), after: with("a", "b", "c", "d"), want: []string{"a"}},
		"Again":  {reason: "The same one once more.", before: with("a", "b", "c"), after: with("b", "c", "a")},
		"Seen":   {reason: "It came.", before: with("a", "b", "c"), after: with("b", "c")},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, m := range crowdedOut(tc.before, tc.after) {
				got = append(got, m.First)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	h := sharing("a", "10.0.0.1")
	h.Annotations[v1alpha1.AnnotationJournal] = with("a", "b", "c").String()
	e, _ := lookingAt(t, h)
	var events []string
	e.connector.Recorder = heard{events: &events}
	if err := e.connector.Kube.Get(t.Context(), client.ObjectKeyFromObject(h), h); err != nil {
		t.Fatal(err)
	}
	if err := e.writeJournal(t.Context(), h, with("a", "b", "c", "d")); err != nil {
		t.Fatal(err)
	}
	if len(events) != 1 || !strings.HasPrefix(events[0], `Warning LeftOnMachine boot option "a"`) {
		t.Errorf("events %q", events)
	}
}
