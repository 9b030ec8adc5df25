package session

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// running runs a manager's chores for as long as the test lasts.
func running(t *testing.T, m *Manager) {
	t.Helper()
	m.o.Now = time.Now
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func TestSightingsAreWritten(t *testing.T) {
	a := newAPI(granted())
	m := bootd(t, a, "bootd", t.TempDir())
	running(t, m)
	for _, k := range []Kind{SawFirmwareDHCP, SawFirmwareFile, SawScript, SawKernel} {
		m.Sight(machine(), Sighting{Kind: k, At: start().Add(time.Duration(k) * time.Second), GrantID: grantID})
	}
	await(t, "the kernel", func() bool { return a.record(machine()).Progress.Stage == boot.StageKernel })
	want := Timeline{
		DHCP: start().Add(1 * time.Second), Firmware: start().Add(3 * time.Second),
		Script: start().Add(4 * time.Second), Kernel: start().Add(5 * time.Second),
	}
	if diff := cmp.Diff(want, a.record(machine()).Progress.Timeline); diff != "" {
		t.Errorf("times are those of the sightings, -want +got:\n%s", diff)
	}
}

func TestReportsAreCoalesced(t *testing.T) {
	a := newAPI(granted())
	m := bootd(t, a, "bootd", t.TempDir())
	running(t, m)
	for range 20 {
		m.Sight(machine(), Sighting{Kind: SawReport, At: start(), Message: "10 %"})
	}
	m.Sight(machine(), Sighting{Kind: SawReport, At: start(), Message: "last"})
	await(t, "the last report", func() bool { return a.record(machine()).Progress.Report == "last" })
	if a.writes > 2 {
		t.Errorf("%d writes for one second of reports", a.writes)
	}
}

func TestStormOfBootsIsWrittenCalmly(t *testing.T) {
	// A tenant owns its machine: it may send a thousand DHCP requests a second, each as from a new boot.
	a := newAPI(granted())
	m := bootd(t, a, "bootd", t.TempDir())
	running(t, m)
	began := time.Now()
	for time.Since(began) < 3*brisk {
		m.Sight(machine(), Sighting{Kind: SawFirmwareDHCP, At: start()})
		runtime.Gosched()
	}
	m.Sight(machine(), Sighting{Kind: SawKernel, At: start()})
	await(t, "the last stage", func() bool { return a.record(machine()).Progress.Stage == boot.StageKernel })
	a.mu.Lock()
	defer a.mu.Unlock()
	if most := int(time.Since(began)/brisk) + 1; a.writes > most {
		t.Errorf("%d writes in %s, want at most %d", a.writes, time.Since(began), most)
	}
}

// TestStagesOnADisk: where each write wears a disk, a machine that boots in a loop makes fewer.
func TestStagesOnADisk(t *testing.T) {
	m := New(Options{Store: newAPI(granted()), Now: start, Brisk: time.Hour})
	m.Sight(machine(), Sighting{Kind: SawFirmwareDHCP, At: start()})
	if names, _ := m.due(start()); len(names) != 1 {
		t.Errorf("%v: the first is written at once", names)
	}
	m.Sight(machine(), Sighting{Kind: SawKernel, At: start()})
	if names, _ := m.due(start()); len(names) != 0 {
		t.Errorf("%v: the next waits", names)
	}
}

func TestOutageKeepsSightings(t *testing.T) {
	a := newAPI(granted())
	m := bootd(t, a, "bootd", t.TempDir())
	down := make(chan struct{})
	a.before = func(Record) error {
		select {
		case <-down:
			return nil
		default:
			return errBoom
		}
	}
	running(t, m)
	m.Sight(machine(), Sighting{Kind: SawFirmwareDHCP, At: start()})
	await(t, "a try", func() bool { m.mu.Lock(); defer m.mu.Unlock(); return !m.sighted[machine()].urgent })
	close(down)
	await(t, "the stage", func() bool { return a.record(machine()).Progress.Stage == boot.StageDHCP })
}

func TestRevocationIsAcknowledged(t *testing.T) {
	a := newAPI(granted())
	m := bootd(t, a, "bootd", t.TempDir())
	running(t, m)
	a.edit(machine(), func(r *Record) { r.Session.Revocation = "r-1" })
	if err := m.Seen(a.record(machine())); err != nil {
		t.Fatal(err)
	}
	await(t, "the acknowledgement", func() bool { return a.record(machine()).Session.Acknowledged == "r-1" })
}

func TestLostConsumptionIsWrittenBack(t *testing.T) {
	a := newAPI(granted())
	m := bootd(t, a, "bootd", t.TempDir())
	_ = m.OpenAndConsume(t.Context(), plan(), token(nonceA), fresh())
	a.edit(machine(), func(r *Record) { r.Session.Consumed = nil })
	running(t, m)
	if err := m.Seen(a.record(machine())); err != nil {
		t.Fatal(err)
	}
	await(t, "the write-back", func() bool { return a.record(machine()).Session.Consumed != nil })
}

func TestConsumptionsOfOthersAreLogged(t *testing.T) {
	a := newAPI(granted())
	dir := t.TempDir()
	m, other := bootd(t, a, "a", dir), bootd(t, a, "b", dir)
	_ = other.OpenAndConsume(t.Context(), plan(), token(nonceA), fresh())
	if err := m.Seen(a.record(machine())); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(other.Logged("entry", "host"), m.Logged("entry", "host")); diff != "" {
		t.Errorf("-writer +watcher:\n%s", diff)
	}
}

func TestReports(t *testing.T) {
	a := newAPI(granted())
	m := bootd(t, a, "bootd", t.TempDir())
	if _, err := m.Report(t.Context(), plan(), token(nonceA), true, ""); !errors.Is(err, boot.ErrNoGrant) {
		t.Errorf("installed before anything began: %v", err)
	}
	if err := m.Booted(t.Context(), plan(), token(nonceA), ""); !errors.Is(err, boot.ErrNoGrant) {
		t.Errorf("booted before anything began: %v", err)
	}
	_ = m.OpenAndConsume(t.Context(), plan(), token(nonceA), fresh())
	if err := m.Booted(t.Context(), plan(), token(nonceA), ""); !errors.Is(err, boot.ErrNoGrant) {
		t.Errorf("booted before installed: %v", err)
	}
	if err := m.Check(t.Context(), plan(), token(nonceB)); !errors.Is(err, boot.ErrConsumed) {
		t.Errorf("another boot's progress: %v", err)
	}
	report := func(installed bool, message string) func() (bool, error) {
		return func() (bool, error) { return m.Report(t.Context(), plan(), token(nonceA), installed, message) }
	}
	steps := []struct {
		do     func() (bool, error)
		stands bool
		stage  boot.Stage
	}{
		{report(false, "no disk"), true, boot.StageFailed},
		{report(true, "done"), true, boot.StageInstalled},
		{report(false, "late"), false, boot.StageInstalled},
		{report(true, "again"), true, boot.StageInstalled},
		{func() (bool, error) { return true, m.Booted(t.Context(), plan(), token(nonceA), "up") }, true, boot.StageBootedFromDisk},
	}
	for i, s := range steps {
		stands, err := s.do()
		if err != nil || stands != s.stands {
			t.Fatalf("step %d: it stands is %t, %v", i, stands, err)
		}
		if got := a.record(machine()).Progress.Stage; got != s.stage {
			t.Errorf("step %d: stage %s, want %s", i, got, s.stage)
		}
	}
	r := a.record(machine())
	if r.Session.Installed == nil || r.Session.Installed.Message != "done" || r.Session.Failed != nil {
		t.Errorf("the first success stands: %+v, %+v", r.Session.Installed, r.Session.Failed)
	}
}

func TestNewBoot(t *testing.T) {
	m := bootd(t, newAPI(granted()), "bootd", t.TempDir())
	if m.NewBoot(machine(), start()) {
		t.Error("nothing was seen")
	}
	m.Sight(machine(), Sighting{Kind: SawFirmwareDHCP, At: start().Add(time.Second)})
	if !m.NewBoot(machine(), start()) || m.NewBoot(machine(), start().Add(time.Minute)) {
		t.Error("the firmware started a second later")
	}
	m.Gone(machine())
	if m.NewBoot(machine(), start()) {
		t.Error("what is gone is forgotten")
	}
}

func TestMissingSession(t *testing.T) {
	m := bootd(t, newAPI(), "bootd", t.TempDir())
	if err := m.Open(t.Context(), plan(), token(nonceA), fresh()); !errors.Is(err, ErrNotFound) {
		t.Errorf("no session: %v", err)
	}
	m.Sight(machine(), Sighting{Kind: SawScript, At: start()})
	m.write(t.Context(), machine())
	if got := m.waiting(machine()); got != nil {
		t.Errorf("sightings of a machine without a session are dropped, got %v", got)
	}
}
