package redfishhost

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

func TestPowerSentences(t *testing.T) {
	in := inputs{address: "10.0.7.12"}
	cases := map[string]struct {
		act  act
		want string
	}{
		"On":        {act{Action: actPowerOn, Attempts: 3, Power: redfish.PowerOff}, `accepts power on and doesn't carry it out: after 3 attempts its power state is "PoweredOff"; look at the machine, and restart its BMC; nothing more is sent until`},
		"Once":      {act{Action: actForceOff, Attempts: 1, Power: redfish.PowerOn}, `after 1 attempt its power state is`},
		"Between":   {act{Action: actForceOff, Attempts: 1, Power: redfish.PowerPoweringOff}, `its power state has been "PoweringOff" for 15 minutes`},
		"Untold":    {act{Action: actForceOff, Attempts: 3}, `it doesn't tell its power state`},
		"Said":      {act{Action: actForceOff, Attempts: 3, Power: redfish.PowerOn, Message: "Base.1.0.InternalError"}, `doesn't carry it out (Base.1.0.InternalError): after`},
		"ResetOn":   {act{Action: actResetOn, Attempts: 3, Power: redfish.PowerOff}, `accepts power on again after a reset and doesn't`},
		"ResetOff":  {act{Action: actResetOff, Attempts: 3, Power: redfish.PowerOn}, `raise resetGeneration for another one`},
		"LeaveOn":   {act{Action: actLeaveOn, Attempts: 1, Power: redfish.PowerOn}, `accepts a reset and doesn't carry it out: its power state is "PoweredOn"`},
		"NoOff":     {act{Action: actForceOff, Refused: true, Offers: "On, Nmi"}, `can't cut the machine's power: it offers On, Nmi; shut it down by hand, or set power to Unmanaged`},
		"NoOn":      {act{Action: actPowerOn, Refused: true}, `can't switch the machine on: it offers no power action at all; switch it on by hand`},
		"NoReset":   {act{Action: actRestart, Refused: true, Offers: "On"}, `can't reset the machine: it offers On; reset it by hand`},
		"NoAsking":  {act{Action: actGracefulOff, Refused: true, Offers: "On, ForceOff"}, `can't ask the operating system to shut down: it offers On, ForceOff; set powerOff.then to Force`},
		"NoLeaving": {act{Action: actLeaveOn, Refused: true, Offers: "Nmi"}, `can't switch the machine on: it offers Nmi`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := gaveUpSentence(tc.act, in); !strings.Contains(got, tc.want) || !strings.Contains(got, `the BMC at "10.0.7.12"`) {
				t.Errorf("gaveUpSentence(...): got %q, want %q in it", got, tc.want)
			}
		})
	}
}

func TestShowTroubleWithPower(t *testing.T) {
	const soon = "iLO.2.23.InvalidOperationForSystemState"
	on, off := redfish.PowerOn, redfish.PowerOff
	cases := map[string]struct {
		reason string
		want   want
		j      *journal
		power  redfish.Power
		out    string // the beginning
	}{
		"Refused":  {reason: "Trouble that somebody must look at.", want: wish(v1alpha1.PoweredOff, 0, 0), j: denied(actForceOff, 1, "status 403", on), power: on, out: `Refused the BMC at "10.0.7.12" refuses power off (status 403): look what it says`},
		"Soon":     {reason: "None yet.", want: wish(v1alpha1.PoweredOn, 0, 0), j: denied(actPowerOn, 1, soon, off), power: off, out: `WaitingForPowerOn the BMC at "10.0.7.12" takes power on later (` + soon + `)`},
		"Reset":    {reason: "Also of a machine whose power isn't ours.", want: wish(v1alpha1.Unmanaged, 0, 4), j: denied(actResetOn, 1, soon, off), power: off, out: `WaitingForReset the BMC at "10.0.7.12" takes power on again after a reset later`},
		"NoEffect": {reason: "It's told again.", want: wish(v1alpha1.PoweredOff, 0, 0), j: tried(actForceOff, 2, on), power: on, out: `NoEffect the BMC at "10.0.7.12" accepted power off and its power state doesn't follow: it was told 2 times of 3`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cs := showPower(view{want: tc.want, j: tc.j, seen: sight(tc.power)}, inputs{address: "10.0.7.12"})
			if len(cs) != 1 || !strings.HasPrefix(string(cs[0].Reason)+" "+cs[0].Message, tc.out) {
				t.Errorf("\n%s\nshowPower(...): got %v, want %q", tc.reason, cs, tc.out)
			}
		})
	}
}
