package redfish

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Boot is what a System's boot source is now, or will be at its next boot.
type Boot struct {
	// Target is "" when nothing is overridden or the BMC has no override.
	Target string
	// Enabled is Once, Continuous, Disabled or "" when the BMC has no override.
	Enabled string
	// Mode is UEFI, Legacy or "" when the BMC has no mode.
	Mode string
	// Targets, Enabling and Modes that the BMC says it accepts; empty where it
	// doesn't say.
	Targets, Enabling, Modes []string
	// URI that UefiHttp loads, DevicePath that UefiTarget boots, and the boot
	// option that UefiBootNext does.
	URI, DevicePath, Next string
	// Order is the persistent boot order as it will be, best first. It is empty
	// where the BMC has none, or none that is a plain list, each entry once: what
	// can't be read exactly can't be changed either.
	Order []string
	// Staged says that the machine has another order until its next boot.
	Staged bool

	paths                              []string // that UefiTarget may boot; empty: any
	hasURI, hasPath, hasNext, hasOrder bool     // the properties are there, perhaps without a value
	hasTarget                          bool
}

// Idle says whether the next boot is the normal one. BMCs rest at Disabled
// with any target, or at any state with target None.
func (b Boot) Idle() bool {
	return b.Target == "" || b.Target == TargetNone || b.Enabled == EnabledDisabled || b.Enabled == ""
}

// once says whether the next boot alone is another one.
func (b Boot) once() bool { return b.Enabled == EnabledOnce && !b.Idle() }

// takesOverride says whether the resource has an override, whose target may be null
// while there's none.
func (b Boot) takesOverride() bool {
	return b.Target != "" || len(b.Targets) > 0 || b.hasTarget && b.Enabled != ""
}

// bootBody is ComputerSystem.Boot as BMCs send it.
type bootBody struct {
	Target      property `json:"BootSourceOverrideTarget"`
	Enabled     *text    `json:"BootSourceOverrideEnabled"`
	Mode        *text    `json:"BootSourceOverrideMode"`
	Targets     texts    `json:"BootSourceOverrideTarget@Redfish.AllowableValues"`
	Enabling    texts    `json:"BootSourceOverrideEnabled@Redfish.AllowableValues"`
	Modes       texts    `json:"BootSourceOverrideMode@Redfish.AllowableValues"`
	URI         property `json:"HttpBootUri"`
	DevicePath  property `json:"UefiTargetBootSourceOverride"`
	DevicePaths texts    `json:"UefiTargetBootSourceOverride@Redfish.AllowableValues"`
	Next        property `json:"BootNext"`
	Order       sequence `json:"BootOrder"`
	BootOptions ref
}

func (b bootBody) boot() Boot {
	return Boot{
		Target: value(&b.Target.text), Enabled: value(b.Enabled), Mode: value(b.Mode),
		Targets: b.Targets, Enabling: inSchema(b.Enabling), Modes: inSchema(b.Modes),
		URI: b.URI.value(), DevicePath: b.DevicePath.value(), Next: b.Next.value(), Order: b.Order.list,
		paths: b.DevicePaths, hasURI: b.URI.there, hasPath: b.DevicePath.there, hasNext: b.Next.there,
		hasOrder: b.Order.there, hasTarget: b.Target.there,
	}
}

func value(t *text) string {
	if t == nil {
		return ""
	}

	return spelt(bounded(strings.TrimSpace(string(*t)), maxWord))
}

// spellings are the schema's words that are compared.
var spellings = []string{ //nolint:gochecknoglobals // A table.
	TargetNone, targetPxe, targetUefiHTTP, targetHdd, targetCd, targetUsb, "BiosSetup", targetUefi, targetNext,
	EnabledOnce, EnabledContinuous, EnabledDisabled, modeUEFI, "Legacy",
}

// spelt is a word as the schema spells it, where that knows it.
func spelt(word string) string {
	if i := slices.IndexFunc(spellings, func(s string) bool { return strings.EqualFold(s, word) }); i >= 0 {
		return spellings[i]
	}

	return word
}

// inSchema is a list of words as the schema spells them.
func inSchema(words []string) []string {
	var out []string
	for _, w := range words {
		out = append(out, spelt(strings.TrimSpace(w)))
	}

	return out
}

// maxOrderEntry bounds what of a boot order is shown and kept. One with a longer
// entry is none, as one that isn't a plain list.
const maxOrderEntry = 256

// property is a text that may be there without a value: null, "" and, on iLOs,
// "None" are none.
type property struct {
	there bool
	text  text
}

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (p *property) UnmarshalJSON(b []byte) error {
	*p = property{there: true}

	return p.text.UnmarshalJSON(b)
}

func (p *property) value() string {
	if p.text == TargetNone {
		return ""
	}

	return string(p.text)
}

// sequence is a list that is changed, and therefore read strictly: anything but
// strings, each once, is no list. What was dropped in reading would be dropped
// from the machine in writing.
type sequence struct {
	there bool
	list  []string
}

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (q *sequence) UnmarshalJSON(b []byte) error {
	*q = sequence{there: true}
	var list []*string
	if bytes.Equal(b, []byte("null")) || json.Unmarshal(b, &list) != nil {
		return nil //nolint:nilerr // It is no list.
	}
	out := make([]string, 0, len(list))
	for _, s := range list {
		if s == nil || *s == "" || len(*s) > maxOrderEntry || slices.Contains(out, *s) {
			return nil
		}
		out = append(out, *s)
	}
	q.list = out

	return nil
}

// joined is what a System shows together with what waits at its settings
// resource for a boot. The override is that of the resource which is written.
func joined(system, waiting Boot, onSystem bool) Boot {
	out := system
	// An override that the settings resource didn't take is on the System.
	written := waiting.takesOverride() && (!onSystem || !system.takesOverride())
	if written && (!waiting.Idle() || !system.once()) {
		out = waiting
		// Some settings resources list no targets (GH200), some others than the
		// System does, which rests at one of its own (BlueField).
		out.Targets = union(waiting.Targets, system.Targets)
		out.Enabling, out.Modes = union(waiting.Enabling, system.Enabling), union(waiting.Modes, system.Modes)
	}
	out.Order, out.hasOrder, out.Staged = system.Order, system.hasOrder || waiting.hasOrder, false
	if len(waiting.Order) > 0 {
		out.Order, out.Staged = waiting.Order, len(system.Order) > 0 && !slices.Equal(waiting.Order, system.Order)
	}

	return out
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}

	return out
}

// synonyms are vendors' own words for the schema's targets (Supermicro X10).
var synonyms = map[string][]string{targetCd: {"CD/DVD"}} //nolint:gochecknoglobals // A table.

// listed is a target as a list spells it, "" where it doesn't have it.
func listed(list []string, target string) string {
	for _, word := range append([]string{target}, synonyms[target]...) {
		if i := slices.IndexFunc(list, func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), word) }); i >= 0 {
			return list[i]
		}
	}

	return ""
}
