package redfishhost

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/bios"
)

// settingsWished has one setting that differs, on a machine that may be reset for it.
func settingsWished(missing ...string) (want, seen) {
	b := bios.Value{Kind: bios.Text, Text: "B"}
	w := wish(v1alpha1.Unmanaged, 0, 0)
	w.bios = &wantBIOS{declared: map[string]bios.Value{"Mode": b}, digest: "d", apply: v1alpha1.BIOSApplyMaintenance, maintenance: true}
	s := sight(redfish.PowerOn)
	s.bios = &biosSeen{digest: "d", writable: true, current: map[string]bios.Value{"Mode": {Kind: bios.Text, Text: "A"}}, changes: map[string]bios.Value{"Mode": b}, missing: missing}

	return w, s
}

func stagedJournal() *journal {
	return &journal{BIOS: biosRecord{Digest: "d", State: biosStaged, Time: t0, Power: redfish.PowerOn, LastReset: t0.Add(-time.Hour)}}
}

// TestResetForSettings: one, for a machine whose next boot is for nothing else.
func TestResetForSettings(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(w *want, j *journal, s *seen)
		reset  bool
	}{
		"Staged": {reason: "It's staged, and may be reset for.", change: func(*want, *journal, *seen) {}, reset: true},
		"Used":   {reason: "A boot for once that was used up is no reason to wait.", change: func(w *want, j *journal, _ *seen) { *w = withOnce(*w); j.BootOnce, j.Override = 1, "Pxe" }, reset: true},
		"Others": {reason: "Somebody's boot for once is for another boot.", change: func(_ *want, _ *journal, s *seen) { *s = withOverride(*s) }},
		"Wished": {reason: "So is one that is to be set yet.", change: func(w *want, j *journal, _ *seen) {
			*w = withOnce(*w)
			j.Boot.Once = &trial{Wish: pxeWish, Tried: 1, Time: t0}
		}},
		"ByOrder": {reason: "And one by the boot order.", change: func(w *want, j *journal, _ *seen) {
			*w = withOnce(*w)
			j.BootOnce, j.Boot.Moved = 1, &moved{First: "b", Power: redfish.PowerOn, LastReset: t0.Add(-time.Hour)}
		}},
		"Adopted": {reason: "What was declared when there was no journal.", change: func(_ *want, j *journal, _ *seen) { j.BIOS.Adopted = true }},
		"Once":    {reason: "It was reset for it.", change: func(_ *want, j *journal, _ *seen) { j.BIOS.Resets = 1 }},
		"InTurns": {reason: "Maps that are declared in turns.", change: func(_ *want, j *journal, _ *seen) { j.BIOS.Turns = turns{Sets: maxTurns, At: t0} }},
		"Secure": {reason: "Secure Boot that is to be written yet comes with that boot, too.", change: func(w *want, j *journal, s *seen) {
			w.settings.secureBoot, s.secureBoot = secureBootOn, &secureBootSeen{}
			j.Act = &act{Action: actSetSecureBoot, Target: secureBootOn, State: failed, Attempts: 1}
		}},
		"TakenBack": {reason: "Nothing is other than declared.", change: func(_ *want, _ *journal, s *seen) { s.bios.back = s.bios.changes }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, s := settingsWished()
			j := stagedJournal()
			tc.change(&w, j, &s)
			reset := false
			for range 4 {
				st := next(w, j, s, t1)
				reset = reset || st.do == actResetOff
				if st.do == actSetSecureBoot {
					return // That comes first.
				}
				if st.journal != nil {
					j = st.journal
				}
			}
			if reset != tc.reset {
				t.Errorf("\n%s\nreset %v", tc.reason, reset)
			}
		})
	}
}

func withOnce(w want) want {
	w.once = &v1alpha1.BootOnce{Target: v1alpha1.BootTargetPxe, Generation: 1}

	return w
}

// TestAdoptedSettings: a lost journal resets no machine.
func TestAdoptedSettings(t *testing.T) {
	w, s := settingsWished()
	var j *journal
	for range 6 {
		st := next(w, j, s, t1)
		if st.do != actNone {
			t.Fatalf("following(...): got %+v", short(st))
		}
		if st.journal != nil {
			j = st.journal
		}
	}
}

// TestResetDuringSettings: a reset that is asked for doesn't meet the firmware while
// it applies settings.
func TestResetDuringSettings(t *testing.T) {
	w, s := settingsWished()
	w.reset = 1
	j := stagedJournal()
	j.BIOS.Resets = 1
	s = wasReset(s)
	if st := next(w, j, s, t1); st.do != actNone || !st.wait {
		t.Errorf("while it applies them: got %+v", short(st))
	}
	if st := next(w, j, s, t3); st.do != actResetOff {
		t.Errorf("later: got %+v", short(st))
	}
}

// TestStagingInDoubt: what a crash leaves behind says nothing about settings that
// may never have been sent.
func TestStagingInDoubt(t *testing.T) {
	w, s := settingsWished("Mode")
	j := &journal{Act: begunAct(actStageBIOS, 0, redfish.PowerOn)}
	j.Act.Digest, j.Act.Attempts = "d", 1
	for ours, want := range map[bool]string{true: biosStaged, false: ""} {
		st := following(view{want: w, j: j, seen: wasReset(s), now: t3, lap: func(act) lap { return lap{age: time.Minute, ours: ours} }})
		if st.journal == nil || st.journal.BIOS.State != want {
			t.Errorf("ours %v: got %+v", ours, st.journal)
		}
	}
}

// TestJobForSettings: a job that waits for the reset is all that some BMCs show of
// what is staged.
func TestJobForSettings(t *testing.T) {
	w, s := settingsWished("Mode")
	j := &journal{Act: begunAct(actStageBIOS, 0, redfish.PowerOn)}
	j.Act.Digest, j.Act.Attempts, j.Act.Task = "d", 1, "/redfish/v1/Jobs/1"
	v := view{want: w, j: j, seen: s, now: t1, lap: func(act) lap {
		return lap{age: time.Minute, ours: true, task: redfish.Progress{State: redfish.TaskRunning, Scheduled: true}}
	}}
	st := following(v)
	if st.do != actResetOff || st.journal.BIOS.State != biosStaged || st.journal.BIOS.Job == "" {
		t.Fatalf("following(...): got %+v, want it staged, and a reset", st.journal)
	}
	v.want.bios.maintenance = false
	v.j = &journal{BIOS: st.journal.BIOS}
	v.j.BIOS.Resets = 0
	if st := following(v); !st.idle() {
		t.Errorf("it's staged once more: got %+v", short(st))
	}
}

// TestSettingsTakenBack: what is staged and isn't wanted any more is staged over,
// whenever settings are to be applied.
func TestSettingsTakenBack(t *testing.T) {
	for _, apply := range []v1alpha1.BIOSApply{"", v1alpha1.BIOSApplyNextPowerOn, v1alpha1.BIOSApplyMaintenance} {
		w, s := settingsWished("Mode")
		w.bios.apply, w.bios.maintenance = apply, false
		s.bios.back = s.bios.changes
		if st := next(w, &journal{}, s, t0); st.do != actStageBIOS {
			t.Errorf("apply %q: got %+v", apply, short(st))
		}
	}
}

// TestAttemptsOfSettings: what drifts months later has attempts of its own, and what
// isn't shown as staged is told otherwise than what a boot didn't bring.
func TestAttemptsOfSettings(t *testing.T) {
	w, s := settingsWished("Mode")
	w.bios.maintenance, w.bios.apply = false, ""
	j := &journal{}
	inForce := s
	inForce.bios = &biosSeen{digest: "d", writable: true}
	for range 4 {
		j = next(w, j, s, t0).journal
		if j == nil || j.Act.Action != actStageBIOS || j.Act.Attempts != 1 {
			t.Fatalf("a drift that was mended counts: %+v", j)
		}
		for range 3 {
			if st := next(w, j, inForce, t0); st.journal != nil {
				j = st.journal
			}
		}
	}
	now := t0
	for range 300 {
		if st := next(w, j, s, now); st.journal != nil {
			j = st.journal
		}
		now = now.Add(10 * time.Second)
	}
	c := showBIOS(view{want: w, j: j, seen: s, now: now}, inputs{})
	if len(c) != 1 || c[0].Status != corev1.ConditionFalse || c[0].Reason != v1alpha1.ReasonNoEffect {
		t.Errorf("showBIOS(...): got %+v", c)
	}
}

// TestLookBeforeAReset: it's begun on what is staged now.
func TestLookBeforeAReset(t *testing.T) {
	w, s := settingsWished()
	if !underWay(stagedJournal(), w.bios, s) {
		t.Error("a reset is begun on an old look")
	}
	w.bios.maintenance = false
	if underWay(stagedJournal(), w.bios, s) {
		t.Error("what waits is read at each look")
	}
}
