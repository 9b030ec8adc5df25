package redfishhost

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

func TestPhase(t *testing.T) {
	const granted, installed = v1alpha1.AnnotationGranted, v1alpha1.AnnotationInstalled
	claim := &v1alpha1.ClaimReference{Namespace: "team-a", Name: "web-1"}
	cases := map[string]struct {
		reason      string
		claim       *v1alpha1.ClaimReference
		annotations map[string]string
		maintenance bool
		enrolled    bool
		broken      bool
		want        v1alpha1.HostPhase
	}{
		"New":         {reason: "Not known yet.", want: v1alpha1.HostEnrolling},
		"Broken":      {reason: "A wrong password and the like.", broken: true, want: v1alpha1.HostError},
		"Quarantined": {reason: "Given up.", enrolled: true, annotations: map[string]string{v1alpha1.AnnotationQuarantined: "dead"}, want: v1alpha1.HostError},
		"Maintenance": {reason: "Out of use, claimed or not.", enrolled: true, maintenance: true, claim: claim, want: v1alpha1.HostMaintained},
		"Available":   {reason: "Free.", enrolled: true, want: v1alpha1.HostAvailable},
		"Reserved":    {reason: "Claimed, nothing granted.", enrolled: true, claim: claim, want: v1alpha1.HostReserved},
		"Granted":     {reason: "An install is granted.", enrolled: true, claim: claim, annotations: map[string]string{granted: `{"entryUID":"e","generation":1}`}, want: v1alpha1.HostProvisioning},
		"Installed":   {reason: "And done.", enrolled: true, claim: claim, annotations: map[string]string{granted: `{"entryUID":"e","generation":1}`, installed: `{"entryUID":"e","generation":1}`}, want: v1alpha1.HostProvisioned},
		"Again":       {reason: "A newer one is granted.", enrolled: true, claim: claim, annotations: map[string]string{granted: `{"entryUID":"e","generation":2}`, installed: `{"entryUID":"e","generation":1}`}, want: v1alpha1.HostProvisioning},
		"OtherEntry":  {reason: "Installed by an entry that is gone.", enrolled: true, claim: claim, annotations: map[string]string{granted: `{"entryUID":"e","generation":1}`, installed: `{"entryUID":"old","generation":3}`}, want: v1alpha1.HostProvisioning},
		"Adopted":     {reason: "Installed without a grant of ours.", enrolled: true, claim: claim, annotations: map[string]string{installed: `{"entryUID":"e","generation":1}`}, want: v1alpha1.HostProvisioned},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := &v1alpha1.RedfishHost{}
			h.SetAnnotations(tc.annotations)
			h.Spec.ClaimRef = tc.claim
			if tc.maintenance {
				h.Spec.ForProvider.Maintenance = &v1alpha1.HostMaintenance{Reason: "DIMM B2"}
			}
			if got := phaseOf(h, tc.enrolled, tc.broken); got != tc.want {
				t.Errorf("\n%s\nphaseOf(...): got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestShownPower(t *testing.T) {
	doing := func(a action, state string) *journal { return &journal{Act: &act{Action: a, State: state}} }
	cases := map[string]struct {
		reason string
		power  redfish.Power
		j      *journal
		want   v1alpha1.PowerState
	}{
		"Off":      {"A machine that is off.", redfish.PowerOff, nil, v1alpha1.PoweredOff},
		"Lags":     {"One that was just powered on isn't evidence of off, whatever its BMC says: it would be given back.", redfish.PowerOff, doing(actPowerOn, begun), v1alpha1.PoweringOn},
		"Reset":    {"Nor in the second half of a reset.", redfish.PowerOff, doing(actResetOn, begun), v1alpha1.PoweringOn},
		"Done":     {"An on that is over says nothing.", redfish.PowerOff, doing(actPowerOn, done), v1alpha1.PoweredOff},
		"Refused":  {"Nor does one that the BMC refused.", redfish.PowerOff, doing(actPowerOn, failed), v1alpha1.PoweredOff},
		"Off seen": {"An off is seen at once.", redfish.PowerOff, doing(actForceOff, begun), v1alpha1.PoweredOff},
		"On":       {"So is an on.", redfish.PowerOn, doing(actPowerOn, begun), v1alpha1.PoweredOn},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := shownPower(tc.power, tc.j); got != tc.want {
				t.Errorf("\n%s\nshownPower(...): got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestObservation(t *testing.T) {
	s := redfish.System{
		Identity: redfish.Identity{URI: "/redfish/v1/Systems/1", Serial: "ABC", SKU: "S"},
		Power:    redfish.PowerPoweringOn, Health: "Warning",
		Boot: redfish.Boot{Target: "Pxe", Enabled: "Once", Mode: "UEFI"},
	}
	inv := redfish.Inventory{Firmware: "1.0", Model: "GB", Manufacturer: "NV", MACs: []redfish.MAC{{Address: "00:00:00:00:00:01", Port: "p", Source: "Ports"}}}
	got := observation(s, inv, "pin", &journal{BootOnce: 2, Reset: 1, PoweredOn: t0}, v1alpha1.RedfishHostParameters{MACs: []string{"00-00-00-00-00-01", "00:00:00:00:00:02", "nonsense"}})
	want := v1alpha1.RedfishHostObservation{
		Identity: v1alpha1.HostIdentity{SystemURI: "/redfish/v1/Systems/1", Serial: "ABC", Manufacturer: "NV", Model: "GB", SKU: "S"},
		Power:    v1alpha1.PoweringOn, Health: "Warning",
		Boot: v1alpha1.BootObservation{Target: "Pxe", Enabled: "Once", Mode: "UEFI", OnceGeneration: 2, ResetGeneration: 1},
		MACs: []v1alpha1.HostMAC{{Address: "00:00:00:00:00:01", Port: "p", Source: "Ports"}, {Address: "00:00:00:00:00:02", Source: "Spec"}},
		BMC:  v1alpha1.BMCFacts{Firmware: "1.0", TLSSHA256: "pin"},
	}
	if got.PoweredOnAt == nil || !got.PoweredOnAt.Time.Equal(t0) {
		t.Errorf("poweredOnAt: got %v, want %v", got.PoweredOnAt, t0)
	}
	got.PoweredOnAt = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("observation(...): -want, +got:\n%s", diff)
	}
}

func TestKeepMACs(t *testing.T) {
	known := func(source string, addresses ...string) []v1alpha1.HostMAC {
		var out []v1alpha1.HostMAC
		for _, a := range addresses {
			out = append(out, v1alpha1.HostMAC{Address: a, Source: source})
		}

		return out
	}
	found := func(source string, addresses ...string) []redfish.MAC {
		var out []redfish.MAC
		for _, a := range addresses {
			out = append(out, redfish.MAC{Address: a, Source: source})
		}

		return out
	}
	const a, b, nics, boots = "52:54:00:00:00:0a", "52:54:00:00:00:0b", redfish.SourceEthernetInterface, redfish.SourceBootOption
	cases := map[string]struct {
		reason string
		free   bool
		known  []v1alpha1.HostMAC
		inv    redfish.Inventory
		want   []string
	}{
		"Same":      {reason: "Nothing changed.", known: known(nics, a, b), inv: redfish.Inventory{MACs: found(nics, a, b)}, want: []string{a, b}},
		"Empty":     {reason: "A BMC that starts lists nothing: a bound machine keeps its boots.", known: known(nics, a), want: []string{a}},
		"EmptyFree": {reason: "A machine that nobody has shows what there is.", free: true, known: known(nics, a)},
		"Swapped":   {reason: "A NIC that was replaced is gone.", known: known(nics, a), inv: redfish.Inventory{MACs: found(nics, b)}, want: []string{b}},
		"OneSource": {reason: "Boot options come with the first boot only.", known: append(known(nics, a), known(boots, b)...), inv: redfish.Inventory{MACs: found(nics, a)}, want: []string{a, b}},
		"Partial":   {reason: "A resource that was refused may be the NIC.", known: known(nics, a, b), inv: redfish.Inventory{Partial: true, MACs: found(nics, a)}, want: []string{a, b}},
		"Listed":    {reason: "What another place lists is one of what there was.", known: known(nics, b, a), inv: redfish.Inventory{Partial: true, MACs: found(boots, a, "52:54:00:00:00:0c")}, want: []string{b, a, "52:54:00:00:00:0c"}},
		"FreePart":  {reason: "A machine that nobody has shows what there is, as it was known.", free: true, known: known(nics, b, a), inv: redfish.Inventory{Partial: true, MACs: found(boots, a)}, want: []string{a}},
		"Spec":      {reason: "What the spec added is the spec's to take away.", known: known(sourceSpec, a)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := &v1alpha1.RedfishHost{}
			if !tc.free {
				h.Spec.ClaimRef = &v1alpha1.ClaimReference{Name: "web-1"}
			}
			h.Status.AtProvider.MACs = tc.known
			var got []string
			for _, m := range macs(keepMACs(h, tc.inv).MACs, nil) {
				got = append(got, m.Address)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nkeepMACs(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestStatusIsBounded feeds the worst that a BMC can say.
func TestStatusIsBounded(t *testing.T) {
	long := strings.Repeat("x", 128)
	s := redfish.System{Identity: redfish.Identity{URI: "/" + long, Serial: long, Model: long, Manufacturer: long, SKU: long}}
	inv := redfish.Inventory{Firmware: long}
	for i := range 1000 {
		inv.MACs = append(inv.MACs, redfish.MAC{Address: fmt.Sprintf("00:00:00:00:%02x:%02x", i/256, i%256), Port: long, Source: redfish.SourceDeviceFunction, Permanent: true})
	}
	h := &v1alpha1.RedfishHost{}
	h.Status.AtProvider = observation(s, inv, long, &journal{PoweredOn: time.Now()}, v1alpha1.RedfishHostParameters{})
	showTrouble(h, errDuplicate, trouble{"Duplicate", strings.Repeat("é", 10_000)})
	b, err := json.Marshal(h.Status)
	if err != nil || len(b) > 32<<10 {
		t.Errorf("status has %d bytes (%v), want at most 32 KiB", len(b), err)
	}
}

func TestCleaned(t *testing.T) {
	h := &v1alpha1.RedfishHost{}
	if c, ok := cleaned(h); ok {
		t.Errorf("a host that was never claimed: got %v, want none", c)
	}
	h.Spec.ClaimRef = &v1alpha1.ClaimReference{Name: "web-1"}
	c, _ := cleaned(h)
	if c.Reason != v1alpha1.ReasonReserved {
		t.Errorf("a claimed host: got %v, want Reserved", c)
	}
	h.SetConditions(c)
	h.Spec.ClaimRef = nil
	for range 2 {
		c, ok := cleaned(h)
		if !ok || c.Reason != v1alpha1.ReasonNoCleaning || c.Status != "False" {
			t.Errorf("a released host: got %v, want False NoCleaning", c)
		}
		h.SetConditions(c)
	}
}

func TestHealthy(t *testing.T) {
	for health, want := range map[string]string{"OK": "True", "Warning": "False", "Critical": "False", "": "Unknown"} {
		if got := healthy(health, nil); string(got.Status) != want || got.Reason == "" {
			t.Errorf("healthy(%q): got %v, want %s", health, got, want)
		}
	}
}
