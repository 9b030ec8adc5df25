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
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

func TestScript(t *testing.T) {
	nonce := gate.Nonce([]byte("key"), scriptNonce, grantID, boot.AMD64)
	used := func(r *rig) { // Its grant is, by this very boot, for a kernel that destroys.
		r.plan.Method = boot.MethodKernel
		r.session.Grant.PlanDigest = r.plan.Digest()
		r.session.Consumed = &boot.Consumption{GrantID: grantID, Generation: 1, Nonce: nonce, PlanDigest: r.plan.Digest()}
	}
	cases := map[string]struct {
		reason string
		change func(*rig)
		want   boot.Decision
		calls  []string
	}{
		"Install": {
			reason: "a live grant gives the script, and is opened for it",
			want:   boot.Decision{Answer: boot.AnswerInstall, Reason: boot.DecidedGranted}, calls: []string{"open " + nonce},
		},
		"KernelDestroys": {
			reason: "a kernel that is destructive itself consumes at the script",
			change: func(r *rig) { r.plan.Method = boot.MethodKernel; r.session.Grant.PlanDigest = r.plan.Digest() },
			want:   boot.Decision{Answer: boot.AnswerInstall, Reason: boot.DecidedGranted}, calls: []string{"open+consume " + nonce},
		},
		"Script": {
			reason: "a script of a profile's own consumes before it's given, and is given once",
			change: func(r *rig) {
				r.plan.Method, r.plan.Script = boot.MethodScript, "kernel {{ .kernel }}"
				r.session.Grant.PlanDigest = r.plan.Digest()
			},
			want: boot.Decision{Answer: boot.AnswerInstall, Reason: boot.DecidedGranted}, calls: []string{"open+consume " + nonce, "deliver " + nonce},
		},
		"NoScript": {
			reason: "what iPXE can't be told uses nothing",
			change: func(r *rig) {
				r.plan.Method, r.plan.GrubScript = boot.MethodScript, "reboot"
				r.session.Grant.PlanDigest = r.plan.Digest()
			},
			want: boot.Decision{Answer: boot.AnswerHold, Reason: gate.ReasonScript},
		},
		"NotSynced": {
			reason: "as long as a live bootd lags nothing is opened", change: func(r *rig) { r.synced = false },
			want: boot.Decision{Answer: boot.AnswerHold, Reason: boot.DecidedNotSynced},
		},
		"ClockSkew": {
			reason: "whoever doesn't know what time it is opens nothing", change: func(r *rig) { r.skewed = true },
			want: boot.Decision{Answer: boot.AnswerHold, Reason: boot.DecidedClockSkew},
		},
		"ClockSkewLive": {
			reason: "what netboots each time rests on no clock", change: func(r *rig) { r.plan.Mode = boot.ModeLive; r.skewed = true },
			want: boot.Decision{Answer: boot.AnswerLive, Reason: boot.DecidedLive},
		},
		"APIDown": {
			reason: "what can't be recorded isn't served", change: func(r *rig) { r.sessions.err = errors.New("connection refused") },
			want: boot.Decision{Answer: boot.AnswerHold, Reason: gate.ReasonAPI}, calls: []string{"open " + nonce},
		},
		"Busy": {
			reason: "nor what had no turn", change: func(r *rig) { r.sessions.err = fmt.Errorf("a session: %w", session.ErrBusy) },
			want: boot.Decision{Answer: boot.AnswerHold, Reason: gate.ReasonBusy}, calls: []string{"open " + nonce},
		},
		"Again": {
			reason: "a boot that used its grant and can't be told so waits: its kernel may not have gone out", change: func(r *rig) {
				used(r)
				r.sessions.err = fmt.Errorf("a session: %w", session.ErrBusy)
			},
			want: boot.Decision{Answer: boot.AnswerHold, Reason: gate.ReasonBusy}, calls: []string{"open+consume " + nonce},
		},
		"Reset": {
			reason: "one whose kernel went out was reset, and boots its disk", change: func(r *rig) {
				used(r)
				r.sessions.err = boot.ErrConsumed
			},
			want: boot.Decision{Answer: boot.AnswerLocalDisk, Reason: boot.DecidedConsumed}, calls: []string{"open+consume " + nonce},
		},
		"Raced": {
			reason: "another bootd was faster", change: func(r *rig) { r.sessions.err = boot.ErrConsumed },
			want: boot.Decision{Answer: boot.AnswerHold, Reason: boot.DecidedConsumed}, calls: []string{"open " + nonce},
		},
		"WrongDigest": {
			reason: "a grant isn't used up for what can't be served",
			change: func(r *rig) { r.files.err = &artifacts.Error{Reason: artifacts.ReasonDigest} },
			want:   boot.Decision{Answer: boot.AnswerHold, Reason: artifacts.ReasonDigest},
		},
		"LocalDisk": {
			reason: "no grant: the disk, also while the API is away", change: func(r *rig) {
				r.session.Grant = nil
				r.sessions.err, r.synced = errors.New("connection refused"), false
			},
			want: boot.Decision{Answer: boot.AnswerLocalDisk, Reason: boot.DecidedNoGrant},
		},
		"Live": {
			reason: "a live system needs no grant and no API",
			change: func(r *rig) { r.plan.Mode = boot.ModeLive; r.synced = false },
			want:   boot.Decision{Answer: boot.AnswerLive, Reason: boot.DecidedLive},
		},
		"Revoked": {
			reason: "a closed session holds", change: func(r *rig) { r.session.Revocation = "r" },
			want: boot.Decision{Answer: boot.AnswerHold, Reason: boot.DecidedRevoked},
		},
		"Unrenderable": {
			reason: "a plan that iPXE can't be told opens nothing",
			change: func(r *rig) { r.plan.CommandLine = []string{"a ${b}"}; r.session.Grant.PlanDigest = r.plan.Digest() },
			want:   boot.Decision{Answer: boot.AnswerHold, Reason: gate.ReasonScript},
		},
		"LiveUnrenderable": {
			reason: "nor is one that netboots each time, which isn't tried before: it's said why",
			change: func(r *rig) { r.plan.Mode, r.plan.CommandLine = boot.ModeLive, []string{"a ${b}"} },
			want:   boot.Decision{Answer: boot.AnswerHold, Reason: gate.ReasonScript},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.change)
			got := r.script(http.MethodGet)
			if got.status != http.StatusOK || !strings.HasPrefix(got.body, "#!ipxe\n") {
				t.Fatalf("%s: %d %q", tc.reason, got.status, got.body)
			}
			if diff := cmp.Diff([]boot.Decision{tc.want}, r.decided); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.calls, r.sessions.calls); diff != "" {
				t.Errorf("%s: calls -want +got:\n%s", tc.reason, diff)
			}
			if strings.Contains(got.body, "kernel ") != (tc.want.Answer == boot.AnswerInstall || tc.want.Answer == boot.AnswerLive) {
				t.Errorf("%s: the script doesn't fit its answer:\n%s", tc.reason, got.body)
			}
			if strings.Contains(r.log.String(), r.scriptToken()) {
				t.Errorf("%s: the log holds a token:\n%s", tc.reason, r.log.String())
			}
		})
	}
}

// TestNotFound: a machine that is sent to its disk by a script that isn't there is noted as any other, and isn't when it waits: its script would
// take that for a server that's away, and wait for ever.
func TestNotFound(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*rig)
		method string
		query  string
		status int
		says   string
		sights int
	}{
		"Disk":    {"it begins", func(r *rig) { r.plan.InstallGeneration = 0 }, http.MethodGet, "?arch=7", http.StatusNotFound, "", 1},
		"Head":    {"nothing is noted", func(r *rig) { r.plan.InstallGeneration = 0 }, http.MethodHead, "?arch=7", http.StatusNotFound, "", 0},
		"Waits":   {"it was held", func(r *rig) { r.plan.InstallGeneration = 0 }, http.MethodGet, "?arch=7&held", http.StatusOK, "local disk: BootsFromDisk\niseq ${platform} efi && goto next || exit 0\n", 1},
		"Held":    {"what waits says so when it asks again", func(r *rig) { r.synced = false }, http.MethodGet, "?arch=7", http.StatusOK, "/script.ipxe?arch=7&held || goto silent1\n", 1},
		"Install": {"an install is found", nil, http.MethodGet, "?arch=7", http.StatusOK, "install: Granted", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig) {
				r.plan.LocalBoot = boot.LocalBootNotFound
				if tc.change != nil {
					tc.change(r)
				}
			})
			got := r.do(tc.method, "/v1/boot/"+r.scriptToken()+"/script.ipxe"+tc.query, "")
			if got.status != tc.status || !strings.Contains(got.body, tc.says) || len(r.sessions.sights) != tc.sights {
				t.Errorf("%s: %d, %d sights\n%s", tc.reason, got.status, len(r.sessions.sights), got.body)
			}
		})
	}
	r := newRig(t, func(r *rig) { r.synced = false })
	if got := r.do(http.MethodGet, "/v1/boot/"+r.scriptToken()+"/script.ipxe?arch=7", ""); !strings.Contains(got.body, "?arch=7&held || goto silent1\n") {
		t.Errorf("a machine that waits while localBoot is changed to NotFound isn't found its script:\n%s", got.body)
	}
	r = newRig(t, func(r *rig) { r.plan.LocalBoot, r.plan.InstallGeneration = boot.LocalBootNotFound, 0 })
	if _, text, err := New(r.options()).Foresee(t.Context(), r.scriptToken(), r.http.URL, 7); err != nil || text != ipxe.NotFoundText {
		t.Errorf("foretold: %q, %v", text, err)
	}
	if got := r.do(http.MethodGet, "/v1/boot/x/script.ipxe", "").body; !strings.Contains(got, "chain ${bootd-bound} --replace --autofree ${filename}&held || goto bootd_plain\n:bootd_plain\nchain ${bootd-bound} --replace --autofree ${filename} || goto wait\n") {
		t.Errorf("who has another token now isn't found its script either:\n%s", got)
	}
}

// TestOutdated: a machine whose token is of an earlier exchange isn't told to ask by it again: it begins with DHCP, whose token is good.
func TestOutdated(t *testing.T) {
	r := newRig(t, func(r *rig) {
		r.session.OpenedGrantID = grantID
		r.session.Opened = []boot.Opened{{Nonce: r.nonce(), At: r.now}, {Nonce: "00000000000000b1", At: r.now}}
	})
	got := r.script(http.MethodGet)
	if diff := cmp.Diff([]boot.Decision{{Answer: boot.AnswerHold, Reason: boot.DecidedSuperseded}}, r.decided); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !strings.Contains(got.body, ":wait\nsleep 2\ndhcp netX && goto asked_wait || dhcp || goto wait\n") || strings.Contains(got.body, r.scriptToken()) || len(r.sessions.calls) > 0 {
		t.Errorf("%v\n%s", r.sessions.calls, got.body)
	}
}

// TestLooped: a machine that begins once more than its grant serves scripts is held, and that's written down once, so that its last boot begins nothing any more.
func TestLooped(t *testing.T) {
	opened := func(at time.Time, nonces ...string) (all []boot.Opened) {
		for _, n := range nonces {
			all = append(all, boot.Opened{Nonce: n, At: at})
		}
		return all
	}
	others := []string{"00000000000000b1", "00000000000000c1", "00000000000000d1", "00000000000000e1"}
	cases := map[string]struct {
		reason string
		opened func(r *rig) []boot.Opened
		method string
		calls  []string
	}{
		"Sixth": {"The fifth has ended.", func(r *rig) []boot.Opened {
			return opened(r.now.Add(-72*time.Hour), append(others, "00000000000000f1")...)
		}, http.MethodGet, []string{"open NONCE"}},
		"Replayed": {"A token that was seen long ago begins nothing, and ends nothing.", func(r *rig) []boot.Opened { return opened(r.now, append(others, "00000000000000f1")...) }, http.MethodGet, nil},
		"Held": {"What begins nothing now is noted when it would.", func(r *rig) []boot.Opened {
			r.held = true
			return opened(r.now.Add(-72*time.Hour), append(others, "00000000000000f1")...)
		}, http.MethodGet, nil},
		"Port": {"Who wasn't seen behind its port begins nothing, either.", func(r *rig) []boot.Opened {
			r.plan.Port = &boot.Port{Circuit: "eth7"}
			r.session.Grant.PlanDigest = r.plan.Digest()
			return opened(r.now.Add(-72*time.Hour), append(others, "00000000000000f1")...)
		}, http.MethodGet, nil},
		"Noted": {"It's noted once.", func(r *rig) []boot.Opened {
			return opened(r.now.Add(-72*time.Hour), append(others, "00000000000000f1", "00000000000000f2")...)
		}, http.MethodGet, nil},
		"Head": {"A look writes nothing.", func(r *rig) []boot.Opened {
			return opened(r.now.Add(-72*time.Hour), append(others, "00000000000000f1")...)
		}, http.MethodHead, nil},
		"Fifth":  {"Its own script, asked for again.", func(r *rig) []boot.Opened { return opened(r.now, append(others, r.nonce())...) }, http.MethodGet, nil},
		"Second": {"By a token of an earlier boot nobody ends the fifth.", func(r *rig) []boot.Opened { return opened(r.now, append([]string{r.nonce()}, others...)...) }, http.MethodGet, nil},
		"Known":  {"It's known.", func(r *rig) []boot.Opened { return opened(r.now, append(others, "00000000000000f1", r.nonce())...) }, http.MethodGet, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig) {
				r.sessions.err = boot.ErrBootLoop
				r.session.OpenedGrantID, r.session.Opened = grantID, tc.opened(r)
			})
			r.script(tc.method)
			var calls []string
			for _, c := range r.sessions.calls {
				calls = append(calls, strings.ReplaceAll(c, r.nonce(), "NONCE"))
			}
			if diff := cmp.Diff(tc.calls, calls); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
			if d := (boot.Decision{Answer: boot.AnswerHold, Reason: boot.DecidedBootLoop}); len(r.decided) != 1 || r.decided[0] != d {
				t.Errorf("decided %v", r.decided)
			}
		})
	}
}

func TestScriptRepeats(t *testing.T) {
	r := newRig(t, nil)
	first := r.script(http.MethodGet)
	other := newRig(t, nil)
	if diff := cmp.Diff(strings.ReplaceAll(first.body, r.http.URL, ""), strings.ReplaceAll(other.script(http.MethodGet).body, other.http.URL, "")); diff != "" {
		t.Errorf("two replicas, or one before and after a restart, must answer the same:\n%s", diff)
	}
	if again := r.script(http.MethodGet); again.body != first.body {
		t.Errorf("a repeat must be answered the same")
	}
	calls := len(r.sessions.calls)
	head := r.script(http.MethodHead)
	if len(r.sessions.calls) != calls || head.body != "" || head.header.Get("Content-Length") != first.header.Get("Content-Length") {
		t.Errorf("a HEAD opens nothing and has the script's length: %d calls, %v", len(r.sessions.calls)-calls, head.header)
	}
}

func TestConsumedScriptIsRetriedInPlace(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*rig)
		want   boot.Answer
	}{
		"Retry":     {"the same request, a moment later", func(*rig) {}, boot.AnswerInstall},
		"Late":      {"bootd was away for longer than anybody waits", func(r *rig) { r.now = r.now.Add(50 * time.Minute) }, boot.AnswerInstall},
		"NewBoot":   {"the machine was seen to start again", func(r *rig) { r.sessions.newBoot = true }, boot.AnswerLocalDisk},
		"Other":     {"another boot used it", func(r *rig) { r.session.Consumed.Nonce = "00000000000000ff" }, boot.AnswerLocalDisk},
		"Revoked":   {"closed in between", func(r *rig) { r.session.Revocation = "r" }, boot.AnswerHold},
		"DiskImage": {"an installer that runs needs no script", func(r *rig) { r.plan.Method = boot.MethodDiskImage }, boot.AnswerLocalDisk},
		"Log": {"only the log has it: bootd died before the API heard of it", func(r *rig) {
			r.sessions.logged, r.session.Consumed = []boot.Consumption{*r.session.Consumed}, nil
		}, boot.AnswerInstall},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig) {
				r.plan.Method = boot.MethodKernel
				r.session.Grant.PlanDigest = r.plan.Digest()
				r.session.Consumed = &boot.Consumption{
					GrantID: grantID, HostUID: "host", EntryUID: "entry", Generation: 1, PlanDigest: r.plan.Digest(),
					Nonce: gate.Nonce(r.key, scriptNonce, grantID, boot.AMD64), At: r.now,
				}
				tc.change(r)
			})
			r.script(http.MethodGet)
			if got := r.decided[0].Answer; got != tc.want {
				t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

func TestInvalidScriptTokens(t *testing.T) {
	r := newRig(t, nil)
	foreign, err := boot.Mint([]byte("other"), boot.Claims{Kind: boot.TokenScript, Entry: boot.KeyOf("entry"), Expires: r.now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	want := r.do(http.MethodGet, "/v1/boot/x/script.ipxe", "").body
	for name, token := range map[string]string{
		"Foreign": foreign, "BootToken": r.bootToken(),
		"Expired": r.mint(boot.Claims{Kind: boot.TokenScript, Expires: r.now}),
		"Gone":    r.mint(boot.Claims{Kind: boot.TokenScript, Entry: boot.KeyOf("deleted")}),
	} {
		if got := r.do(http.MethodGet, "/v1/boot/"+token+"/script.ipxe", ""); got.status != http.StatusOK || got.body != want {
			t.Errorf("%s: %d\n%s", name, got.status, got.body)
		}
	}
	if !strings.Contains(want, "sleep ") || !strings.Contains(want, "chain ${bootd-bound} --replace --autofree ${filename}") {
		t.Errorf("the static hold must begin again with DHCP:\n%s", want)
	}
	if len(r.sessions.calls) > 0 {
		t.Errorf("nothing may be touched: %v", r.sessions.calls)
	}
	r.stateNil = true
	if got := r.script(http.MethodGet); got.body != want {
		t.Errorf("before anything is known: %s", got.body)
	}
}

func TestHoldSaysWhy(t *testing.T) {
	r := newRig(t, func(r *rig) { r.files.err = &artifacts.Error{Reason: artifacts.ReasonDigest, Digest: kernelDigest} })
	body := r.script(http.MethodGet).body
	want := session.Sighting{Kind: session.SawScript, At: r.now, Reason: artifacts.ReasonDigest, GrantID: grantID, Message: r.files.err.Error()}
	if diff := cmp.Diff([]session.Sighting{want}, r.sessions.sights, cmpopts.IgnoreFields(session.Sighting{}, "Exchange", "Machine")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !regexp.MustCompile(`chain \$\{bootd-bound\} --replace --autofree http://127\.0\.0\.1:\d+/v1/boot/[\w-]+/script\.ipxe\?arch=0`).MatchString(body) {
		t.Errorf("a hold asks for the same script again:\n%s", body)
	}
}

func TestTokenOfTheScript(t *testing.T) {
	r := newRig(t, nil)
	found := regexp.MustCompile(`baremetal\.callback=http://[^/]+/v1/boot/(\S+)`).FindStringSubmatch(r.script(http.MethodGet).body)
	if found == nil {
		t.Fatal("the script has no callback")
	}
	got, err := boot.Verify([][]byte{r.key}, found[1], r.now)
	want := boot.Claims{
		Kind: boot.TokenBoot, Entry: boot.KeyOf("entry"), GrantID: grantID, Nonce: r.nonce(),
		Expires: r.session.Grant.Expires.Add(24 * time.Hour),
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApproxTime(0)); err != nil || diff != "" {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}
