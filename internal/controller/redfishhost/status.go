package redfishhost

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// maxMACs bounds the list, and with it the status (32 KiB).
const maxMACs = 128

// maxQuirks bounds what is shown of the rows that are followed.
const maxQuirks = 8

func firstOf(names []string, n int) []string { return names[:min(n, len(names))] }

// shortened are the first of some words, each up to a limit of bytes.
func shortened(words []string, n, limit int) []string {
	var out []string
	for _, w := range firstOf(words, n) {
		out = append(out, bounded(w, limit))
	}

	return out
}

// observation translates what the BMC shows. Nothing in it changes from one
// look to the next unless the machine does.
func observation(s redfish.System, inv redfish.Inventory, pin string, j *journal, spec v1alpha1.RedfishHostParameters) v1alpha1.RedfishHostObservation {
	o := v1alpha1.RedfishHostObservation{
		Identity: v1alpha1.HostIdentity{
			SystemURI: s.URI, UUID: s.UUID, Serial: s.Serial,
			Manufacturer: or(s.Manufacturer, inv.Manufacturer), Model: or(s.Model, inv.Model), SKU: s.SKU,
		},
		Power:  shownPower(s.Power, j),
		Boot:   bootObservation(s.Boot),
		Health: s.Health, Indicator: s.Indicator, AssetTag: s.AssetTag,
		MACs: macs(inv.MACs, spec.MACs),
		BMC:  v1alpha1.BMCFacts{Firmware: inv.Firmware, TLSSHA256: pin, Quirks: firstOf(inv.Quirks, maxQuirks)},
	}
	recorded(&o, j)

	return o
}

// recorded adds what the journal says was carried out.
func recorded(o *v1alpha1.RedfishHostObservation, j *journal) {
	if j == nil {
		return
	}
	o.Boot.OnceGeneration, o.Boot.ResetGeneration, o.BMCResetGeneration = j.BootOnce, j.Reset, j.BMCReset
	o.Boot.Via, o.CredentialsRotation = j.Boot.Via, j.Rotation.shown()
	if !j.PoweredOn.IsZero() {
		at := metav1.NewTime(j.PoweredOn.Truncate(time.Second))
		o.PoweredOnAt = &at
	}
}

func or(a, b string) string {
	if a != "" {
		return a
	}

	return b
}

func powerState(p redfish.Power) v1alpha1.PowerState {
	switch p {
	case redfish.PowerOn, redfish.PowerPaused:
		return v1alpha1.PoweredOn
	case redfish.PowerOff:
		return v1alpha1.PoweredOff
	case redfish.PowerPoweringOn:
		return v1alpha1.PoweringOn
	case redfish.PowerPoweringOff:
		return v1alpha1.PoweringOff
	case redfish.PowerUnknown:
	}

	return ""
}

// shownPower is the power state, but for a machine that was just powered on and
// whose BMC still says Off, since PowerState lags: it is on its way, and isn't
// evidence of a machine that is off.
func shownPower(p redfish.Power, j *journal) v1alpha1.PowerState {
	if p == redfish.PowerOff && j.pending() && (j.Act.Action == actPowerOn || j.Act.Action == actResetOn) {
		return v1alpha1.PoweringOn
	}

	return powerState(p)
}

// macs is what the BMC lists plus what the spec adds, each once.
func macs(found []redfish.MAC, spec []string) []v1alpha1.HostMAC {
	var out []v1alpha1.HostMAC
	known := map[string]bool{}
	add := func(m v1alpha1.HostMAC) {
		if !known[m.Address] && len(out) < maxMACs {
			known[m.Address] = true
			out = append(out, m)
		}
	}
	for _, m := range found {
		add(v1alpha1.HostMAC{Address: m.Address, Port: m.Port, Source: m.Source, Permanent: m.Permanent, Enabled: m.Enabled})
	}
	for _, s := range spec {
		if mac, ok := redfish.ParseMAC(s); ok {
			add(v1alpha1.HostMAC{Address: mac, Source: sourceSpec})
		}
	}

	return out
}

// keepMACs adds to what the BMC lists what it listed before, where it lists
// nothing of that kind any more or refuses to show a part. BMCs do so while they
// start, and a bound machine would lose its boots and its address with its MACs.
// A host that nobody has shows what there is. Where a part is refused, what is
// listed all the same stays as it was known: its place may be the one refused.
func keepMACs(host *v1alpha1.RedfishHost, inv redfish.Inventory) redfish.Inventory {
	listed := func(field func(redfish.MAC) string, value string) bool {
		return slices.ContainsFunc(inv.MACs, func(m redfish.MAC) bool { return field(m) == value })
	}
	bound := host.Spec.ClaimRef != nil
	var known, missing []redfish.MAC
	for _, m := range host.Status.AtProvider.MACs {
		if m.Source == sourceSpec {
			continue
		}
		before := redfish.MAC{Address: m.Address, Port: m.Port, Source: m.Source, Permanent: m.Permanent, Enabled: m.Enabled}
		address := listed(func(m redfish.MAC) string { return m.Address }, m.Address)
		source := listed(func(m redfish.MAC) string { return m.Source }, m.Source)
		switch {
		case inv.Partial && (address || bound):
			known = append(known, before)
		case bound && !address && !source:
			missing = append(missing, before)
		}
	}
	// Of one address the first entry counts.
	inv.MACs = slices.Concat(known, inv.MACs, missing)

	return inv
}

// sourceSpec marks a MAC that the spec adds.
const sourceSpec = "Spec"

// phaseOf derives the phase from recorded facts, so that a restart in any phase
// resumes. enrolled says that the machine's identity is known and its own.
func phaseOf(host *v1alpha1.RedfishHost, enrolled, broken bool) v1alpha1.HostPhase {
	annotations := host.GetAnnotations()
	switch {
	case broken || annotations[v1alpha1.AnnotationQuarantined] != "":
		return v1alpha1.HostError
	case !enrolled:
		return v1alpha1.HostEnrolling
	case host.Spec.ForProvider.Maintenance != nil:
		return v1alpha1.HostMaintained
	case host.Spec.ClaimRef == nil:
		return v1alpha1.HostAvailable
	default:
		return boundPhase(annotations)
	}
}

// boundPhase tells how far the claim that has the host is: nothing granted yet,
// granted and not installed, or installed (or running as it was found).
func boundPhase(annotations map[string]string) v1alpha1.HostPhase {
	var granted v1alpha1.GrantRecord
	var installed v1alpha1.InstalledRecord
	hasGranted := json.Unmarshal([]byte(annotations[v1alpha1.AnnotationGranted]), &granted) == nil
	hasInstalled := json.Unmarshal([]byte(annotations[v1alpha1.AnnotationInstalled]), &installed) == nil
	switch {
	case hasInstalled && (!hasGranted || (granted.EntryUID == installed.EntryUID && granted.Generation <= installed.Generation)):
		return v1alpha1.HostProvisioned
	case hasGranted:
		return v1alpha1.HostProvisioning
	default:
		return v1alpha1.HostReserved
	}
}

func condition(t xpv2.ConditionType, status corev1.ConditionStatus, reason xpv2.ConditionReason, message string) xpv2.Condition {
	return xpv2.Condition{
		Type: t, Status: status, Reason: reason, Message: clip(message), LastTransitionTime: metav1.Now(),
	}
}

// clip bounds a message; errors of other libraries are as long as they like.
func clip(message string) string {
	const limit = 1024
	if len(message) <= limit {
		return message
	}

	return strings.ToValidUTF8(message[:limit], "") + "…"
}

// healthy is the BMC's verdict as a condition. It names those that are to blame
// as far as the last inventory tells.
func healthy(health string, inv *v1alpha1.HostInventory) xpv2.Condition {
	switch health {
	case "OK":
		return condition(v1alpha1.ConditionHealthy, corev1.ConditionTrue, "OK", "")
	case "":
		return condition(v1alpha1.ConditionHealthy, corev1.ConditionUnknown, "Unknown", "the BMC doesn't tell the machine's health")
	default:
		return condition(v1alpha1.ConditionHealthy, corev1.ConditionFalse, xpv2.ConditionReason(health), "the BMC reports the machine's health as "+health+blamed(inv)+": look into its event log")
	}
}

// blamed names the first components that aren't well.
func blamed(inv *v1alpha1.HostInventory) string {
	const most = 3
	if inv == nil || len(inv.Problems) == 0 {
		return ""
	}
	var names []string
	for _, p := range inv.Problems[:min(most, len(inv.Problems))] {
		name := p.Component + " is " + p.Health
		if p.Message != "" {
			name += " (" + p.Message + ")"
		}
		names = append(names, name)
	}
	if more := len(inv.Problems) - len(names); more > 0 {
		names = append(names, strconv.Itoa(more)+" more")
	}

	return "; " + strings.Join(names, ", ")
}

// cleaned says, of a host that was claimed once, that nobody cleaned it. A host
// that never was has no such condition.
func cleaned(host *v1alpha1.RedfishHost) (xpv2.Condition, bool) {
	if host.Spec.ClaimRef != nil {
		return condition(v1alpha1.ConditionCleaned, corev1.ConditionFalse, v1alpha1.ReasonReserved, "the host is in use"), true
	}
	if host.Status.GetCondition(v1alpha1.ConditionCleaned).Status == corev1.ConditionUnknown {
		return xpv2.Condition{}, false
	}

	return condition(v1alpha1.ConditionCleaned, corev1.ConditionFalse, v1alpha1.ReasonNoCleaning, "the host was released and not cleaned: its disks hold what the last claim left, since cleaning is None"), true
}
