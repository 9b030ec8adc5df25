package bmc_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
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
