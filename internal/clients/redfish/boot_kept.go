package redfish

import (
	"context"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

// keptOverride is the standard's override as a setting that outlives the boot. Some
// BMCs take one for a single boot, and keep it for all of them: those of virtual
// machines know no other (sushy-tools, emulator/main.py: "we always set the boot
// device frequency to continuous"). It's used as a vendor's own way is: what was
// there before is kept, and put back after the boot.
func keptOverride() quirk.OEMBoot {
	return quirk.OEMBoot{
		Resources: []string{quirk.OfSystem}, Target: "/Boot/" + propTarget,
		With: map[string]string{"/Boot/" + propEnabled: EnabledContinuous},
	}
}

// KeptPlan is what becomes of an override for one boot that the BMC of a System at a
// URI keeps for every boot: was is what there was before, by target and enabled.
func KeptPlan(uri, target string, was []string) OEMPlan {
	return OEMPlan{Resource: uri, Was: was, At: oemPointers(keptOverride()), Set: []string{target, EnabledContinuous}}
}

// keepable says whether an override that the BMC keeps can be put back by its target
// and whether it's enabled alone. A URI of ours may stay there, where nothing uses it
// afterwards: in the place of somebody else's it may not.
func (l *ladder) keepable(p place, w setting, now Boot) bool {
	ownURI := w.uri == "" || now.URI == w.uri && (p.boot.URI == "" || p.boot.URI == w.uri)

	return l.ownMode() && !l.want.Lasting && ownURI && w.path == "" && w.next == "" && rungOf(l.s, p.path) == RungSystem
}

// OfOverride says whether a plan is about the override itself.
func (p OEMPlan) OfOverride() bool {
	return len(p.At) > 0 && p.At[0] == keptOverride().Target && len(p.Set) == len(p.At)
}

// ineffective is the error of an override for one boot that the BMC accepted, and
// shows as now. One that is for every boot instead isn't left behind: it's planned
// with what was there before, or taken back at once.
func (l *ladder) ineffective(ctx context.Context, p place, w setting, now Boot) error {
	err := noBootEffect(w.missing(now, l.facts))
	lasts := w.enabled == EnabledOnce && now.Enabled == EnabledContinuous && !now.Idle()
	if !lasts || now.Target == p.boot.Target && now.Enabled == p.boot.Enabled && w.missing(now, l.facts) != propEnabled {
		return err
	}
	was := []string{p.boot.Target, p.boot.Enabled}
	if was[0] == "" {
		was[0] = TargetNone
	}
	if was[1] == "" {
		was[1] = EnabledDisabled
	}
	if w.missing(now, l.facts) == propEnabled && l.keepable(p, w, now) {
		l.kept = &OEMPlan{Resource: l.s.path, Was: was, At: oemPointers(keptOverride()), Set: []string{now.Target, now.Enabled}}

		return unoffered(propEnabled+" "+w.enabled, nil)
	}
	boot := map[string]string{propTarget: was[0], propEnabled: was[1]}
	if w.uri != "" && p.boot.URI != "" {
		boot[propURI] = p.boot.URI
	}
	back := map[string]any{"Boot": boot}
	if fresh, readErr := l.c.placeAt(ctx, p.path); readErr == nil {
		_ = l.c.patch(ctx, fresh, back, l.facts) // What it shows then is what the caller sees.
	}

	return err
}
