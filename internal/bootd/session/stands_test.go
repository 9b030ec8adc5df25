package session

import (
	"errors"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestStands: what stands in the way once a use has waited for its turn keeps it from being written down, and the boot goes on once nothing does.
func TestStands(t *testing.T) {
	a := newAPI(granted())
	m := bootd(t, a, "bootd", t.TempDir())
	stands := false
	m.o.Stands = func(*boot.Plan) bool { return stands }
	consume := func() error { return m.Consume(t.Context(), plan(), token(nonceA)) }
	both := func() error { return m.OpenAndConsume(t.Context(), plan(), token(nonceA), fresh()) }
	if err := both(); !errors.Is(err, ErrHeld) {
		t.Errorf("its script and its grant at once: %v", err)
	}
	if err := m.Open(t.Context(), plan(), token(nonceA), fresh()); err != nil {
		t.Fatal(err)
	}
	if err := consume(); !errors.Is(err, ErrHeld) {
		t.Errorf("its grant: %v", err)
	}
	if r := a.record(machine()); r.Session.Consumed != nil || len(m.o.Log.For(plan().EntryUID)) > 0 {
		t.Errorf("it's written down as used: %+v", r.Session)
	}
	stands = true
	if err := consume(); err != nil {
		t.Error(err)
	}
	stands = false // A boot that has used it goes on.
	if err := errors.Join(consume(), both()); err != nil {
		t.Error(err)
	}
}

// TestDeliverStands: nor is a kernel given that destroys, until it was once. A script of somebody's own follows the use of its grant at once.
func TestDeliverStands(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		method boot.Method
		held   bool
	}{
		"Kernel": {"nothing was given yet", boot.MethodKernel, true},
		"Script": {"its grant is used, and nothing else is asked for", boot.MethodScript, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := *plan()
			p.Method = tc.method
			a := newAPI(granted())
			a.edit(machine(), func(r *Record) {
				g := *r.Session.Grant
				g.PlanDigest = p.Digest()
				r.Session.Grant = &g
			})
			m, stands := bootd(t, a, "bootd", t.TempDir()), true
			m.o.Stands = func(*boot.Plan) bool { return stands }
			deliver := func() error { return m.Deliver(t.Context(), &p, token(nonceA)) }
			if err := m.OpenAndConsume(t.Context(), &p, token(nonceA), fresh()); err != nil {
				t.Fatal(err)
			}
			stands = false
			if err := deliver(); errors.Is(err, ErrHeld) != tc.held || a.record(machine()).Progress.Timeline.Kernel.IsZero() != tc.held {
				t.Errorf("%s: %v", tc.reason, err)
			}
			stands = true
			if err := deliver(); err != nil {
				t.Error(err)
			}
			stands = false
			if err := deliver(); err != nil {
				t.Errorf("a boot that goes on: %v", err)
			}
		})
	}
}
