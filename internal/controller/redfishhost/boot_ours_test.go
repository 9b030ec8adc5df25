package redfishhost

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// TestBootedByUs: a boot by our own hand is the one that a thing was for, though the BMC tells no last reset.
func TestBootedByUs(t *testing.T) {
	m := moved{First: "b", Was: []string{"a", "b"}, Time: t0, Power: redfish.PowerOn}
	older := m
	older.Time = time.Time{}
	s := func(power redfish.Power) seen {
		s := shownAs(power, "", "", "a", "b")
		s.lastReset = time.Time{}

		return s
	}
	for name, tc := range map[string]struct {
		reason string
		m      moved
		power  redfish.Power
		on     time.Time
		want   bool
	}{
		"Reset":  {reason: "We reset it.", m: m, power: redfish.PowerOn, on: t0.Add(time.Minute), want: true},
		"Before": {reason: "That was before.", m: m, power: redfish.PowerOn, on: t0.Add(-time.Minute)},
		"Never":  {reason: "Nobody did.", m: m, power: redfish.PowerOn},
		"Unseen": {reason: "It isn't on, as far as is seen.", m: m, power: redfish.PowerUnknown, on: t0.Add(time.Minute)},
		"Older":  {reason: "A journal of an older version doesn't tell when it was set.", m: older, power: redfish.PowerOn, on: t0.Add(time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			late := next(wishBoot(1, false), &journal{BootOnce: 1, PoweredOn: tc.on, Boot: boots{Late: []moved{tc.m}}}, s(tc.power), t4)
			if got := late.journal != nil && !late.journal.Boot.Late[0].Booted.IsZero(); got != tc.want {
				t.Errorf("%s\nlate: booted %t", tc.reason, got)
			}
			st := next(wishBoot(1, false), &journal{BootOnce: 1, PoweredOn: tc.on, Boot: boots{Moved: &tc.m}}, s(tc.power), t4)
			if got := st.journal != nil && !st.journal.Boot.Moved.Booted.IsZero(); got != tc.want {
				t.Errorf("%s\nmoved: booted %t", tc.reason, got)
			}
		})
	}
}

// TestToldIsKept: what a BMC accepted once, or may have got, may come about whatever it answers later.
func TestToldIsKept(t *testing.T) {
	noEffect, refused := &redfish.Error{Kind: redfish.NoEffect, Field: "F"}, &redfish.Error{Kind: redfish.Refused, Status: 400}
	begin := func(late ...moved) *journal {
		j := &journal{Boot: boots{Late: late, Once: &trial{Wish: pxeWish, Plan: []string{"b", "a", "b"}}}}

		return next(wishBoot(1, false), j, sight(redfish.PowerOn), t4).journal
	}
	earlier := moved{First: "b", Was: []string{"a", "b"}, Told: true}
	for name, tc := range map[string]struct {
		reason   string
		j        *journal
		attempts int
		errs     []error
		want     int
	}{
		"Refused":  {reason: "Nothing comes of what was only refused.", j: begin(), attempts: 1, errs: []error{refused, refused}},
		"Accepted": {reason: "A job waits, and the BMC refuses another one.", j: begin(), attempts: 1, errs: []error{noEffect, refused, refused}, want: 1},
		"Lost":     {reason: "The answer to the first call was lost.", j: begin(), attempts: 2, errs: []error{refused}, want: 1},
		"Earlier":  {reason: "An earlier boot for the same may come.", j: begin(earlier), attempts: 1, errs: []error{refused, refused, refused}, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			j := tc.j
			for _, err := range tc.errs {
				a := *j.Act
				a.Attempts = tc.attempts
				j = j.with(a)
				bootNoted(view{now: t4}, j, err)
			}
			if len(j.Boot.Late) != tc.want {
				t.Errorf("%s\nlate %+v, want %d", tc.reason, j.Boot.Late, tc.want)
			}
		})
	}
	j := begin()
	bootNoted(view{now: t4}, j, noEffect)
	again := *j
	again.Boot.Once = &trial{Wish: pxeWish, Plan: []string{"b", "a", "b"}}
	again.expect(*j.Act)
	if !again.Boot.Late[0].Told {
		t.Error("the next try forgets that it was accepted")
	}
	staged, _ := overridden(view{want: wishBoot(1, false), now: t4}, *begin(), redfish.Receipt{Via: &redfish.BootVia{Rung: redfish.RungOrder, Staged: true}})
	if l := staged.Boot.Late; len(l) != 1 || !l[0].Told {
		t.Errorf("staged: %+v", l)
	}
	lost := begin()
	a := *lost.Act
	a.Attempts = len(patience)
	st := next(wishBoot(1, false), lost.with(a), sight(redfish.PowerOn), t4.Add(time.Hour))
	if st.journal == nil || len(st.journal.Boot.Late) != 1 || !st.journal.Boot.Late[0].Told {
		t.Errorf("given up without an answer: %+v", short(st))
	}
}

// TestTrueBefore: what a second boot for the same finds is ours where the first one came late: what was there before that is put back.
func TestTrueBefore(t *testing.T) {
	order := moved{First: "b", Was: []string{"a", "b"}}
	own := moved{First: "Pxe", Resource: "/own", Was: []string{"Normal", "Disabled"}, At: []string{"/Next", "/Once"}, Set: []string{"PXE", "Enabled"}}
	at, set := own.At, own.Set
	for name, tc := range map[string]struct {
		reason string
		late   []moved
		said   redfish.Error
		plan   []string
		oem    []string
	}{
		"None":     {reason: "Nothing is ours.", said: redfish.Error{Fallback: &redfish.OrderPlan{First: "b", Was: []string{"b", "a"}}}, plan: []string{"b", "b", "a"}},
		"Order":    {reason: "Ours is in front.", late: []moved{order}, said: redfish.Error{Fallback: &redfish.OrderPlan{First: "b", Was: []string{"b", "a"}}}, plan: []string{"b", "a", "b"}},
		"Others":   {reason: "The others are as they are by now.", late: []moved{order}, said: redfish.Error{Fallback: &redfish.OrderPlan{First: "b", Was: []string{"b", "c", "a"}}}, plan: []string{"b", "c", "b", "a"}},
		"NotYet":   {reason: "It didn't come.", late: []moved{order}, said: redfish.Error{Fallback: &redfish.OrderPlan{First: "b", Was: []string{"c", "a", "b"}}}, plan: []string{"b", "c", "a", "b"}},
		"Another":  {reason: "That's another option.", late: []moved{order}, said: redfish.Error{Fallback: &redfish.OrderPlan{First: "c", Was: []string{"c", "a", "b"}}}, plan: []string{"c", "c", "a", "b"}},
		"Own":      {reason: "The vendor's own.", late: []moved{order, own}, said: redfish.Error{OEM: &redfish.OEMPlan{Resource: "/own", Was: []string{"pxe", "Enabled"}, At: at, Set: set}}, oem: []string{"/own", "Normal", "Disabled"}},
		"OwnHalf":  {reason: "One of its properties came.", late: []moved{own}, said: redfish.Error{OEM: &redfish.OEMPlan{Resource: "/own", Was: []string{"Normal", "Enabled"}, At: at, Set: set}}, oem: []string{"/own", "Normal", "Disabled"}},
		"OwnOther": {reason: "Somebody else set it.", late: []moved{own}, said: redfish.Error{OEM: &redfish.OEMPlan{Resource: "/own", Was: []string{"HDD", "Disabled"}, At: at, Set: set}}, oem: []string{"/own", "HDD", "Disabled"}},
		"OwnRow":   {reason: "Of another row of quirks nothing is known.", late: []moved{own}, said: redfish.Error{OEM: &redfish.OEMPlan{Resource: "/own", Was: []string{"PXE"}, At: at[:1], Set: set[:1]}}, oem: []string{"/own", "PXE"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := bootAct(view{}, actSetBootOnce, v1alpha1.BootSource{Target: v1alpha1.BootTargetPxe}, 2)
			j := &journal{Act: &a, Boot: boots{Late: tc.late}}
			tc.said.Kind = redfish.Unsupported
			bootNoted(view{now: t0}, j, &tc.said)
			if diff := cmp.Diff(append(tc.plan, tc.oem...), append(j.Boot.Once.Plan, j.Boot.Once.OEM...)); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if diff := cmp.Diff([]string{"a", "b"}, order.Was); diff != "" {
		t.Error(diff)
	}
}

// TestClearInTheWay: an override that the BMC doesn't clear keeps nothing else on the machine, and gives its own trial away to nothing.
func TestClearInTheWay(t *testing.T) {
	m := moved{First: "b", Was: []string{"a", "b"}, Power: redfish.PowerOn, LastReset: t0.Add(-time.Hour)}
	stuck := func() *journal {
		return &journal{Boot: boots{Moved: &m, Lasting: &lasting{Wish: hddWish, Target: "Hdd"}, Clear: &trial{Wish: clearWish, Over: true, Tried: 3, Time: t0, Reason: v1alpha1.ReasonRefused}}}
	}
	leaves := wishBoot(0, false)
	leaves.leaving = true
	s := shownAs(redfish.PowerOn, "Hdd", "Continuous", "b", "a")
	back := outcome{do: actPutBack, write: true, state: begun}
	runNext(t, map[string]nextCase{
		"Kept":   {reason: "The order goes back all the same.", want: wishBoot(0, false), j: stuck(), seen: s, now: t3, out: back},
		"Leaves": {reason: "The override stays, for the host goes.", want: leaves, j: stuck(), seen: s, now: t3, out: outcome{write: true}},
	})
	if st := next(leaves, next(leaves, stuck(), s, t3).journal, s, t3); st.do != actPutBack {
		t.Errorf("a host that goes leaves the order: %+v", short(st))
	}
	j := next(wishBoot(0, false), stuck(), s, t3).journal
	for range patience {
		bootNoted(view{now: t3}, j, &redfish.Error{Kind: redfish.Refused})
	}
	if b := j.Boot; b.Clear == nil || !b.Clear.Over || b.Back == nil || !b.Back.Over || j.kept() != b.Clear {
		t.Errorf("trials: %+v, %+v", b.Clear, b.Back)
	}
}

// TestClearNotTheirs: an override that somebody set since ours couldn't be cleared is theirs.
func TestClearNotTheirs(t *testing.T) {
	s := shownAs(redfish.PowerOn, "Pxe", redfish.EnabledOnce)
	j := func() *journal {
		given := trial{Wish: clearWish, Tried: 3, Time: t0, Reason: v1alpha1.ReasonRefused}.end(view{seen: s})

		return &journal{Override: "Pxe", Boot: boots{Clear: &given}}
	}
	runNext(t, map[string]nextCase{
		"Ours":   {reason: "It's ours, and told again after an hour.", want: wishBoot(0, false), j: j(), seen: s, now: t4, out: outcome{do: actClearBoot, write: true, state: begun, override: "Pxe"}},
		"Theirs": {reason: "Another one isn't cleared.", want: wishBoot(0, false), j: j(), seen: shownAs(redfish.PowerOn, "Hdd", redfish.EnabledOnce), now: t4, out: outcome{write: true}},
	})
}
