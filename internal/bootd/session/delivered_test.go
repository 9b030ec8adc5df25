package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestDeliveredSurvivesARestore: that a kernel which destroys by itself went out stands in the log too. An etcd that is put back
// to before it doesn't give its script a second time, however alike the requests look.
func TestDeliveredSurvivesARestore(t *testing.T) {
	for name, back := range map[string]func(granted, consumed Record) Record{
		"BeforeTheConsumption": func(granted, _ Record) Record { return granted },
		"BeforeTheKernel":      func(_, consumed Record) Record { return consumed },
	} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/restarted=%t", name, restarted), func(t *testing.T) {
				a, dir := newAPI(granted()), t.TempDir()
				m := bootd(t, a, "bootd", dir)
				before := a.record(machine())
				if err := m.OpenAndConsume(t.Context(), plan(), token(nonceA), fresh()); err != nil {
					t.Fatal(err)
				}
				consumed := a.record(machine())
				if err := m.Deliver(t.Context(), plan(), token(nonceA)); err != nil {
					t.Fatal(err)
				}
				a.edit(machine(), func(r *Record) { *r = back(before, consumed) })
				if restarted {
					m = bootd(t, a, "bootd", dir)
				}
				if err := m.OpenAndConsume(t.Context(), plan(), token(nonceA), fresh()); !errors.Is(err, boot.ErrConsumed) {
					t.Errorf("its script is given a second time: %v", err)
				}
				if err := m.Deliver(t.Context(), plan(), token(nonceA)); err != nil {
					t.Errorf("the boot itself may try its kernel again in place: %v", err)
				}
			})
		}
	}
}

func TestDeliveredIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	c := boot.Consumption{GrantID: "g", EntryUID: "e", HostUID: "h", Generation: 1, Nonce: "n"}
	if err := errors.Join(l.Add(c), l.Deliver(c), l.Deliver(c)); err != nil || !l.Delivered(c) {
		t.Fatalf("%v, delivered %t", err, l.Delivered(c))
	}
	b, err := os.ReadFile(path)
	if err != nil || strings.Count(string(b), "\n") != 2 {
		t.Errorf("said once: %v\n%s", err, b)
	}
	for i := range 2 * compactAt { // So many lines that they're written anew.
		x := boot.Consumption{GrantID: fmt.Sprint(i), EntryUID: "other", HostUID: "h", Generation: int64(i), Nonce: "n"}
		if err := l.Add(x); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if l, err = OpenLog(path); err != nil {
			t.Fatal(err)
		}
		if !l.Delivered(c) || len(l.For("e")) != 1 || l.Delivered(boot.Consumption{GrantID: "g", Nonce: "other"}) {
			t.Errorf("after a restart: delivered %t, %d consumptions", l.Delivered(c), len(l.For("e")))
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestStoppingWritesWhatWaits: a bootd that is updated mustn't take with it that a machine was seen to boot from its disk.
func TestStoppingWritesWhatWaits(t *testing.T) {
	a := newAPI(granted())
	m := bootd(t, a, "bootd", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	m.Sight(machine(), Sighting{Kind: SawFirmwareDHCP, At: start()})
	cancel()
	if err := m.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if got := a.record(machine()).Progress.Stage; got != boot.StageDHCP {
		t.Errorf("stage %q", got)
	}
}
