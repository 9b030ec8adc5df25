package httpboot

import (
	"net/http"
	"slices"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
)

// TestHeld: a machine that has its script already waits while nothing may be installed on it. Nothing is written about it then.
func TestHeld(t *testing.T) {
	kernel := func(r *rig) {
		r.plan.Method = boot.MethodKernel
		r.session.Grant.PlanDigest = r.plan.Digest()
		owned(r)
	}
	cases := map[string]struct {
		reason string
		change func(*rig)
		method string
		path   string
		status int
	}{
		"Image":      {reason: "its image isn't given", method: http.MethodGet, path: "/image", status: http.StatusServiceUnavailable},
		"UserData":   {reason: "nor its data, which begins an install, too", method: http.MethodGet, path: "/user-data", status: http.StatusServiceUnavailable},
		"Begin":      {reason: "nor may it begin", method: http.MethodPost, path: "/begin", status: http.StatusServiceUnavailable},
		"Kernel":     {reason: "nor its kernel, where that destroys", change: kernel, method: http.MethodGet, path: "/files/sha256-aaaa", status: http.StatusServiceUnavailable},
		"OwnedImage": {reason: "an install that has begun goes on", change: owned, method: http.MethodGet, path: "/image", status: http.StatusOK},
		"OwnedEnd":   {reason: "and is reported", change: owned, method: http.MethodPost, path: "/installed", status: http.StatusNoContent},
		"Initrd":     {reason: "what destroys nothing is given", method: http.MethodGet, path: "/files/sha256-bbbb", status: http.StatusOK},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig) {
				if r.held = true; tc.change != nil {
					tc.change(r)
				}
			})
			got := r.do(tc.method, "/v1/boot/"+r.bootToken()+tc.path, "")
			if got.status != tc.status {
				t.Errorf("%s: %d %q, want %d", tc.reason, got.status, got.body, tc.status)
			}
			if tc.status == http.StatusServiceUnavailable && (len(r.sessions.calls) != 0 || got.header.Get("Retry-After") == "") {
				t.Errorf("%s: %v was called", tc.reason, r.sessions.calls)
			}
		})
	}
	t.Run("Script", func(t *testing.T) {
		r := newRig(t, func(r *rig) { r.held = true })
		r.script(http.MethodGet)
		want := []boot.Decision{{Answer: boot.AnswerHold, Reason: gate.ReasonHeld}}
		if !slices.Equal(r.decided, want) || len(r.sessions.calls) != 0 {
			t.Errorf("%v, %v", r.decided, r.sessions.calls)
		}
	})
}
