package httpboot

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

// TestForesee: what is foretold is what a machine then gets, word for word but for its tokens, and foretelling changes nothing.
func TestForesee(t *testing.T) {
	live := func(r *rig) { r.plan.Mode, r.plan.Method = boot.ModeLive, boot.MethodKernel }
	cases := map[string]struct {
		change func(*rig)
		want   boot.Decision
	}{
		"Granted":       {nil, boot.Decision{Answer: boot.AnswerInstall, Reason: boot.DecidedGranted}},
		"Held":          {func(r *rig) { r.held = true }, boot.Decision{Answer: boot.AnswerHold, Reason: gate.ReasonHeld}},
		"Asks":          {func(r *rig) { r.held, r.asks = true, true }, boot.Decision{Answer: boot.AnswerHold, Reason: gate.ReasonConfirm}},
		"AsksNotSynced": {func(r *rig) { r.synced, r.asks = false, true }, boot.Decision{Answer: boot.AnswerHold, Reason: gate.ReasonConfirm}},
		"AsksOnDisk":    {func(r *rig) { r.asks = true; owned(r) }, boot.Decision{Answer: boot.AnswerLocalDisk, Reason: boot.DecidedConsumed}},
		"HeldNoSession": {func(r *rig) { r.held, r.session.EntryUID = true, "another" }, boot.Decision{Answer: boot.AnswerHold, Reason: gate.ReasonHeld}},
		"HeldLive":      {func(r *rig) { live(r); r.held = true }, boot.Decision{Answer: boot.AnswerLive, Reason: boot.DecidedLive}},
		"NotSynced":     {func(r *rig) { r.synced = false }, boot.Decision{Answer: boot.AnswerHold, Reason: boot.DecidedNotSynced}},
		"Generation0":   {func(r *rig) { r.plan.InstallGeneration = 0 }, boot.Decision{Answer: boot.AnswerLocalDisk, Reason: boot.DecidedDisk}},
		"Revoked":       {func(r *rig) { r.session.Revocation = "over" }, boot.Decision{Answer: boot.AnswerHold, Reason: boot.DecidedRevoked}},
		"NoGrant":       {func(r *rig) { r.session.Grant = nil }, boot.Decision{Answer: boot.AnswerLocalDisk, Reason: boot.DecidedNoGrant}},
		"Stale":         {func(r *rig) { r.plan.Hostname = "edited" }, boot.Decision{Answer: boot.AnswerHold, Reason: boot.DecidedStale}},
		"Expired":       {func(r *rig) { r.session.Grant.Expires = r.now.Add(-time.Second) }, boot.Decision{Answer: boot.AnswerLocalDisk, Reason: boot.DecidedExpired}},
		"Logged": {func(r *rig) {
			r.sessions.logged = []boot.Consumption{{GrantID: grantID, HostUID: "host", EntryUID: "entry", Generation: 1}}
		}, boot.Decision{Answer: boot.AnswerLocalDisk, Reason: boot.DecidedConsumed}},
		"BootLoop": {func(r *rig) {
			r.session.OpenedGrantID, r.session.Opened = grantID, make([]boot.Opened, boot.MaxOpens)
		}, boot.Decision{Answer: boot.AnswerHold, Reason: boot.DecidedBootLoop}},
		"NoFile":       {func(r *rig) { r.files.err = artifacts.ErrFetching }, boot.Decision{Answer: boot.AnswerHold, Reason: artifacts.ReasonFetch}},
		"Destroys":     {func(r *rig) { r.plan.Method = boot.MethodKernel; r.session.Grant.PlanDigest = r.plan.Digest() }, boot.Decision{Answer: boot.AnswerInstall, Reason: boot.DecidedGranted}},
		"ScriptBroken": {func(r *rig) { r.plan.CommandLine = []string{"a=${b}"}; r.session.Grant.PlanDigest = r.plan.Digest() }, boot.Decision{Answer: boot.AnswerHold, Reason: gate.ReasonScript}},
		"LiveBroken":   {func(r *rig) { live(r); r.plan.CommandLine = []string{"a=${b}"} }, boot.Decision{Answer: boot.AnswerHold, Reason: gate.ReasonScript}},
		"Live":         {live, boot.Decision{Answer: boot.AnswerLive, Reason: boot.DecidedLive}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.change)
			a, text, err := New(r.options()).Foresee(t.Context(), r.scriptToken(), r.http.URL, 0)
			if err != nil || a.Decision != tc.want {
				t.Fatalf("%+v, %v; want %+v", a, err, tc.want)
			}
			if len(r.sessions.calls)+len(r.sessions.sights)+len(r.decided) > 0 || r.log.Len() > 0 {
				t.Errorf("foretelling did something: %v %v %v %s", r.sessions.calls, r.sessions.sights, r.decided, r.log.String())
			}
			got := r.script(http.MethodGet).body
			for token, shown := range map[string]string{r.scriptToken(): shownScriptToken, r.foretold(got): shownBootToken} {
				if token != "" {
					got = strings.ReplaceAll(got, token, shown)
				}
			}
			if got != text {
				t.Errorf("foretold:\n%s\ngot:\n%s", text, got)
			}
			if len(r.decided) != 1 || r.decided[0] != a.Decision {
				t.Errorf("decided %v, foretold %v", r.decided, a.Decision)
			}
		})
	}
	r := newRig(t, nil)
	if a, _, err := New(r.options()).Foresee(t.Context(), "nonsense", r.http.URL, 0); err != nil || a.Reason != gate.ReasonToken {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestUnwritten: that a state folder couldn't be written is known to people, until it could be. It changes nothing of what is foretold, and of what a machine
// is told whose files are decided one by one.
func TestUnwritten(t *testing.T) {
	r := newRig(t, nil)
	o := r.options()
	s := New(o)
	for _, full := range []bool{true, false} {
		r.sessions.err = nil
		if full {
			r.sessions.err = &fs.PathError{Op: "write", Path: "s.json.new", Err: syscall.ENOSPC}
		}
		s.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, ipxe.PathBoot+r.scriptToken()+"/"+ipxe.ScriptName, http.NoBody))
		if a, _, err := s.Foresee(t.Context(), r.scriptToken(), r.http.URL, 0); err != nil || a.Answer != boot.AnswerInstall || o.Gate.Unwritten() != full {
			t.Errorf("%+v, %v; unwritten %t, want %t", a, err, o.Gate.Unwritten(), full)
		}
	}
}

// foretold is the boot token in a script; "" where it has none.
func (r *rig) foretold(script string) string {
	for word := range strings.FieldsSeq(script) {
		if rest, ok := strings.CutPrefix(word, "baremetal.callback="+r.http.URL+"/v1/boot/"); ok {
			return rest
		}
	}
	return ""
}
