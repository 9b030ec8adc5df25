package bmc_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

var ownSecret = types.NamespacedName{Namespace: hostKey.Namespace, Name: "r7-u12-bmc"}

// ownCredentials are those of a host's own Secret, as the provider resolves them.
func (l *lab) ownCredentials(ctx context.Context, host *v1alpha1.RedfishHost, r *config.Redfish) error {
	ref := host.Spec.ForProvider.CredentialsSecretRef
	if ref == nil {
		return nil
	}
	s := &corev1.Secret{}
	if err := l.kube.Get(ctx, types.NamespacedName{Namespace: host.GetNamespace(), Name: ref.Name}, s); err != nil {
		return err
	}
	r.Password, r.SecretVersion = string(s.Data["password"]), config.VersionOf(s)
	r.PasswordNext, r.PasswordRotated = string(s.Data["password-next"]), string(s.Data["password-rotated"])

	return nil
}

// newRotationLab is one whose host has a Secret of its own, and whose BMC goes by the lab's clock.
func newRotationLab(t *testing.T, p bmc.Passwords, more func(*bmc.Config)) *lab {
	t.Helper()
	var l *lab
	start := time.Now()
	emu, m := emulator(t, bmc.ModelInline, func(c *bmc.Config) {
		c.Behaviour, c.LockoutAfter = &bmc.Behaviour{Password: p}, 3
		c.Now = func() time.Time {
			if l == nil {
				return start
			}

			return l.now
		}
		if more != nil {
			more(c)
		}
	})
	l = newLabOf(t, emu, m)
	l.now = start
	if err := l.kube.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: ownSecret.Namespace, Name: ownSecret.Name, UID: "s"},
		Data:       map[string][]byte{"username": []byte(bmc.DefaultUsername), "password": []byte(bmc.DefaultPassword)},
	}); err != nil {
		t.Fatal(err)
	}
	l.edit(func(h *v1alpha1.RedfishHost) {
		h.Spec.ForProvider.CredentialsSecretRef = &v1alpha1.LocalReference{Name: ownSecret.Name}
	})

	return l
}

func (l *lab) secret() map[string]string {
	l.t.Helper()
	s := &corev1.Secret{}
	if err := l.kube.Get(l.t.Context(), ownSecret, s); err != nil {
		l.t.Fatal(err)
	}
	out := map[string]string{}
	for k, v := range s.Data {
		out[k] = string(v)
	}

	return out
}

// writeSecret changes the host's Secret, as people and operators do.
func (l *lab) writeSecret(change func(*corev1.Secret)) {
	l.t.Helper()
	s := &corev1.Secret{}
	if err := l.kube.Get(l.t.Context(), ownSecret, s); err != nil {
		l.t.Fatal(err)
	}
	change(s)
	if err := l.kube.Update(l.t.Context(), s); err != nil {
		l.t.Fatal(err)
	}
}

func rotation(generation int64) func(*v1alpha1.RedfishHost) {
	return func(h *v1alpha1.RedfishHost) {
		h.Spec.ForProvider.CredentialsRotation = &v1alpha1.CredentialsRotation{Generation: generation}
	}
}

// rounds lets time go by; whatever is wrong meanwhile is an error of a reconcile.
func (l *lab) rounds(n int) *v1alpha1.RedfishHost {
	l.t.Helper()
	for range n {
		l.now = l.now.Add(30 * time.Second)
		l.survive(func() { _, _ = l.reconcile() })
	}

	return l.get()
}

// survive starts the provider anew where it is killed.
func (l *lab) survive(do func()) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(crash); !ok {
				panic(r)
			}
			l.failpoint, l.written = nil, nil
			l.start()
		}
	}()
	do()
}

// isRotated holds that a rotation has come to its end, and nobody reads of it.
func (l *lab) isRotated(h *v1alpha1.RedfishHost, generation int64, failedLogins int) {
	l.t.Helper()
	got, c := l.secret(), l.emu.Counters()
	if got["password"] != l.emu.Password() || got["password"] == bmc.DefaultPassword || got["password-rotated"] != got["password"] || len(got) != 3 {
		l.t.Errorf("the Secret's password is the BMC's: %t, is the old one: %t, %d keys; want the BMC's, another one, 3", got["password"] == l.emu.Password(), got["password"] == bmc.DefaultPassword, len(got))
	}
	if o := h.Status.AtProvider.CredentialsRotation; o == nil || o.Generation != generation || o.At == nil {
		l.t.Errorf("status: %+v, want generation %d", o, generation)
	}
	if diff := cmp.Diff([2]string{"True", "Applied"}, condition(h, v1alpha1.ConditionCredentialsRotated)); diff != "" {
		l.t.Errorf("CredentialsRotated: -want, +got:\n%s%s", diff, h.Status.GetCondition(v1alpha1.ConditionCredentialsRotated).Message)
	}
	if diff := cmp.Diff([2]string{"True", "Available"}, condition(h, v1alpha1.ConditionReachable)); diff != "" {
		l.t.Errorf("Reachable: -want, +got:\n%s", diff)
	}
	if c.Lockouts != 0 || c.FailedLogins > failedLogins {
		l.t.Errorf("%d lock-outs, %d failed logins; want none, at most %d", c.Lockouts, c.FailedLogins, failedLogins)
	}
	l.keepsSilent(h, got["password"])
}

// keepsSilent holds that no password is in what people read.
func (l *lab) keepsSilent(h *v1alpha1.RedfishHost, passwords ...string) {
	l.t.Helper()
	b, err := json.Marshal(h)
	if err != nil {
		l.t.Fatal(err)
	}
	all := string(b) + strings.Join(l.events, "\n")
	for _, p := range append(passwords, bmc.DefaultPassword) {
		if p != "" && strings.Contains(all, p) {
			l.t.Error("a password is in the host or its events")
		}
	}
}

// TestRotation changes a password, whatever the BMC does about it, without one failed log-in.
func TestRotation(t *testing.T) {
	const slow = 45 * time.Second
	cases := map[string]struct {
		reason string
		bmc    bmc.Passwords
		more   func(*bmc.Config)
		auth   v1alpha1.RedfishAuth
		failed int
	}{
		"AtOnce":   {reason: "It counts at once, and the sessions end."},
		"Sessions": {reason: "They don't.", bmc: bmc.Passwords{KeepsSessions: true}},
		"Task":     {reason: "It counts when a task is over.", bmc: bmc.Passwords{Takes: slow, Async: bmc.AsyncTask}, failed: 1},
		"Job":      {reason: "Or a job.", bmc: bmc.Passwords{Takes: slow, Async: bmc.AsyncJob}, failed: 1},
		"Bare":     {reason: "A promise that nothing tells of.", bmc: bmc.Passwords{Takes: slow, Async: bmc.AsyncBare}, failed: 2},
		"Late":     {reason: "It takes a moment, and nothing tells of that.", bmc: bmc.Passwords{Takes: 10 * time.Second, KeepsSessions: true}, failed: 1},
		"OneSession": {
			reason: "There's but one session, and it's ours.", bmc: bmc.Passwords{KeepsSessions: true}, auth: v1alpha1.RedfishAuthSession,
			more: func(c *bmc.Config) { c.MaxSessions = 1 },
		},
		"NoSession": {reason: "Basic authentication alone.", more: func(c *bmc.Config) { c.NoSessions = true }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newRotationLab(t, tc.bmc, tc.more)
			l.tune = func(c *v1alpha1.RedfishConfig) { c.Auth = tc.auth }
			l.settle()
			l.edit(rotation(1))
			h := l.rounds(20)
			l.isRotated(h, 1, tc.failed)
			first := l.secret()["password"]
			l.edit(rotation(2))
			h = l.rounds(20)
			l.isRotated(h, 2, 2*tc.failed)
			if l.secret()["password"] == first {
				t.Errorf("%s\nthe second rotation made the same password", tc.reason)
			}
			writes := l.emu.Counters().Patches
			l.rounds(5)
			if got := l.emu.Counters().Patches; got != writes {
				t.Errorf("%s\n%d more writes, once it was done", tc.reason, got-writes)
			}
		})
	}
}

// TestRotationKilled kills the provider at each point around each step, and starts it again: the password is never lost, and the account
// never locked.
func TestRotationKilled(t *testing.T) {
	for bmcName, p := range map[string]bmc.Passwords{
		"Plain": {}, "Sessions": {KeepsSessions: true}, "History": {History: true, KeepsSessions: true}, "Task": {Takes: 45 * time.Second, Async: bmc.AsyncTask},
	} {
		for _, point := range []string{redfishhost.FailpointBeforeCall, redfishhost.FailpointAfterCall, "secret"} {
			for nth := 1; nth <= 3; nth++ {
				t.Run(strings.Join([]string{bmcName, point, strconv.Itoa(nth)}, "/"), func(t *testing.T) {
					l := newRotationLab(t, p, nil)
					l.settle()
					seen := 0
					strike := func(at string) {
						seen++
						if at == point && seen == nth {
							panic(crash{at})
						}
					}
					if point == "secret" {
						l.written = func(*corev1.Secret) error { strike(point); return nil }
					} else {
						l.failpoint = func(at string) {
							if at == point {
								strike(at)
							}
						}
					}
					l.edit(rotation(1))
					l.isRotated(l.rounds(30), 1, 2)
					if seen < nth && (point != "secret" || seen < 2) {
						t.Errorf("the provider wasn't killed: %s came %d times", point, seen)
					}
					survived(t, "the provider is killed around a step of a new password")
				})
			}
		}
	}
}

// TestRotationAnswerLost: the BMC has taken the password, and nobody heard it.
func TestRotationAnswerLost(t *testing.T) {
	for name, tc := range map[string]struct {
		p bmc.Passwords
		f bmc.Fault
	}{
		"Disconnect":   {f: bmc.Fault{AfterEffect: true, Disconnect: true}},
		"Sessions":     {p: bmc.Passwords{KeepsSessions: true}, f: bmc.Fault{AfterEffect: true, Disconnect: true}},
		"History":      {p: bmc.Passwords{KeepsSessions: true, History: true}, f: bmc.Fault{AfterEffect: true, Disconnect: true}},
		"Error500":     {f: bmc.Fault{AfterEffect: true, Status: http.StatusInternalServerError}},
		"Error503":     {f: bmc.Fault{AfterEffect: true, Status: http.StatusServiceUnavailable}},
		"NeverArrived": {f: bmc.Fault{Disconnect: true}},
		"Busy":         {f: bmc.Fault{Status: http.StatusServiceUnavailable}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newRotationLab(t, tc.p, nil)
			l.settle()
			tc.f.Method, tc.f.PathContains, tc.f.Times = http.MethodPatch, "/Accounts/", 1
			l.emu.Inject(tc.f)
			l.edit(rotation(1))
			l.isRotated(l.rounds(30), 1, 2)
			survived(t, "the answer to a new password is lost, or the BMC is busy with it")
		})
	}
}

// recorder keeps events for the lab.
type recorder struct{ l *lab }

// Event implements event.Recorder.
func (r recorder) Event(_ runtime.Object, e event.Event) {
	r.l.events = append(r.l.events, string(e.Type)+" "+string(e.Reason)+" "+e.Message)
}

// WithAnnotations implements event.Recorder.
func (r recorder) WithAnnotations(...string) event.Recorder { return r }
