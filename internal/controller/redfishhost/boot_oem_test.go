package redfishhost

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// begunByOEM is a journal in which a boot for once by the vendor's own way was begun.
func begunByOEM(attempts int) *journal {
	a := bootAct(view{}, actSetBootOnce, v1alpha1.BootSource{Target: v1alpha1.BootTargetPxe}, 1)
	a.State, a.Time, a.Power, a.LastReset, a.Attempts = begun, t0, redfish.PowerOn, t0.Add(-time.Hour), attempts
	a.Rung, a.Option = string(redfish.RungOEM), "/own\nNormal\nDisabled"

	return &journal{Act: &a}
}

// TestOwnSettingThatMayBeThere: what may have been set by the vendor's own way is put back, whatever became of the act, and though an order is
// declared; an override that is seen meanwhile isn't it.
func TestOwnSettingThatMayBeThere(t *testing.T) {
	want := moved{Was: []string{"Normal", "Disabled"}, First: "Pxe", Resource: "/own", Time: t0, Power: redfish.PowerOn, LastReset: t0.Add(-time.Hour)}
	w, s := wishBoot(1, false), sight(redfish.PowerOn)
	off := w
	off.power = v1alpha1.PoweredOff
	st := next(off, begunByOEM(1), s, t1)
	if st.do != actGracefulOff || st.journal.Boot.Moved == nil {
		t.Fatalf("off is wanted meanwhile: got %+v", short(st))
	}
	if diff := cmp.Diff(want, *st.journal.Boot.Moved); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if st := next(w, begunByOEM(1), shownAs(redfish.PowerOn, "Pxe", redfish.EnabledOnce), t1); st.journal != nil && st.journal.BootOnce == 1 {
		t.Errorf("an override of somebody else's is taken for it: %+v", short(st))
	}
	st = next(w, begunByOEM(3), s, t4)
	if st.journal == nil || st.journal.Boot.Moved == nil {
		t.Fatalf("given up: got %+v", short(st))
	}
	back := next(w, st.journal, s, t4)
	if back.do != actPutBack {
		t.Fatalf("it isn't put back: got %+v", short(back))
	}
	if a := back.journal.Act; !a.byOEM() || a.Target != "Pxe" || !cmp.Equal(a.oem(), redfish.OEMPlan{Resource: "/own", Was: want.Was}) {
		t.Errorf("it's put back by %+v", a)
	}
	declared := wishBoot(0, false, "Hdd")
	if st := following(view{
		want: declared, j: &journal{Boot: boots{Moved: &want, Order: &ordered{Wish: digest("Hdd"), First: []string{"a"}}}},
		seen: shownAs(redfish.PowerOn, "", "", "a", "b"), now: t1, lap: func(act) lap { return lap{ours: true} },
	}); st.do != actPutBack {
		t.Errorf("with a declared order it isn't put back: %+v", short(st))
	}
}

// TestOwnSettingIsKept: what the vendor's own setting was is in the journal with the act, before anything is written, and is neither lost nor taken
// anew while that may be on the machine.
func TestOwnSettingIsKept(t *testing.T) {
	on := sight(redfish.PowerOn)
	kept := moved{Was: []string{"Normal", "Disabled"}, First: "Pxe", Resource: "/own", Power: redfish.PowerOn, LastReset: on.lastReset}
	trial1 := func(tried int, over bool) *trial {
		t := &trial{Wish: pxeWish, Tried: tried, Time: t0, Reason: v1alpha1.ReasonNoEffect, Over: over}
		if !over {
			t.OEM = []string{"/own", "Normal", "Disabled"}
		}

		return t
	}
	after := func(once *trial) *journal { return &journal{Boot: boots{Once: once, Moved: &kept}} }
	before := begunByOEM(1)
	order := begunByOEM(1)
	order.Act.Rung, order.Act.Option = string(redfish.RungOrder), "b\na\nb"
	putBack := outcome{do: actPutBack, write: true, state: begun}
	set := outcome{do: actSetBootOnce, write: true, state: begun}
	asked := func(j *journal) *journal { j.Boot.Once.Asked = "before"; return j }
	cases := map[string]struct {
		nextCase

		moved bool
	}{
		"Begun":      {nextCase{reason: "It's written down first.", want: wishBoot(1, false), j: &journal{Boot: boots{Once: trial1(0, false)}}, seen: on, now: t4, out: set}, true},
		"Again":      {nextCase{reason: "What came late is found so by the next try.", want: wishBoot(1, false), j: after(trial1(1, false)), seen: on, now: t4, out: set}, true},
		"Older":      {nextCase{reason: "A journal of an older version didn't have it.", want: wishBoot(1, false), j: begunByOEM(1), seen: on, now: t4, out: set}, true},
		"Other":      {nextCase{reason: "Another wish would take ours for what was there.", want: wishBoot(2, false), j: before, seen: on, now: t4, out: putBack}, true},
		"OtherOrder": {nextCase{reason: "The same of the order.", want: wishBoot(2, false), j: order, seen: on, now: t4, out: putBack}, true},
		"OtherSoon":  {nextCase{reason: "A BMC that didn't answer may be at it.", want: wishBoot(2, false), j: begunByOEM(1), seen: on, now: t1, out: outcome{wait: true}}, false},
		"GoneSoon":   {nextCase{reason: "The same where nothing is wanted.", want: wishBoot(0, false), j: begunByOEM(1), seen: on, now: t1, out: outcome{wait: true}}, false},
		"OtherLater": {nextCase{reason: "What failed goes back first, too.", want: wishBoot(2, false), j: after(trial1(1, false)), seen: on, now: t4, out: putBack}, true},
		"OverSoon":   {nextCase{reason: "What was in vain may come late.", want: wishBoot(1, false), j: after(trial1(3, true)), seen: on, now: t1, out: outcome{wait: true}}, false},
		"Over":       {nextCase{reason: "And goes back.", want: wishBoot(1, false), j: after(trial1(3, true)), seen: on, now: t4, out: putBack}, true},
		"Asked":      {nextCase{reason: "Before it's tried anew.", want: wishBoot(1, false), j: asked(after(trial1(3, true))), seen: on, now: t4, out: putBack}, true},
		"Withdrawn":  {nextCase{reason: "And where it's taken out between two tries.", want: wishBoot(0, false), j: after(trial1(1, false)), seen: on, now: t4, out: putBack}, true},
	}
	for name, tc := range cases {
		runNext(t, map[string]nextCase{name: tc.nextCase})
		if st := next(tc.want, tc.j, tc.seen, tc.now); tc.moved && (st.journal == nil || st.journal.Boot.Moved == nil) {
			t.Errorf("%s: %s\nthe journal has lost what was there: %+v", name, tc.reason, short(st))
		}
	}
}

// TestPutBackUnoffered: a BMC that starts may not show for a while what it's to put back, so that isn't given up at once.
func TestPutBackUnoffered(t *testing.T) {
	j := &journal{Act: &act{Action: actPutBack, Wish: "w", State: begun, Rung: string(redfish.RungOEM)}}
	for i := range patience {
		bootNoted(view{now: t0}, j, &redfish.Error{Kind: redfish.Unsupported, Field: "F"})
		if got := j.Boot.Back; got == nil || got.Over != (i == len(patience)-1) || got.Reason != v1alpha1.ReasonNotSupported {
			t.Fatalf("after %d times: %+v", i+1, got)
		}
	}
}

// TestPutBackAnew: that one was given up says nothing of the next one.
func TestPutBackAnew(t *testing.T) {
	j := begunByOEM(1)
	own := moved{Was: []string{"Normal", "Disabled"}, First: "Pxe", Resource: "/own"}
	j.Boot.Back = &trial{Wish: own.putBack().Wish, Tried: len(patience), Over: true, Time: t0}
	st := next(wishBoot(1, false), j, sight(redfish.PowerOn), t4)
	if st.do != actSetBootOnce || st.journal.Boot.Back != nil {
		t.Errorf("got %+v; put back: %+v", short(st), st.journal.Boot.Back)
	}
}
