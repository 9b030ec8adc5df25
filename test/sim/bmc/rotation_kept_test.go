package bmc_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// powersOn holds that a machine is switched on, whatever has become of a rotation.
func (l *lab) powersOn(reason string) {
	l.t.Helper()
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOn })
	l.rounds(4)
	if !l.m.Powered() {
		l.t.Errorf("%s\nthe rotation stands in the way of power", reason)
	}
}

// TestRotationRefusedUnnoted: the BMC refuses the password, and that can't be written down: the host goes on, and can still be let in.
func TestRotationRefusedUnnoted(t *testing.T) {
	p := bmc.Passwords{Refusal: "PropertyValueFormatError"}
	conflict := kerrors.NewConflict(schema.GroupResource{Resource: "redfishhosts"}, hostKey.Name, errors.New("somebody wrote it"))
	for name, tc := range map[string]struct {
		reason string
		strike func(l *lab)
	}{
		"Killed": {reason: "Killed after the answer.", strike: func(l *lab) {
			calls := 0
			l.failpoint = func(at string) {
				if at == redfishhost.FailpointAfterCall {
					calls++
					if calls == 2 {
						panic(crash{at})
					}
				}
			}
		}},
		"KilledInSecret": {reason: "Killed while it's taken out of the Secret.", strike: func(l *lab) {
			writes := 0
			l.written = func(*corev1.Secret) error {
				writes++
				if writes == 2 {
					panic(crash{"secret"})
				}

				return nil
			}
		}},
		"Conflict": {reason: "Somebody wrote the host meanwhile.", strike: func(l *lab) {
			calls := 0
			l.failpoint = func(at string) {
				if at == redfishhost.FailpointAfterCall {
					calls++
					if calls == 2 {
						l.hostWritten = func() error { l.hostWritten = nil; return conflict }
					}
				}
			}
		}},
		"TakenOut": {reason: "Somebody took the new one out of the Secret, after an answer that was lost.", strike: func(l *lab) {
			l.emu.Inject(bmc.Fault{Method: http.MethodPatch, PathContains: "/Accounts/", Times: 1, Disconnect: true})
			calls := 0
			l.failpoint = func(at string) {
				if at == redfishhost.FailpointAfterCall {
					calls++
					if calls == 2 {
						l.writeSecret(func(s *corev1.Secret) { delete(s.Data, "password-next") })
					}
				}
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newRotationLab(t, p, nil)
			l.settle()
			tc.strike(l)
			l.edit(rotation(1))
			h := l.rounds(20)
			if got := condition(h, v1alpha1.ConditionCredentialsRotated); got[1] != "Refused" && got[1] != "NoEffect" {
				t.Errorf("%s\nCredentialsRotated: %v, want it ended: %s", tc.reason, got, h.Status.GetCondition(v1alpha1.ConditionCredentialsRotated).Message)
			}
			l.powersOn(tc.reason)
			if c := l.emu.Counters(); l.secret()["password"] != l.emu.Password() || c.Lockouts != 0 || c.FailedLogins > 2 {
				t.Errorf("%s\n%d lock-outs, %d failed logins, or the old password is gone", tc.reason, c.Lockouts, c.FailedLogins)
			}
		})
	}
}

// TestRotationTakenLate: a BMC takes a password after it was given up, and refuses it when it's given it again. It's never thrown away.
func TestRotationTakenLate(t *testing.T) {
	l := newRotationLab(t, bmc.Passwords{Takes: 4 * time.Minute, KeepsSessions: true, History: true}, nil)
	l.settle()
	l.edit(rotation(1))
	h := l.rounds(6)
	if got := condition(h, v1alpha1.ConditionCredentialsRotated); got != [2]string{"False", "NoEffect"} {
		t.Fatalf("CredentialsRotated: %v, want NoEffect", got)
	}
	next := l.secret()["password-next"]
	l.rounds(6)
	if l.emu.Password() != next || next == "" {
		t.Fatal("the BMC hasn't taken it")
	}
	l.edit(rotation(2))
	h = l.rounds(10)
	if s := l.secret(); s["password"] != next && s["password-next"] != next {
		t.Fatal("the BMC's password isn't in the Secret any more")
	}
	l.isRotated(h, 2, 2)
	stored := 0
	for _, e := range l.events {
		if strings.Contains(e, "PasswordStored") {
			stored++
		}
	}
	if stored != 1 {
		t.Errorf("told %d times that a password was stored, want once: the second rotation made none", stored)
	}
}

// TestRotationGivesWay: whatever a rotation waits for, the machine is switched meanwhile, and the rotation comes to its end afterwards.
func TestRotationGivesWay(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		p      bmc.Passwords
		fault  *bmc.Fault
		call   int // before which it comes
	}{
		"Task":    {reason: "The BMC takes its time.", p: bmc.Passwords{Takes: 9 * time.Minute, Async: bmc.AsyncTask, KeepsSessions: true}},
		"LogIns":  {reason: "Nobody can log in.", p: bmc.Passwords{KeepsSessions: true}, call: 3, fault: &bmc.Fault{Method: http.MethodPost, PathContains: "/Sessions", Status: http.StatusServiceUnavailable}},
		"Account": {reason: "The account's resource doesn't answer.", p: bmc.Passwords{KeepsSessions: true}, call: 2, fault: &bmc.Fault{Method: http.MethodPatch, PathContains: "/Accounts/", Status: http.StatusServiceUnavailable}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newRotationLab(t, tc.p, nil)
			_ = l.m.On(bmc.BootNormal)
			l.settle()
			calls := 0
			l.failpoint = func(at string) {
				if at == redfishhost.FailpointBeforeCall {
					calls++
					if calls == tc.call {
						l.emu.Inject(*tc.fault)
					}
				}
			}
			l.edit(rotation(1))
			l.rounds(2)
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOff })
			l.rounds(3)
			if l.m.Powered() {
				t.Fatalf("%s\nthe machine that must go off is on", tc.reason)
			}
			l.powersOn(tc.reason)
			l.emu.Heal()
			h := l.rounds(40)
			s := l.secret()
			if s["password"] != l.emu.Password() && s["password-next"] != l.emu.Password() {
				t.Fatalf("%s\nthe BMC's password isn't in the Secret", tc.reason)
			}
			if got := condition(h, v1alpha1.ConditionReachable); got[0] != "True" || l.emu.Counters().Lockouts != 0 {
				t.Errorf("%s\nReachable: %v, %d lock-outs", tc.reason, got, l.emu.Counters().Lockouts)
			}
			if got := condition(h, v1alpha1.ConditionCredentialsRotated); got[1] == "Rotating" {
				t.Errorf("%s\nCredentialsRotated: %v, want it ended", tc.reason, got)
			}
		})
	}
}

// deleteSecret deletes the host's Secret, which its finalizer keeps for a while.
func (l *lab) deleteSecret() {
	l.t.Helper()
	l.writeSecret(func(s *corev1.Secret) { s.Finalizers = []string{config.FinalizerCredentials} })
	if err := l.kube.Delete(l.t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ownSecret.Namespace, Name: ownSecret.Name}}); err != nil {
		l.t.Fatal(err)
	}
}

// TestRotationSecretDeleted: no BMC is given a password that goes with its Secret, and a Secret that may be all that has one is marked.
func TestRotationSecretDeleted(t *testing.T) {
	for name, call := range map[string]int{"Before": 0, "Stored": 2, "Set": 3} {
		t.Run(name, func(t *testing.T) {
			l := newRotationLab(t, bmc.Passwords{KeepsSessions: true}, nil)
			l.settle()
			if call == 0 {
				l.deleteSecret()
			}
			calls := 0
			l.failpoint = func(at string) {
				if at == redfishhost.FailpointBeforeCall {
					calls++
					if calls == call {
						l.deleteSecret()
					}
				}
			}
			l.edit(rotation(1))
			h := l.rounds(5)
			s := l.secret()
			given := l.emu.Password() != bmc.DefaultPassword
			if given != (call == 3) || s["password"] != bmc.DefaultPassword || given && s["password-next"] != l.emu.Password() {
				t.Errorf("the BMC was given another password: %t, or the Secret lacks what it may have", given)
			}
			if got := condition(h, v1alpha1.ConditionCredentialsRotated); !given && got != [2]string{"False", "NotFound"} {
				t.Errorf("CredentialsRotated: %v", got)
			}
			o := &corev1.Secret{}
			if err := l.kube.Get(t.Context(), ownSecret, o); err != nil {
				t.Fatal(err)
			}
			if _, marked := o.Annotations[config.AnnotationRotating]; marked != (s["password-next"] != "") {
				t.Errorf("marked: %t, password-next is there: %t", marked, s["password-next"] != "")
			}
			l.powersOn("The Secret goes.")
		})
	}
}

// TestRotationNextTakenOut: what a BMC may have was taken out of the Secret before it was tried. Nobody says that it's in use.
func TestRotationNextTakenOut(t *testing.T) {
	l := newRotationLab(t, bmc.Passwords{Takes: 10 * time.Minute, Async: bmc.AsyncTask, KeepsSessions: true}, nil)
	l.settle()
	l.edit(rotation(1))
	l.rounds(1)
	l.writeSecret(func(s *corev1.Secret) { delete(s.Data, "password-next") })
	h := l.rounds(25)
	if got := condition(h, v1alpha1.ConditionCredentialsRotated); got != [2]string{"False", "Conflict"} {
		t.Errorf("CredentialsRotated: %v, want Conflict", got)
	}
	l.powersOn("It's ended.")
}

// TestRotationStarting: a BMC that starts shows its accounts late, and the rotation waits for them.
func TestRotationStarting(t *testing.T) {
	for name, status := range map[string]int{"NotFound": http.StatusNotFound, "Forbidden": http.StatusForbidden, "BadRequest": http.StatusBadRequest} {
		t.Run(name, func(t *testing.T) {
			l := newRotationLab(t, bmc.Passwords{}, nil)
			l.settle()
			l.emu.Inject(bmc.Fault{Method: http.MethodGet, PathContains: "/AccountService", Times: 2, Status: status})
			l.edit(rotation(1))
			l.isRotated(l.rounds(20), 1, 0)
		})
	}
}
