package redfishhost

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

var (
	hdd      = v1alpha1.BootSource{Target: v1alpha1.BootTargetHdd}
	hddWish  = wishOf(hdd, 0)
	pxeWish  = wishOf(v1alpha1.BootSource{Target: v1alpha1.BootTargetPxe}, 1)
	pxeFirst = digest("Pxe")
)

// wishBoot is what is asked for of a boot source, of a host whose power isn't ours.
func wishBoot(once int64, lasting bool, order ...string) want {
	w := wish(v1alpha1.Unmanaged, once, 0)
	if lasting {
		w.persistent = &hdd
	}
	w.order = order

	return w
}

// shownAs is a machine that shows an override, and an order.
func shownAs(power redfish.Power, target, enabled string, order ...string) seen {
	s := sight(power)
	s.boot.Target, s.boot.Enabled, s.boot.Order = target, enabled, order

	return s
}

func TestNextSources(t *testing.T) {
	on, off := redfish.PowerOn, redfish.PowerOff
	ours := func() *journal { return &journal{Boot: boots{Lasting: &lasting{Wish: hddWish, Target: "Hdd"}}} }
	ordered1 := func(staged bool) *journal {
		return &journal{Boot: boots{Order: &ordered{Wish: pxeFirst, First: []string{"b"}, Staged: staged, Power: off, LastReset: t0.Add(-time.Hour)}}}
	}
	tried := func(f func(*boots) **trial, w string, over bool, tried int) *journal {
		j := &journal{}
		*f(&j.Boot) = &trial{Wish: w, Tried: tried, Time: t0, Over: over, Reason: v1alpha1.ReasonNoEffect}

		return j
	}
	once := func(b *boots) **trial { return &b.Once }
	byOrder := func(booted time.Time) *journal {
		return &journal{BootOnce: 1, Boot: boots{Moved: &moved{Was: []string{"a", "b"}, First: "b", Power: off, LastReset: t0.Add(-time.Hour), Booted: booted}}}
	}
	runNext(t, map[string]nextCase{
		"Lasting":       {reason: "A lasting source is set.", want: wishBoot(0, true), j: &journal{}, seen: sight(off), now: t0, out: outcome{do: actSetBoot, write: true, state: begun}},
		"LastingThere":  {reason: "One that is there isn't, whoever set it.", want: wishBoot(0, true), j: &journal{}, seen: shownAs(off, "Hdd", "Continuous"), now: t0},
		"LastingNamed":  {reason: "A BMC may have a name of its own for it.", want: wishBoot(0, true), j: ours(), seen: shownAs(off, "UefiHdd", "Continuous"), now: t0, out: outcome{write: true}},
		"LastingWaits":  {reason: "A boot for once comes before it, somebody's too.", want: wishBoot(0, true), j: ours(), seen: shownAs(off, "Cd", "Once"), now: t0},
		"LastingBack":   {reason: "And then it's set again.", want: wishBoot(1, true), j: func() *journal { j := ours(); j.BootOnce = 1; return j }(), seen: sight(on), now: t0, out: outcome{do: actSetBoot, write: true, state: begun, bootOnce: 1}},
		"LastingClear":  {reason: "Taken out, it's cleared.", want: wishBoot(0, false), j: ours(), seen: shownAs(off, "Hdd", "Continuous"), now: t0, out: outcome{do: actClearBoot, write: true, state: begun}},
		"LastingRest":   {reason: "What a machine rests at isn't.", want: wishBoot(0, false), j: &journal{}, seen: shownAs(off, "Hdd", "Continuous"), now: t0},
		"LastingGone":   {reason: "One that is gone is forgotten.", want: wishBoot(0, false), j: ours(), seen: sight(off), now: t0, out: outcome{write: true}},
		"OnceFirst":     {reason: "A boot for once that is asked for isn't delayed by it.", want: wishBoot(1, true), j: &journal{}, seen: sight(off), now: t0, out: outcome{do: actSetBootOnce, write: true, state: begun}},
		"Order":         {reason: "An order is set.", want: wishBoot(0, false, "Pxe"), j: &journal{}, seen: shownAs(off, "", "", "a", "b"), now: t0, out: outcome{do: actSetOrder, write: true, state: begun}},
		"OrderThere":    {reason: "As it was found to be.", want: wishBoot(0, false, "Pxe"), j: ordered1(false), seen: shownAs(off, "", "", "b", "a"), now: t0},
		"OrderMoved":    {reason: "Somebody moved it.", want: wishBoot(0, false, "Pxe"), j: ordered1(false), seen: shownAs(off, "", "", "a", "b"), now: t0, out: outcome{do: actSetOrder, write: true, state: begun}},
		"OrderStaged":   {reason: "One that comes with a boot is waited for.", want: wishBoot(0, false, "Pxe"), j: ordered1(true), seen: shownAs(off, "", "", "a", "b"), now: t0},
		"OrderBooted":   {reason: "The boot is there.", want: wishBoot(0, false, "Pxe"), j: ordered1(true), seen: shownAs(on, "", "", "a", "b"), now: t0, out: outcome{write: true}},
		"OrderForgot":   {reason: "Nothing declared is nothing done.", want: wishBoot(0, false), j: ordered1(false), seen: shownAs(off, "", "", "a", "b"), now: t0, out: outcome{write: true}},
		"Rests":         {reason: "A BMC that didn't take it is left alone for a while.", want: wishBoot(1, false), j: tried(once, pxeWish, false, 1), seen: sight(off), now: t1, out: outcome{wait: true}},
		"Again":         {reason: "Then it's told again.", want: wishBoot(1, false), j: tried(once, pxeWish, false, 1), seen: sight(off), now: t2, out: outcome{do: actSetBootOnce, write: true, state: begun}},
		"Over":          {reason: "But not for ever, and nothing else is begun that starts the machine.", want: func() want { w := wishBoot(1, false); w.power = v1alpha1.PoweredOn; return w }(), j: tried(once, pxeWish, true, 3), seen: sight(off), now: t4, out: outcome{wait: true}},
		"OverOff":       {reason: "It's powered off, though.", want: func() want { w := wishBoot(1, false); w.power = v1alpha1.PoweredOff; return w }(), j: tried(once, pxeWish, true, 3), seen: sight(on), now: t4, out: outcome{do: actGracefulOff, write: true, state: begun}},
		"OtherWish":     {reason: "Another generation is another wish.", want: wishBoot(2, false), j: tried(once, pxeWish, true, 3), seen: sight(off), now: t4, out: outcome{do: actSetBootOnce, write: true, state: begun}},
		"Booted":        {reason: "The boot is seen that the order was changed for.", want: wishBoot(1, false), j: byOrder(time.Time{}), seen: shownAs(on, "", "", "b", "a"), now: t0, out: outcome{write: true, bootOnce: 1}},
		"NotBooted":     {reason: "It isn't yet.", want: wishBoot(1, false), j: byOrder(time.Time{}), seen: shownAs(off, "", "", "b", "a"), now: t0, out: outcome{bootOnce: 0}},
		"Firmware":      {reason: "Firmware takes its time.", want: wishBoot(1, false), j: byOrder(t0), seen: shownAs(on, "", "", "b", "a"), now: t3},
		"PutBack":       {reason: "Then it's put back.", want: wishBoot(1, false), j: byOrder(t0), seen: shownAs(on, "", "", "b", "a"), now: t4, out: outcome{do: actPutBack, write: true, state: begun, bootOnce: 1}},
		"NotWanted":     {reason: "At once, where it isn't wanted any more.", want: wishBoot(0, false), j: byOrder(time.Time{}), seen: shownAs(off, "", "", "b", "a"), now: t0, out: outcome{do: actPutBack, write: true, state: begun, bootOnce: 1}},
		"NextOne":       {reason: "And before another boot for once: what was before is lost otherwise.", want: wishBoot(2, false), j: byOrder(time.Time{}), seen: shownAs(off, "", "", "b", "a"), now: t0, out: outcome{do: actPutBack, write: true, state: begun, bootOnce: 1}},
		"DeclaredOrder": {reason: "A declared order is another one.", want: wishBoot(1, false, "Pxe"), j: func() *journal { j := byOrder(t0); j.Boot.Order = ordered1(false).Boot.Order; return j }(), seen: shownAs(on, "", "", "b", "a"), now: t0, out: outcome{write: true, bootOnce: 1}},
	})
}

// TestResumeForeignOverride: an override that was there before ours was written
// isn't ours, after a crash as little as before.
func TestResumeForeignOverride(t *testing.T) {
	foreign := shownAs(redfish.PowerOff, "UefiBootNext", "Once")
	a := bootAct(view{seen: foreign}, actSetBootOnce, v1alpha1.BootSource{Target: v1alpha1.BootTargetPxe}, 1)
	a.State, a.Time, a.Power, a.LastReset, a.Attempts = begun, t0, redfish.PowerOff, foreign.lastReset, 1
	if got := next(wishBoot(1, false), &journal{Act: &a}, foreign, t0).do; got != actSetBootOnce {
		t.Errorf("somebody else's: got %q, want it to be set", got)
	}
	changed := shownAs(redfish.PowerOff, "UefiHttp", "Once")
	if got := next(wishBoot(1, false), &journal{Act: &a}, changed, t0); got.do != actNone || got.journal.BootOnce != 1 {
		t.Errorf("one that came since, by another name: got %+v", short(got))
	}
}

// TestResumeGivesUp: a BMC that answers with errors is told three times.
func TestResumeGivesUp(t *testing.T) {
	j, now, n := &journal{}, t0, 0
	for range 1000 {
		st := next(wishBoot(1, true, "Pxe"), j, shownAs(redfish.PowerOff, "None", "Disabled", "a", "b"), now)
		if st.journal != nil {
			j = st.journal
		}
		if st.do != actNone {
			n++
		}
		now = now.Add(10 * time.Second)
	}
	if n != 6 || j.pending() {
		t.Errorf("%d calls, want three of an order and three of a boot for once; journal %s", n, j)
	}
}

func TestBootNoted(t *testing.T) {
	plan, own := &redfish.OrderPlan{Was: []string{"a", "b"}, First: "b"}, &redfish.OEMPlan{Resource: "/r", Was: []string{"Normal"}}
	unoffered := &redfish.Error{Kind: redfish.Unsupported, Field: "Boot.BootOrder"}
	cases := map[string]struct {
		reason string
		rung   string
		tried  int
		was    *trial
		order  []string
		err    error
		want   trial
		over   bool // the error is told by a condition
	}{
		"NoEffect":     {reason: "Tried again.", err: &redfish.Error{Kind: redfish.NoEffect, Field: "F"}, want: trial{Tried: 1, Reason: v1alpha1.ReasonNoEffect, Field: "F"}},
		"Third":        {reason: "Not for ever.", tried: 2, err: &redfish.Error{Kind: redfish.NoEffect, Field: "F"}, want: trial{Tried: 3, Reason: v1alpha1.ReasonNoEffect, Field: "F", Over: true}, over: true},
		"ThirdOrder":   {reason: "The order is left.", tried: 2, err: &redfish.Error{Kind: redfish.NoEffect, Field: "F", Fallback: plan}, want: trial{Reason: v1alpha1.ReasonNoEffect, Field: "F", Plan: []string{"b", "a", "b"}, Before: "it accepts a change of F and doesn't make it"}, over: true},
		"First":        {reason: "But not before.", err: &redfish.Error{Kind: redfish.NoEffect, Field: "F", Fallback: plan}, want: trial{Tried: 1, Reason: v1alpha1.ReasonNoEffect, Field: "F"}},
		"NotOffered":   {reason: "What isn't there isn't tried again.", err: &redfish.Error{Kind: redfish.Unsupported, Field: "F", Offers: []string{"x"}}, want: trial{Tried: 1, Reason: v1alpha1.ReasonNotSupported, Field: "F", Offers: []string{"x"}, Over: true}, over: true},
		"OrderAtOnce":  {reason: "The order is, at once.", err: &redfish.Error{Kind: redfish.Unsupported, Field: "F", Fallback: plan}, want: trial{Reason: v1alpha1.ReasonNotSupported, Field: "F", Plan: []string{"b", "a", "b"}, Before: "it doesn't offer F"}, over: true},
		"OEMAtOnce":    {reason: "The vendor's own way is.", err: &redfish.Error{Kind: redfish.Unsupported, Field: "F", OEM: own}, want: trial{Reason: v1alpha1.ReasonNotSupported, Field: "F", OEM: []string{"/r", "Normal"}, Before: "it doesn't offer F"}, over: true},
		"OEMDeclared":  {reason: "And changes no order that is declared.", order: []string{"Hdd"}, err: &redfish.Error{Kind: redfish.Unsupported, Field: "F", Fallback: plan, OEM: own}, want: trial{Reason: v1alpha1.ReasonNotSupported, Field: "F", OEM: []string{"/r", "Normal"}, Before: "it doesn't offer F"}, over: true},
		"OEMAfter":     {reason: "After the order, where there are both.", rung: "BootOrder", was: &trial{Wish: "w", Plan: []string{"b", "a", "b"}, OEM: []string{"/r", "Normal"}, Before: "it doesn't offer F"}, err: unoffered, want: trial{Reason: v1alpha1.ReasonNotSupported, Field: "Boot.BootOrder", OEM: []string{"/r", "Normal"}, Before: "it doesn't offer F; BootOrder: it doesn't offer Boot.BootOrder"}, over: true},
		"OEMRefused":   {reason: "And that is all.", rung: "OEM", was: &trial{Wish: "w", Tried: 2, OEM: []string{"/r", "Normal"}, Before: "b"}, err: &redfish.Error{Kind: redfish.NoEffect, Field: "F"}, want: trial{Tried: 3, Reason: v1alpha1.ReasonNoEffect, Field: "F", Over: true}, over: true},
		"Declared":     {reason: "Never one that is declared.", order: []string{"Hdd"}, err: &redfish.Error{Kind: redfish.Unsupported, Field: "F", Fallback: plan}, want: trial{Tried: 1, Reason: v1alpha1.ReasonNotSupported, Field: "F", Over: true}, over: true},
		"OrderRefused": {reason: "The last rung is refused.", rung: "BootOrder", tried: 2, err: &redfish.Error{Kind: redfish.Refused, Status: 400, MessageID: "M"}, want: trial{Tried: 3, Reason: v1alpha1.ReasonRefused, Message: "M", Over: true}, over: true},
		"Busy":         {reason: "A BMC that is busy wasn't told.", err: &redfish.Error{Kind: redfish.Unreachable, Status: http.StatusServiceUnavailable}},
		"NotCalled":    {reason: "Nor one that wasn't called.", err: notCalledError{&redfish.Error{Kind: redfish.Refused}}},
		"Lost":         {reason: "Nobody knows: the next look tells.", err: errors.New("EOF")},
		"Password":     {reason: "That is about the BMC.", err: &redfish.Error{Kind: redfish.Unauthorized, Status: 401}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			j := &journal{Act: &act{Action: actSetBootOnce, Wish: "w", Rung: tc.rung, State: begun}}
			if tc.tried > 0 {
				j.Boot.Once = &trial{Wish: "w", Tried: tc.tried}
			}
			if tc.was != nil {
				j.Boot.Once = tc.was
			}
			v := view{now: t0, asked: "7", want: want{order: tc.order}}
			bootNoted(v, j, tc.err)
			if tc.want.Reason == "" {
				if j.Boot.Once != nil || j.Act.Refused {
					t.Errorf("\n%s\nnoted %+v", tc.reason, j.Boot.Once)
				}

				return
			}
			tc.want.Wish, tc.want.Time = "w", t0
			if tc.want.Over {
				tc.want.Shows, tc.want.Asked = shows(v.seen.boot), "7"
			}
			if diff := cmp.Diff(&tc.want, j.Boot.Once); diff != "" || j.Act.Refused != tc.over {
				t.Errorf("\n%s\nrefused %v; -want, +got:\n%s", tc.reason, j.Act.Refused, diff)
			}
		})
	}
}

func TestShowBoot(t *testing.T) {
	over := func(w string, reason trial) *journal {
		reason.Wish, reason.Over = w, true

		return &journal{Boot: boots{Once: &reason, Lastly: &reason}}
	}
	cases := map[string]struct {
		reason string
		want   want
		j      *journal
		seen   seen
		out    string // reason: a part of the message
	}{
		"Nothing":    {reason: "Nothing is asked for.", want: wishBoot(0, false), j: &journal{}, seen: sight(redfish.PowerOn)},
		"Done":       {reason: "As wanted.", want: wishBoot(1, false), j: &journal{BootOnce: 1}, seen: sight(redfish.PowerOn), out: "Applied: "},
		"Setting":    {reason: "On its way.", want: wishBoot(1, false), j: &journal{}, seen: sight(redfish.PowerOn), out: "WaitingForHost: a boot from Pxe (boot.once)"},
		"Offers":     {reason: "What the machine has.", want: wishBoot(1, false), j: over(pxeWish, trial{Reason: v1alpha1.ReasonNotSupported, Field: "BootSourceOverrideTarget Pxe", Offers: []string{"Hdd", "Cd"}}), seen: sight(redfish.PowerOn), out: `NotSupported: the BMC at "x" can't do a boot from Pxe (boot.once): it doesn't offer BootSourceOverrideTarget Pxe: it offers Hdd, Cd; choose one of them; the machine isn't powered on or reset until then`},
		"Field":      {reason: "The property that it doesn't change.", want: wishBoot(1, false), j: over(pxeWish, trial{Reason: v1alpha1.ReasonNoEffect, Field: "Boot.BootSourceOverrideEnabled", Tried: 3}), seen: sight(redfish.PowerOn), out: "GaveUp: the BMC at \"x\" doesn't do a boot from Pxe (boot.once): it accepts a change of Boot.BootSourceOverrideEnabled and doesn't make it, 3 times"},
		"Continuous": {reason: "A machine that has it for one boot alone.", want: wishBoot(0, true), j: over(hddWish, trial{Reason: v1alpha1.ReasonNotSupported, Field: "BootSourceOverrideEnabled Continuous", Offers: []string{"Once"}}), seen: sight(redfish.PowerOn), out: "name it in boot.order instead"},
		"OtherWish":  {reason: "What was said of another wish isn't about this one.", want: wishBoot(2, false), j: over(pxeWish, trial{Reason: v1alpha1.ReasonNotSupported}), seen: sight(redfish.PowerOn), out: "WaitingForHost: "},
		"Staged":     {reason: "It comes with a boot.", want: wishBoot(0, false, "Pxe"), j: &journal{Boot: boots{Order: &ordered{Wish: pxeFirst, First: []string{"b"}, Staged: true}}}, seen: shownAs(redfish.PowerOn, "", "", "a", "b"), out: "WaitingForReset: the boot order Pxe (boot.order): the BMC has it from the machine's next boot on"},
		"ByOrder":    {reason: "What is ours for a while.", want: wishBoot(1, false), j: &journal{BootOnce: 1, Boot: boots{Moved: &moved{First: "b"}}}, seen: sight(redfish.PowerOn), out: `Applied: boot option "b" is at the front`},
		"Stuck":      {reason: "What can't be taken back.", want: wishBoot(0, false), j: &journal{Boot: boots{Clear: &trial{Wish: clearWish, Over: true, Reason: v1alpha1.ReasonNoEffect, Field: "F"}}}, seen: sight(redfish.PowerOn), out: "GaveUp: the BMC at \"x\" doesn't take back"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, c := range showBoot(view{want: tc.want, j: tc.j, seen: tc.seen}, inputs{address: "x"}) {
				got += string(c.Reason) + ": " + c.Message
			}
			if !strings.Contains(got, tc.out) || tc.out == "" && got != "" {
				t.Errorf("\n%s\nshowBoot(...): got %q, want %q in it", tc.reason, got, tc.out)
			}
		})
	}
}

func TestBootObservation(t *testing.T) {
	got := bootObservation(redfish.Boot{Target: "UefiHttp", Enabled: "Once", URI: "http://" + "u:p@x.example/a?token=b", Order: make([]string, 100)})
	if got.HTTPBootURI != "http://x.example/a" || len(got.Order) != maxShownOrder {
		t.Errorf("bootObservation(...): %+v", got)
	}
}
