package main

import (
	"net/http"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// TestBeside: what isn't of a look is of an order: the System as it is right before, and after.
func TestBeside(t *testing.T) {
	const system = "/redfish/v1/Systems/1"
	t0 := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	of := map[rune]bmc.Request{
		's': {Method: http.MethodGet, Path: system}, 'S': {Method: http.MethodGet, Path: system + "/"}, 'i': {Method: http.MethodGet, Path: system + "/ResetActionInfo"},
		'p': {Method: http.MethodPost, Path: system + "/Actions/ComputerSystem.Reset"},
	}
	cases := map[string]struct {
		reason, log string
		n           float64
		looks       int
	}{
		"None":   {"Nothing was asked.", "", 0, 0},
		"Looks":  {"Looks alone.", "sSs", 0, 3},
		"Order":  {"The System right before and after it.", "sspss", 3, 2},
		"Info":   {"What is asked for it besides.", "ssipss", 4, 2},
		"Reset":  {"Two of them.", "sspsspss", 6, 2},
		"Unread": {"An order without a look before.", "p", 1, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			log := []bmc.Request{{At: t0.Add(-time.Second), Method: http.MethodPost, Path: system}}
			for i, r := range tc.log {
				q := of[r]
				q.At = t0.Add(time.Duration(i) * time.Millisecond)
				log = append(log, q)
			}
			if n, looks := beside(log, system, t0, 1); n != tc.n || looks != tc.looks {
				t.Errorf("%s\nbeside(...) = %v, %d; want %v, %d", tc.reason, n, looks, tc.n, tc.looks)
			}
		})
	}
}

// TestTransitions: each figure of power is one transition's.
func TestTransitions(t *testing.T) {
	seen := map[string]bool{}
	for _, tr := range transitions() {
		if tr.figure != "" && seen[tr.figure] || tr.acts == 0 {
			t.Errorf("%+v", tr)
		}
		seen[tr.figure] = true
	}
	for _, f := range []string{figureOn, figureAsked, figureWaited, figureForced, figureReset} {
		if !seen[f] {
			t.Errorf("nothing is counted for %s", f)
		}
	}
	done := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"atProvider": map[string]any{"boot": map[string]any{"resetGeneration": int64(1)}}}}}
	if !wasReset(done) || wasReset(&unstructured.Unstructured{Object: map[string]any{}}) {
		t.Error("a reset isn't told from none")
	}
}

// TestShutsDown: an operating system that takes its time, or never ends, leaves its machine on meanwhile.
func TestShutsDown(t *testing.T) {
	r, err := newRack(fleet{hosts: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	m := r.machines[0]
	for reason, off := range map[string]struct {
		takes           time.Duration
		graceful, stays bool
	}{
		"at once": {0, true, false}, "in an hour": {time.Hour, true, true}, "its power is cut": {time.Hour, false, false},
	} {
		m.shutsDown(off.takes, false)
		_ = m.On(bmc.BootNormal)
		if err := m.Off(off.graceful); err != nil || m.Powered() != off.stays {
			t.Errorf("%s: powered %t, %v", reason, m.Powered(), err)
		}
	}
}

// TestInventories: the models' inventories are counted without any recorded tree.
func TestInventories(t *testing.T) {
	out := map[string]float64{}
	if err := (fleet{trees: t.TempDir()}).inventories(t.Context(), nil, nil, out); err != nil {
		t.Fatal(err)
	}
	if out[figureRead] < out[figureReads] || out[figureReads] < 1 || out[figureRead] > readLimit {
		t.Errorf("the greatest is %v, the median %v", out[figureRead], out[figureReads])
	}
	if got := worded("hpe-dl360gen10plus-ilo5-3.11"); got != "hpe_dl360gen10plus_ilo5_3_11" {
		t.Errorf("worded(...) = %q", got)
	}
}
