package httpboot

import (
	"context"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// store is one session with compare-and-swap.
type store struct {
	mu  sync.Mutex
	now session.Record
	err error // of all that's asked
}

func (s *store) Get(context.Context, boot.Name) (session.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, s.err
}

func (s *store) Update(_ context.Context, r session.Record) (session.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Session.Revision != s.now.Session.Revision {
		return session.Record{}, session.ErrConflict
	}
	r.Session.Revision = strconv.FormatUint(session.Revision(r.Session.Revision)+1, 10)
	s.now = r
	return r, nil
}

// real makes the rig's sessions a real manager's, as a bootd that has just started has it.
func (r *rig) real(st *store, dir string) http.Handler {
	r.t.Helper()
	l, err := session.OpenLog(filepath.Join(dir, "log"))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = l.Close() })
	o := r.options()
	m := session.New(session.Options{
		Store: st, Log: l, Name: dir, Now: func() time.Time { return r.now }, Logger: r.logger(),
	})
	o.Gate, o.Sightings = r.gate(m), m
	return New(o).Handler()
}

// TestResetLooksLikeARetry: a machine that is reset within the minute may come with the xid that it had before, hence with
// the same script token. It must not be installed twice, whichever bootd it asks, what that one remembers, and how far its
// watch is.
func TestResetLooksLikeARetry(t *testing.T) {
	type world struct{ sameBootd, sameLog, watched bool }
	for name, w := range map[string]world{
		"SameBootd": {sameBootd: true, watched: true}, "LaggingWatch": {sameBootd: true},
		"Restarted": {sameLog: true, watched: true}, "RestartedLagging": {sameLog: true},
		"OtherBootd": {watched: true}, "OtherBootdLagging": {},
	} {
		for _, method := range []boot.Method{boot.MethodDiskImage, boot.MethodKernel, boot.MethodScript} {
			t.Run(name+string(method), func(t *testing.T) {
				r := newRig(t, func(r *rig) {
					if r.plan.Method = method; method == boot.MethodScript {
						r.plan.Script = "kernel {{ .kernel }} {{ .commandLine }}\nboot"
					}
					r.session.Grant.PlanDigest = r.plan.Digest()
				})
				r.session.Revision = "1"
				st := &store{now: session.Record{Name: r.plan.Entry, Session: r.session}}
				dir := t.TempDir()
				r.http.Config.Handler = r.real(st, dir)
				first := r.script(http.MethodGet).body
				token := tokenIn(t, first)
				if method == boot.MethodKernel && r.script(http.MethodGet).body != first {
					t.Fatal("before the kernel was asked for a script that was lost on its way is given again")
				}
				if method != boot.MethodScript { // One of a profile's own may write without a kernel of ours.
					if got := r.do(http.MethodGet, "/v1/boot/"+token+"/files/sha256-aaaa", ""); got.status != http.StatusOK {
						t.Fatalf("kernel: %d %s", got.status, got.body)
					}
				}
				if method == boot.MethodDiskImage {
					if got := r.do(http.MethodPost, "/v1/boot/"+token+"/begin", ""); got.status != http.StatusNoContent {
						t.Fatalf("begin: %d %s", got.status, got.body)
					}
				}
				if w.watched {
					r.session = st.now.Session
				}
				switch {
				case w.sameBootd:
				case w.sameLog:
					r.http.Config.Handler = r.real(st, dir)
				default:
					r.http.Config.Handler = r.real(st, t.TempDir())
				}
				if again := r.script(http.MethodGet).body; strings.Contains(again, "kernel ") {
					t.Errorf("the machine that was reset is installed a second time:\n%s", again)
				} else if w.watched && !strings.Contains(again, "local disk: GrantConsumed") {
					t.Errorf("the machine that was reset doesn't boot its disk:\n%s", again)
				}
				if got := r.do(http.MethodGet, "/v1/boot/"+token+"/files/sha256-aaaa", ""); got.status != http.StatusOK {
					t.Errorf("a boot that goes on may try in place: %d", got.status)
				}
			})
		}
	}
}

func tokenIn(t *testing.T, script string) string {
	t.Helper()
	found := regexp.MustCompile(`baremetal\.callback=http://[^/]+/v1/boot/(\S+)`).FindStringSubmatch(script)
	if found == nil {
		t.Fatalf("the script has no token:\n%s", script)
	}
	return found[1]
}

// TestAfterInstalled: a boot that has reported its install begins no second one and gets no image and no data, also while the watch has yet to hear of that.
func TestAfterInstalled(t *testing.T) {
	r := newRig(t, func(r *rig) { r.session.Grant.PlanDigest = r.plan.Digest() })
	r.session.Revision = "1"
	st := &store{now: session.Record{Name: r.plan.Entry, Session: r.session}}
	r.http.Config.Handler = r.real(st, t.TempDir())
	path := "/v1/boot/" + tokenIn(t, r.script(http.MethodGet).body)
	if got := r.do(http.MethodPost, path+"/begin", ""); got.status != http.StatusNoContent {
		t.Fatalf("begin: %d %s", got.status, got.body)
	}
	r.session = st.now.Session
	if got := r.do(http.MethodGet, path+"/image", ""); got.status != http.StatusOK {
		t.Fatalf("image: %d %s", got.status, got.body)
	}
	for range 2 {
		if got := r.do(http.MethodGet, path+"/user-data", ""); got.status != http.StatusOK {
			t.Fatalf("user data, however often it asks: %d %s", got.status, got.body)
		}
	}
	if got := r.do(http.MethodPost, path+"/installed", ""); got.status != http.StatusNoContent {
		t.Fatalf("installed: %d %s", got.status, got.body)
	}
	if b := st.now.Progress.Boot; b.Server == "" || b.Bytes == 0 {
		t.Errorf("what it was sent, and by whom: %+v", b)
	}
	here := r.http.Config.Handler
	r.http.Config.Handler = r.real(st, t.TempDir()) // Another bootd, which only knows that the grant is used.
	if got := r.do(http.MethodGet, path+"/user-data", ""); got.status != http.StatusForbidden {
		t.Errorf("user data of another bootd after installed: %d", got.status)
	}
	r.http.Config.Handler = here
	for _, watched := range []bool{false, true} {
		if watched {
			r.session = st.now.Session
		}
		for what, got := range map[string]reply{
			"image": r.do(http.MethodGet, path+"/image", ""), "begin": r.do(http.MethodPost, path+"/begin", ""),
			"user data": r.do(http.MethodGet, path+"/user-data", ""), "vendor data": r.do(http.MethodGet, path+"/vendor-data", ""),
		} {
			if got.status != http.StatusForbidden {
				t.Errorf("%s after installed, watched %t: %d", what, watched, got.status)
			}
		}
	}
	for _, want := range []string{`msg="a grant is used"`, `msg="an install begins"`, `msg="an install is done"`, `msg="a boot is refused"`, "mac=52:54:00:00:00:01", "entry=team/web", "grant=" + grantID} {
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, r.log.String())
		}
	}
}

// TestEditedMeanwhile: an install gets what it was granted though its profile is edited while it runs.
func TestEditedMeanwhile(t *testing.T) {
	r := newRig(t, func(r *rig) {
		r.plan.Network.MTU = 1500
		r.session.Grant.PlanDigest = r.plan.Digest()
	})
	r.script(http.MethodGet)
	owned(r)
	r.plan.Artifacts = []boot.Artifacts{r.plan.Artifacts[0]}
	r.plan.Artifacts[0].Image = &boot.Image{Artifact: boot.Artifact{Digest: kernelDigest}}
	if got := r.do(http.MethodGet, "/v1/boot/"+r.bootToken()+"/image", "", "Range", "bytes=4-"); got.body != "456789" {
		t.Errorf("the rest of a broken transfer: %d %q", got.status, got.body)
	}
	if got := r.do(http.MethodGet, "/v1/boot/"+r.bootToken()+"/user-data", ""); got.status != http.StatusOK {
		t.Errorf("user data, which wasn't edited: %d", got.status)
	}
	r.data["network-config"], r.plan.Network.MTU = []byte("version: 2 # {{ .mtu }}\n"), 9000
	if got := r.do(http.MethodGet, "/v1/boot/"+r.bootToken()+"/network-config", ""); got.status != http.StatusOK || got.body != "version: 2 # 1500\n" {
		t.Errorf("its network config, though its network was edited: %d %q", got.status, got.body)
	}
	r.plan.UserDataDigest = "sha256:later"
	if got := r.do(http.MethodGet, "/v1/boot/"+r.bootToken()+"/user-data", ""); got.status != http.StatusForbidden {
		t.Errorf("user data of a later edit: %d %q", got.status, got.body)
	}
}

// TestStarting holds that a bootd which hasn't read everything yet refuses no boot for what it doesn't know: a machine that is in the
// middle of an install, and retries a callback at once, would stop there.
func TestStarting(t *testing.T) {
	unknown := map[string]struct {
		reason string
		change func(*rig)
	}{
		"Nothing":   {reason: "nothing is known yet", change: func(r *rig) { r.stateNil = true }},
		"Entry":     {reason: "what an earlier life wrote down is from before this entry", change: func(r *rig) { r.plan.EntryUID = "other" }},
		"Grant":     {reason: "or from before its grant", change: func(r *rig) { r.session.Grant = nil }},
		"OtherPlan": {reason: "or from before its profile was edited", change: func(r *rig) { owned(r); r.session.Consumed.PlanDigest = "sha256:later" }},
	}
	for name, tc := range unknown {
		t.Run(name, func(t *testing.T) {
			for starting, want := range map[bool]int{true: http.StatusServiceUnavailable, false: http.StatusForbidden} {
				r := newRig(t, tc.change)
				r.starting = starting
				token := r.bootToken()
				for _, x := range [][2]string{{http.MethodPost, "begin"}, {http.MethodGet, "image"}, {http.MethodGet, "files/sha256-aaaa"}} {
					if name == "OtherPlan" && x[1] != "image" {
						continue // Of what it owns, only what its plan names was changed.
					}
					got := r.do(x[0], "/v1/boot/"+token+"/"+x[1], "")
					if got.status != want || (got.header.Get("Retry-After") != "") != starting {
						t.Errorf("%s: %s while starting is %t: %d, Retry-After %q; want %d", tc.reason, x[1], starting, got.status, got.header.Get("Retry-After"), want)
					}
				}
			}
		})
	}
}
