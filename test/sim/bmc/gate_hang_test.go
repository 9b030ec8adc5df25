package bmc_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// hasty are gatekeepers that wait for little.
func hasty(t *testing.T) *gate.Gates {
	t.Helper()
	g := gates(t)
	g.Hurry(100*time.Millisecond, 50*time.Millisecond)

	return g
}

// known has a BMC read once. On a busy machine an emulator may take longer than those wait.
func known(t *testing.T, g *gate.Gates, at gate.Target) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		err := g.Do(t.Context(), at, read)
		if err == nil {
			return
		}
		if !gate.IsBusy(err) || time.Now().After(deadline) {
			t.Fatalf("Do(...): %v", err)
		}
	}
}

// TestGateHang: a BMC that begins to hang costs a worker a moment, once; then it's asked with all the time that it may take, and believed.
func TestGateHang(t *testing.T) {
	for name, old := range map[string]bool{"New": false, "Known": true} {
		t.Run(name, func(t *testing.T) {
			emu, _ := emulator(t, bmc.ModelInline, nil)
			g := hasty(t)
			at := target(emu, "v1")
			at.RequestTimeout = time.Second
			if old {
				known(t, g, at)
			}
			emu.Inject(bmc.Fault{Hang: true})
			if err := g.Do(t.Context(), at, read); !gate.IsBusy(err) {
				t.Errorf("Do(...) with a BMC that has begun to hang: got %v, want busy: nothing is known yet", err)
			}
			began := time.Now()
			if err := g.Do(t.Context(), at, read); !redfish.IsUnreachable(err) || gate.IsBusy(err) || time.Since(began) < 900*time.Millisecond {
				t.Errorf("Do(...) after that: got %v after %v, want unreachable after the whole time", err, time.Since(began))
			}
			emu.Heal()
			if err := g.Do(t.Context(), at, read); err != nil {
				t.Errorf("Do(...) with a BMC that answers again: %v", err)
			}
			if c := emu.Counters(); c.FailedLogins != 0 {
				t.Errorf("%d failed logins", c.FailedLogins)
			}
		})
	}
}

// TestGateSlow: a BMC that is slow and answers isn't taken for one that doesn't, more often than once.
func TestGateSlow(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	g := hasty(t)
	emu.Inject(bmc.Fault{Delay: 300 * time.Millisecond})
	busy := 0
	for range 4 {
		err := g.Do(t.Context(), target(emu, "v1"), read)
		if gate.IsBusy(err) {
			busy++
		} else if err != nil {
			t.Fatalf("Do(...) with a slow BMC: %v", err)
		}
	}
	if busy != 1 {
		t.Errorf("a slow BMC was taken for one that hangs %d times, want once", busy)
	}
}

// TestGateCutAfterWrite: what comes after a write is never busy, since that says that nothing was done.
func TestGateCutAfterWrite(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	g := hasty(t)
	at := target(emu, "v1")
	at.RequestTimeout = time.Second
	known(t, g, at)
	s, err := connect(t, settings(emu)).System(t.Context(), redfish.Selector{})
	if err != nil {
		t.Fatal(err)
	}
	emu.Inject(bmc.Fault{Method: http.MethodGet, Hang: true})
	err = g.Do(t.Context(), at, func(ctx context.Context, c *redfish.Client) error {
		if _, err := c.Reset(ctx, s, redfish.ActOn); err != nil {
			return err
		}

		return read(ctx, c)
	})
	if gate.IsBusy(err) || !redfish.IsUnreachable(err) || emu.Counters().Resets["On"] != 1 {
		t.Errorf("Do(...): got %v after resets %v, want unreachable after one", err, emu.Counters().Resets)
	}
}

// TestGateQueue: who waits for others at the same BMC doesn't for long.
func TestGateQueue(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	g := hasty(t)
	at, leave := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		if err := g.Do(t.Context(), target(emu, "v1"), func(context.Context, *redfish.Client) error {
			close(at)
			<-leave

			return nil
		}); err != nil {
			t.Error(err)
		}
	})
	<-at
	if err := g.Do(t.Context(), target(emu, "v1"), read); !gate.IsBusy(err) {
		t.Errorf("Do(...) while another call takes long: got %v, want busy", err)
	}
	close(leave)
	all.Wait()
	known(t, g, target(emu, "v1"))
}

// TestGateOneProbe: while one call finds out whether a BMC answers again, no other one goes there or waits.
func TestGateOneProbe(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	g := hasty(t)
	at := target(emu, "v1")
	at.RequestTimeout = 2 * time.Second
	emu.Inject(bmc.Fault{Hang: true})
	if err := g.Do(t.Context(), at, read); !gate.IsBusy(err) {
		t.Fatalf("Do(...): %v", err)
	}
	before := emu.Counters().Requests
	var all sync.WaitGroup
	all.Go(func() { _ = g.Do(t.Context(), at, read) })
	for deadline := time.Now().Add(time.Second); emu.Counters().Requests == before && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	began := time.Now()
	for range 10 {
		if err := g.Do(t.Context(), at, read); !gate.IsBusy(err) {
			t.Errorf("Do(...) beside a probe: got %v, want busy", err)
		}
	}
	if waited := time.Since(began); waited > time.Second {
		t.Errorf("ten calls beside a probe took %v: nobody waits for it", waited)
	}
	if n := emu.Counters().Requests - before; n != 1 {
		t.Errorf("%d requests, want the probe's", n)
	}
	emu.Heal()
	all.Wait()
}
