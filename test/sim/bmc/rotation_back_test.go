package bmc_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// TestRotationWrittenBack: something puts the old password back into the Secret. That costs one failed log-in for each time that it does, over
// restarts, and nothing else: the machine is looked after with the password that the BMC was given, and the host says what to do.
func TestRotationWrittenBack(t *testing.T) {
	l := newRotationLab(t, bmc.Passwords{}, nil)
	l.settle()
	l.edit(rotation(1))
	l.rounds(10)
	ours := l.secret()["password"]
	putBack := func() { l.writeSecret(func(s *corev1.Secret) { s.Data["password"] = []byte(bmc.DefaultPassword) }) }
	putBack()
	for range 3 {
		h := l.rounds(3)
		if got := condition(h, v1alpha1.ConditionReachable); got[0] != "True" {
			t.Errorf("Reachable: %v", got)
		}
		c := h.Status.GetCondition(v1alpha1.ConditionCredentialsRotated)
		if c.Reason != v1alpha1.ReasonConflict || !strings.Contains(c.Message, "password-rotated") {
			t.Errorf("CredentialsRotated: %s, %q", c.Reason, c.Message)
		}
		l.keepsSilent(h, ours)
		l.start()
	}
	l.powersOn("The Secret has another password.")
	l.edit(rotation(2))
	l.rounds(5)
	if s, c := l.secret(), l.emu.Counters(); c.FailedLogins != 1 || s["password-rotated"] != ours || s["password"] != bmc.DefaultPassword || l.emu.Password() != ours {
		t.Errorf("%d failed logins, want one; or a password was changed", c.FailedLogins)
	}
	l.writeSecret(func(s *corev1.Secret) { s.Labels = map[string]string{"a": "b"} })
	l.rounds(3)
	if c := l.emu.Counters(); c.FailedLogins != 2 || c.Lockouts != 0 {
		t.Errorf("the Secret was written again: %d failed logins, %d lock-outs; want two, none", c.FailedLogins, c.Lockouts)
	}
	l.writeSecret(func(s *corev1.Secret) { s.Data["password"] = []byte(ours) })
	l.isRotated(l.rounds(20), 2, 2)
}

// TestRotatedByHandSince: a password that the provider gave the BMC once, and that a person has changed since, is tried once and never again.
func TestRotatedByHandSince(t *testing.T) {
	l := newRotationLab(t, bmc.Passwords{}, func(c *bmc.Config) { c.LockoutAfter = 10 })
	l.settle()
	l.edit(rotation(1))
	l.rounds(10)
	l.emu.SetPassword(bmc.Secret + "-by-hand")
	h := l.rounds(3)
	if got := condition(h, v1alpha1.ConditionReachable); got != [2]string{"False", "Unauthorized"} || l.emu.Counters().FailedLogins != 1 {
		t.Errorf("Reachable: %v, %d failed logins; want one, since both are the same", got, l.emu.Counters().FailedLogins)
	}
	for i, wrong := range []string{"-typo", "-typo-2"} {
		l.writeSecret(func(s *corev1.Secret) { s.Data["password"] = []byte(bmc.Secret + wrong) })
		l.start()
		l.rounds(2)
		if want := 3 + i; l.emu.Counters().FailedLogins != want {
			t.Errorf("after wrong password %d: %d failed logins, want %d", i+1, l.emu.Counters().FailedLogins, want)
		}
	}
}

// TestRotationUnsaid: the BMC doesn't say whether it lets anybody in with the new password. That ends, and both passwords stay; once a log-in is
// needed, the one that is right is found.
func TestRotationUnsaid(t *testing.T) {
	for name, status := range map[string]int{"Error500": http.StatusInternalServerError, "Error503": http.StatusServiceUnavailable} {
		t.Run(name, func(t *testing.T) {
			l := newRotationLab(t, bmc.Passwords{KeepsSessions: true}, nil)
			l.settle()
			calls := 0
			l.failpoint = func(at string) {
				if at == redfishhost.FailpointBeforeCall {
					calls++
					if calls == 3 {
						l.emu.Inject(bmc.Fault{Method: http.MethodPost, PathContains: "/Sessions", Status: status})
					}
				}
			}
			l.edit(rotation(1))
			h := l.rounds(60)
			c := h.Status.GetCondition(v1alpha1.ConditionCredentialsRotated)
			if c.Reason != v1alpha1.ReasonNoEffect || !strings.Contains(c.Message, "doesn't say") {
				t.Errorf("CredentialsRotated after half an hour: %s, %q", c.Reason, c.Message)
			}
			if s := l.secret(); s["password"] != bmc.DefaultPassword || s["password-next"] != l.emu.Password() {
				t.Error("one of the passwords is gone")
			}
			asked := posts(l.emu)
			h = l.rounds(10)
			if got := posts(l.emu) - asked; got != 0 || condition(h, v1alpha1.ConditionReachable)[0] != "True" {
				t.Errorf("%d more log-ins, Reachable %v", got, condition(h, v1alpha1.ConditionReachable))
			}
			l.emu.Heal()
			l.emu.ExpireSessions()
			l.isRotated(l.rounds(10), 1, 1)
			survived(t, "nobody says whether a new password is in use")
		})
	}
}

// TestRotationBesideGivenUp: what the BMC has taken late is made the password in use, though an act that was given up stands in the way of
// everything else; and that stays given up.
func TestRotationBesideGivenUp(t *testing.T) {
	l := newRotationLab(t, bmc.Passwords{Takes: 4 * time.Minute, KeepsSessions: true}, nil)
	l.settle()
	l.edit(rotation(1))
	l.rounds(6)
	l.emu.Inject(bmc.Fault{Method: http.MethodPost, PathContains: "Reset", WithoutEffect: true})
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOn })
	h := l.rounds(30)
	if got := condition(h, v1alpha1.ConditionPowerApplied); got[1] != "GaveUp" {
		t.Fatalf("PowerApplied: %v, want GaveUp", got)
	}
	writes := l.emu.Counters().Writes
	l.emu.ExpireSessions()
	h = l.rounds(10)
	l.isRotated(h, 1, 3)
	if got := condition(h, v1alpha1.ConditionPowerApplied); got[1] != "GaveUp" || l.emu.Counters().Writes != writes {
		t.Errorf("PowerApplied: %v, %d more writes; want it given up still", got, l.emu.Counters().Writes-writes)
	}
}

// TestRotationOfOldJournal: an older provider dropped what it didn't know from the journal. What is asked for then counts as done.
func TestRotationOfOldJournal(t *testing.T) {
	l := newRotationLab(t, bmc.Passwords{}, nil)
	l.settle()
	l.edit(rotation(1))
	l.rounds(10)
	ours := l.secret()["password"]
	l.edit(func(h *v1alpha1.RedfishHost) {
		meta.AddAnnotations(h, map[string]string{v1alpha1.AnnotationJournal: `{"bootOnce":0,"reset":0}`})
	})
	h := l.rounds(5)
	if l.emu.Password() != ours || condition(h, v1alpha1.ConditionCredentialsRotated) != [2]string{"True", "Applied"} {
		t.Errorf("CredentialsRotated: %v, or the password was changed unasked", condition(h, v1alpha1.ConditionCredentialsRotated))
	}
	l.edit(rotation(2))
	l.isRotated(l.rounds(20), 2, 0)
}

// TestRotationInOtherWords: a BMC refuses wrong passwords by a 403, and the provider is killed once it has the new one. It's found all the same;
// a password that it was never given isn't tried on a doubt.
func TestRotationInOtherWords(t *testing.T) {
	for name, tc := range map[string]struct {
		point  string
		nth    int
		failed int
	}{"Given": {redfishhost.FailpointAfterCall, 2, 1}, "Stored": {redfishhost.FailpointAfterCall, 1, 1}} {
		t.Run(name, func(t *testing.T) {
			l := newRotationLab(t, bmc.Passwords{}, func(c *bmc.Config) { c.Behaviour.LoginRefusal = http.StatusForbidden })
			l.settle()
			seen := 0
			l.failpoint = func(at string) {
				if at == tc.point {
					seen++
					if seen == tc.nth {
						panic(crash{at})
					}
				}
			}
			l.edit(rotation(1))
			l.rounds(1)
			if name == "Stored" {
				l.emu.SetPassword(bmc.Secret + "-by-hand")
			}
			h := l.rounds(10)
			if name == "Given" {
				l.isRotated(h, 1, tc.failed)

				return
			}
			if c := l.emu.Counters(); c.FailedLogins != tc.failed || condition(h, v1alpha1.ConditionReachable)[1] != "Unauthorized" {
				t.Errorf("%d failed logins, Reachable %v; want %d", c.FailedLogins, condition(h, v1alpha1.ConditionReachable), tc.failed)
			}
		})
	}
}

// TestRotationQuoted: a webhook that refuses to have the Secret written quotes what it refuses; nobody reads that, and it's tried again.
func TestRotationQuoted(t *testing.T) {
	l := newRotationLab(t, bmc.Passwords{}, nil)
	l.settle()
	refusals := 0
	l.written = func(s *corev1.Secret) error {
		refusals++
		if refusals > 3 {
			return nil
		}

		return kerrors.NewInternalError(errors.New("denied by a webhook: " + string(s.Data["password-next"]) + string(s.Data["password"])))
	}
	l.edit(rotation(1))
	l.isRotated(l.rounds(20), 1, 0)
}
