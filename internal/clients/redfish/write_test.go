package redfish

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

func TestChooseReset(t *testing.T) {
	full := []string{"On", "ForceOff", "ForceRestart", "GracefulRestart", "GracefulShutdown", "PushPowerButton", "Nmi", "PowerCycle"}
	cases := map[string]struct {
		reason     string
		advertised []string
		act        Act
		now        Power
		want       string // "" is none
	}{
		"On":               {reason: "The standard value.", advertised: full, act: ActOn, want: "On"},
		"ForceOn":          {reason: "Its nearest.", advertised: []string{"ForceOn"}, act: ActOn, want: "ForceOn"},
		"NothingSaid":      {reason: "A BMC that advertises nothing gets the standard value.", act: ActForceOff, want: "ForceOff"},
		"Graceful":         {reason: "The standard value.", advertised: full, act: ActGracefulOff, now: PowerOn, want: "GracefulShutdown"},
		"Glued":            {reason: "Supermicro X12 glues two values together.", advertised: []string{"On", "GracefulShutdownGracefulRestart"}, act: ActGracefulOff, now: PowerOn, want: "GracefulShutdown"},
		"Button":           {reason: "iDRAC8: the power button of a running machine asks its OS.", advertised: []string{"On", "ForceOff", "PushPowerButton"}, act: ActGracefulOff, now: PowerOn, want: "PushPowerButton"},
		"ButtonWhenOff":    {reason: "The button of a machine that is off would start it.", advertised: []string{"PushPowerButton"}, act: ActGracefulOff, now: PowerOff},
		"ButtonUnknown":    {reason: "Nobody presses it without knowing.", advertised: []string{"PushPowerButton"}, act: ActOn},
		"ButtonOn":         {reason: "It starts a machine that is off.", advertised: []string{"PushPowerButton"}, act: ActOn, now: PowerOff, want: "PushPowerButton"},
		"ForceWithoutName": {reason: "Cray: Off besides ForceOff.", advertised: []string{"On", "Off"}, act: ActForceOff, now: PowerOn, want: "Off"},
		"OffIsNotForceOff": {reason: "The longer name wins.", advertised: []string{"Off", "ForceOff"}, act: ActForceOff, now: PowerOn, want: "ForceOff"},
		"OnIsNotForceOn":   {reason: "On isn't found inside ForceOff or Emulation.", advertised: []string{"Continue", "ForceOff"}, act: ActOn},
		"NoForce":          {reason: "Nothing that cuts power.", advertised: []string{"On", "GracefulShutdown"}, act: ActForceOff, now: PowerOn},
		"Restart":          {reason: "The standard value.", advertised: full, act: ActRestart, want: "ForceRestart"},
		"Cycle":            {reason: "Its nearest.", advertised: []string{"PowerCycle"}, act: ActRestart, want: "PowerCycle"},
		"Case":             {reason: "As the BMC spells it.", advertised: []string{"forceoff"}, act: ActForceOff, want: "forceoff"},
		"Spaced":           {reason: "As the BMC spells it, with spaces.", advertised: []string{"Force Off", "On"}, act: ActForceOff, want: "Force Off"},
		"GracefulRestart":  {reason: "Better than taking the BMC along.", advertised: []string{"FullPowerCycle", "GracefulRestart"}, act: ActRestart, want: "GracefulRestart"},
		"ResetOff":         {reason: "The first half of a reset.", advertised: full, act: ActResetOff, now: PowerOn, want: "ForceOff"},
		"ResetNoOn":        {reason: "A machine that would stay off.", advertised: []string{"ForceOff", "GracefulShutdown"}, act: ActResetOff, now: PowerOn},
		"ResetButton":      {reason: "The button starts it again.", advertised: []string{"ForceOff", "PushPowerButton"}, act: ActResetOff, now: PowerOn, want: "ForceOff"},
		"NoSuchAct":        {reason: "An act that isn't one.", act: "Melt"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := chooseReset(tc.advertised, tc.act, tc.now)
			if got != tc.want || ok != (tc.want != "") {
				t.Errorf("\n%s\nchooseReset(...): got %q, %v; want %q", tc.reason, got, ok, tc.want)
			}
		})
	}
}

func TestPayload(t *testing.T) {
	type boot = map[string]string
	const target, enabled, mode = "BootSourceOverrideTarget", "BootSourceOverrideEnabled", "BootSourceOverrideMode"
	pxe := setting{target: "Pxe", enabled: EnabledOnce}
	http := setting{target: "UefiHttp", enabled: EnabledOnce, mode: "UEFI"}
	cases := map[string]struct {
		reason string
		now    Boot
		w      setting
		facts  quirk.Facts
		want   boot
	}{
		"Plain":    {reason: "A BMC without mode.", w: pxe, want: boot{target: "Pxe", enabled: "Once"}},
		"SameMode": {reason: "A mode that is there isn't sent: some BMCs refuse it, some make a BIOS job of it.", now: Boot{Mode: "UEFI"}, w: pxe, want: boot{target: "Pxe", enabled: "Once"}},
		"Quirk":    {reason: "Supermicro falls back to its default without.", now: Boot{Mode: "Legacy"}, w: pxe, facts: quirk.Facts{Mode: quirk.IfPresent}, want: boot{target: "Pxe", enabled: "Once", mode: "Legacy"}},
		"NoMode":   {reason: "One that isn't there isn't sent.", w: http, facts: quirk.Facts{Mode: quirk.IfPresent}, want: boot{target: "UefiHttp", enabled: "Once"}},
		"HTTP":     {reason: "UEFI HTTP is UEFI.", now: Boot{Mode: "Legacy"}, w: http, want: boot{target: "UefiHttp", enabled: "Once", mode: "UEFI"}},
		"HTTPSame": {reason: "Which it is.", now: Boot{Mode: "UEFI"}, w: http, want: boot{target: "UefiHttp", enabled: "Once"}},
		"URI":      {reason: "With its URI.", w: setting{target: "UefiHttp", enabled: EnabledOnce, uri: "http://x/a"}, want: boot{target: "UefiHttp", enabled: "Once", "HttpBootUri": "http://x/a"}},
		"Path":     {reason: "With its device path.", w: setting{target: "UefiTarget", enabled: EnabledOnce, path: "HD(1)"}, want: boot{target: "UefiTarget", enabled: "Once", "UefiTargetBootSourceOverride": "HD(1)"}},
		"Next":     {reason: "With its boot option.", w: setting{target: "UefiBootNext", enabled: EnabledOnce, next: "Boot0001"}, want: boot{target: "UefiBootNext", enabled: "Once", "BootNext": "Boot0001"}},
		"Clearing": {reason: "Target and Enabled, both, and nothing else.", now: Boot{Mode: "UEFI"}, w: setting{target: TargetNone, enabled: EnabledDisabled}, want: boot{target: "None", enabled: "Disabled"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := payload(tc.now, tc.w, tc.facts)
			if diff := cmp.Diff(map[string]any{"Boot": tc.want}, got); diff != "" {
				t.Errorf("\n%s\npayload(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	x13 := quirk.Facts{StoredAs: map[string]string{"Pxe": "UefiBootNext"}}
	pxe, clearing := setting{target: "Pxe", enabled: EnabledOnce}, setting{target: TargetNone, enabled: EnabledDisabled}
	http := setting{target: "UefiHttp", enabled: EnabledOnce, uri: "http://x/a"}
	cases := map[string]struct {
		reason string
		now    Boot
		w      setting
		facts  quirk.Facts
		want   string
	}{
		"Set":         {reason: "As written.", now: Boot{Target: "Pxe", Enabled: "Once"}, w: pxe},
		"OtherTarget": {reason: "Another one.", now: Boot{Target: "Hdd", Enabled: "Once"}, w: pxe, want: propTarget},
		"Disabled":    {reason: "X13 rests at Disabled/Pxe.", now: Boot{Target: "Pxe", Enabled: "Disabled"}, w: pxe, want: propEnabled},
		"Continuous":  {reason: "Not once.", now: Boot{Target: "Pxe", Enabled: "Continuous"}, w: pxe, want: propEnabled},
		"StoredAs":    {reason: "X13 stores another name.", now: Boot{Target: "UefiBootNext", Enabled: "Once"}, w: pxe, facts: x13},
		"NotStoredAs": {reason: "Without the quirk that is another target.", now: Boot{Target: "UefiBootNext", Enabled: "Once"}, w: pxe, want: propTarget},
		"Cleared":     {reason: "Both.", now: Boot{Target: "None", Enabled: "Disabled"}, w: clearing},
		"ClearedOnce": {reason: "iDRAC8 rests at None/Once.", now: Boot{Target: "None", Enabled: "Once"}, w: clearing},
		"NotCleared":  {reason: "Still there.", now: Boot{Target: "Pxe", Enabled: "Once"}, w: clearing, want: propTarget},
		"URI":         {reason: "With its URI.", now: Boot{Target: "UefiHttp", Enabled: "Once", URI: "http://x/a"}, w: http},
		"NoURI":       {reason: "Without it, it loads something else.", now: Boot{Target: "UefiHttp", Enabled: "Once"}, w: http, want: propURI},
		"NoPath":      {reason: "The same of a path.", now: Boot{Target: "UefiTarget", Enabled: "Once"}, w: setting{target: "UefiTarget", enabled: EnabledOnce, path: "HD(1)"}, want: propPath},
		"OtherNext":   {reason: "And of a boot option.", now: Boot{Target: "UefiBootNext", Enabled: "Once", Next: "Boot0002"}, w: setting{target: "UefiBootNext", enabled: EnabledOnce, next: "Boot0001"}, want: propNext},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.w.missing(tc.now, tc.facts); got != tc.want {
				t.Errorf("\n%s\nmissing(...): got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestPreconditions(t *testing.T) {
	cases := map[string]struct {
		reason       string
		first, fresh string
		want         []string
	}{
		"Stale":  {reason: "The fresh one, strong, any, none.", first: `W/"1"`, fresh: `W/"2"`, want: []string{`W/"2"`, `"2"`, "*", ""}},
		"Same":   {reason: "What was refused isn't sent again.", first: `W/"1"`, fresh: `W/"1"`, want: []string{`"1"`, "*", ""}},
		"Strong": {reason: "A strong one has no weaker form.", first: `"1"`, fresh: `"2"`, want: []string{`"2"`, "*", ""}},
		"NoETag": {reason: "428 from a BMC that has none: any.", want: []string{"*"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, preconditions(tc.first, tc.fresh)); diff != "" {
				t.Errorf("\n%s\npreconditions(%q, %q): -want, +got:\n%s", tc.reason, tc.first, tc.fresh, diff)
			}
		})
	}
}
