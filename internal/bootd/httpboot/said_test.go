package httpboot

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// TestWhatIsSaidOfAnInstall: people read the log for what became of a machine. Each thing that happened has its line, and nothing that didn't.
func TestWhatIsSaidOfAnInstall(t *testing.T) {
	cases := map[string]struct {
		reason string
		calls  []string
		want   []string
	}{
		"Done":   {reason: "it went well", calls: []string{"begin", "installed"}, want: []string{"an install begins", "an install is done"}},
		"Failed": {reason: "it didn't", calls: []string{"begin", "failed"}, want: []string{"an install begins", "an install failed"}},
		"Recovered": {
			reason: "an installer may go on after an error", calls: []string{"begin", "failed", "installed"},
			want: []string{"an install begins", "an install failed", "an install is done"},
		},
		"FailedAfterwards": {
			reason: "a failure doesn't unsay a success, and nobody is to look for a broken install", calls: []string{"begin", "installed", "failed"},
			want: []string{"an install begins", "an install is done", "an install that was done says that it failed: it counts as done"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig) { r.session.Grant.PlanDigest, r.session.Revision = r.plan.Digest(), "1" })
			st := &store{now: session.Record{Name: r.plan.Entry, Session: r.session}}
			r.http.Config.Handler = r.real(st, t.TempDir())
			path := "/v1/boot/" + tokenIn(t, r.script(http.MethodGet).body) + "/"
			for _, call := range tc.calls {
				if got := r.do(http.MethodPost, path+call, ""); got.status != http.StatusNoContent {
					t.Fatalf("%s: %s: %d %s", tc.reason, call, got.status, got.body)
				}
			}
			if diff := cmp.Diff(tc.want, r.told("an install ")); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAGrantIsUsedOnce: an install's first requests come before the watch has heard that its grant is used, also at another bootd than the one that
// wrote it. Who counts the lines counts installs.
func TestAGrantIsUsedOnce(t *testing.T) {
	cases := map[string]struct {
		reason string
		method boot.Method
		asks   [][2]string
	}{
		"Image":      {"two questions of one boot", boot.MethodDiskImage, [][2]string{{http.MethodPost, "begin"}, {http.MethodGet, "image"}}},
		"ImageFirst": {"in either order", boot.MethodDiskImage, [][2]string{{http.MethodGet, "image"}, {http.MethodGet, "user-data"}, {http.MethodPost, "begin"}}},
		"Kernel":     {"its script used it already", boot.MethodKernel, [][2]string{{http.MethodGet, "files/sha256-aaaa"}, {http.MethodGet, "user-data"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig) {
				r.plan.Method = tc.method
				r.session.Grant.PlanDigest, r.session.Revision = r.plan.Digest(), "1"
			})
			st := &store{now: session.Record{Name: r.plan.Entry, Session: r.session}}
			r.http.Config.Handler = r.real(st, t.TempDir())
			path := "/v1/boot/" + tokenIn(t, r.script(http.MethodGet).body) + "/"
			r.script(http.MethodGet) // As a machine asks whose answer was lost.
			for range 2 {
				for _, ask := range tc.asks {
					if got := r.do(ask[0], path+ask[1], ""); got.status >= 300 {
						t.Fatalf("%s: %s: %d %s", tc.reason, ask[1], got.status, got.body)
					}
				}
				r.http.Config.Handler = r.real(st, t.TempDir()) // Another bootd.
			}
			if got := r.told("a grant is used"); len(got) != 1 {
				t.Errorf("%s: %d lines:\n%s", tc.reason, len(got), r.log.String())
			}
		})
	}
}

// told are the messages of the log that begin so.
func (r *rig) told(prefix string) (all []string) {
	for line := range strings.Lines(r.log.String()) {
		if _, msg, ok := strings.Cut(line, `msg="`+prefix); ok {
			msg, _, _ = strings.Cut(msg, `"`)
			all = append(all, prefix+msg)
		}
	}
	return all
}
