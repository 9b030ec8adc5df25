package redfishhost

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
)

func (f *fakeBMC) Again(context.Context, redfish.System) (redfish.System, error) {
	return f.system, nil
}

func (f *fakeBMC) Task(context.Context, redfish.Receipt) (redfish.Progress, error) {
	return redfish.Progress{}, nil
}

// tasked is an act that the BMC made a task of.
func tasked(a action, n int, power redfish.Power) *journal {
	j := tried(a, n, power)
	j.Act.Task = "/redfish/v1/TaskService/Tasks/1"

	return j
}

// TestNextWithTasks: while a task isn't over nothing is told again, and when it is its effect is due.
func TestNextWithTasks(t *testing.T) {
	on, off := redfish.PowerOn, redfish.PowerOff
	running, ended := redfish.Progress{State: redfish.TaskRunning}, redfish.Progress{State: redfish.TaskDone}
	failure, gone := redfish.Progress{State: redfish.TaskFailed, MessageID: "Base.1.0.InternalError"}, redfish.Progress{State: redfish.TaskGone}
	cases := map[string]struct {
		reason string
		want   want
		j      *journal
		seen   seen
		lap    lap
		out    outcome
	}{
		"Running":     {reason: "It's waited for beyond the patience for those who tell nothing.", want: wish(v1alpha1.PoweredOn, 0, 0), j: tasked(actPowerOn, 1, off), seen: sight(off), lap: lap{age: 9 * time.Minute, task: running}, out: outcome{wait: true}},
		"Unknown":     {reason: "The same while nobody could be asked.", want: wish(v1alpha1.PoweredOn, 0, 0), j: tasked(actPowerOn, 1, off), seen: sight(off), lap: lap{age: 9 * time.Minute}, out: outcome{wait: true}},
		"RunningLong": {reason: "But not for ever.", want: wish(v1alpha1.PoweredOn, 0, 0), j: tasked(actPowerOn, 1, off), seen: sight(off), lap: lap{age: 10 * time.Minute, task: running}, out: outcome{do: actPowerOn, write: true, state: begun}},
		"Reached":     {reason: "The goal counts, whatever the task says.", want: wish(v1alpha1.PoweredOn, 0, 0), j: tasked(actPowerOn, 1, off), seen: sight(on), lap: lap{age: time.Minute, task: running}, out: outcome{write: true, state: done}},
		"JustDone":    {reason: "PowerState lags behind the task.", want: wish(v1alpha1.PoweredOn, 0, 0), j: tasked(actPowerOn, 1, off), seen: sight(off), lap: lap{age: 9 * time.Minute, ended: 9*time.Minute - 10*time.Second, task: ended}, out: outcome{wait: true}},
		"DoneNothing": {reason: "It's never believed: what isn't there is told again.", want: wish(v1alpha1.PoweredOn, 0, 0), j: tasked(actPowerOn, 1, off), seen: sight(off), lap: lap{age: 2 * time.Minute, ended: time.Minute, task: ended}, out: outcome{do: actPowerOn, write: true, state: begun}},
		"Failed":      {reason: "One more attempt.", want: wish(v1alpha1.PoweredOn, 0, 0), j: tasked(actPowerOn, 1, off), seen: sight(off), lap: lap{age: time.Minute, ended: 30 * time.Second, task: failure}, out: outcome{do: actPowerOn, write: true, state: begun}},
		"FailedLast":  {reason: "Of three.", want: wish(v1alpha1.PoweredOn, 0, 0), j: tasked(actPowerOn, 3, off), seen: sight(off), lap: lap{age: 9 * time.Minute, ended: time.Minute, task: failure}, out: outcome{write: true, state: gaveUp}},
		"Gone":        {reason: "It may still come about: nothing is told again soon.", want: wish("", 0, 4), j: tasked(actResetOff, 1, on), seen: sight(on), lap: lap{age: 3 * time.Minute, ended: time.Minute, task: gone}, out: outcome{wait: true}},
		"GoneLong":    {reason: "But in the end.", want: wish("", 0, 4), j: tasked(actResetOff, 1, on), seen: sight(on), lap: lap{age: 6 * time.Minute, ended: time.Minute, task: gone}, out: outcome{do: actResetOff, write: true, state: begun}},
		"ResetRuns":   {reason: "No second off in flight.", want: wish("", 0, 4), j: tasked(actResetOff, 1, on), seen: wasReset(sight(on)), lap: lap{age: 5 * time.Minute, task: running}, out: outcome{wait: true}},
		"Grace":       {reason: "The grace is the operating system's, not the task's.", want: wish(v1alpha1.PoweredOff, 0, 0), j: tasked(actGracefulOff, 1, on), seen: sight(on), lap: lap{age: 5 * time.Minute, task: running}, out: outcome{do: actForceOff, write: true, state: begun}},
		"NotAsked":    {reason: "A shutdown whose task failed is asked for again.", want: wish(v1alpha1.PoweredOff, 0, 0), j: tasked(actGracefulOff, 1, on), seen: sight(on), lap: lap{age: time.Minute, ended: 30 * time.Second, task: failure}, out: outcome{do: actGracefulOff, write: true, state: begun}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.lap.ours = true
			got := following(view{want: tc.want, j: tc.j, seen: tc.seen, now: t4, lap: func(act) lap { return tc.lap }})
			if diff := cmp.Diff(tc.out, short(got), cmp.AllowUnexported(outcome{})); diff != "" {
				t.Errorf("\n%s\nfollowing(...): -want, +got:\n%s\nwhy: %s", tc.reason, diff, got.why)
			}
			if got.journal != nil && got.journal.Act.Task != "" {
				t.Errorf("the task of an attempt that is over stays in the journal: %s", got.journal)
			}
		})
	}
}

// denied is an act that the BMC has refused n times.
func denied(a action, n int, message string, power redfish.Power) *journal {
	j := tried(a, 0, power)
	j.Act.Refusals, j.Act.Message = n, message

	return j
}

func TestNextRefused(t *testing.T) {
	const soon, never = "iLO.2.23.InvalidOperationForSystemState", "Base.1.0.InsufficientPrivilege"
	on, off := redfish.PowerOn, redfish.PowerOff
	after := t0.Add
	noOff := tried(actResetOff, 1, on)
	noOff.Act.Refused = true
	runNext(t, map[string]nextCase{
		"Soon":           {reason: "A BMC that says that it's too soon is told again soon.", want: wish(v1alpha1.PoweredOn, 0, 0), j: denied(actPowerOn, 9, soon, off), seen: sight(off), now: t2, out: outcome{do: actPowerOn, write: true, state: begun}},
		"SoonAlways":     {reason: "But not for ever.", want: wish(v1alpha1.PoweredOn, 0, 0), j: denied(actPowerOn, 31, soon, off), seen: sight(off), now: t2, out: outcome{wait: true}},
		"Second":         {reason: "One that refuses is told less and less often.", want: wish(v1alpha1.PoweredOn, 0, 0), j: denied(actPowerOn, 2, never, off), seen: sight(off), now: t2, out: outcome{wait: true}},
		"Ninth":          {reason: "But always again: somebody may give the user its role.", want: wish(v1alpha1.PoweredOn, 0, 0), j: denied(actPowerOn, 9, never, off), seen: sight(off), now: after(5 * time.Minute), out: outcome{do: actPowerOn, write: true, state: begun}},
		"Unwanted":       {reason: "What isn't wanted any more isn't waited for.", want: wish(v1alpha1.Unmanaged, 0, 0), j: denied(actPowerOn, 9, never, off), seen: sight(off), now: t0, out: outcome{write: true, state: done}},
		"OffInstead":     {reason: "A reset that was never carried out doesn't stand in the way of off.", want: wish(v1alpha1.PoweredOff, 0, 4), j: denied(actResetOff, 1, never, on), seen: sight(on), now: t0, out: outcome{do: actGracefulOff, write: true, state: begun}},
		"OffMeanwhile":   {reason: "Nor is a machine that somebody else switched off switched on.", want: wish("", 0, 4), j: denied(actResetOff, 1, never, on), seen: sight(off), now: t0, out: outcome{write: true, state: done, reset: 4}},
		"OnIsKept":       {reason: "The second half of a reset is.", want: wish("", 0, 4), j: denied(actResetOn, 9, never, off), seen: sight(off), now: after(5 * time.Minute), out: outcome{do: actResetOn, write: true, state: begun}},
		"Restart":        {reason: "A BMC that can't switch off and on restarts.", want: wish("", 0, 4), j: noOff, seen: sight(on), now: t0, out: outcome{do: actRestart, write: true, state: begun}},
		"RestartOff":     {reason: "Not a machine that is off by now.", want: wish("", 0, 4), j: noOff, seen: sight(off), now: t0, out: outcome{write: true, state: done, reset: 4}},
		"Restarted":      {reason: "It's never done twice, whatever is seen.", want: wish("", 0, 4), j: tried(actRestart, 1, on), seen: sight(on), now: t0, out: outcome{write: true, state: done, reset: 4}},
		"RestartRefused": {reason: "Unless it was refused.", want: wish("", 0, 4), j: denied(actRestart, 1, soon, on), seen: sight(on), now: t2, out: outcome{do: actRestart, write: true, state: begun}},
		"Blind":          {reason: "A state that was On before On was sent doesn't tell that it was.", want: wish("", 0, 4), j: denied(actResetOn, 1, soon, on), seen: sight(on), now: t2, out: outcome{do: actResetOn, write: true, state: begun}},
		"BlindWaits":     {reason: "In a while.", want: wish("", 0, 4), j: denied(actResetOn, 1, soon, on), seen: sight(on), now: t1, out: outcome{wait: true}},
		"BlindSaid":      {reason: "Once it was accepted that's the end.", want: wish("", 0, 4), j: tried(actResetOn, 1, on), seen: sight(on), now: t0, out: outcome{write: true, state: done, reset: 4}},
		"NotSent":        {reason: "A restart that wasn't sent is.", want: wish("", 0, 4), j: &journal{Act: &act{Action: actRestart, Generation: 4, Time: t0, State: begun, Unasked: true}}, seen: sight(on), now: t2, out: outcome{do: actRestart, write: true, state: begun}},
		"NotSentOff":     {reason: "A reset that wasn't sent isn't sent to end a machine.", want: wish(v1alpha1.PoweredOff, 0, 4), j: &journal{Act: &act{Action: actResetOff, Generation: 4, Time: t0, State: begun, Unasked: true}}, seen: sight(on), now: t2, out: outcome{do: actGracefulOff, write: true, state: begun}},
		"RestartWaits":   {reason: "In a while.", want: wish("", 0, 4), j: denied(actRestart, 1, soon, on), seen: sight(on), now: t1, out: outcome{wait: true}},
	})
	for message, want := range map[string]bool{soon: false, never: true} {
		if got := waiting(*denied(actPowerOn, 1, message, off).Act, "").refused; got != want {
			t.Errorf("waiting for a BMC that says %s: is trouble %v, want %v", message, got, want)
		}
	}
}

// TestNotOffered: what the BMC can't do stands in its own way only.
func TestNotOffered(t *testing.T) {
	j := tried(actForceOff, 1, redfish.PowerOn)
	j.Act.State, j.Act.Refused = gaveUp, true
	runNext(t, map[string]nextCase{
		"Stays": {reason: "It isn't tried again.", want: wish(v1alpha1.PoweredOff, 0, 0), j: j, seen: sight(redfish.PowerOn), now: t4},
		"Other": {reason: "Something else is.", want: wish(v1alpha1.PoweredOff, 1, 0), j: j, seen: sight(redfish.PowerOn), now: t4, out: outcome{do: actSetBootOnce, write: true, state: begun}},
		"Over":  {reason: "Until something changes.", want: wish(v1alpha1.PoweredOn, 0, 0), j: j, seen: sight(redfish.PowerOff), now: t4, out: outcome{do: actPowerOn, write: true, state: begun}},
	})
	jittered := *j
	s := sight(redfish.PowerOn)
	s.lastReset = s.lastReset.Add(time.Second)
	if st := next(wish(v1alpha1.PoweredOff, 0, 0), &jittered, s, t4); !st.idle() {
		t.Errorf("a LastResetTime that is reckoned anew at each look is no reason to try again: %+v", st)
	}
}

// TestEveryPowerActEnds takes every power action of the table as a crash leaves it, on a machine whose state never changes: nothing is sent more
// often than there is patience, no restart is sent again, and a day later nothing is on its way.
func TestEveryPowerActEnds(t *testing.T) {
	powers := []redfish.Power{redfish.PowerOn, redfish.PowerOff, redfish.PowerPoweringOn, redfish.PowerPoweringOff, redfish.PowerUnknown}
	n := 0
	for _, f := range facets {
		for _, a := range slices.DeleteFunc(slices.Clone(f.actions), func(a action) bool { return !isPower(a) }) {
			for _, power := range powers {
				for _, wanted := range []v1alpha1.PowerState{v1alpha1.PoweredOn, v1alpha1.PoweredOff, v1alpha1.Unmanaged} {
					n++
					j, now, acts := tried(a, 1, power), t0, map[action]int{}
					for range 24 * 60 * 2 {
						st := next(wish(wanted, 0, 4), j, sight(power), now)
						if st.journal != nil {
							j = st.journal
						}
						acts[st.do]++
						now = now.Add(30 * time.Second)
					}
					delete(acts, actNone)
					for sent, times := range acts {
						if times > len(patience) || sent == actRestart {
							t.Errorf("%s of a machine that is %q, wanted %s: %s was sent %d times", a, power, wanted, sent, times)
						}
					}
					if j.pending() {
						t.Errorf("%s of a machine that is %q, wanted %s: a day later %s is on its way", a, power, wanted, j.Act.Action)
					}
				}
			}
		}
	}
	if n != len(powerActs)*len(powers)*3 {
		t.Errorf("%d cases, want each action, state and wish once", n)
	}
}

// deafGate lets a few in, and then nobody; or ends their reads.
type deafGate struct {
	bmc BMC
	n   *int
	cut bool
}

func (g deafGate) Do(ctx context.Context, _ gate.Target, f func(context.Context, BMC) error) error {
	*g.n--
	switch {
	case *g.n >= 0:
		return f(ctx, g.bmc)
	case g.cut:
		_ = f(ctx, g.bmc)

		return &gate.BusyError{}
	default:
		return &redfish.Error{Kind: redfish.Unreachable}
	}
}

func (g deafGate) Forget(context.Context, string) error { return nil }

func (deafGate) Distrust(string) {}

// TestNoTurnIsNoAttempt: a call that got no turn at the BMC, no session, or no answer to its first look left nothing behind.
func TestNoTurnIsNoAttempt(t *testing.T) {
	for name, cut := range map[string]bool{"NoTurn": false, "Slow": true} {
		t.Run(name, func(t *testing.T) {
			h := enrolled(&journal{})
			kube := kubeWith(t, h, interceptor.Funcs{})
			bmc := &fakeBMC{system: off(), reset: func(redfish.Act) error { return &redfish.Error{Kind: redfish.Unreachable} }}
			e, ok := connected(t, h, kube, bmc).(*external)
			if !ok {
				t.Fatal("not our client")
			}
			n := 1
			e.connector.Gates = deafGate{bmc, &n, cut}
			if _, err := e.Observe(t.Context(), h); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Update(t.Context(), h); err == nil {
				t.Error("Update(...) without a turn: want an error")
			}
			if j := parseJournal(h.GetAnnotations()[v1alpha1.AnnotationJournal]); j.pending() {
				t.Errorf("journal: %s; want nothing on its way", j)
			}
		})
	}
}

func TestPendingOf(t *testing.T) {
	shown := func(w want, j *journal) string {
		p := pendingOf(view{want: w, j: j})
		if p == nil {
			return ""
		}
		due := "never"
		if p.Deadline != nil {
			due = p.Deadline.Sub(p.Since.Time).String()
		}

		return strings.Join([]string{p.Action, due, p.Task, p.Message}, " ")
	}
	for want, got := range map[string]string{
		"":                               shown(wish("", 0, 0), &journal{}),
		"PowerOn 20s  ":                  shown(wish(v1alpha1.PoweredOn, 0, 0), tried(actPowerOn, 1, redfish.PowerOff)),
		"ForceOff 1m0s  ":                shown(wish(v1alpha1.PoweredOff, 0, 0), tried(actForceOff, 2, redfish.PowerOn)),
		"GracefulOff 5m0s  ":             shown(wish(v1alpha1.PoweredOff, 0, 0), tried(actGracefulOff, 1, redfish.PowerOn)),
		"GracefulOff never  ":            shown(want{power: v1alpha1.PoweredOff}, tried(actGracefulOff, 1, redfish.PowerOn)),
		"ResetOff 1m0s  status 403":      shown(wish("", 0, 4), denied(actResetOff, 2, "status 403", redfish.PowerOn)),
		"PowerOn 10m0s " + taskURI + " ": shown(wish(v1alpha1.PoweredOn, 0, 0), tasked(actPowerOn, 1, redfish.PowerOff)),
	} {
		if got != want {
			t.Errorf("pendingOf(...): got %q, want %q", got, want)
		}
	}
}

const taskURI = "/redfish/v1/TaskService/Tasks/1"
