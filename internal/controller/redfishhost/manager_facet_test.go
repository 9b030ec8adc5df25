package redfishhost

import (
	"testing"
	"time"
)

// TestNoRestartWhileSettingsApply: the BMC may be what writes them.
func TestNoRestartWhileSettingsApply(t *testing.T) {
	for name, reset := range map[string]int64{"Alone": 0, "ResetWaits": 1} {
		w, s := settingsWished()
		w.bmcReset, w.reset = 1, reset
		j := stagedJournal()
		j.BIOS.Resets = 1
		s.lastReset = t0
		v := view{want: w, j: j, seen: s, now: t0.Add(time.Minute), lap: func(act) lap { return lap{ours: true} }}
		v.rests = func(action, time.Time) time.Duration { return time.Minute }
		if !v.applying(*j) {
			t.Fatalf("%s: no settings are being applied", name)
		}
		if st := following(v); st.do == actResetBMC {
			t.Errorf("%s: the BMC is restarted", name)
		}
		v.rests = func(action, time.Time) time.Duration { return time.Hour }
		j.Reset = reset
		if st := following(v); st.do != actResetBMC && st.journal == nil {
			t.Errorf("%s: afterwards: %+v", name, short(st))
		}
	}
}
