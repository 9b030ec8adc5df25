package bmc_test

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// TestClockOfTheBMC: a clock that is wrong is told by its host with the next
// inventory, which doesn't change by itself, and costs a look nothing.
func TestClockOfTheBMC(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	h := l.settle()
	if got := condition(h, v1alpha1.ConditionClockSynced); got != [2]string{"True", "Available"} || h.Status.AtProvider.BMC.NTP != "Enabled" {
		t.Errorf("ClockSynced: %v, NTP %q", got, h.Status.AtProvider.BMC.NTP)
	}
	l.emu.SetClock(-3 * time.Hour)
	l.emu.Change("/redfish/v1/Managers/BMC/NetworkProtocol", func(body map[string]any) { body["NTP"] = map[string]any{"ProtocolEnabled": false} })
	l.now = l.now.Add(2 * time.Hour)
	h = l.settle()
	c := h.Status.GetCondition(v1alpha1.ConditionClockSynced)
	if c.Reason != v1alpha1.ReasonClockSkew || !strings.Contains(c.Message, "about 3 hours behind ours, and NTP is off there") || h.Status.AtProvider.BMC.NTP != "Disabled" {
		t.Errorf("ClockSynced: %v, %q, NTP %q", c.Reason, c.Message, h.Status.AtProvider.BMC.NTP)
	}
	changes := l.changes
	for range 3 {
		l.now = l.now.Add(2 * time.Hour)
		l.settle()
	}
	if l.changes != changes {
		t.Errorf("%d changes of a host whose BMC's clock is as wrong as it was", l.changes-changes)
	}
	before := l.emu.Counters().Requests
	l.settle()
	if n := l.emu.Counters().Requests - before; n > 2 {
		t.Errorf("%d requests for a look", n)
	}
	if h = l.get(); h.Status.Phase != v1alpha1.HostAvailable {
		t.Errorf("phase %q: nothing goes by a BMC's clock", h.Status.Phase)
	}
}
