package bmc_test

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// refusedRotation is a rotation that can't be done.
type refusedRotation struct {
	reason string
	bmc    bmc.Passwords
	set    func(*lab)
	want   string
	next   bool // password-next stays
	// refusal is the status of a log-in with a wrong password; 0 is 401.
	refusal int
	failed  int
}

func refusedRotations() map[string]refusedRotation {
	forbidden := kerrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, ownSecret.Name, errors.New("no"))
	invalid := kerrors.NewInvalid(schema.GroupKind{Kind: "Secret"}, ownSecret.Name, nil)
	label := func(key, value string) func(*lab) {
		return func(l *lab) {
			l.writeSecret(func(s *corev1.Secret) { s.Labels = map[string]string{key: value} })
		}
	}
	yes := true
	return map[string]refusedRotation{
		"Policy":    {reason: "A password that the BMC doesn't like.", bmc: bmc.Passwords{Refusal: "PropertyValueFormatError"}, want: "Refused"},
		"Role":      {reason: "A user who may not.", bmc: bmc.Passwords{Refusal: "InsufficientPrivilege", RefusalStatus: http.StatusForbidden}, want: "Forbidden"},
		"Forgets":   {reason: "Taken, and not used.", bmc: bmc.Passwords{Forgets: true, KeepsSessions: true}, want: "NoEffect", next: true, failed: 2},
		"Forbids":   {reason: "The same of a BMC that refuses log-ins by a 403.", bmc: bmc.Passwords{Forgets: true, KeepsSessions: true}, refusal: http.StatusForbidden, want: "NoEffect", next: true, failed: 2},
		"NoAccount": {reason: "Nothing of that name.", set: func(l *lab) { l.renameAccounts("somebody") }, want: "NotSupported"},
		"Two":       {reason: "Two of that name in other spellings.", set: func(l *lab) { l.renameAccounts("ADMIN", "Admin") }, want: "NotSupported"},
		"Short": {reason: "No password worth the name.", set: func(l *lab) {
			l.emu.Change("/redfish/v1/AccountService", func(b map[string]any) { b["MaxPasswordLength"] = 5 })
		}, want: "NotSupported"},
		"Forbidden": {reason: "A Secret that may not be written.", set: func(l *lab) { l.written = func(*corev1.Secret) error { return forbidden } }, want: "Forbidden"},
		"Invalid":   {reason: "One that can't be.", set: func(l *lab) { l.written = func(*corev1.Secret) error { return invalid } }, want: "Invalid"},
		"Immutable": {reason: "One that says so.", set: func(l *lab) { l.writeSecret(func(s *corev1.Secret) { s.Immutable = &yes }) }, want: "Invalid"},
		"Owned": {reason: "An ExternalSecret's.", set: func(l *lab) {
			l.writeSecret(func(s *corev1.Secret) {
				s.OwnerReferences = []metav1.OwnerReference{{APIVersion: "external-secrets.io/v1", Kind: "ExternalSecret", Name: "bmc", UID: "e", Controller: &yes}}
			})
		}, want: "Conflict"},
		"GitOps": {reason: "Argo CD's.", set: label("argocd.argoproj.io/instance", "racks"), want: "Conflict"},
		"Helm":   {reason: "A chart's.", set: label("app.kubernetes.io/managed-by", "Helm"), want: "Conflict"},
		"Shared": {reason: "Another host's, too.", set: func(l *lab) {
			other := newHost("other", "127.0.0.99")
			other.Spec.ForProvider.CredentialsSecretRef = &v1alpha1.LocalReference{Name: ownSecret.Name}
			if err := l.kube.Create(l.t.Context(), other); err != nil {
				l.t.Fatal(err)
			}
		}, want: "Conflict"},
		"Claimed": {reason: "A machine that is being installed.", set: func(l *lab) {
			l.edit(func(h *v1alpha1.RedfishHost) {
				h.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: "team-a", Name: "web-1", UID: "claim"}
				meta.AddAnnotations(h, map[string]string{v1alpha1.AnnotationGranted: `{"entryUID":"e","generation":1}`})
			})
		}, want: "WaitingForInstall"},
	}
}

// TestRotationRefused: where it can't be done, the old password stays, the host stays as it was, and nobody tries for ever.
func TestRotationRefused(t *testing.T) {
	for name, tc := range refusedRotations() {
		t.Run(name, func(t *testing.T) {
			l := newRotationLab(t, tc.bmc, func(c *bmc.Config) { c.Behaviour.LoginRefusal = tc.refusal })
			l.settle()
			if tc.set != nil {
				tc.set(l)
			}
			l.edit(rotation(1))
			l.rounds(10)
			asked := l.emu.Counters().Writes
			h := l.rounds(10)
			if got := l.emu.Counters().Writes; got != asked {
				t.Errorf("%s\nthe BMC is still being asked: %d times", tc.reason, got-asked)
			}
			if diff := cmp.Diff([2]string{"False", tc.want}, condition(h, v1alpha1.ConditionCredentialsRotated)); diff != "" {
				t.Errorf("%s\nCredentialsRotated: -want, +got:\n%s%s", tc.reason, diff, h.Status.GetCondition(v1alpha1.ConditionCredentialsRotated).Message)
			}
			if m := h.Status.GetCondition(v1alpha1.ConditionCredentialsRotated).Message; m == "" {
				t.Errorf("%s\nnobody says what to do", tc.reason)
			}
			s, c := l.secret(), l.emu.Counters()
			if s["password"] != bmc.DefaultPassword || l.emu.Password() != bmc.DefaultPassword || (s["password-next"] != "") != tc.next {
				t.Errorf("%s\npassword-next is there: %t, or the password is another one", tc.reason, s["password-next"] != "")
			}
			if c.Lockouts != 0 || c.FailedLogins != tc.failed || condition(h, v1alpha1.ConditionReachable)[0] != "True" {
				t.Errorf("%s\n%d lock-outs, %d failed logins (want %d), Reachable %v", tc.reason, c.Lockouts, c.FailedLogins, tc.failed, condition(h, v1alpha1.ConditionReachable))
			}
			told := 0
			for _, e := range l.events {
				if strings.HasPrefix(e, "Warning CredentialsNotRotated") {
					told++
				}
			}
			if later := tc.want == "Conflict" || tc.want == "WaitingForInstall" || name == "Immutable"; told > 1 || (told == 0) != later {
				t.Errorf("%s\ntold %d times that it's given up", tc.reason, told)
			}
			l.keepsSilent(h, s["password-next"])
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOn })
			l.rounds(3)
			if !l.m.Powered() {
				t.Errorf("%s\na rotation that can't be done stands in the way of power", tc.reason)
			}
		})
	}
}

// renameAccounts gives the account, and those after it, other users.
func (l *lab) renameAccounts(users ...string) {
	for i, u := range users {
		l.emu.Change("/redfish/v1/AccountService/Accounts/"+strconv.Itoa(2+i), func(b map[string]any) { b["UserName"] = u })
	}
}

// TestRotationBothRefused: somebody changed the password on the BMC in the middle. Each of the two is tried once for a version of the Secret,
// over restarts, and both are kept.
func TestRotationBothRefused(t *testing.T) {
	l := newRotationLab(t, bmc.Passwords{}, nil)
	l.settle()
	l.failpoint = func(at string) {
		if l.secret()["password-next"] != "" {
			panic(crash{at})
		}
	}
	l.edit(rotation(1))
	l.survive(func() { _, _ = l.reconcile() })
	before := l.secret()
	if before["password-next"] == "" {
		t.Fatal("no password-next")
	}
	l.emu.SetPassword("somebody-elses")
	for range 3 {
		h := l.rounds(3)
		if got := condition(h, v1alpha1.ConditionReachable); got != [2]string{"False", "Unauthorized"} {
			t.Errorf("Reachable: %v", got)
		}
		if m := h.Status.GetCondition(v1alpha1.ConditionReachable).Message; !strings.Contains(m, "both passwords") {
			t.Errorf("Reachable says %q", m)
		}
		l.keepsSilent(h, before["password-next"])
		l.start()
	}
	if diff := cmp.Diff(before, l.secret()); diff != "" {
		t.Error("the Secret was changed")
	}
	if c := l.emu.Counters(); c.FailedLogins != 2 || c.Lockouts != 0 {
		t.Errorf("%d failed logins, %d lock-outs; want one of each password", c.FailedLogins, c.Lockouts)
	}
	l.writeSecret(func(s *corev1.Secret) { s.Data["password"] = []byte("somebody-elses") })
	h := l.rounds(30)
	l.isRotated(h, 1, 2)
}

// TestFirstPassword: a BMC that wants its factory password changed first gets a new one, of a host that asks for it; nothing else that the host
// asks for when it's registered is done.
func TestFirstPassword(t *testing.T) {
	l := newRotationLab(t, bmc.Passwords{}, func(c *bmc.Config) { c.FirstPassword = true })
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 5 })
	h := l.rounds(3)
	if got := condition(h, v1alpha1.ConditionReachable); got != [2]string{"False", "PasswordChangeRequired"} || l.emu.Counters().Writes != 0 {
		t.Errorf("Reachable: %v; %d writes", got, l.emu.Counters().Writes)
	}
	l.edit(rotation(1))
	h = l.rounds(10)
	l.isRotated(h, 1, 0)
	if h.Status.Phase != v1alpha1.HostAvailable || len(l.resets()) != 0 {
		t.Errorf("phase %q, resets %v", h.Status.Phase, l.resets())
	}
}

// TestFirstPasswordKilled kills the provider around each step of that.
func TestFirstPasswordKilled(t *testing.T) {
	for _, point := range []string{redfishhost.FailpointBeforeCall, redfishhost.FailpointAfterCall} {
		for nth := 1; nth <= 3; nth++ {
			t.Run(point+strconv.Itoa(nth), func(t *testing.T) {
				l := newRotationLab(t, bmc.Passwords{}, func(c *bmc.Config) { c.FirstPassword = true })
				seen := 0
				l.failpoint = func(at string) {
					if at != point {
						return
					}
					seen++
					if seen == nth {
						panic(crash{at})
					}
				}
				l.edit(rotation(1))
				l.isRotated(l.rounds(30), 1, 1)
			})
		}
	}
}

// TestRotationAtRegistration counts as done, as everything that is asked for then.
func TestRotationAtRegistration(t *testing.T) {
	l := newRotationLab(t, bmc.Passwords{}, nil)
	l.edit(rotation(3))
	h := l.rounds(5)
	if got := condition(h, v1alpha1.ConditionCredentialsRotated); got != [2]string{"True", "Applied"} || l.emu.Counters().Writes != 0 {
		t.Errorf("CredentialsRotated: %v; %d writes", got, l.emu.Counters().Writes)
	}
	if o := h.Status.AtProvider.CredentialsRotation; o == nil || o.Generation != 3 || o.At != nil {
		t.Errorf("status: %+v", o)
	}
}

// TestRotationPromiseLost: the BMC restarts, and forgets what it promised. The old password stays in use, and another generation gives it the
// one that was stored.
func TestRotationPromiseLost(t *testing.T) {
	l := newRotationLab(t, bmc.Passwords{Takes: 45 * time.Second, Async: bmc.AsyncTask}, nil)
	l.settle()
	l.edit(rotation(1))
	l.rounds(1)
	next := l.secret()["password-next"]
	l.emu.RebootBMC(20 * time.Second)
	h := l.rounds(30)
	if diff := cmp.Diff([2]string{"False", "NoEffect"}, condition(h, v1alpha1.ConditionCredentialsRotated)); diff != "" || next == "" {
		t.Errorf("CredentialsRotated: -want, +got:\n%s", diff)
	}
	s, c := l.secret(), l.emu.Counters()
	if s["password"] != l.emu.Password() || s["password-next"] != next || c.Lockouts != 0 || c.FailedLogins > 2 {
		t.Errorf("the old password is in use: %t, the new one still there: %t; %d lock-outs, %d failed logins", s["password"] == l.emu.Password(), s["password-next"] == next, c.Lockouts, c.FailedLogins)
	}
	l.keepsSilent(h, next)
	l.edit(rotation(2))
	l.isRotated(l.rounds(30), 2, 3)
	if l.secret()["password"] != next {
		t.Error("another password was made, though the BMC may have had the first")
	}
}

// TestRotationPasswordStolen: somebody changes the password between two steps. Both are refused, and tried no more often than it takes to know.
func TestRotationPasswordStolen(t *testing.T) {
	l := newRotationLab(t, bmc.Passwords{Forgets: true, KeepsSessions: true}, nil)
	l.settle()
	calls := 0
	l.failpoint = func(at string) {
		if at != redfishhost.FailpointBeforeCall {
			return
		}
		calls++
		if calls == 3 {
			l.emu.SetPassword("somebody-elses")
		}
	}
	l.edit(rotation(1))
	h := l.rounds(20)
	if got := condition(h, v1alpha1.ConditionReachable); got != [2]string{"False", "Unauthorized"} {
		t.Errorf("Reachable: %v", got)
	}
	if c, s := l.emu.Counters(), l.secret(); c.FailedLogins != 2 || c.Lockouts != 0 || s["password"] == "" || s["password-next"] == "" {
		t.Errorf("%d failed logins, %d lock-outs, %d keys; want one of each password, and both kept", c.FailedLogins, c.Lockouts, len(s))
	}
}
