package httpboot

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// TestInstaller: an installer that is answered by its user data may be loaded as often as its grant has scripts; who has the answers has
// used the grant, and whoever comes without a live one has none.
func TestInstaller(t *testing.T) {
	for format, word := range map[string]string{
		boot.UserDataTalos: " talos.config=", boot.UserDataKickstart: " inst.ks=", boot.UserDataPreseed: " url=", boot.UserDataIgnition: " ignition.config.url=",
		boot.UserDataAutoinstall: " autoinstall ds=nocloud;s=",
	} {
		t.Run(format, func(t *testing.T) {
			r := newRig(t, func(r *rig) {
				r.plan.Method, r.plan.UserDataFormat, r.plan.Artifacts[0].Image = boot.MethodInstaller, format, nil
				r.plan.SilentInstaller = format == boot.UserDataTalos
				r.session.Grant.PlanDigest = r.plan.Digest()
			})
			noted := map[bool]int{true: 1}[r.plan.SilentInstaller] // Of who reports, nobody needs to know.
			script := r.script(http.MethodGet)
			if !strings.Contains(script.body, "install: Granted") {
				t.Fatalf("no install script:\n%s", script.body)
			}
			url := value(script.body, "baremetal.user-data=")
			if !strings.Contains(script.body, word+url+" ") && !strings.Contains(script.body, word+strings.TrimSuffix(url, "user-data")+" ") {
				t.Errorf("its own word for its answers is missing:\n%s", script.body)
			}
			path := strings.TrimPrefix(url, r.http.URL)
			for _, at := range []string{"files/sha256-aaaa", "files/sha256-bbbb"} {
				if got := r.do(http.MethodGet, strings.TrimSuffix(path, "user-data")+at, ""); got.status != http.StatusOK {
					t.Errorf("%s: %d", at, got.status)
				}
			}
			if diff := cmp.Diff([]string{"open " + r.nonce()}, r.sessions.calls); diff != "" {
				t.Errorf("what its kernel did to the grant, -want, +got:\n%s", diff)
			}
			if got := r.do(http.MethodHead, path, ""); got.status != http.StatusOK || got.header.Get("Content-Length") == "18" {
				t.Errorf("a HEAD says how long the answers are: %v", got)
			}
			r.sighted(session.SawData, 0) // Nobody has them by that.
			if got := r.do(http.MethodGet, path, ""); got.status != http.StatusOK || got.body != string(r.data["user-data"]) {
				t.Errorf("the answers: %d %q", got.status, got.body)
			}
			r.sighted(session.SawData, noted) // It's noted once all of it went out.
			if diff := cmp.Diff([]string{"open " + r.nonce(), "consume " + r.nonce(), "unended"}, r.sessions.calls); diff != "" {
				t.Errorf("what its answers did to the grant, -want, +got:\n%s", diff)
			}
			r.sessions.err = boot.ErrConsumed
			if got := r.do(http.MethodGet, path, ""); got.status != http.StatusForbidden || strings.Contains(got.body, "cloud-config") {
				t.Errorf("another boot's grant: %d %q", got.status, got.body)
			}
			r.sighted(session.SawData, noted)
			if strings.Contains(r.log.String(), "cloud-config") {
				t.Errorf("the log tells the answers: %s", r.log.String())
			}
		})
	}
}

// sighted waits until so many sightings of a kind were made, and not more.
func (r *rig) sighted(k session.Kind, want int) {
	r.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		n := 0
		r.sessions.mu.Lock()
		for _, x := range r.sessions.sights {
			if x.Kind == k && x.GrantID == grantID {
				n++
			}
		}
		r.sessions.mu.Unlock()
		if n == want {
			return
		}
		if n > want || time.Now().After(end) {
			r.t.Fatalf("%d sightings of kind %d, want %d", n, k, want)
		}
	}
}

// value of a word in a script.
func value(script, name string) string {
	_, rest, _ := strings.Cut(script, name)
	v, _, _ := strings.Cut(rest, " ")
	return v
}
