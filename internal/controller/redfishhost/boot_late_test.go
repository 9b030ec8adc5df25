package redfishhost

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// TestLate: what had no effect is waited for until some minutes after a boot, and put back where it comes.
func TestLate(t *testing.T) {
	on, off := redfish.PowerOn, redfish.PowerOff
	late := func(of ...moved) *journal { return &journal{BootOnce: 1, Boot: boots{Late: of}} }
	order := moved{First: "b", Was: []string{"a", "b"}, Power: on, LastReset: t0.Add(-time.Hour)}
	own := moved{First: "Pxe", Resource: "/own", Was: []string{"Normal"}, At: []string{"/Next"}, Set: []string{"PXE"}, Power: on, LastReset: t0.Add(-time.Hour)}
	booted := func(m moved, at time.Time) moved { m.Booted = at; return m }
	over := func(j *journal) *journal {
		j.BootOnce = 0
		j.Boot.Once = &trial{Wish: pxeWish, Over: true, Tried: 3, Time: t0, Reason: v1alpha1.ReasonNoEffect}

		return j
	}
	trying := func(j *journal) *journal {
		j.BootOnce = 0
		j.Boot.Once = &trial{Wish: pxeWish, Tried: 1, Time: t0, Reason: v1alpha1.ReasonNoEffect}

		return j
	}
	write, back := outcome{write: true, bootOnce: 1}, outcome{do: actPutBack, write: true, state: begun, bootOnce: 1}
	runNext(t, map[string]nextCase{
		"NotYet":      {reason: "Nothing came, and nothing is done.", want: wishBoot(0, false), j: late(order), seen: shownAs(on, "", "", "a", "b"), now: t4},
		"Came":        {reason: "It came.", want: wishBoot(0, false), j: late(order), seen: shownAs(on, "", "", "b", "a"), now: t4, out: back},
		"CameGivenUp": {reason: "Also while the boot is asked for that was given up.", want: wishBoot(1, false), j: over(late(order)), seen: shownAs(on, "", "", "b", "a"), now: t4, out: outcome{do: actPutBack, write: true, state: begun}},
		"GivenUp":     {reason: "The machine waits as ever.", want: wishBoot(1, false), j: over(late(order)), seen: shownAs(on, "", "", "a", "b"), now: t4, out: outcome{wait: true}},
		"Trying":      {reason: "While it's tried, the next try finds that out.", want: wishBoot(1, false), j: trying(late(order)), seen: shownAs(on, "", "", "b", "a"), now: t1, out: outcome{wait: true}},
		"Another":     {reason: "A boot of another generation comes first.", want: wishBoot(2, false), j: late(order), seen: shownAs(on, "", "", "b", "a"), now: t1, out: outcome{do: actSetBootOnce, write: true, state: begun, bootOnce: 1}},
		"Off":         {reason: "The next time that it's on is a boot.", want: wishBoot(0, false), j: late(order), seen: shownAs(off, "", "", "a", "b"), now: t4, out: write},
		"Booted":      {reason: "A boot is seen.", want: wishBoot(0, false), j: late(order), seen: wasReset(shownAs(on, "", "", "a", "b")), now: t4, out: write},
		"Firmware":    {reason: "Firmware takes its time.", want: wishBoot(0, false), j: late(booted(order, t0)), seen: shownAs(on, "", "", "a", "b"), now: t3},
		"Last":        {reason: "Then it's looked at strictly, once.", want: wishBoot(0, false), j: late(booted(order, t0)), seen: shownAs(on, "", "", "a", "b"), now: t4, out: back},
		"Own":         {reason: "A vendor's own isn't shown by a look: that once is all.", want: wishBoot(0, false), j: late(booted(own, t0)), seen: sight(on), now: t4, out: back},
		"OwnWaits":    {reason: "Not before.", want: wishBoot(0, false), j: late(own), seen: sight(on), now: t4},
		"Declared": {reason: "An order that is declared is kept anyway.", want: wishBoot(0, false, "Pxe"), j: func() *journal {
			j := late(order)
			j.Boot.Order = &ordered{Wish: pxeFirst, First: []string{"b"}}
			return j
		}(), seen: shownAs(on, "", "", "b", "a"), now: t4, out: write},
		"Second":       {reason: "The second one came.", want: wishBoot(0, false), j: late(own, order), seen: shownAs(on, "", "", "b", "a"), now: t4, out: back},
		"BehindMoved":  {reason: "One after the other.", want: wishBoot(1, false), j: &journal{BootOnce: 1, Boot: boots{Late: []moved{order}, Moved: &own}}, seen: shownAs(on, "", "", "b", "a"), now: t4},
		"OrderUnknown": {reason: "A BMC that shows no order says nothing of it.", want: wishBoot(0, false), j: late(order), seen: sight(on), now: t4},
	})
	st := next(wishBoot(0, false), late(own, order), shownAs(on, "", "", "b", "a"), t4)
	if b := st.journal.Boot; len(b.Late) != 1 || !b.Late[0].same(own) || b.Moved == nil || !b.Moved.same(order) {
		t.Errorf("one of two: %+v", b)
	}
}

// TestLateIsKept: what an act may bring about is in the journal with it, the newest three, until it's seen.
func TestLateIsKept(t *testing.T) {
	on := sight(redfish.PowerOn)
	byOrder := &journal{Boot: boots{Once: &trial{Wish: pxeWish, Plan: []string{"b", "a", "b"}}}}
	st := next(wishBoot(1, false), byOrder, on, t4)
	want := []moved{{First: "b", Was: []string{"a", "b"}, Time: t4, Power: redfish.PowerOn, LastReset: on.lastReset}}
	if diff := cmp.Diff(want, st.journal.Boot.Late); diff != "" || st.do != actSetBootOnce {
		t.Fatalf("%+v: -want, +got:\n%s", short(st), diff)
	}
	v := view{want: wishBoot(1, false), j: st.journal, seen: on, now: t4}
	for staged, left := range map[bool]int{false: 0, true: 1} {
		j, _ := overridden(v, *st.journal, redfish.Receipt{Via: &redfish.BootVia{Rung: redfish.RungOrder, Staged: staged}})
		if len(j.Boot.Late) != left || j.Boot.Moved == nil {
			t.Errorf("set, staged %t: late %+v", staged, j.Boot.Late)
		}
	}
	if st := next(wishBoot(1, false), st.journal, shownAs(redfish.PowerOn, "", "", "b", "a"), t4); len(st.journal.Boot.Late) != 0 {
		t.Errorf("seen after a crash: late %+v", st.journal.Boot.Late)
	}
	for want, errs := range map[int][]error{
		0: {&redfish.Error{Kind: redfish.Refused}}, // Somebody else has changed the order: what comes to the front then is theirs.
		1: {&redfish.Error{Kind: redfish.NoEffect, Field: "F"}, &redfish.Error{Kind: redfish.Refused, Status: 400}},
	} {
		j := st.journal.with(*st.journal.Act)
		for _, err := range errs {
			bootNoted(v, j, err)
		}
		if len(j.Boot.Late) != want {
			t.Errorf("after %v: late %+v, want %d", errs, j.Boot.Late, want)
		}
	}
	j := &journal{}
	for _, first := range []string{"a", "b", "c", "b", "d"} {
		j.expect(act{Rung: string(redfish.RungOrder), Option: first + "\nx"})
	}
	var got []string
	for _, l := range j.Boot.Late {
		got = append(got, l.First)
	}
	if diff := cmp.Diff([]string{"c", "b", "d"}, got); diff != "" {
		t.Errorf("the newest: -want, +got:\n%s", diff)
	}
}

// TestPutBackIsNotDropped: what a BMC doesn't put back stays ours, and is asked for again after an hour, or when somebody asks; but nobody waits
// for that.
func TestPutBackIsNotDropped(t *testing.T) {
	m := moved{First: "b", Was: []string{"a", "b"}, Power: redfish.PowerOn, LastReset: t0.Add(-time.Hour), Booted: t0.Add(-time.Hour)}
	stuck := func(once int64, asked string) *journal {
		return &journal{BootOnce: once, Boot: boots{Moved: &m, Back: &trial{Wish: m.putBack().Wish, Over: true, Tried: 3, Time: t0, Asked: asked, Reason: v1alpha1.ReasonNoEffect}}}
	}
	leaves := wishBoot(0, false)
	leaves.leaving = true
	s := shownAs(redfish.PowerOn, "", "", "b", "a")
	back := outcome{do: actPutBack, write: true, state: begun, bootOnce: 1}
	runNext(t, map[string]nextCase{
		"Rests":   {reason: "It's left alone for now.", want: wishBoot(1, false), j: stuck(1, ""), seen: s, now: t3},
		"Hour":    {reason: "And told again.", want: wishBoot(1, false), j: stuck(1, ""), seen: s, now: t4, out: back},
		"Nothing": {reason: "Also where no boot is asked for.", want: wishBoot(0, false), j: stuck(1, ""), seen: s, now: t4, out: back},
		"Asked":   {reason: "At once where somebody asks.", want: wishBoot(1, false), j: stuck(1, "before"), seen: s, now: t3, out: back},
		"Next":    {reason: "Another boot doesn't wait for it.", want: wishBoot(2, false), j: stuck(1, ""), seen: s, now: t3, out: outcome{write: true, bootOnce: 1}},
		"Leaves":  {reason: "Nor does the deletion.", want: leaves, j: stuck(1, ""), seen: s, now: t3, out: outcome{write: true, bootOnce: 1}},
	})
	lasts := func() *journal {
		return &journal{Boot: boots{Lasting: &lasting{Wish: hddWish, Target: "Hdd"}, Clear: &trial{Wish: clearWish, Over: true, Tried: 3, Time: t0, Reason: v1alpha1.ReasonRefused}}}
	}
	there := shownAs(redfish.PowerOn, "Hdd", "Continuous")
	runNext(t, map[string]nextCase{
		"LastingRests":  {reason: "The same of an override that lasts.", want: wishBoot(0, false), j: lasts(), seen: there, now: t3},
		"LastingHour":   {reason: "It's told again.", want: wishBoot(0, false), j: lasts(), seen: there, now: t4, out: outcome{do: actClearBoot, write: true, state: begun}},
		"LastingLeaves": {reason: "But for a host that goes.", want: leaves, j: lasts(), seen: there, now: t4, out: outcome{write: true}},
	})
}

// TestRowOfAnotherTime: a boot by the vendor's own way whose row was changed before it was set is planned anew, by the row that there is.
func TestRowOfAnotherTime(t *testing.T) {
	j := begunByOEM(1)
	j.Boot.Once = &trial{Wish: pxeWish, OEM: []string{"/own", "Normal", "Disabled"}, Tried: 1}
	bootNoted(view{now: t0}, j, &redfish.Error{Kind: redfish.Unsupported, Field: redfish.OtherRow})
	if got := j.Boot.Once; got.Over || got.Tried != 0 || got.OEM != nil || !j.Act.Refused {
		t.Errorf("got %+v, act %+v", got, j.Act)
	}
	for range 2 * len(patience) { // Rows that are another one each time.
		a := *begunByOEM(1).Act
		j.Act = &a
		bootNoted(view{now: t0}, j, &redfish.Error{Kind: redfish.Unsupported, Field: redfish.OtherRow})
	}
	if got := j.Boot.Once; !got.Over || got.Reason != v1alpha1.ReasonNotSupported || got.Field != redfish.OtherRow {
		t.Errorf("it's planned anew without end: %+v", got)
	}
}

// TestUnlistedManager: a manager that the BMC doesn't list just now is waited for, three times, and is no other row.
func TestUnlistedManager(t *testing.T) {
	j := begunByOEM(1)
	plan := []string{"/own", "Normal", "Disabled"}
	j.Boot.Once = &trial{Wish: pxeWish, OEM: plan}
	for n := range patience {
		a := *begunByOEM(1).Act
		j.Act = &a
		bootNoted(view{now: t0}, j, &redfish.Error{Kind: redfish.Unsupported, Field: redfish.Unlisted})
		got, last := j.Boot.Once, n == len(patience)-1
		if got.Over != last || got.Tried != n+1 || !last && !slices.Equal(got.OEM, plan) {
			t.Errorf("after %d tries: %+v", n+1, got)
		}
	}
	if got := saidOf(*j.Boot.Once); !strings.Contains(got, "its manager isn't listed") {
		t.Errorf("it says %q", got)
	}
}

// TestNeeds: a journal says what a version must understand where another one would take a thing for what it isn't, and only there.
func TestNeeds(t *testing.T) {
	own := begunByOEM(1)
	cases := map[string]struct {
		j    *journal
		want int
	}{
		"Nothing": {&journal{}, 0},
		"Order":   {&journal{Boot: boots{Moved: &moved{First: "b"}}}, 0},
		"Own":     {&journal{Boot: boots{Moved: &moved{First: "b", Resource: "/own"}}}, 1},
		"Late":    {&journal{Boot: boots{Late: []moved{{First: "b"}}}}, 1},
		"Begun":   {own, 1},
		"Over":    {own.with(act{Action: actSetBootOnce, State: done, Rung: own.Act.Rung, Option: own.Act.Option}), 0},
		"Was":     {&journal{Needs: 1}, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			j := parseJournal(tc.j.String())
			if j.Needs != tc.want || j.newer() || strings.Contains(tc.j.String(), "needs") != (tc.want > 0) {
				t.Errorf("journal %s", tc.j)
			}
		})
	}
	if !parseJournal(`{"needs":2}`).newer() || !parseJournal(`{"needs":2,"bootOnce":"seven","act":[]}`).newer() || parseJournal(`{"bootOnce":"seven"}`) != nil || parseJournal("").newer() {
		t.Error("a newer one isn't told from none")
	}
}

// TestRush: while a fleet is looked at for the first time, few inventories are read that nobody waits for; and as many as ever behind that, and for
// who is waited for.
func TestRush(t *testing.T) {
	now := t0
	i := newInventories(nil, func() time.Time { return now }, nil)
	defer i.stop()
	if i.readers() != readersAtOnce {
		t.Error("nobody came")
	}
	for n := range rushHosts {
		if i.readers() != readersAtOnce {
			t.Errorf("%d hosts are no fleet", n)
		}
		i.firsts = append(recent(i.firsts, now), now)
		now = now.Add(rushTime / rushHosts / 2)
	}
	if i.readers() != rushReaders {
		t.Errorf("a fleet: %d read at once", i.readers())
	}
	if now = now.Add(rushTime); i.readers() != readersAtOnce || len(i.firsts) >= rushHosts {
		t.Errorf("it's over: %d read at once", i.readers())
	}
}
