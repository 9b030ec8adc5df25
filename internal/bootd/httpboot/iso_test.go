package httpboot

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// iso makes the rig's plan one of an ISO, which is the file of the image.
func iso(r *rig) {
	r.plan.Method, r.plan.UserDataFormat = boot.MethodISO, boot.UserDataNone
	r.plan.Artifacts = []boot.Artifacts{{Arch: boot.AMD64, ISO: &boot.Artifact{URL: "http://x/iso", Digest: imageDigest}}}
	r.session.Grant.PlanDigest = r.plan.Digest()
}

// TestISO: an ISO is read by the boot that used its grant with its script, and by nobody else.
func TestISO(t *testing.T) {
	used := func(change func(*rig)) func(*rig) {
		return func(r *rig) {
			iso(r)
			owned(r)
			if change != nil {
				change(r)
			}
		}
	}
	cases := map[string]struct {
		reason string
		change func(*rig)
		claims boot.Claims
		method string
		header []string
		status int
		body   string
		calls  []string
	}{
		"First": {reason: "that it goes out is noted before its first byte", change: used(nil), header: []string{"Range", "bytes=2-4"}, status: 206, body: "234", calls: []string{"deliver"}},
		"Head":  {reason: "its size uses nothing", change: used(nil), method: http.MethodHead, status: 200},
		"Unused": {
			reason: "its grant is used by the script, never by a read", change: func(r *rig) { iso(r); r.sessions.err = boot.ErrNoGrant }, status: 403, calls: []string{"deliver"},
		},
		"APIDown":    {reason: "what can't be noted isn't given", change: used(func(r *rig) { r.sessions.err = errors.New("refused") }), status: 503, calls: []string{"deliver"}},
		"Held":       {reason: "its specs are in doubt, and nothing of it is out", change: used(func(r *rig) { r.held = true }), status: 503},
		"Revoked":    {reason: "a closed session gives nothing", change: used(func(r *rig) { r.session.Revocation = "r" }), status: 403},
		"Installed":  {reason: "nor one that has ended", change: used(func(r *rig) { r.session.Installed = &boot.Result{GrantID: grantID} }), status: 403},
		"Failed":     {reason: "or has failed", change: used(func(r *rig) { r.session.Failed = &boot.Result{GrantID: grantID} }), method: http.MethodHead, status: 403},
		"Generation": {reason: "another generation was granted", change: used(func(r *rig) { r.session.Grant = &boot.Grant{ID: "00000000000000bb"} }), status: 403},
		"Another":    {reason: "another boot used the grant", change: used(func(r *rig) { r.session.Consumed.Nonce = "other" }), status: 403},
		"Restarted":  {reason: "the machine's firmware began again since", change: used(func(r *rig) { r.sessions.newBoot = true }), status: 403},
		"Edited":     {reason: "of another ISO than was granted nothing is given", change: used(func(r *rig) { r.plan.Artifacts[0].ISO = &boot.Artifact{Digest: kernelDigest} }), status: 403, calls: []string{"deliver"}},
		"Script":     {reason: "a script's token opens nothing else", change: used(nil), claims: boot.Claims{Kind: boot.TokenScript}, status: 403},
		"Live":       {reason: "a live boot has no grant to use", change: func(r *rig) { iso(r); r.plan.Mode = boot.ModeLive }, header: []string{"Range", "bytes=0-0"}, status: 206, body: "0"},
		"NoISO":      {reason: "another method has none", change: owned, status: 404, calls: []string{"deliver"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.change)
			claims := tc.claims
			if claims.Kind == 0 {
				claims.Kind = boot.TokenBoot
			}
			claims.GrantID, claims.Nonce = grantID, r.nonce()
			if r.plan.Mode == boot.ModeLive {
				claims.GrantID = gate.LiveID(&r.plan)
			}
			method := tc.method
			if method == "" {
				method = http.MethodGet
			}
			got := r.do(method, "/v1/boot/"+r.mint(claims)+"/iso", "", tc.header...)
			if got.status != tc.status || tc.body != "" && got.body != tc.body {
				t.Errorf("%s: %d %q", tc.reason, got.status, got.body)
			}
			var calls []string
			for _, c := range r.sessions.calls {
				calls = append(calls, strings.Fields(c)[0])
			}
			if diff := cmp.Diff(tc.calls, calls); diff != "" {
				t.Errorf("%s: the session is asked (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestISOByRanges: a machine boots an ISO as iPXE's SAN does, through a real session: its grant is used once, with the script, whatever number of ranges
// it's read by; an outage in the middle ends nothing, nor does an edit; and when it's reset it has its disk.
func TestISOByRanges(t *testing.T) {
	r := newRig(t, iso)
	r.session.Revision = "1"
	st := &store{now: session.Record{Name: r.plan.Entry, Session: r.session}}
	dir := t.TempDir()
	r.http.Config.Handler = r.real(st, dir)
	script := r.script(http.MethodGet).body
	found := regexp.MustCompile(`sanhook .* http://[^/]+(/v1/boot/\S+/iso) `).FindStringSubmatch(script)
	if found == nil || st.now.Session.Consumed == nil {
		t.Fatalf("its grant isn't used:\n%s", script)
	}
	if r.script(http.MethodGet).body != script {
		t.Error("a script that was lost on its way is given again, as long as nothing of the ISO went out")
	}
	used := *st.now.Session.Consumed
	part := func(i int) reply {
		return r.do(http.MethodGet, found[1], "", "Range", fmt.Sprintf("bytes=%d-%d", i%10, i%10))
	}
	if got := r.do(http.MethodHead, found[1], ""); got.status != http.StatusOK || got.header.Get("Content-Length") != "10" || got.header.Get("Accept-Ranges") != "bytes" {
		t.Errorf("how long it is: %d %v", got.status, got.header)
	}
	for i := range 300 {
		switch i {
		case 100: // The watch hears of it, and nobody can be asked any more.
			r.session = st.now.Session
			st.err = errors.New("the API is away")
		case 200:
			r.plan.Hostname = "edited"
		}
		if got := part(i); got.status != http.StatusPartialContent || got.body != fmt.Sprint(i%10) {
			t.Fatalf("piece %d: %d %q", i, got.status, got.body)
		}
	}
	if got := *st.now.Session.Consumed; got != used || r.session.Revision != "3" {
		t.Errorf("the grant is used again, or the session is written for each piece: %+v, revision %s", got, r.session.Revision)
	}
	st.err = nil
	if again := r.script(http.MethodGet).body; strings.Contains(again, "sanhook") {
		t.Errorf("the machine that was reset boots the ISO a second time:\n%s", again)
	}
	r.http.Config.Handler = r.real(st, dir)
	if got := part(1); got.status != http.StatusForbidden {
		t.Errorf("a bootd that was started anew knows the edited plan alone: %d", got.status)
	}
	r.plan.Hostname = ""
	if got := part(1); got.status != http.StatusPartialContent {
		t.Errorf("after a restart of bootd the boot goes on: %d", got.status)
	}
	if got := r.do(http.MethodPost, strings.TrimSuffix(found[1], "iso")+"failed", ""); got.status != http.StatusNoContent {
		t.Errorf("failed: %d", got.status)
	}
	if got := part(1); got.status != http.StatusForbidden {
		t.Errorf("after its end, of which the watch hasn't heard yet: %d", got.status)
	}
}

// TestISOWhileTheWatchLags: pieces don't wait for the watch, and ask once in a while.
func TestISOWhileTheWatchLags(t *testing.T) {
	r := newRig(t, iso)
	for i := range 5 * liveBurst {
		if got := r.do(http.MethodGet, "/v1/boot/"+r.bootToken()+"/iso", "", "Range", "bytes=1-1"); got.status != http.StatusPartialContent {
			t.Fatalf("piece %d: %d", i, got.status)
		}
		if i == 4*liveBurst {
			r.now = r.now.Add(11 * time.Second)
		}
	}
	if n := len(r.sessions.calls); n != 2 {
		t.Errorf("the session is asked %d times", n)
	}
	if n := len(r.sessions.sights); n != 1 {
		t.Errorf("the session is told %d times that the ISO goes out", n)
	}
}
