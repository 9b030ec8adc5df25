package redfishhost

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

var ( // Points in time of the tables.
	t0 = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	t1 = t0.Add(5 * time.Second)  // before settle
	t2 = t0.Add(30 * time.Second) // after settle
	t3 = t0.Add(6 * time.Minute)  // after grace
	t4 = t0.Add(2 * time.Hour)    // after stale
)

func wish(power v1alpha1.PowerState, once, reset int64) want {
	w := want{power: power, grace: defaultGrace, force: true, reset: reset}
	if once > 0 {
		w.once = &v1alpha1.BootOnce{Target: v1alpha1.BootTargetPxe, Generation: once}
	}

	return w
}

func begunAct(a action, generation int64, power redfish.Power) *act {
	return &act{Action: a, Generation: generation, Time: t0, State: begun, Power: power, Target: targetOf(a), LastReset: t0.Add(-time.Hour)}
}

func targetOf(a action) string {
	if a == actSetBootOnce {
		return "Pxe"
	}

	return ""
}

// sight is what the BMC shows; the LastResetTime is the one that begunAct saw.
func sight(power redfish.Power) seen {
	return seen{power: power, boot: redfish.Boot{Target: "None", Enabled: "Disabled"}, lastReset: t0.Add(-time.Hour)}
}

func withOverride(s seen) seen {
	s.boot = redfish.Boot{Target: "Pxe", Enabled: redfish.EnabledOnce}

	return s
}

func wasReset(s seen) seen { return resetAt(s, t0.Add(time.Second)) }

func resetAt(s seen, at time.Time) seen {
	s.lastReset = at

	return s
}

// outcome is a step in short.
type outcome struct {
	do       action
	wait     bool
	write    bool
	state    string // of the act in the journal that is written
	bootOnce int64
	reset    int64
	override string
}

func short(s step) outcome {
	o := outcome{do: s.do, wait: s.wait, write: s.journal != nil}
	if s.journal == nil {
		return o
	}
	o.bootOnce, o.reset, o.override = s.journal.BootOnce, s.journal.Reset, s.journal.Override
	if s.journal.Act != nil {
		o.state = s.journal.Act.State
	}

	return o
}

type nextCase struct {
	reason string
	want   want
	j      *journal
	seen   seen
	now    time.Time
	out    outcome
}

func runNext(t *testing.T, cases map[string]nextCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := next(tc.want, tc.j, tc.seen, tc.now)
			if diff := cmp.Diff(tc.out, short(got), cmp.AllowUnexported(outcome{})); diff != "" {
				t.Errorf("\n%s\nnext(...): -want, +got:\n%s\nwhy: %s", tc.reason, diff, got.why)
			}
			if got.do != actNone && (got.journal == nil || got.journal.Act.State != begun || got.journal.Act.Action != got.do) {
				t.Errorf("\n%s\na call without its act in the journal: %+v", tc.reason, got)
			}
		})
	}
}

func TestNextBegins(t *testing.T) {
	on, off := redfish.PowerOn, redfish.PowerOff
	runNext(t, map[string]nextCase{
		"NoJournal": {
			reason: "What is asked for when there is no journal counts as done: nothing is called.",
			want:   wish(v1alpha1.PoweredOn, 3, 7), seen: sight(off), now: t0,
			out: outcome{write: true, bootOnce: 3, reset: 7},
		},
		"Idle":          {reason: "Nothing is asked for.", want: wish(v1alpha1.Unmanaged, 0, 0), j: &journal{}, seen: sight(on), now: t0},
		"UnmanagedOff":  {reason: "Unmanaged power is left alone.", want: wish(v1alpha1.Unmanaged, 0, 0), j: &journal{}, seen: sight(off), now: t0},
		"Unset":         {reason: "Power that isn't spoken of is left alone.", want: wish("", 0, 0), j: &journal{}, seen: sight(on), now: t0},
		"On":            {reason: "A machine that is off is powered on.", want: wish(v1alpha1.PoweredOn, 0, 0), j: &journal{}, seen: sight(off), now: t0, out: outcome{do: actPowerOn, write: true, state: begun}},
		"OnAlready":     {reason: "A machine that is on stays on.", want: wish(v1alpha1.PoweredOn, 0, 0), j: &journal{}, seen: sight(on), now: t0},
		"OnWhileOffing": {reason: "A machine on its way down is waited for.", want: wish(v1alpha1.PoweredOn, 0, 0), j: &journal{}, seen: sight(redfish.PowerPoweringOff), now: t0, out: outcome{wait: true}},
		"OnUnknown":     {reason: "A power state that nobody knows is no reason to act.", want: wish(v1alpha1.PoweredOn, 0, 0), j: &journal{}, seen: sight(redfish.PowerUnknown), now: t0},
		"Off":           {reason: "A machine is asked to shut down first.", want: wish(v1alpha1.PoweredOff, 0, 0), j: &journal{}, seen: sight(on), now: t0, out: outcome{do: actGracefulOff, write: true, state: begun}},
		"OffNoGrace":    {reason: "Without grace the power is cut.", want: want{power: v1alpha1.PoweredOff, force: true}, j: &journal{}, seen: sight(on), now: t0, out: outcome{do: actForceOff, write: true, state: begun}},
		"OffNever":      {reason: "Never force: asked, whatever the grace.", want: want{power: v1alpha1.PoweredOff}, j: &journal{}, seen: sight(on), now: t0, out: outcome{do: actGracefulOff, write: true, state: begun}},
		"OffPaused":     {reason: "A paused machine has power.", want: wish(v1alpha1.PoweredOff, 0, 0), j: &journal{}, seen: sight(redfish.PowerPaused), now: t0, out: outcome{do: actGracefulOff, write: true, state: begun}},
		"OffUnknown":    {reason: "Not known to be on: wait.", want: wish(v1alpha1.PoweredOff, 0, 0), j: &journal{}, seen: sight(redfish.PowerUnknown), now: t0, out: outcome{wait: true}},
		"OnceBeforeOn":  {reason: "The override is there before the machine starts.", want: wish(v1alpha1.PoweredOn, 1, 0), j: &journal{}, seen: sight(off), now: t0, out: outcome{do: actSetBootOnce, write: true, state: begun}},
		"OnceDone":      {reason: "One act per generation.", want: wish(v1alpha1.PoweredOn, 1, 0), j: &journal{BootOnce: 1}, seen: sight(on), now: t0},
		"OnceFell":      {reason: "A generation that fell asks for nothing.", want: wish(v1alpha1.PoweredOn, 1, 0), j: &journal{BootOnce: 5}, seen: sight(on), now: t0},
		"OffBeforeOnce": {reason: "Off comes first.", want: wish(v1alpha1.PoweredOff, 1, 0), j: &journal{}, seen: sight(on), now: t0, out: outcome{do: actGracefulOff, write: true, state: begun}},
		"OnceWhenOff":   {reason: "Then the override, while off.", want: wish(v1alpha1.PoweredOff, 1, 0), j: &journal{}, seen: sight(off), now: t0, out: outcome{do: actSetBootOnce, write: true, state: begun}},
		"Clear":         {reason: "An override of ours that isn't wanted any more is cleared.", want: wish(v1alpha1.Unmanaged, 0, 0), j: &journal{BootOnce: 1, Override: "Pxe"}, seen: withOverride(sight(off)), now: t0, out: outcome{do: actClearBoot, write: true, state: begun, bootOnce: 1, override: "Pxe"}},
		"ClearUsed":     {reason: "One that was used up is only forgotten.", want: wish(v1alpha1.Unmanaged, 0, 0), j: &journal{BootOnce: 1, Override: "Pxe"}, seen: sight(on), now: t0, out: outcome{write: true, bootOnce: 1}},
		"UsedUp":        {reason: "One that was used up isn't ours any more, though it's still asked for: what is shown next is somebody's.", want: wish(v1alpha1.Unmanaged, 1, 0), j: &journal{BootOnce: 1, Override: "Pxe"}, seen: sight(on), now: t0, out: outcome{write: true, bootOnce: 1}},
		"NotUsedUp":     {reason: "One that is there is.", want: wish(v1alpha1.Unmanaged, 1, 0), j: &journal{BootOnce: 1, Override: "Pxe"}, seen: withOverride(sight(on)), now: t0},
		"ForeignOnce":   {reason: "A person's override isn't ours to clear.", want: wish(v1alpha1.Unmanaged, 0, 0), j: &journal{}, seen: withOverride(sight(on)), now: t0},
		"Reset":         {reason: "A reset begins with off.", want: wish(v1alpha1.Unmanaged, 0, 1), j: &journal{}, seen: sight(on), now: t0, out: outcome{do: actResetOff, write: true, state: begun}},
		"ResetWhileOff": {reason: "A machine that is off needs no reset.", want: wish(v1alpha1.Unmanaged, 0, 1), j: &journal{}, seen: sight(off), now: t0, out: outcome{write: true, reset: 1}},
		"ResetOnTheWay": {reason: "Wait for a power state to reset from.", want: wish(v1alpha1.Unmanaged, 0, 1), j: &journal{}, seen: sight(redfish.PowerPoweringOn), now: t0, out: outcome{wait: true}},
		"FailedIsNew":   {reason: "An act that the BMC refused is begun anew.", want: wish(v1alpha1.PoweredOn, 0, 0), j: &journal{Act: &act{Action: actPowerOn, State: failed, Time: t0}}, seen: sight(off), now: t0, out: outcome{do: actPowerOn, write: true, state: begun}},
	})
}

func TestNextResumesOverride(t *testing.T) {
	on, off := redfish.PowerOn, redfish.PowerOff
	set := func() *journal { return &journal{Act: begunAct(actSetBootOnce, 2, off)} }
	runNext(t, map[string]nextCase{
		"There":      {reason: "The override is there: the call was made.", want: wish(v1alpha1.Unmanaged, 2, 0), j: set(), seen: withOverride(sight(off)), now: t0, out: outcome{write: true, state: done, bootOnce: 2, override: "Pxe"}},
		"ThenOn":     {reason: "And what it is for is begun in the same write.", want: wish(v1alpha1.PoweredOn, 2, 0), j: set(), seen: withOverride(sight(off)), now: t0, out: outcome{do: actPowerOn, write: true, state: begun, bootOnce: 2, override: "Pxe"}},
		"NotThere":   {reason: "It isn't, and nothing used it up: the call wasn't made.", want: wish(v1alpha1.PoweredOn, 2, 0), j: set(), seen: sight(off), now: t0, out: outcome{do: actSetBootOnce, write: true, state: begun}},
		"BootedBy":   {reason: "The machine is on now and was off: the override may have been used up, never again.", want: wish(v1alpha1.PoweredOn, 2, 0), j: set(), seen: sight(on), now: t0, out: outcome{write: true, state: done, bootOnce: 2}},
		"ResetSince": {reason: "The machine was reset since: the same.", want: wish(v1alpha1.PoweredOn, 2, 0), j: set(), seen: wasReset(sight(off)), now: t0, out: outcome{write: true, state: done, bootOnce: 2}},
		"Jitter":     {reason: "A LastResetTime that is reckoned from the uptime is no boot.", want: wish(v1alpha1.Unmanaged, 2, 0), j: set(), seen: resetAt(sight(off), t0.Add(-time.Hour+2*time.Second)), now: t0, out: outcome{do: actSetBootOnce, write: true, state: begun}},
		"NotTold":    {reason: "Nor is one that a BMC doesn't tell while it starts.", want: wish(v1alpha1.Unmanaged, 2, 0), j: set(), seen: resetAt(sight(off), time.Time{}), now: t0, out: outcome{do: actSetBootOnce, write: true, state: begun}},
		"Unwanted":   {reason: "Nobody wants it any more: it counts as made, so that it is cleared.", want: wish(v1alpha1.PoweredOff, 0, 0), j: set(), seen: withOverride(sight(off)), now: t0, out: outcome{do: actClearBoot, write: true, state: begun, bootOnce: 2, override: "Pxe"}},
		"UnwantedUp": {reason: "Or forgotten, where it isn't there.", want: wish(v1alpha1.PoweredOff, 0, 0), j: set(), seen: sight(off), now: t0, out: outcome{write: true, state: done, bootOnce: 2}},
		"OffFirst":   {reason: "Off can't wait for an override.", want: wish(v1alpha1.PoweredOff, 2, 0), j: &journal{Act: begunAct(actSetBootOnce, 2, on)}, seen: sight(on), now: t0, out: outcome{do: actGracefulOff, write: true, state: begun}},
		"Cleared":    {reason: "The override is gone.", want: wish("", 0, 0), j: &journal{Override: "Pxe", Act: begunAct(actClearBoot, 0, off)}, seen: sight(off), now: t0, out: outcome{write: true, state: done}},
		"NotCleared": {reason: "It is still there.", want: wish("", 0, 0), j: &journal{Override: "Pxe", Act: begunAct(actClearBoot, 0, off)}, seen: withOverride(sight(off)), now: t0, out: outcome{do: actClearBoot, write: true, state: begun, override: "Pxe"}},
		"ClearOff":   {reason: "Off can't wait for clearing.", want: wish(v1alpha1.PoweredOff, 0, 0), j: &journal{Override: "Pxe", Act: begunAct(actClearBoot, 0, on)}, seen: withOverride(sight(on)), now: t0, out: outcome{do: actGracefulOff, write: true, state: begun, override: "Pxe"}},
		"Unknown":    {reason: "An act of a version that isn't ours is closed.", want: wish("", 0, 0), j: &journal{Act: &act{Action: "Flash", State: begun}}, seen: sight(off), now: t0, out: outcome{write: true, state: done}},
	})
}

func TestNextResumesPower(t *testing.T) {
	on, off := redfish.PowerOn, redfish.PowerOff
	j := func(a action, was redfish.Power) *journal { return &journal{Act: begunAct(a, 0, was)} }
	refused := j(actGracefulOff, on)
	refused.Act.Refused = true
	never := want{power: v1alpha1.PoweredOff, grace: defaultGrace}
	runNext(t, map[string]nextCase{
		"On":              {reason: "Seen on.", want: wish(v1alpha1.PoweredOn, 0, 0), j: j(actPowerOn, off), seen: sight(on), now: t1, out: outcome{write: true, state: done}},
		"OnLags":          {reason: "PowerState lags.", want: wish(v1alpha1.PoweredOn, 0, 0), j: j(actPowerOn, off), seen: sight(off), now: t1, out: outcome{wait: true}},
		"OnLost":          {reason: "Still off after the settle time: it didn't happen.", want: wish(v1alpha1.PoweredOn, 0, 0), j: j(actPowerOn, off), seen: sight(off), now: t2, out: outcome{do: actPowerOn, write: true, state: begun}},
		"OnMayCome":       {reason: "Not wanted any more, but it may be on its way: no evidence of a machine that is off.", want: wish(v1alpha1.PoweredOff, 0, 0), j: j(actPowerOn, off), seen: sight(off), now: t1, out: outcome{wait: true}},
		"OnUnwanted":      {reason: "Not wanted any more.", want: wish(v1alpha1.PoweredOff, 0, 0), j: j(actPowerOn, off), seen: sight(off), now: t2, out: outcome{write: true, state: done}},
		"Off":             {reason: "Seen off.", want: wish(v1alpha1.PoweredOff, 0, 0), j: j(actGracefulOff, on), seen: sight(off), now: t1, out: outcome{write: true, state: done}},
		"Grace":           {reason: "The OS has its grace.", want: wish(v1alpha1.PoweredOff, 0, 0), j: j(actGracefulOff, on), seen: sight(on), now: t2, out: outcome{wait: true}},
		"GraceOver":       {reason: "Then force.", want: wish(v1alpha1.PoweredOff, 0, 0), j: j(actGracefulOff, on), seen: sight(on), now: t3, out: outcome{do: actForceOff, write: true, state: begun}},
		"GraceOverNever":  {reason: "Never force.", want: never, j: j(actGracefulOff, on), seen: sight(on), now: t3, out: outcome{wait: true}},
		"GracefulRefused": {reason: "A BMC that can't ask the OS: no waiting.", want: wish(v1alpha1.PoweredOff, 0, 0), j: refused, seen: sight(on), now: t0, out: outcome{do: actForceOff, write: true, state: begun}},
		"OffWithdrawn":    {reason: "On again is wanted.", want: wish(v1alpha1.PoweredOn, 0, 0), j: j(actGracefulOff, on), seen: sight(on), now: t1, out: outcome{write: true, state: done}},
		"PoweringOff":     {reason: "On its way.", want: wish(v1alpha1.PoweredOff, 0, 0), j: j(actGracefulOff, on), seen: sight(redfish.PowerPoweringOff), now: t3, out: outcome{wait: true}},
		"ForceLags":       {reason: "PowerState lags.", want: wish(v1alpha1.PoweredOff, 0, 0), j: j(actForceOff, on), seen: sight(on), now: t1, out: outcome{wait: true}},
		"ForceLost":       {reason: "Still on after the settle time: it didn't happen.", want: wish(v1alpha1.PoweredOff, 0, 0), j: j(actForceOff, on), seen: sight(on), now: t2, out: outcome{do: actForceOff, write: true, state: begun}},
	})
}

func TestNextResumesReset(t *testing.T) {
	on, off := redfish.PowerOn, redfish.PowerOff
	j := func(a action, was redfish.Power) *journal { return &journal{Act: begunAct(a, 4, was)} }
	runNext(t, map[string]nextCase{
		"OffSeen":    {reason: "Off was seen: now on.", want: wish("", 0, 4), j: j(actResetOff, on), seen: sight(off), now: t1, out: outcome{do: actResetOn, write: true, state: begun}},
		"OffLags":    {reason: "PowerState lags, LastResetTime or not: wait.", want: wish("", 0, 4), j: j(actResetOff, on), seen: wasReset(sight(on)), now: t1, out: outcome{wait: true}},
		"OffLost":    {reason: "On, as before, and nothing but us ends an off: it didn't happen.", want: wish("", 0, 4), j: j(actResetOff, on), seen: sight(on), now: t2, out: outcome{do: actResetOff, write: true, state: begun}},
		"OffByOther": {reason: "On, but reset since: it may have been ours, never again. On follows, since PowerState may lag: the machine isn't left off.", want: wish("", 0, 4), j: j(actResetOff, on), seen: wasReset(sight(on)), now: t2, out: outcome{do: actResetOn, write: true, state: begun}},
		"OffStale":   {reason: "Too long ago to tell (a restored backup): never again.", want: wish("", 0, 4), j: j(actResetOff, on), seen: sight(on), now: t4, out: outcome{write: true, state: done, reset: 4}},
		"OffWanted":  {reason: "Off is wanted by now: that was the reset.", want: wish(v1alpha1.PoweredOff, 0, 4), j: j(actResetOff, on), seen: sight(off), now: t1, out: outcome{write: true, state: done, reset: 4}},
		"OnSeen":     {reason: "On was seen: the reset is done.", want: wish("", 0, 4), j: j(actResetOn, off), seen: sight(on), now: t1, out: outcome{write: true, state: done, reset: 4}},
		"OnLags":     {reason: "PowerState lags.", want: wish("", 0, 4), j: j(actResetOn, off), seen: sight(off), now: t1, out: outcome{wait: true}},
		"OnLost":     {reason: "Still off: on again, even where power is Unmanaged.", want: wish(v1alpha1.Unmanaged, 0, 4), j: j(actResetOn, off), seen: sight(off), now: t2, out: outcome{do: actResetOn, write: true, state: begun}},
		"OnUnwanted": {reason: "Off is wanted by now, and it stayed off.", want: wish(v1alpha1.PoweredOff, 0, 4), j: j(actResetOn, off), seen: sight(off), now: t2, out: outcome{write: true, state: done, reset: 4}},
		"LeaveOff":   {reason: "Off is wanted by now: that can't wait for the end of a reset that was given up.", want: wish(v1alpha1.PoweredOff, 0, 4), j: j(actLeaveOn, on), seen: sight(on), now: t1, out: outcome{do: actGracefulOff, write: true, state: begun}},
		"LeftOff":    {reason: "And it isn't switched on for it.", want: wish(v1alpha1.PoweredOff, 0, 4), j: j(actLeaveOn, on), seen: sight(off), now: t1, out: outcome{write: true, state: done, reset: 4}},
		"Busy":       {reason: "A 503 may come after the effect: a machine that is off by now is switched on again.", want: wish(v1alpha1.Unmanaged, 0, 4), j: j(actResetOff, on), seen: sight(off), now: t1, out: outcome{do: actResetOn, write: true, state: begun}},
		"OnMayCome":  {reason: "Off is wanted by now, but the on may be on its way.", want: wish(v1alpha1.PoweredOff, 0, 4), j: j(actResetOn, off), seen: sight(off), now: t1, out: outcome{wait: true}},
	})
}

// TestNextEnds drives next against a machine that obeys at once: whatever is
// asked for, it comes to rest, and no act is made twice.
func TestNextEnds(t *testing.T) {
	for _, power := range []v1alpha1.PowerState{v1alpha1.PoweredOn, v1alpha1.PoweredOff, v1alpha1.Unmanaged} {
		for _, start := range []redfish.Power{redfish.PowerOn, redfish.PowerOff} {
			for once := range int64(2) {
				for reset := range int64(2) {
					w := wish(power, once, reset)
					j, s, acts := &journal{}, sight(start), map[action]int{}
					for range 20 {
						st := next(w, j, s, t0)
						if st.idle() {
							break
						}
						if st.journal != nil {
							j = st.journal
						}
						acts[st.do]++
						s = obey(s, st.do)
					}
					delete(acts, actNone)
					if st := next(w, j, s, t0); !st.idle() {
						t.Errorf("%s from %s, once %d, reset %d: doesn't come to rest: %+v", power, start, once, reset, st)
					}
					for a, n := range acts {
						if n != 1 {
							t.Errorf("%s from %s, once %d, reset %d: %s was done %d times", power, start, once, reset, a, n)
						}
					}
				}
			}
		}
	}
}

func obey(s seen, a action) seen {
	switch a { //nolint:exhaustive // What changes power or the override.
	case actSetBootOnce:
		return withOverride(s)
	case actClearBoot:
		s.boot = redfish.Boot{Target: "None", Enabled: "Disabled"}
	case actPowerOn, actResetOn, actLeaveOn:
		s.power = redfish.PowerOn
	case actGracefulOff, actForceOff, actResetOff:
		s.power = redfish.PowerOff
	case actNone, actRestart:
	}

	return s
}

func TestReleased(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     want
		want   v1alpha1.PowerState
	}{
		"On":        {reason: "A machine that is ours is powered off.", in: wish(v1alpha1.PoweredOn, 1, 5), want: v1alpha1.PoweredOff},
		"Unmanaged": {reason: "One whose power isn't ours stays as it is.", in: wish(v1alpha1.Unmanaged, 1, 5), want: v1alpha1.Unmanaged},
		"Unset":     {reason: "The same.", in: wish("", 1, 5), want: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := released(tc.in, &journal{Reset: 2})
			if got.power != tc.want || got.once != nil || got.reset != 2 {
				t.Errorf("\n%s\nreleased(...): got %+v", tc.reason, got)
			}
		})
	}
}

func FuzzParseJournal(f *testing.F) {
	f.Add((&journal{BootOnce: 3, Act: begunAct(actResetOff, 1, redfish.PowerOn)}).String())
	f.Add("")
	f.Add("{")
	f.Add(`{"act":{"action":"x","state":"begun","time":"nonsense"}}`)
	f.Fuzz(func(t *testing.T, annotation string) {
		j := parseJournal(annotation)
		if j == nil {
			return
		}
		if again := parseJournal(j.String()); again == nil || !cmp.Equal(j, again) {
			t.Errorf("%q: what is written isn't what is read: %v, %v", annotation, j, again)
		}
		for _, p := range []redfish.Power{redfish.PowerOn, redfish.PowerOff, redfish.PowerUnknown} {
			next(wish(v1alpha1.PoweredOff, 1, 1), j, sight(p), t0)
		}
	})
}
