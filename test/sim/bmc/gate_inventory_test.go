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

// walking takes a turn at an inventory.
func walking(w *redfish.Walk) func(context.Context, *redfish.Client) error {
	return func(ctx context.Context, c *redfish.Client) error {
		_, err := c.Walk(ctx, w, 8)

		return err
	}
}

// aWalk of an emulated BMC's only System, and how its turns are asked for.
func aWalk(t *testing.T, emu *bmc.Server, g *gate.Gates) (*redfish.Walk, gate.Target) {
	t.Helper()
	at := target(emu, "v1")
	known(t, g, at)
	w := redfish.NewWalk(system(t, connect(t, settings(emu))), nil)
	at.Lane = gate.Inventory

	return w, at
}

// TestGateActBeforeInventory: an act doesn't wait for a resource that takes long, and the inventory goes on after it.
func TestGateActBeforeInventory(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	g := gates(t)
	g.Hurry(2*time.Second, time.Second)
	w, at := aWalk(t, emu, g)
	emu.Inject(bmc.Fault{Method: http.MethodGet, PathContains: "EthernetInterfaces", Hang: true})
	before := emu.Counters().Requests
	var all sync.WaitGroup
	var err error
	all.Go(func() { err = g.Do(t.Context(), at, walking(w)) })
	for deadline := time.Now().Add(10 * time.Second); emu.Counters().Requests < before+2 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	act := at
	act.Lane = gate.Act
	if err := g.Do(t.Context(), act, read); err != nil {
		t.Errorf("Do(...) of an act while a resource takes long: %v", err)
	}
	all.Wait()
	if !gate.IsBusy(err) || w.Stalled() {
		t.Errorf("Do(...) of the inventory: %v; want busy: it goes on later", err)
	}
	emu.Heal()
	for range 50 {
		if err = g.Do(t.Context(), at, walking(w)); err != nil {
			t.Fatalf("Do(...) of the inventory: %v", err)
		}
	}
	if inv := w.Inventory(); len(inv.MACs) != 2 || inv.Partial {
		t.Errorf("got %v, partial %t; want all addresses", inv.MACs, inv.Partial)
	}
}

// TestGateSlowResource: a resource of an inventory that hangs, or wants to be left alone, makes no healthy BMC one that doesn't answer.
func TestGateSlowResource(t *testing.T) {
	for name, fault := range map[string]bmc.Fault{
		"Hangs": {Hang: true}, "Busy": {Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"60"}}}, "Cut": {Disconnect: true},
	} {
		t.Run(name, func(t *testing.T) {
			emu, _ := emulator(t, bmc.ModelInline, nil)
			g := gates(t)
			w, at := aWalk(t, emu, g)
			at.RequestTimeout = 500 * time.Millisecond
			look := at
			look.Lane = gate.Look
			known(t, g, look)
			fault.Method, fault.PathContains = http.MethodGet, "EthernetInterfaces"
			emu.Inject(fault)
			err := g.Do(t.Context(), at, func(ctx context.Context, c *redfish.Client) error {
				for range 4 { // The first resource of a turn, each time.
					if _, err := c.Walk(ctx, w, 1); err != nil {
						return err
					}
				}

				return nil
			})
			if err != nil && !gate.IsBusy(err) || name == "Busy" && gate.LeaveAlone(err) != time.Minute {
				t.Errorf("Do(...) of the inventory: %v, left alone for %v", err, gate.LeaveAlone(err))
			}
			for range 5 {
				_ = g.Do(t.Context(), at, func(ctx context.Context, c *redfish.Client) error {
					_, err := c.Walk(ctx, redfish.NewWalk(system(t, c), nil), 99)

					return err
				})
				if err := g.Do(t.Context(), look, read); err != nil {
					t.Fatalf("Do(...) of a look: %v; want an answer: the BMC is well", err)
				}
			}
		})
	}
}

// TestGateInventoryOfSuspect: a BMC that doesn't answer has no inventory read, and none of the slots is taken for it.
func TestGateInventoryOfSuspect(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	g := hasty(t)
	w, at := aWalk(t, emu, g)
	look := at
	look.Lane = gate.Look
	emu.Inject(bmc.Fault{Hang: true})
	if err := g.Do(t.Context(), look, read); !gate.IsBusy(err) {
		t.Fatalf("Do(...) of a look: %v", err)
	}
	emu.Heal()
	before := emu.Counters().Requests
	if err := g.Do(t.Context(), at, walking(w)); !gate.IsBusy(err) || emu.Counters().Requests != before {
		t.Errorf("Do(...) of the inventory: %v after %d requests; want busy after none", err, emu.Counters().Requests-before)
	}
	known(t, g, look)
	if err := g.Do(t.Context(), at, walking(w)); err != nil {
		t.Errorf("Do(...) of the inventory once it answers: %v", err)
	}
}
