package main

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

func TestPercentile(t *testing.T) {
	d := make([]time.Duration, 200)
	for i := range d {
		d[i] = time.Duration(i + 1)
	}
	for percent, want := range map[int]time.Duration{50: 100, 99: 198, 100: 200} {
		if got := percentile(d, percent); got != want {
			t.Errorf("percentile(1…200, %d) = %d, want %d", percent, got, want)
		}
	}
	if got := percentile(d[:1], 99); got != 1 {
		t.Errorf("percentile(1, 99) = %d", got)
	}
}

func TestReadySince(t *testing.T) {
	with := func(status string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": []any{
			map[string]any{"type": "Synced", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"},
			map[string]any{"type": "Ready", "status": status, "lastTransitionTime": "2026-01-01T00:00:07Z"},
		}}}}
	}
	if at, ok := readySince(with("True")); !ok || at.Second() != 7 {
		t.Errorf("readySince(...) = %v, %t", at, ok)
	}
	if _, ok := readySince(with("False")); ok {
		t.Error("what isn't Ready is since")
	}
	if _, ok := readySince(&unstructured.Unstructured{Object: map[string]any{}}); ok {
		t.Error("what was never looked at is since")
	}
}

// TestRack: each machine has a BMC of its own, and tells when it's switched on.
func TestRack(t *testing.T) {
	r, err := newRack(fleet{hosts: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	addresses := map[string]bool{}
	for _, m := range r.machines {
		addresses[m.Addr()] = true
		on, began := m.next(), time.Now()
		if err := m.On(bmc.BootNormal); err != nil {
			t.Fatal(err)
		}
		if at := <-on; at.Before(began) || !m.Powered() {
			t.Errorf("%s: on at %v, powered %t", m.name, at, m.Powered())
		}
		if err := m.On(bmc.BootNormal); err != nil {
			t.Errorf("nobody waits for the second time: %v", err)
		}
	}
	if len(addresses) != 3 || r.requests() != 0 {
		t.Errorf("addresses %v, %d requests", addresses, r.requests())
	}
}
