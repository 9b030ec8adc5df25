package httpboot

import (
	std "cmp"
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
)

// TestReread: the specs are read as they are now before a grant is used, and before a kernel that destroys goes out: nothing is where they say so, or can't be read.
func TestReread(t *testing.T) {
	nonce := gate.Nonce([]byte("key"), scriptNonce, grantID, boot.AMD64)
	kernel := func(r *rig) { r.plan.Method = boot.MethodKernel; r.session.Grant.PlanDigest = r.plan.Digest() }
	cases := map[string]struct {
		reason   string
		change   func(*rig)
		script   bool
		method   string
		path     string
		asks     int
		calls    []string // Where the specs are as they were; none are made where they aren't.
		harmless bool
	}{
		"Image":     {reason: "its first byte uses the grant", path: "image", asks: 1, calls: []string{"consume " + nonce}},
		"Data":      {reason: "so does its user data", path: "user-data", asks: 1, calls: []string{"consume " + nonce, "unended"}},
		"Owned":     {reason: "what has begun goes on", change: owned, path: "image", harmless: true},
		"Head":      {reason: "a HEAD uses nothing", method: http.MethodHead, path: "image", harmless: true},
		"Kernel":    {reason: "a kernel that destroys by itself", change: destroys, path: "files/sha256-aaaa", asks: 1, calls: []string{"deliver " + nonce}},
		"Installer": {reason: "one that asks again before it does", path: "files/sha256-aaaa", harmless: true},
		"Script":    {reason: "the script of one that asks again before it does", script: true, calls: []string{"open " + nonce}, harmless: true},
		"Destroys":  {reason: "the script of one that doesn't", change: kernel, script: true, asks: 1, calls: []string{"open+consume " + nonce}},
	}
	for name, tc := range cases {
		for _, same := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				asked := 0
				r := newRig(t, func(r *rig) {
					r.data["user-data"] = []byte("x")
					if tc.change != nil {
						tc.change(r)
					}
					r.reread = func(context.Context, *boot.Plan) bool { asked++; return same }
				})
				status := 0
				if tc.script {
					r.script(http.MethodGet)
				} else {
					status = r.do(std.Or(tc.method, http.MethodGet), "/v1/boot/"+r.mint(boot.Claims{Kind: boot.TokenBoot, GrantID: grantID, Nonce: r.nonce()})+"/"+tc.path, "").status
				}
				want := tc.calls
				if !same && !tc.harmless {
					want = nil
				}
				if diff := cmp.Diff(want, r.sessions.calls); diff != "" || asked != tc.asks {
					t.Errorf("%s: asked %d times, want %d; -want +got:\n%s", tc.reason, asked, tc.asks, diff)
				}
				if held := status == http.StatusServiceUnavailable; !tc.script && held != (!same && !tc.harmless) {
					t.Errorf("%s: status %d", tc.reason, status)
				}
			})
		}
	}
}
