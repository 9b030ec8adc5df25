package httpboot

import (
	"net/http"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
)

// TestInstallBehindItsPort: who wasn't seen behind the port that its entry names isn't installed, and is sent to its disk where that's all it's for.
func TestInstallBehindItsPort(t *testing.T) {
	here, there := &boot.Port{Circuit: "Ethernet1/12"}, &boot.Port{Circuit: "Ethernet1/9"}
	destroys := func(r *rig) { r.plan.Method, r.plan.Artifacts[0].Image = boot.MethodKernel, nil }
	cases := map[string]struct {
		reason string
		port   *boot.Port
		seen   *boot.Port // where its DHCP exchange was; nil: nowhere
		change func(*rig)
		want   boot.Decision
		opens  bool
	}{
		"Behind":    {"where its entry says", here, here, nil, boot.Decision{Answer: boot.AnswerInstall, Reason: boot.DecidedGranted}, true},
		"Elsewhere": {"at no port that was looked for", here, nil, nil, boot.Decision{Answer: boot.AnswerHold, Reason: gate.ReasonPort}, false},
		"Moved":     {"where its entry said before", here, there, nil, boot.Decision{Answer: boot.AnswerHold, Reason: gate.ReasonPort}, false},
		"Destroys":  {"a kernel that asks nothing more", here, nil, destroys, boot.Decision{Answer: boot.AnswerHold, Reason: gate.ReasonPort}, false},
		"NoPort":    {"an entry without a port", nil, nil, nil, boot.Decision{Answer: boot.AnswerInstall, Reason: boot.DecidedGranted}, true},
		"Disk": {"its disk is its own wherever it is", here, nil, func(r *rig) { r.plan.InstalledGeneration = 1 },
			boot.Decision{Answer: boot.AnswerLocalDisk, Reason: boot.DecidedInstalled}, false},
		"Live": {"what writes no disk is the MAC's", here, nil, func(r *rig) { r.plan.Mode = boot.ModeLive }, boot.Decision{Answer: boot.AnswerLive, Reason: boot.DecidedLive}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig) {
				if r.plan.Port = tc.port; tc.change != nil {
					tc.change(r)
				}
				r.session.Grant.PlanDigest = r.plan.Digest()
			})
			nonce := tc.port.Mark(scriptNonce, false)
			if tc.seen != nil {
				nonce = tc.seen.Mark(scriptNonce, true)
			}
			token := r.mint(boot.Claims{Kind: boot.TokenScript, GrantID: grantID, Nonce: nonce})
			got := r.do(http.MethodGet, "/v1/boot/"+token+"/script.ipxe?arch=0", "")
			if len(r.decided) != 1 || r.decided[0] != tc.want {
				t.Errorf("%s: %v, want %v", tc.reason, r.decided, tc.want)
			}
			if opened := len(r.sessions.calls) > 0; opened != tc.opens {
				t.Errorf("%s: the session was asked %q", tc.reason, r.sessions.calls)
			}
			if tc.want.Reason == gate.ReasonPort && !strings.Contains(got.body, gate.ReasonPort) {
				t.Errorf("%s: its console doesn't say so:\n%s", tc.reason, got.body)
			}
		})
	}
}

// TestPortOfAUsedGrant: a retry in place is the boot that was let in.
func TestPortOfAUsedGrant(t *testing.T) {
	port := &boot.Port{Circuit: "Ethernet1/12"}
	for _, behind := range []bool{true, false} {
		nonce := port.Mark(scriptNonce, behind)
		r := newRig(t, func(r *rig) {
			r.plan.Port, r.plan.Method, r.plan.Artifacts[0].Image = port, boot.MethodKernel, nil
			r.session.Grant.PlanDigest = r.plan.Digest()
			r.session.Consumed = &boot.Consumption{
				GrantID: grantID, HostUID: "host", EntryUID: "entry", Generation: 1, PlanDigest: r.plan.Digest(), Nonce: gate.Nonce(r.key, nonce, grantID, boot.AMD64), At: r.now,
			}
		})
		token := r.mint(boot.Claims{Kind: boot.TokenScript, GrantID: grantID, Nonce: nonce})
		r.do(http.MethodGet, "/v1/boot/"+token+"/script.ipxe?arch=0", "")
		if got := r.decided[0].Answer == boot.AnswerInstall; got != behind {
			t.Errorf("behind its port %t: %v", behind, r.decided)
		}
	}
}
