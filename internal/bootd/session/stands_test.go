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
