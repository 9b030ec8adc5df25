package session

import (
	"errors"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func TestScriptIsRepeatedUntilItsKernelWasAskedFor(t *testing.T) {
	// The requests of a machine that was reset may look exactly like a retry: the same xid, the same minute, hence the
	// same nonce. That the kernel, which destroys, went out tells them apart, whichever bootd is asked and whatever it
	// remembers.
	a := newAPI(granted())
	m := bootd(t, a, "a", t.TempDir())
	if err := m.Deliver(t.Context(), plan(), token(nonceA)); !errors.Is(err, boot.ErrNoGrant) {
		t.Errorf("a kernel for nobody's boot: %v", err)
	}
	if err := errors.Join(m.OpenAndConsume(t.Context(), plan(), token(nonceA), fresh()), m.OpenAndConsume(t.Context(), plan(), token(nonceA), fresh())); err != nil {
		t.Fatalf("a script that was lost on its way is given again: %v", err)
	}
	a.before = func(Record) error { return errBoom }
	if err := m.Deliver(t.Context(), plan(), token(nonceA)); !errors.Is(err, errBoom) {
		t.Errorf("what can't be recorded isn't given: %v", err)
	}
	a.before = nil
	if err := m.Deliver(t.Context(), plan(), token(nonceB)); !errors.Is(err, boot.ErrConsumed) {
		t.Errorf("another boot's kernel: %v", err)
	}
	if err := errors.Join(m.Deliver(t.Context(), plan(), token(nonceA)), m.Deliver(t.Context(), plan(), token(nonceA))); err != nil {
		t.Errorf("the same boot may try its kernel again in place: %v", err)
	}
	for name, x := range map[string]*Manager{"the same bootd": m, "another": bootd(t, a, "b", t.TempDir())} {
		if err := x.OpenAndConsume(t.Context(), plan(), token(nonceA), fresh()); !errors.Is(err, boot.ErrConsumed) {
			t.Errorf("%s gives a reset machine its script again: %v", name, err)
		}
	}
}

func TestAnOldTimelineIsntThisBootsKernel(t *testing.T) {
	r := granted()
	r.Progress.Timeline.Kernel = start().Add(-time.Hour)
	m := bootd(t, newAPI(r), "bootd", t.TempDir())
	for range 2 {
		if err := m.OpenAndConsume(t.Context(), plan(), token(nonceA), fresh()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOwnedIsLogged(t *testing.T) {
	// A client that repeats a write by itself after a lost answer is told of a conflict with its own first try. The
	// intent is taken back then; before a byte goes out the log must know of the consumption all the same.
	a := newAPI(granted())
	m := bootd(t, a, "bootd", t.TempDir())
	_ = m.Open(t.Context(), plan(), token(nonceA), fresh())
	lost, told := false, map[string]int{}
	m.o.Consumed = func() { told["first"]++ }
	a.after = func(r Record) error {
		if r.Session.Consumed != nil && !lost {
			lost = true
			return ErrConflict
		}
		return nil
	}
	if err := m.Consume(t.Context(), plan(), token(nonceA)); err != nil || !lost {
		t.Fatalf("%v, %t", err, lost)
	}
	if got := len(m.Logged("entry", "host")); got != 1 {
		t.Errorf("%d consumptions logged", got)
	}
	second := bootd(t, a, "second", t.TempDir())
	second.o.Consumed = func() { told["second"]++ }
	if err := second.Consume(t.Context(), plan(), token(nonceA)); err != nil || len(second.Logged("entry", "host")) != 1 {
		t.Errorf("a bootd that goes on with another's boot logs it too: %v, %v", err, second.Logged("entry", "host"))
	}
	if told["first"] != 1 || told["second"] != 0 {
		t.Errorf("who wrote it tells of it, once: %v", told)
	}
}

func TestRepeatOfARegrantedGeneration(t *testing.T) {
	// A grant that a restored provider issued anew was opened before the consumption was written back: the repeat of that
	// request opens nothing either.
	r := granted()
	r.Session.OpenedGrantID, r.Session.Opened = grantID, []boot.Opened{{Nonce: nonceA, At: start()}}
	r.Session.Consumed = &boot.Consumption{GrantID: "00000000000000bb", HostUID: "host", EntryUID: "entry", Generation: 1, Nonce: nonceB, At: start()}
	m := bootd(t, newAPI(r), "bootd", t.TempDir())
	if err := m.Open(t.Context(), plan(), token(nonceA), fresh()); !errors.Is(err, boot.ErrConsumed) {
		t.Errorf("open: %v", err)
	}
	if err := m.Consume(t.Context(), plan(), token(nonceA)); !errors.Is(err, boot.ErrConsumed) {
		t.Errorf("consume: %v", err)
	}
}
