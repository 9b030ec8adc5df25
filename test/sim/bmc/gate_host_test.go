package bmc_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// TestHostWithFirstPassword: a BMC that lets its user do nothing but change the password is told by name, isn't asked to log in again, and is
// a host's as soon as that is done.
func TestHostWithFirstPassword(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	l.settle()
	l.emu.Inject(bmc.Fault{
		PathContains: "/Systems", Status: http.StatusForbidden, Body: `{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.18.PasswordChangeRequired"}]}}`,
	})
	for range 3 {
		h := l.settle()
		if got := condition(h, v1alpha1.ConditionReachable); got != [2]string{"False", "PasswordChangeRequired"} {
			t.Errorf("Reachable: %v", got)
		}
		if m := h.Status.GetCondition(v1alpha1.ConditionReachable).Message; !strings.Contains(m, l.emu.Addr()) || strings.Contains(m, l.password) {
			t.Errorf("Reachable says %q", m)
		}
	}
	l.emu.Heal()
	if got := condition(l.settle(), v1alpha1.ConditionReachable); got != [2]string{"True", "Available"} {
		t.Errorf("once it's changed, Reachable: %v", got)
	}
	if c := l.emu.Counters(); c.Logins != 1 || c.FailedLogins != 0 || c.Writes != 0 {
		t.Errorf("%d logins, %d failed, %d writes, want one login", c.Logins, c.FailedLogins, c.Writes)
	}
}

// hurry starts the controller anew with gatekeepers that wait for little, and little time for a request.
func (l *lab) hurry(auth v1alpha1.RedfishAuth) {
	l.t.Helper()
	rate := int64(1000)
	l.connector = redfishhost.NewConnector(redfishhost.Options{
		Kube: l.kube, Gates: redfishhost.Gates{Gates: hasty(l.t)}, AllowLoopback: true, Now: func() time.Time { return l.now },
		Elapsed: func() time.Duration { return time.Duration(l.now.UnixNano()) },
		Resolve: func(context.Context, *v1alpha1.RedfishHost) (config.Redfish, error) {
			return config.Redfish{
				Username: bmc.DefaultUsername, Password: l.password, SecretVersion: l.version,
				Config: v1alpha1.RedfishConfig{
					AllowedAddresses: []string{"127.0.0.0/8"}, RequestsPerSecond: &rate, Auth: auth, RequestTimeout: &metav1.Duration{Duration: time.Second},
					TLS: &v1alpha1.TLS{Verify: l.verify, PinnedSHA256: l.pins},
				},
			}, nil
		},
	})
}

// seen settles the host, and again where its BMC took longer than the gatekeepers wait: the machine that runs this may be busy.
func (l *lab) seen() *v1alpha1.RedfishHost {
	l.t.Helper()
	for range 20 {
		if h := l.settle(); !l.connector.Pending(h) {
			return h
		}
	}
	l.t.Fatal("the host isn't seen")

	return nil
}

// TestHostOfHangingBMC: a BMC that doesn't answer at once leaves its host as it is, and is asked again soon; only when it had all its time it's
// away. An act waits for that and is no attempt.
func TestHostOfHangingBMC(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	l.hurry(v1alpha1.RedfishAuthAuto)
	l.seen()
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOn })
	l.emu.Inject(bmc.Fault{Method: http.MethodGet, Hang: true})
	before := l.changes
	if o, err := l.reconcile(); err != nil || !o.ResourceUpToDate || l.changes != before || !l.connector.Pending(l.get()) {
		t.Errorf("the first look: %+v, %v; %d changes of the host, soon again: %t", o, err, l.changes-before, l.connector.Pending(l.get()))
	}
	if _, err := l.reconcile(); err != nil {
		t.Error(err)
	}
	if got := condition(l.get(), v1alpha1.ConditionReachable); got != [2]string{"False", "Unreachable"} || l.connector.Pending(l.get()) {
		t.Errorf("after all its time, Reachable: %v; soon again: %t", got, l.connector.Pending(l.get()))
	}
	l.emu.Heal()
	h := l.seen()
	if got := condition(h, v1alpha1.ConditionReachable); got != [2]string{"True", "Available"} || h.Status.AtProvider.Power != v1alpha1.PoweredOn {
		t.Errorf("once it answers, Reachable: %v, power %q", got, h.Status.AtProvider.Power)
	}
	if resets := l.resets(); len(resets) != 1 || resets["On"] != 1 {
		t.Errorf("resets: %v, want On once", resets)
	}
}

// TestHostOfFullBMC: where the password isn't to be sent with each request, a BMC without a free session is told by name.
func TestHostOfFullBMC(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	l.emu.FillSessions()
	l.hurry(v1alpha1.RedfishAuthSession)
	if got := condition(l.seen(), v1alpha1.ConditionReachable); got != [2]string{"False", "SessionsFull"} {
		t.Errorf("with Session, Reachable: %v", got)
	}
	l.hurry(v1alpha1.RedfishAuthAuto)
	if got := condition(l.seen(), v1alpha1.ConditionReachable); got != [2]string{"True", "Available"} {
		t.Errorf("with Auto, Reachable: %v", got)
	}
	if c := l.emu.Counters(); c.FailedLogins != 0 {
		t.Errorf("%d failed logins", c.FailedLogins)
	}
}
