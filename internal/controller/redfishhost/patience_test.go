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

// next decides as if this process had looked on since the journal was written.
func next(w want, j *journal, s seen, now time.Time) step {
	return following(view{want: w, j: j, seen: s, now: now, lap: func(a act) lap { return lap{age: now.Sub(a.Time), ours: true} }})
}

// tried is an act that is at its n-th attempt.
func tried(a action, n int, power redfish.Power) *journal {
	j := &journal{Act: begunAct(a, 0, power)}
	j.Act.Attempts = n
	if isReset(a) {
		j.Act.Generation = 4
	}

	return j
}

// unasked is a shutdown that the BMC refused to pass on, at its n-th attempt.
func unasked(n int) *journal {
	j := tried(actGracefulOff, n, redfish.PowerOn)
	j.Act.Unasked = true

	return j
}

// TestShutdownOfAnotherProcess: who began it may have been killed before its call.
func TestShutdownOfAnotherProcess(t *testing.T) {
	for n, want := range map[int]action{1: actGracefulOff, 2: actGracefulOff, 3: actNone} {
		v := view{want: wish(v1alpha1.PoweredOff, 0, 0), j: tried(actGracefulOff, n, redfish.PowerOn), seen: sight(redfish.PowerOn), now: t2, lap: func(act) lap { return lap{} }}
		if got := following(v).do; got != want {
			t.Errorf("at attempt %d: got %q, want %q", n, got, want)
		}
	}
	v := view{want: wish("", 0, 4), j: tried(actLeaveOn, 1, redfish.PowerOn), seen: sight(redfish.PowerOn), now: t2, lap: func(act) lap { return lap{} }}
	if got := following(v).do; got != actLeaveOn {
		t.Errorf("a machine that is to be left on: got %q", got)
	}
}

func TestNextIsPatient(t *testing.T) {
	on, off, between := redfish.PowerOn, redfish.PowerOff, redfish.PowerPoweringOff
	after := t0.Add
	runNext(t, map[string]nextCase{
		"Second":        {reason: "A second attempt is waited for longer.", want: wish(v1alpha1.PoweredOff, 0, 0), j: tried(actForceOff, 2, on), seen: sight(on), now: t2, out: outcome{wait: true}},
		"Third":         {reason: "Then there is one more.", want: wish(v1alpha1.PoweredOff, 0, 0), j: tried(actForceOff, 2, on), seen: sight(on), now: after(time.Minute), out: outcome{do: actForceOff, write: true, state: begun}},
		"LastWaits":     {reason: "The last one is waited for long.", want: wish(v1alpha1.PoweredOff, 0, 0), j: tried(actForceOff, 3, on), seen: sight(on), now: after(4 * time.Minute), out: outcome{wait: true}},
		"GivesUp":       {reason: "And that was it.", want: wish(v1alpha1.PoweredOff, 0, 0), j: tried(actForceOff, 3, on), seen: sight(on), now: after(5 * time.Minute), out: outcome{write: true, state: gaveUp}},
		"OnGivesUp":     {reason: "The same for on.", want: wish(v1alpha1.PoweredOn, 0, 0), j: tried(actPowerOn, 3, off), seen: sight(off), now: after(5 * time.Minute), out: outcome{write: true, state: gaveUp}},
		"OnlySeen":      {reason: "An effect that comes late is one.", want: wish(v1alpha1.PoweredOn, 0, 0), j: tried(actPowerOn, 3, off), seen: sight(on), now: after(5 * time.Minute), out: outcome{write: true, state: done}},
		"ResetGivesUp":  {reason: "A machine whose BMC may have cut the power all the same isn't left off, and isn't reset again.", want: wish("", 0, 4), j: tried(actResetOff, 3, on), seen: sight(on), now: after(5 * time.Minute), out: outcome{do: actLeaveOn, write: true, state: begun, reset: 4}},
		"ResetToOff":    {reason: "One that is wanted off is.", want: wish(v1alpha1.PoweredOff, 0, 4), j: tried(actResetOff, 3, on), seen: sight(on), now: after(5 * time.Minute), out: outcome{write: true, state: gaveUp, reset: 4}},
		"ResetHangs":    {reason: "Nor is one that is long on its way to Off.", want: wish("", 0, 4), j: tried(actResetOff, 1, on), seen: sight(between), now: after(15 * time.Minute), out: outcome{do: actLeaveOn, write: true, state: begun, reset: 4}},
		"ResetHangsOff": {reason: "But for one that is wanted off.", want: wish(v1alpha1.PoweredOff, 0, 4), j: tried(actResetOff, 1, on), seen: sight(between), now: after(15 * time.Minute), out: outcome{write: true, state: gaveUp, reset: 4}},
		"LeftOn":        {reason: "That is done once.", want: wish("", 0, 4), j: tried(actLeaveOn, 1, on), seen: sight(on), now: t0, out: outcome{write: true, state: gaveUp, reset: 4}},
		"NotLeftOn":     {reason: "It wasn't called yet.", want: wish("", 0, 4), j: tried(actLeaveOn, 0, on), seen: sight(on), now: t0, out: outcome{do: actLeaveOn, write: true, state: begun}},
		"Refused":       {reason: "A BMC that refused to pass a shutdown on is asked again.", want: wish(v1alpha1.PoweredOff, 0, 0), j: unasked(1), seen: sight(on), now: t2, out: outcome{do: actGracefulOff, write: true, state: begun}},
		"RefusedNever":  {reason: "Also where power is never cut.", want: want{power: v1alpha1.PoweredOff, grace: defaultGrace}, j: unasked(2), seen: sight(on), now: t2, out: outcome{do: actGracefulOff, write: true, state: begun}},
		"RefusedOften":  {reason: "But not for ever: grace runs on.", want: wish(v1alpha1.PoweredOff, 0, 0), j: unasked(3), seen: sight(on), now: t2, out: outcome{wait: true}},
		"RefusedSoon":   {reason: "And not at once.", want: wish(v1alpha1.PoweredOff, 0, 0), j: unasked(1), seen: sight(on), now: t0, out: outcome{wait: true}},
		"ResetOnEnds":   {reason: "A reset whose second half has no effect isn't begun again.", want: wish("", 0, 4), j: tried(actResetOn, 3, off), seen: sight(off), now: after(5 * time.Minute), out: outcome{write: true, state: gaveUp, reset: 4}},
		"Between":       {reason: "A machine may be long between On and Off.", want: wish(v1alpha1.PoweredOff, 0, 0), j: tried(actForceOff, 1, on), seen: sight(between), now: after(14 * time.Minute), out: outcome{wait: true}},
		"BetweenEnds":   {reason: "But not for ever.", want: wish(v1alpha1.PoweredOff, 0, 0), j: tried(actForceOff, 1, on), seen: sight(between), now: after(15 * time.Minute), out: outcome{write: true, state: gaveUp}},
		"HungShutdown":  {reason: "A shutdown that hangs half-way is ended by force, as asked for.", want: wish(v1alpha1.PoweredOff, 0, 0), j: tried(actGracefulOff, 1, on), seen: sight(between), now: after(20 * time.Minute), out: outcome{do: actForceOff, write: true, state: begun}},
	})
}

func TestNextGaveUp(t *testing.T) {
	on := redfish.PowerOn
	hopeless := func(a action) *journal {
		j := tried(a, 3, on)
		j.Act.State = gaveUp
		j.Reset = 4

		return j
	}
	edited := hopeless(actForceOff)
	edited.Act.Spec = 7
	runNext(t, map[string]nextCase{
		"Stays":      {reason: "Nothing more is sent.", want: wish(v1alpha1.PoweredOff, 0, 4), j: hopeless(actForceOff), seen: sight(on), now: t4},
		"NoOther":    {reason: "Nor anything else, to a machine whose state nobody knows.", want: wish(v1alpha1.PoweredOff, 1, 5), j: hopeless(actForceOff), seen: sight(on), now: t4},
		"Edited":     {reason: "Somebody has changed the spec since.", want: wish(v1alpha1.PoweredOff, 0, 4), j: edited, seen: sight(on), now: t4, out: outcome{do: actGracefulOff, write: true, state: begun, reset: 4}},
		"Off":        {reason: "It is off after all: that is over.", want: wish(v1alpha1.PoweredOff, 0, 4), j: hopeless(actForceOff), seen: sight(redfish.PowerOff), now: t4, out: outcome{write: true, state: done, reset: 4}},
		"Reset":      {reason: "It was reset since, by somebody: the BMC does act.", want: wish(v1alpha1.PoweredOff, 0, 4), j: hopeless(actForceOff), seen: wasReset(sight(on)), now: t4, out: outcome{do: actGracefulOff, write: true, state: begun, reset: 4}},
		"NoReset":    {reason: "A reset that was given up isn't begun again when other things change.", want: wish("", 0, 4), j: hopeless(actLeaveOn), seen: wasReset(sight(on)), now: t4, out: outcome{write: true, state: done, reset: 4}},
		"WaitsAnew":  {reason: "What is over is written down even where there is something to wait for.", want: wish(v1alpha1.PoweredOff, 0, 4), j: hopeless(actForceOff), seen: sight(redfish.PowerPoweringOff), now: t4, out: outcome{write: true, wait: true, state: done, reset: 4}},
		"OldJournal": {reason: "A journal of a version without attempts is at its first.", want: wish(v1alpha1.PoweredOff, 0, 0), j: tried(actForceOff, 0, on), seen: sight(on), now: t2, out: outcome{do: actForceOff, write: true, state: begun}},
	})
}

// TestAskedAgain: whoever has mended the BMC asks for another look, and what was given up is begun anew.
func TestAskedAgain(t *testing.T) {
	j := tried(actForceOff, 3, redfish.PowerOn)
	j.Act.State, j.Act.Asked = gaveUp, "1"
	for asked, want := range map[string]action{"1": actNone, "2": actGracefulOff} {
		v := view{want: wish(v1alpha1.PoweredOff, 0, 0), j: j, seen: sight(redfish.PowerOn), asked: asked, now: t4, lap: func(act) lap { return lap{ours: true} }}
		if got := following(v).do; got != want {
			t.Errorf("asked %q, given up at \"1\": got %q, want %q", asked, got, want)
		}
	}
}

// TestStuckBMC drives following against a BMC that accepts everything and shows nothing.
func TestStuckBMC(t *testing.T) {
	cases := map[string]struct {
		want  want
		power redfish.Power
		acts  map[action]int
	}{
		"Off":   {wish(v1alpha1.PoweredOff, 0, 0), redfish.PowerOn, map[action]int{actGracefulOff: 1, actForceOff: 3}},
		"On":    {wish(v1alpha1.PoweredOn, 0, 0), redfish.PowerOff, map[action]int{actPowerOn: 3}},
		"Reset": {wish("", 0, 1), redfish.PowerOn, map[action]int{actResetOff: 3, actLeaveOn: 1}},
		"Both":  {wish(v1alpha1.PoweredOff, 0, 1), redfish.PowerOn, map[action]int{actGracefulOff: 1, actForceOff: 3}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			j, now, acts := &journal{}, t0, map[action]int{}
			for range 24 * 60 * 6 {
				st := next(tc.want, j, sight(tc.power), now)
				if st.journal != nil {
					j = st.journal
				}
				acts[st.do]++
				now = now.Add(10 * time.Second)
			}
			delete(acts, actNone)
			if diff := cmp.Diff(tc.acts, acts); diff != "" || !j.gaveUp() {
				t.Errorf("a day with a BMC that is stuck: gave up %v; acts: -want, +got:\n%s", j.gaveUp(), diff)
			}
		})
	}
}

func TestStopwatch(t *testing.T) {
	var elapsed time.Duration
	s := newStopwatch(func() time.Duration { return elapsed })
	a := act{Action: actGracefulOff, Time: t0}
	look := func(reason string, after, want time.Duration, ours bool) {
		t.Helper()
		elapsed += after
		if diff := cmp.Diff(lap{age: want, ours: ours}, s.look("h", a), cmp.AllowUnexported(lap{})); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", reason, diff)
		}
	}
	look("an act of another process begins when it is first seen, whatever its date", time.Hour, 0, false)
	look("it runs", 10*time.Second, 10*time.Second, false)
	s.start("h", a)
	look("an act of ours begins with its call", 5*time.Second, 5*time.Second, true)
	look("a pause of two hours is a minute", 2*time.Hour, time.Minute+5*time.Second, true)
	a.Time = t1
	look("another attempt is another lap", time.Second, 0, false)
	s.start("h", a)
	s.forget("h")
	look("a host that is gone is forgotten", time.Second, 0, false)
}

func TestStale(t *testing.T) {
	cases := map[string]struct {
		reason string
		lap    lap
		now    time.Time
		want   bool
	}{
		"Fresh":       {reason: "Of this minute.", lap: lap{age: time.Minute}, now: t1},
		"Old":         {reason: "Looked at for long.", lap: lap{age: stale, ours: true}, now: t0, want: true},
		"Restored":    {reason: "A backup of an earlier day.", lap: lap{}, now: t0.Add(24 * time.Hour), want: true},
		"Future":      {reason: "A clock that went back: nobody knows.", lap: lap{}, now: t0.Add(-24 * time.Hour), want: true},
		"OursJumped":  {reason: "The clock says nothing about an act of our own.", lap: lap{age: time.Minute, ours: true}, now: t0.Add(24 * time.Hour)},
		"OursJumpedB": {reason: "In either direction.", lap: lap{age: time.Minute, ours: true}, now: t0.Add(-24 * time.Hour)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := view{now: tc.now, lap: func(act) lap { return tc.lap }}
			if got := v.stale(act{Time: t0}); got != tc.want {
				t.Errorf("\n%s\nstale(...): got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestAfterFailure(t *testing.T) {
	refusedErr, busy, lost := &redfish.Error{Kind: redfish.Refused, Status: 409}, &redfish.Error{Kind: redfish.Unreachable, Status: http.StatusServiceUnavailable}, errors.New("EOF")
	tooSoon := &redfish.Error{Kind: redfish.Refused, Status: 400, MessageID: "iLO.2.23.InvalidOperationForSystemState"}
	cases := map[string]struct {
		reason string
		action action
		// attempts: 0 is 2.
		attempts int
		err      error
		want     act
	}{
		"Refused":      {reason: "The BMC said that it didn't: that was no attempt.", action: actForceOff, err: refusedErr, want: act{State: begun, Attempts: 1, Refusals: 1, Message: "status 409"}},
		"NotCalled":    {reason: "Nothing was carried out: it's begun anew.", action: actPowerOn, attempts: 1, err: notCalledError{lost}, want: act{State: failed, Attempts: 1}},
		"NotAgain":     {reason: "The attempt before may have been: it stays.", action: actForceOff, err: notCalledError{lost}, want: act{State: begun, Attempts: 1}},
		"Lost":         {reason: "Nobody knows: that was an attempt.", action: actForceOff, err: lost, want: act{State: begun, Attempts: 2}},
		"Busy":         {reason: "A BMC that is busy with itself didn't even look at it.", action: actForceOff, err: busy, want: act{State: begun, Attempts: 1}},
		"ResetRefused": {reason: "A reset stays begun, but that was no attempt.", action: actResetOn, err: refusedErr, want: act{State: begun, Attempts: 1, Refusals: 1, Message: "status 409"}},
		"ResetLate":    {reason: "Nothing was carried out, and it isn't lost.", action: actResetOff, attempts: 1, err: notCalledError{lost}, want: act{State: begun, Attempts: 0, Unasked: true}},
		"RestartLate":  {reason: "The same.", action: actRestart, attempts: 1, err: notCalledError{lost}, want: act{State: begun, Attempts: 0, Unasked: true}},
		"ResetOnLate":  {reason: "The second half of a reset isn't lost.", action: actResetOn, attempts: 1, err: notCalledError{lost}, want: act{State: begun, Attempts: 0}},
		"ResetLost":    {reason: "This may have been one.", action: actResetOff, err: lost, want: act{State: begun, Attempts: 2}},
		"Graceful":     {reason: "Nobody was asked yet.", action: actGracefulOff, err: refusedErr, want: act{State: begun, Attempts: 2, Unasked: true, Refusals: 1, Message: "status 409"}},
		"GracefulPOST": {reason: "While the machine starts, that's no attempt.", action: actGracefulOff, err: tooSoon, want: act{State: begun, Attempts: 1, Unasked: true, Refusals: 1, Message: tooSoon.MessageID}},
		"GracefulLost": {reason: "Somebody may have been: grace runs on.", action: actGracefulOff, err: lost, want: act{State: begun, Attempts: 2}},
		"GracefulBusy": {reason: "Nobody was, and force wouldn't get through either.", action: actGracefulOff, err: busy, want: act{State: failed, Attempts: 2}},
		"GracefulLate": {reason: "The look before it failed.", action: actGracefulOff, err: notCalledError{lost}, want: act{State: failed, Attempts: 2}},
		"NoGraceful":   {reason: "No use waiting.", action: actGracefulOff, attempts: 1, err: &redfish.Error{Kind: redfish.Unsupported}, want: act{State: begun, Attempts: 1, Refused: true}},
		"NoButton":     {reason: "There's but a button, which was pressed.", action: actGracefulOff, err: &redfish.Error{Kind: redfish.Unsupported}, want: act{State: begun, Attempts: 2}},
		"LeaveOn":      {reason: "It does no harm: said again, a few times.", action: actLeaveOn, err: lost, want: act{State: begun, Attempts: 1, Refusals: 1, Message: "no answer"}},
		"LeaveOnNo":    {reason: "The same.", action: actLeaveOn, attempts: 1, err: refusedErr, want: act{State: begun, Attempts: 0, Refusals: 1, Message: "status 409"}},
		"BusyMany":     {reason: "Too many requests is no word about the order.", action: actForceOff, err: &redfish.Error{Kind: redfish.Unreachable, Status: 429}, want: act{State: begun, Attempts: 1}},
		"LeaveOnSoon":  {reason: "It's wanted later.", action: actLeaveOn, attempts: 1, err: tooSoon, want: act{State: begun, Attempts: 0, Refusals: 1, Message: tooSoon.MessageID}},
		"NoOn":         {reason: "It can't: what it can is kept for people.", action: actPowerOn, attempts: 1, err: &redfish.Error{Kind: redfish.Unsupported, Offers: []string{"Nmi", "ForceOff"}}, want: act{State: gaveUp, Attempts: 1, Refused: true, Offers: "Nmi, ForceOff", Spec: 9, Asked: "7"}},
		"NoResetOff":   {reason: "A restart may do.", action: actResetOff, attempts: 1, err: &redfish.Error{Kind: redfish.Unsupported}, want: act{State: begun, Attempts: 1, Refused: true}},
		"RestartBusy":  {reason: "It's never sent twice.", action: actRestart, attempts: 1, err: busy, want: act{State: begun, Attempts: 1}},
		"LeaveOnBusy":  {reason: "It wasn't tried.", action: actLeaveOn, err: busy, want: act{State: begun, Attempts: 1}},
		"ResetBusy":    {reason: "A 503 may come after the effect.", action: actResetOff, attempts: 1, err: busy, want: act{State: begun, Attempts: 0}},
		"LeaveOnLate":  {reason: "Nor was this.", action: actLeaveOn, err: notCalledError{lost}, want: act{State: begun, Attempts: 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.want.Action = tc.action
			if tc.attempts == 0 {
				tc.attempts = 2
			}
			got := afterFailure(view{want: wish(v1alpha1.PoweredOff, 0, 0), spec: 9, asked: "7"}, act{Action: tc.action, State: begun, Attempts: tc.attempts}, tc.err)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nafterFailure(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestShowPower(t *testing.T) {
	given := tried(actForceOff, 3, redfish.PowerOn)
	given.Act.State = gaveUp
	cases := map[string]struct {
		reason string
		want   want
		j      *journal
		power  redfish.Power
		out    string
	}{
		"Unmanaged": {reason: "Nothing is wanted.", want: wish(v1alpha1.Unmanaged, 0, 0), j: &journal{}, power: redfish.PowerOn},
		"On":        {reason: "As wanted.", want: wish(v1alpha1.PoweredOn, 0, 0), j: &journal{}, power: redfish.PowerOn, out: "True Applied "},
		"NotYetOn":  {reason: "On its way.", want: wish(v1alpha1.PoweredOn, 0, 0), j: &journal{}, power: redfish.PowerOff, out: "False WaitingForPowerOn the machine isn't on yet"},
		"NotYetOff": {reason: "On its way.", want: wish(v1alpha1.PoweredOff, 0, 0), j: &journal{}, power: redfish.PowerOn, out: "False WaitingForPowerOff the machine isn't off yet"},
		"Never": {
			reason: "What a person can do about an OS that doesn't obey.", want: want{power: v1alpha1.PoweredOff, grace: defaultGrace}, j: tried(actGracefulOff, 1, redfish.PowerOn), power: redfish.PowerOn,
			out: "False WaitingForPowerOff " + deafSentence,
		},
		"GaveUp": {
			reason: "What has no effect, and what starts it anew.", want: wish(v1alpha1.PoweredOff, 0, 0), j: given, power: redfish.PowerOn,
			out: `False GaveUp the BMC at "10.0.7.12" accepts power off and doesn't carry it out: after 3 attempts its power state is "PoweredOn"; look at the machine, and restart its BMC; nothing more is sent until the power state, its LastResetTime or this host's spec changes, or annotation crossplane.io/reconcile-requested-at of this host`,
		},
		"OverNow": {reason: "What was given up came about.", want: wish(v1alpha1.PoweredOff, 0, 0), j: given, power: redfish.PowerOff, out: "True Applied "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := []string{}
			for _, c := range showPower(view{want: tc.want, j: tc.j, seen: sight(tc.power)}, inputs{address: "10.0.7.12"}) {
				got = append(got, strings.Join([]string{string(c.Status), string(c.Reason), c.Message}, " "))
			}
			if diff := cmp.Diff(tc.out, strings.Join(got, "\n")); diff != "" {
				t.Errorf("\n%s\nshowPower(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
