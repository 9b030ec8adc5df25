package redfish

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

// Values of the override's properties that this package writes.
const (
	TargetNone = "None"
	// TargetBootOption stands for one of the machine's boot options. It is no
	// word of the schema.
	TargetBootOption  = "BootOption"
	EnabledOnce       = "Once"
	EnabledContinuous = "Continuous"
	EnabledDisabled   = "Disabled"

	modeUEFI       = "UEFI"
	targetPxe      = "Pxe"
	targetUefiHTTP = "UefiHttp"
	targetHdd      = "Hdd"
	targetCd       = "Cd"
	targetUsb      = "Usb"
	targetUefi     = "UefiTarget"
	targetNext     = "UefiBootNext"
)

// Properties of ComputerSystem.Boot (schema ComputerSystem 1.5 and later; Mode
// 1.1, HttpBootUri 1.9).
const (
	propTarget  = "BootSourceOverrideTarget"
	propEnabled = "BootSourceOverrideEnabled"
	propMode    = "BootSourceOverrideMode"
	propURI     = "HttpBootUri"
	propPath    = "UefiTargetBootSourceOverride"
	propNext    = "BootNext"
	propOrder   = "BootOrder"
)

// readBacks is how often a write is looked for before it counts as lost.
const readBacks = 3

// A BootSource is what is to be booted.
type BootSource struct {
	// Target in the schema's words (Pxe, UefiHttp, Hdd, Cd, BiosSetup, UefiTarget), or TargetBootOption.
	Target string
	// Mode is UEFI or Legacy; "" is the machine's own.
	Mode string
	// URI that UefiHttp loads; "" is what DHCP says.
	URI string
	// DevicePath that UefiTarget boots.
	DevicePath string
	// Option that TargetBootOption boots: a reference, id, alias or display name
	// of a boot option, or a MAC address that only one has.
	Option string
	// Lasting is for every boot; otherwise it's for the next one alone.
	Lasting bool
}

// SetBootOnce makes the next boot of s go to target, by what doesn't outlive it.
func (c *Client) SetBootOnce(ctx context.Context, s System, target string) error {
	_, err := c.SetBoot(ctx, s, BootSource{Target: target})

	return err
}

// ClearBoot takes an override away from the resource that it was written to; ""
// is the one that takes overrides. Target None alone leaves it enabled on some
// BMCs, Enabled Disabled alone leaves the target on others.
func (c *Client) ClearBoot(ctx context.Context, s System, resource string) error {
	facts, _, err := c.quirks(ctx, s)
	if err != nil {
		return err
	}
	p, err := c.clearPlace(ctx, s, resource, facts)
	if err != nil {
		return err
	}
	if p.boot.Idle() {
		return nil
	}
	w := setting{target: TargetNone, enabled: EnabledDisabled}
	if err := c.write(ctx, p, w, facts); err != nil {
		return err
	}
	now, ok, err := c.until(ctx, []string{p.path}, Boot.Idle)
	if err != nil || ok {
		return err
	}

	return noBootEffect(w.missing(now, facts))
}

// clearPlace is the resource that an override is taken away from.
func (c *Client) clearPlace(ctx context.Context, s System, resource string, facts quirk.Facts) (place, error) {
	ours := slices.ContainsFunc(places(s, facts), func(path string) bool { return lenient.SamePath(path, resource) })
	if !ours {
		return c.overridePlace(ctx, s, facts)
	}

	return c.placeAt(ctx, resource)
}

// setting is what the override's properties are to be; "" isn't written.
type setting struct {
	target, enabled string
	// mode that must be, whatever the machine's own is.
	mode            string
	uri, path, next string
}

// write sends an override. A BMC that refuses it with the mode that is there, or
// without (some want it elsewhere, some make a BIOS job of it, some want it each
// time), is asked the other way.
func (c *Client) write(ctx context.Context, p place, w setting, facts quirk.Facts) error {
	err := c.patch(ctx, p, payload(p.boot, w, facts), facts)
	if statusOf(err) != http.StatusBadRequest || p.boot.Mode == "" || facts.Mode == quirk.Never || w.otherMode(p.boot) {
		return err
	}
	otherwise := facts
	otherwise.Mode = quirk.IfPresent
	if facts.Mode == quirk.IfPresent {
		otherwise.Mode = quirk.Never
	}
	if again := c.patch(ctx, p, payload(p.boot, w, otherwise), facts); statusOf(again) != http.StatusBadRequest {
		return again
	}

	return err
}

// payload is the PATCH for an override. It is pure.
func payload(now Boot, w setting, facts quirk.Facts) map[string]any {
	boot := map[string]string{propTarget: w.target, propEnabled: w.enabled}
	for name, value := range map[string]string{propURI: w.uri, propPath: w.path, propNext: w.next} {
		if value != "" {
			boot[name] = value
		}
	}
	switch {
	case w.otherMode(now):
		boot[propMode] = w.mode
	case now.Mode != "" && facts.Mode == quirk.IfPresent:
		boot[propMode] = now.Mode
	}

	return map[string]any{"Boot": boot}
}

// otherMode says whether the machine must be in another mode than it is in.
func (w setting) otherMode(now Boot) bool {
	return w.mode != "" && now.Mode != "" && !strings.EqualFold(w.mode, now.Mode)
}

// reached says whether an override is as wanted. Once may be used up between
// write and read by a boot, but not while it is this package that boots.
func (w setting) reached(now Boot, facts quirk.Facts) bool { return w.missing(now, facts) == "" }

// missing is the first property that isn't as wanted, "" where all are.
func (w setting) missing(now Boot, facts quirk.Facts) string {
	switch {
	case w.enabled == EnabledDisabled && now.Idle():
		return ""
	case !strings.EqualFold(now.Target, w.target) && (facts.StoredAs[w.target] == "" || !strings.EqualFold(now.Target, facts.StoredAs[w.target])):
		return propTarget
	case now.Enabled != w.enabled:
		return propEnabled
	case w.uri != "" && now.URI != w.uri:
		return propURI
	case w.path != "" && now.DevicePath != w.path:
		return propPath
	case w.next != "" && now.Next != w.next:
		return propNext
	default:
		return ""
	}
}

// noBootEffect is noEffect of a boot setting.
func noBootEffect(property string) error { return noEffect("Boot." + property) }

// noEffect is the error of a BMC that said yes to a change and didn't make it.
func noEffect(field string) error {
	err := failf(NoEffect, "the BMC accepted a change of %s and didn't make it", field)
	err.Field = field

	return err
}

// maxOffers bounds what is told of what a BMC offers.
const maxOffers = 16

// unoffered is the error of a BMC that doesn't offer a value, with those that it does.
func unoffered(field string, offers []string) *Error {
	err := failf(Unsupported, "the BMC doesn't offer %s", field)
	err.Field = field
	for _, o := range offers {
		word := offered(o)
		if word != "" && word != TargetNone && !slices.Contains(err.Offers, word) && len(err.Offers) < maxOffers {
			err.Offers = append(err.Offers, word)
		}
	}

	return err
}
