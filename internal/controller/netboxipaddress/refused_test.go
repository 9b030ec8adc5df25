package netboxipaddress

import (
	"errors"
	"net/http"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestRefusedUpdate: what NetBox refuses of an update isn't asked for again at each look, and is told at each.
func TestRefusedUpdate(t *testing.T) {
	cases := map[string]struct {
		reason string
		refuse error
		then   func(h *harness, mg *v1alpha1.NetBoxIPAddress)
		// wait is between looks, and want the patches of four of them after the first.
		wait time.Duration
		want int
	}{
		"Invalid":   {"A value that it doesn't take.", &netbox.Error{Kind: netbox.KindInvalid, Fields: []string{"tags"}}, nil, 7 * time.Second, 0},
		"Forbidden": {"A right that the token lacks.", kind(netbox.KindForbidden), nil, 7 * time.Second, 0},
		"Rule":      {"A rule of its model.", kind(netbox.KindMarkerTaken), nil, 7 * time.Second, 0},
		"Longer":    {"It's asked for less and less often: after 30 s, 1 min and 2 min.", kind(netbox.KindForbidden), nil, 55 * time.Second, 2},
		"Most":      {"And once in ten minutes for ever.", kind(netbox.KindForbidden), nil, retryUnkept, 4},
		"Spec": {"Another spec is tried at once.", kind(netbox.KindForbidden), func(_ *harness, mg *v1alpha1.NetBoxIPAddress) {
			mg.Generation++
		}, 7 * time.Second, 1},
		"Secret": {"So is another token.", kind(netbox.KindForbidden), func(h *harness, _ *v1alpha1.NetBoxIPAddress) {
			h.cfg.SecretVersion = "2"
		}, 7 * time.Second, 1},
		"Config": {"And another provider config.", kind(netbox.KindForbidden), func(h *harness, _ *v1alpha1.NetBoxIPAddress) {
			h.cfg.Generation++
		}, 7 * time.Second, 1},
		"Record": {"Somebody changed the record.", kind(netbox.KindForbidden), func(h *harness, _ *v1alpha1.NetBoxIPAddress) {
			h.netbox.records[0].LastUpdated = "2026-11-21T04:00:00Z"
		}, 7 * time.Second, 1},
		"Unreachable": {"What wasn't answered wasn't refused.", kind(netbox.KindUnreachable), nil, 7 * time.Second, 4},
		"Unknown":     {"Nor was what may have been carried out.", kind(netbox.KindUnknownOutcome), nil, 7 * time.Second, 4},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.records = []netbox.IPAddress{record(7, "10.77.0.7/24", ours)}
			f.records[0].LastUpdated = "2026-11-21T03:00:00Z"
			f.fail["Patch"] = tc.refuse
			h, mg := newHarness(f), newAddress(named("7"), anything, params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Tags = []string{"nosuch"} }))
			first := h.reconcile(t, mg)
			if first == nil || len(f.writes()) != 1 {
				t.Fatalf("%s\n%v, %v", tc.reason, first, f.calls)
			}
			if tc.then != nil {
				tc.then(h, mg)
			}
			f.calls = nil
			for range 4 {
				h.now = h.now.Add(tc.wait)
				if err := h.reconcile(t, mg); reasonOf(err) != reasonOf(first) || err.Error() != first.Error() {
					t.Errorf("%s\ngot %v, want what was said at first: %v", tc.reason, err, first)
				}
				if c := mg.GetCondition(xpv2.TypeReady); c.Status != corev1.ConditionTrue {
					t.Errorf("%s\nit has its address all the same: %+v", tc.reason, c)
				}
			}
			if n := len(f.writes()); n != tc.want {
				t.Errorf("%s\n%d patches, want %d", tc.reason, n, tc.want)
			}
			delete(f.fail, "Patch")
			h.now = h.now.Add(retryUnkept)
			if err := h.settle(t, mg); err != nil || len(f.records[0].Tags) != 1 {
				t.Errorf("%s\nonce NetBox takes it: %v, %+v", tc.reason, err, f.records[0])
			}
		})
	}
}

// TestRefusedCreate: what NetBox refuses to make isn't asked for again at each look either, and is told at each.
func TestRefusedCreate(t *testing.T) {
	fixed := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From, p.Address = nil, "10.77.0.40/24" })
	badTenant := &netbox.Error{Kind: netbox.KindInvalid, Fields: []string{"tenant"}}
	busy := &netbox.Error{Kind: netbox.KindInvalid, Fields: []string{"address"}}
	cases := map[string]struct {
		reason string
		mg     edit
		refuse error
		then   func(h *harness, mg *v1alpha1.NetBoxIPAddress)
		// wait is between looks, and want the POSTs of four of them after the first.
		wait time.Duration
		want int
	}{
		"Invalid":   {"A value that it doesn't take.", anyhow, badTenant, nil, 7 * time.Second, 0},
		"Forbidden": {"A right that the token lacks.", anyhow, kind(netbox.KindForbidden), nil, 7 * time.Second, 0},
		"Longer":    {"It's asked for less and less often: after 30 s, 1 min and 2 min.", anyhow, badTenant, nil, 55 * time.Second, 2},
		"Fixed":     {"So is an address that spec names.", fixed, badTenant, nil, 55 * time.Second, 2},
		"Most":      {"And once in ten minutes for ever.", anyhow, badTenant, nil, retryUnkept, 4},
		"Taken":     {"Who has an address may give it up any time.", fixed, busy, nil, 55 * time.Second, 4},
		"Words": {"What it's refused for now is another thing.", anyhow, badTenant, func(h *harness, _ *v1alpha1.NetBoxIPAddress) {
			h.netbox.fail["Allocate"] = kind(netbox.KindForbidden)
		}, 55 * time.Second, 3},
		"Spec": {"Another spec is tried at once.", anyhow, badTenant, func(_ *harness, mg *v1alpha1.NetBoxIPAddress) {
			mg.Generation++
		}, 7 * time.Second, 1},
		"Secret": {"So is another token.", anyhow, badTenant, func(h *harness, _ *v1alpha1.NetBoxIPAddress) {
			h.cfg.SecretVersion = "2"
		}, 7 * time.Second, 1},
		"Unreachable": {"What wasn't answered wasn't refused.", anyhow, kind(netbox.KindUnreachable), nil, 7 * time.Second, 4},
		"Full":        {"A full source is asked about by itself.", anyhow, kind(netbox.KindFull), nil, 7 * time.Second, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.full = []int64{1}
			f.fail["Allocate"], f.fail["Create"] = tc.refuse, tc.refuse
			h, mg := newHarness(f), newAddress(anything, tc.mg)
			h.MaxAge = maxAge(time.Minute)
			first := h.reconcile(t, mg)
			if first == nil || len(f.writes()) != 1 {
				t.Fatalf("%s\n%v, %v", tc.reason, first, f.calls)
			}
			if tc.then != nil {
				tc.then(h, mg)
			}
			f.calls = nil
			for range 4 {
				h.now = h.now.Add(tc.wait)
				if err := h.reconcile(t, mg); err == nil && name != "Full" {
					t.Errorf("%s\nit isn't said any more", tc.reason)
				}
			}
			if n := len(f.writes()); n != tc.want {
				t.Errorf("%s\n%d POSTs, want %d", tc.reason, n, tc.want)
			}
			clear(f.fail)
			f.full = nil
			h.now = h.now.Add(retryUnkept)
			if err := h.settle(t, mg); err != nil || len(f.records) != 1 {
				t.Errorf("%s\nonce NetBox makes it: %v, %+v", tc.reason, err, f.records)
			}
		})
	}
}

// TestFailedOver: a 500 may be about what was asked for; whether anything was made is looked up all the same.
func TestFailedOver(t *testing.T) {
	tags := v1alpha1.NetBoxIPAddressParameters{Tags: []string{"racks"}}
	lost := func(status int) error { return &netbox.Error{Kind: netbox.KindUnknownOutcome, Status: status} }
	cases := map[string]struct {
		reason string
		in     v1alpha1.NetBoxIPAddressParameters
		err    error
		want   bool
	}{
		"Tag":     {"NetBox fails over a tag", tags, lost(http.StatusInternalServerError), true},
		"Nothing": {"nothing was asked for that it could fail over", v1alpha1.NetBoxIPAddressParameters{}, lost(http.StatusInternalServerError), false},
		"Gateway": {"somebody in front of it failed", tags, lost(http.StatusBadGateway), false},
		"Silence": {"it was lost on the way", tags, lost(0), false},
		"Read":    {"a read isn't about that", tags, &netbox.Error{Kind: netbox.KindServerError, Status: http.StatusInternalServerError}, false},
	}
	for name, tc := range cases {
		if err := failedOver(tc.in, tc.err); (err != nil) != tc.want || tc.want && (!netbox.IsInvalid(err) || !errors.Is(err, tc.err)) {
			t.Errorf("%s: %s: %v", name, tc.reason, err)
		}
	}
}
