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
