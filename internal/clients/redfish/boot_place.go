package redfish

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

// futureState is AMI's own place for what comes with the next boot, which not
// all of its BMCs link.
const futureState = "/SD"

// place is a resource that shows boot settings, as it is now.
type place struct {
	path string
	etag string
	boot Boot
}

// takesOverride says whether the resource has an override target.
func (p place) takesOverride() bool { return p.boot.takesOverride() }

// settingsOf is the path of a System's settings resource; "" is none.
func settingsOf(s System, facts quirk.Facts) string {
	if facts.OverrideOn == quirk.OnSD {
		return strings.TrimRight(s.path, "/") + futureState
	}

	return s.settings
}

// places are the paths of what may take boot settings, best first.
func places(s System, facts quirk.Facts) []string {
	settings := settingsOf(s, facts)
	switch {
	case settings == "":
		return []string{s.path}
	case facts.OverrideOn == quirk.OnSystem:
		return []string{s.path, settings}
	default:
		return []string{settings, s.path}
	}
}

// withPending shows the boot settings that come with the next boot, beside
// those that are there now.
func (c *Client) withPending(ctx context.Context, s System) (System, error) {
	facts, _, err := c.quirks(ctx, s)
	if err != nil {
		return s, err
	}
	settings := settingsOf(s, facts)
	if settings == "" {
		return s, nil
	}
	p, err := c.placeAt(ctx, settings)
	if err != nil && !skippable(err) {
		return System{}, err
	}
	if err == nil {
		s.Boot = joined(s.Boot, p.boot, facts.OverrideOn == quirk.OnSystem)
	}

	return s, nil
}

// overridePlace is the settings resource where it has a target, else the
// System: some BMCs publish a settings resource that doesn't take overrides.
// With overrideOn: System it is the other way round.
func (c *Client) overridePlace(ctx context.Context, s System, facts quirk.Facts) (place, error) {
	var last place
	var lastErr error
	for i, path := range places(s, facts) {
		p, err := c.placeAt(ctx, path)
		if err == nil && p.takesOverride() || err != nil && !skippable(err) {
			return p, err
		}
		if i == 0 || err == nil {
			last, lastErr = p, err
		}
	}

	return last, lastErr
}

// showing are the places that can be read, best first.
func (c *Client) showing(ctx context.Context, s System, facts quirk.Facts) ([]place, error) {
	var out []place
	var last error
	for _, path := range places(s, facts) {
		p, err := c.placeAt(ctx, path)
		switch {
		case err == nil:
			out = append(out, p)
		case !skippable(err):
			return nil, err
		default:
			last = err
		}
	}
	if len(out) == 0 {
		return nil, last
	}

	return out, nil
}

func (c *Client) placeAt(ctx context.Context, path string) (place, error) {
	var b struct{ Boot bootBody }
	a, err := c.get(ctx, path, &b)
	if err != nil {
		return place{}, err
	}

	return place{path: path, etag: a.etag, boot: b.Boot.boot()}, nil
}

// rungOf is the word for a place.
func rungOf(s System, path string) Rung {
	if lenient.SamePath(path, s.path) {
		return RungSystem
	}

	return RungSettings
}

// patch changes a resource, whatever it answers.
func (c *Client) patch(ctx context.Context, p place, body any, facts quirk.Facts) error {
	_, err := c.patched(ctx, p, body, facts)

	return err
}

// patched climbs down the If-Match ladder: the ETag as given, a fresh one, as a
// strong one, none. Only 412 and 428 lead to the next step.
func (c *Client) patched(ctx context.Context, p place, body any, facts quirk.Facts) (answer, error) {
	if facts.IfMatch == quirk.Never {
		return c.do(ctx, http.MethodPatch, p.path, body, "")
	}
	a, err := c.do(ctx, http.MethodPatch, p.path, body, p.etag)
	if !precondition(err) {
		return a, err
	}
	fresh, readErr := c.placeAt(ctx, p.path)
	if readErr != nil {
		return answer{}, readErr
	}
	for _, etag := range preconditions(p.etag, fresh.etag) {
		if a, err = c.do(ctx, http.MethodPatch, p.path, body, etag); !precondition(err) {
			return a, err
		}
	}

	return answer{}, err
}

// preconditions are the If-Match values to try after the first was refused, in
// order; "" is without the header, "*" is for BMCs that insist on one (428) and
// have none.
func preconditions(first, fresh string) []string {
	var out []string
	for _, etag := range []string{fresh, strings.TrimPrefix(fresh, "W/"), "*", ""} {
		if !slices.Contains(out, etag) && etag != first {
			out = append(out, etag)
		}
	}

	return out
}

func precondition(err error) bool {
	s := statusOf(err)

	return s == http.StatusPreconditionFailed || s == http.StatusPreconditionRequired
}

// until reads places, a few times, until one is as wanted. It returns the first
// of them as it was last.
func (c *Client) until(ctx context.Context, paths []string, is func(Boot) bool) (Boot, bool, error) {
	var first Boot
	ok, err := c.readBack(ctx, func() (bool, error) {
		for i, path := range paths {
			now, err := c.placeAt(ctx, path)
			if err != nil && (i == 0 || !skippable(err)) {
				return false, err
			}
			if i == 0 {
				first = now.boot
			}
			if err == nil && is(now.boot) {
				return true, nil
			}
		}

		return false, nil
	})

	return first, ok, err
}

// readBack looks a few times whether a write took effect, and says whether it did.
func (c *Client) readBack(ctx context.Context, look func() (bool, error)) (bool, error) {
	for try := range readBacks {
		if try > 0 {
			if err := sleep(ctx, c.cfg.ReadBackInterval); err != nil {
				return false, err
			}
		}
		if ok, err := look(); ok || err != nil {
			return ok, err
		}
	}

	return false, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return &Error{Kind: Unreachable, what: "gave up reading back from the BMC", cause: ctx.Err()}
	}
}
