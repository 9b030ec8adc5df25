package redfishhost

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// TestAskedForOn: a reset whose On was given up leaves a machine off whose power
// isn't ours: who asks has it told once more, and nothing else does.
func TestAskedForOn(t *testing.T) {
	cases := map[string]struct {
		reason string
		power  v1alpha1.PowerState
		asked  string
		spec   int64
		seen   redfish.Power
		want   action
	}{
		"Asked":  {reason: "That's what the condition names.", power: v1alpha1.Unmanaged, asked: "2", seen: redfish.PowerOff, want: actResetOn},
		"Edited": {reason: "The machine may be under repair.", power: v1alpha1.Unmanaged, asked: "1", spec: 7, seen: redfish.PowerOff},
		"Off":    {reason: "It's wanted off.", power: v1alpha1.PoweredOff, asked: "2", seen: redfish.PowerOff},
		"On":     {reason: "It's on already.", power: v1alpha1.Unmanaged, asked: "2", seen: redfish.PowerOn},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			j := tried(actResetOn, 3, redfish.PowerOff)
			j.Act.State, j.Act.Asked, j.Reset = gaveUp, "1", 4
			v := view{want: wish(tc.power, 0, 4), j: j, seen: sight(tc.seen), asked: tc.asked, spec: tc.spec, now: t4, lap: func(act) lap { return lap{ours: true} }}
			if got := following(v).do; got != tc.want {
				t.Errorf("\n%s\nfollowing(...): got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestLeaving: of a host that is deleted an act ends of which nothing was carried
// out, and what is ours is taken away all the same.
func TestLeaving(t *testing.T) {
	refused := func(a action, attempts int) *journal {
		j := tried(a, attempts, redfish.PowerOn)
		j.Act.Refusals, j.Act.Message, j.Override = 9, "status 403", "Pxe"

		return j
	}
	cases := map[string]struct {
		reason string
		j      *journal
		seen   seen
		out    outcome
	}{
		"ResetRefused":   {reason: "A reset that the BMC only ever refused.", j: refused(actResetOff, 0), seen: withOverride(sight(redfish.PowerOn)), out: outcome{do: actClearBoot, write: true, state: begun, override: "Pxe"}},
		"RestartRefused": {reason: "The same in one step.", j: refused(actRestart, 0), seen: withOverride(sight(redfish.PowerOn)), out: outcome{do: actClearBoot, write: true, state: begun, override: "Pxe"}},
		"ResetBusy":      {reason: "Or that it had no time for.", j: tried(actResetOff, 0, redfish.PowerOn), seen: sight(redfish.PowerOn), out: outcome{write: true, state: done}},
		"ResetUnderWay":  {reason: "One that may have begun is brought to its end.", j: tried(actResetOff, 1, redfish.PowerOn), seen: sight(redfish.PowerOff), out: outcome{do: actResetOn, write: true, state: begun}},
		"ResetOnRefused": {reason: "So is one whose off was carried out.", j: refused(actResetOn, 0), seen: sight(redfish.PowerOff), out: outcome{wait: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := released(wish(v1alpha1.PoweredOn, 1, 4), tc.j)
			w.power = v1alpha1.Unmanaged
			if diff := cmp.Diff(tc.out, short(next(w, tc.j, tc.seen, t2)), cmp.AllowUnexported(outcome{})); diff != "" {
				t.Errorf("\n%s\nfollowing(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRestartOfABMC: it's the last resort, so what can't be done to the machine
// doesn't stand in its way.
func TestRestartOfABMC(t *testing.T) {
	stuck := tried(actPowerOn, 3, redfish.PowerOff)
	stuck.Act.State = gaveUp
	over := &journal{Boot: boots{Once: &trial{Wish: pxeWish, Over: true, Reason: v1alpha1.ReasonNoEffect}}}
	cases := map[string]struct {
		j    *journal
		spec int64
		once int64
		seen redfish.Power
	}{
		"GaveUp":      {j: stuck, seen: redfish.PowerOff},
		"GaveUpOther": {j: stuck, spec: 7, seen: redfish.PowerOff},
		"Boot":        {j: over, once: 1, seen: redfish.PowerOff},
		"Between":     {j: &journal{}, seen: redfish.PowerPoweringOff},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := wish(v1alpha1.PoweredOn, tc.once, 0)
			w.bmcReset = 1
			v := view{want: w, j: tc.j, seen: sight(tc.seen), spec: tc.spec, now: t4, lap: func(act) lap { return lap{ours: true} }}
			if got := following(v); got.do != actResetBMC {
				t.Errorf("following(...): got %+v", short(got))
			}
		})
	}
}

// TestBMCThatRefusesARestart: what was refused wasn't done, and is said.
func TestBMCThatRefusesARestart(t *testing.T) {
	w := wish(v1alpha1.Unmanaged, 0, 0)
	w.bmcReset = 2
	v := view{want: w, j: &journal{BMCReset: 1}, seen: sight(redfish.PowerOn), now: t0, lap: func(act) lap { return lap{ours: true} }}
	var events []string
	calls := 0
	for range 20 {
		st := following(v)
		if st.idle() {
			break
		}
		events = append(events, givenUp(v.j, st.journal)...)
		v.j = st.journal
		if st.do == actResetBMC {
			calls++
			v.j = v.j.with(afterFailure(v, *v.j.Act, &redfish.Error{Kind: redfish.Forbidden, Status: 403}))
		}
	}
	if calls != 3 || v.j.BMCReset != 1 || len(events) != 1 {
		t.Errorf("%d calls, generation %d, events %q; want three, 1 and one", calls, v.j.BMCReset, events)
	}
	if c := showSettings(v, inputs{}); len(c) != 1 || c[0].Reason != v1alpha1.ReasonNoEffect {
		t.Errorf("showSettings(...): %+v", c)
	}
	if v.asked = "2"; following(v).do != actResetBMC {
		t.Error("it isn't tried again where somebody asks")
	}
	down := afterFailure(v, act{Action: actResetBMC, State: begun, Attempts: 1}, &redfish.Error{Kind: redfish.Unreachable, Status: 503})
	if down.State != begun {
		t.Errorf("a BMC that goes down isn't restarted twice: %+v", down)
	}
}

// TestOrderThatMayHaveMoved: a boot order that may have been changed for one boot is
// put back, whatever became of the act.
func TestOrderThatMayHaveMoved(t *testing.T) {
	begunByOrder := func(attempts int) *journal {
		a := bootAct(view{}, actSetBootOnce, v1alpha1.BootSource{Target: v1alpha1.BootTargetPxe}, 1)
		a.State, a.Time, a.Power, a.LastReset, a.Attempts = begun, t0, redfish.PowerOn, t0.Add(-time.Hour), attempts
		a.Rung, a.Option = string(redfish.RungOrder), "b\na\nb"

		return &journal{Act: &a}
	}
	off := wishBoot(1, false)
	off.power = v1alpha1.PoweredOff
	st := next(off, begunByOrder(1), shownAs(redfish.PowerOn, "", "", "a", "b"), t1)
	if st.do != actGracefulOff || st.journal.Boot.Moved == nil || st.journal.Boot.Moved.First != "b" {
		t.Errorf("off is wanted meanwhile: got %+v", short(st))
	}
	w, s := wishBoot(1, false), shownAs(redfish.PowerOn, "", "", "a", "b")
	st = next(w, begunByOrder(3), s, t4)
	if st.journal == nil || st.journal.Boot.Moved == nil {
		t.Fatalf("given up: got %+v", short(st))
	}
	if again := next(w, st.journal, s, t4); again.do != actPutBack {
		t.Errorf("it isn't put back: got %+v", short(again))
	}
}

// TestJournalThatCantBeWritten: it's never another journal that is written.
func TestJournalThatCantBeWritten(t *testing.T) {
	j := &journal{Reset: 7, Act: &act{Action: actPowerOn, LastReset: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}}
	if text, err := j.encoded(); err == nil || text != "" || parseJournal(j.String()) != nil {
		t.Errorf("encoded(): got %q, %v", text, err)
	}
	for at, want := range map[time.Time]bool{t0: true, {}: false, time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC): false, time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -3600)): false} {
		if got := seenOf(redfish.System{LastReset: at}).lastReset; got.IsZero() == want {
			t.Errorf("LastResetTime %v: got %v", at, got)
		}
	}
}

// TestSkipped: one resource that can't be read is no BMC that is away.
func TestSkipped(t *testing.T) {
	cases := map[string]struct {
		err  error
		want bool
	}{
		"Busy":     {&redfish.Error{Kind: redfish.Unreachable, Status: 503}, true},
		"Broken":   {&redfish.Error{Kind: redfish.Unreachable, Status: 500}, true},
		"Denied":   {&redfish.Error{Kind: redfish.Forbidden, Status: 403}, true},
		"Password": {&redfish.Error{Kind: redfish.Unauthorized, Status: 401}, false},
		"Away":     {&redfish.Error{Kind: redfish.Unreachable}, false},
		"Other":    {errors.New("boom"), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := skipped(t.Context(), tc.err); got != tc.want {
				t.Errorf("skipped(...): got %v", got)
			}
		})
	}
}

// TestSettingsChangedBack: a light that somebody else switches back is set three
// times in an hour.
func TestSettingsChangedBack(t *testing.T) {
	w := want{settings: wantSettings{indicator: "Off"}}
	blinking := seen{small: redfish.SmallSettings{LED: true, Indicator: "Blinking"}}
	v, calls := view{want: w, j: &journal{}, seen: blinking, now: t0, lap: func(act) lap { return lap{ours: true} }}, 0
	for range 30 {
		st := following(v)
		if st.do == actSetIndicator {
			calls++
			v.j, _ = wasSet(v, *st.journal, redfish.Receipt{})
		}
		v.now = v.now.Add(time.Minute)
	}
	if calls != 3 {
		t.Errorf("set %d times, want 3", calls)
	}
	if c := showSettings(v, inputs{}); c[0].Reason != v1alpha1.ReasonConflict {
		t.Errorf("showSettings(...): %+v", c)
	}
	if v.want.settings.indicator = "Lit"; following(v).do != actSetIndicator {
		t.Error("another value isn't set")
	}
}

// TestSecureBootThatWaits: one that is shown after the boot alone is written once,
// whatever else is done meanwhile, and given up after three boots.
func TestSecureBootThatWaits(t *testing.T) {
	v := view{want: want{settings: wantSettings{secureBoot: secureBootOn}}, j: &journal{}, seen: sight(redfish.PowerOn), now: t0, lap: func(act) lap { return lap{ours: true, age: time.Hour} }}
	v.seen.secureBoot = &secureBootSeen{}
	looks := func(n int) (calls int) {
		for range n {
			st := following(v)
			if st.journal != nil {
				v.j = st.journal
			}
			if st.do == actSetSecureBoot {
				calls++
				v.j, _ = wasSet(v, *st.journal, redfish.Receipt{})
				v.j = v.j.with(act{Action: actSetIndicator, State: done}) // Something else is done.
			}
		}

		return calls
	}
	if n := looks(9); n != 1 {
		t.Errorf("written %d times before a boot", n)
	}
	if c := showSettings(v, inputs{}); c[0].Reason != v1alpha1.ReasonWaitingForReset {
		t.Errorf("showSettings(...): %+v", c)
	}
	for boot := range 4 {
		v.seen.lastReset = v.seen.lastReset.Add(time.Hour)
		if n := looks(9); n != map[bool]int{true: 1}[boot < 2] {
			t.Errorf("boot %d: written %d times", boot, n)
		}
	}
	if c := showSettings(v, inputs{}); c[0].Reason != v1alpha1.ReasonNoEffect {
		t.Errorf("showSettings(...): %+v", c)
	}
	v.seen.secureBoot = &secureBootSeen{SecureBoot: redfish.SecureBoot{Enabled: true}}
	looks(2)
	if v.j.Settings.Waits != nil {
		t.Errorf("it's shown, and waited for: %+v", v.j.Settings.Waits)
	}
}

// TestBMCThatIsAlwaysBusy: what it never has time for doesn't keep the machine off.
func TestBMCThatIsAlwaysBusy(t *testing.T) {
	w := wish(v1alpha1.PoweredOn, 0, 0)
	w.media = map[string]wantMedium{"CD": {image: "https://a"}}
	s := drives(redfish.Medium{})
	s.power = redfish.PowerOff
	v, calls := view{want: w, j: &journal{}, seen: s, now: t0, lap: func(act) lap { return lap{ours: true, age: time.Hour} }}, 0
	err := &redfish.Error{Kind: redfish.Unreachable, Status: 503}
	for range 200 {
		st := following(v)
		if st.do == actPowerOn {
			break
		}
		if st.journal == nil {
			continue
		}
		v.j = st.journal
		if st.do == actInsertMedia {
			calls++
			v.j = v.j.with(afterFailure(v, *v.j.Act, err))
			mediaNoted(v, v.j, err)
		}
	}
	if st := following(v); st.do != actPowerOn || calls != 30 {
		t.Errorf("%d calls, then %+v", calls, short(st))
	}
}
