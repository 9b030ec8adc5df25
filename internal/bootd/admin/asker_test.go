package admin

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestWhy: what its source knows of a machine says more than the gate's word.
func TestWhy(t *testing.T) {
	const why = "NeedsConfirmation: bootd confirm lab/m1 --mac 52:54:00:00:00:01 keeps it as it runs"
	e := newRig(t, func(r *rig) { r.synced, r.why = false, why }).explains(Query{Entry: "lab/m1"})
	if e.Held != why || e.WaitsFor != "its script: hold (NotSynced): "+why || !strings.Contains(e.Text(), "held                   "+why) {
		t.Errorf("%q, %q\n%s", e.Held, e.WaitsFor, e.Text())
	}
	if e := newRig(t, nil).explains(Query{Entry: "lab/m1"}); e.Held != "" || strings.Contains(e.Text(), "held  ") {
		t.Errorf("nothing holds it: %s", e.Text())
	}
}

func (s noSessions) Sent(boot.Name, int64) { _ = s.said("Sent") }

// TestWaitsForItsFile: of a script that waits for more than its reason says, that is told.
func TestWaitsForItsFile(t *testing.T) {
	cases := map[string]struct {
		reason string
		e      Explanation
		want   string
	}{
		"Message": {"which file it is, and why", Explanation{Scripts: []Script{{Answer: string(boot.AnswerHold), Reason: "R", Because: "a word", Message: "a sentence"}}}, "its script: hold (R): a sentence"},
		"Because": {"without one the reason's own meaning", Explanation{Scripts: []Script{{Answer: string(boot.AnswerHold), Reason: "R", Because: "a word"}}}, "its script: hold (R): a word"},
		"Held":    {"what its source knows comes first", Explanation{Held: "held", Scripts: []Script{{Answer: string(boot.AnswerHold), Reason: "R", Message: "a sentence"}}}, "its script: hold (R): held"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := waitsFor(&tc.e); got != tc.want {
				t.Errorf("%s: %q", tc.reason, got)
			}
		})
	}
}
