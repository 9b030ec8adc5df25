package redfish

import (
	"context"
	"errors"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/bios"
)

// pathRegistries is where registries are when the service root doesn't say.
const pathRegistries = "/redfish/v1/Registries"

// maxRegistries bounds how many registry files are read for the one that is
// looked for.
const maxRegistries = 4

// When a staged change is applied (schema Settings v1.3, PreferredApplyTime).
const (
	propApplyTime = "@Redfish.SettingsApplyTime"
	applyOnReset  = "OnReset"
)

// BIOS is a System's BIOS settings (Redfish schemas Bios and Settings, v1.x).
type BIOS struct {
	// Attributes that are in force.
	Attributes map[string]bios.Value
	// Staged are the attributes of the settings resource: those that come with the
	// next reset alone, or on some BMCs all of them. Nil where nothing is staged.
	Staged map[string]bios.Value
	// RegistryID names the attribute registry; "" where the BMC names none.
	RegistryID string
	// Make is what machines of one kind have in common: manufacturer, model and BIOS
	// version; "" where not all of them are told.
	Make string
	// Writable says whether there's a settings resource, without which nothing is
	// ever staged.
	Writable bool

	settings   place
	applyTimes []string
}

type biosBody struct {
	Attributes map[string]bios.Value
	Registry   text `json:"AttributeRegistry"`
	Settings   *struct {
		Object ref   `json:"SettingsObject"`
		Times  texts `json:"SupportedApplyTimes"`
	} `json:"@Redfish.Settings"`
}

// BIOS reads the BIOS settings of s, in two requests. Unsupported: the System
// has none.
func (c *Client) BIOS(ctx context.Context, s System) (BIOS, error) {
	if s.biosPath == "" {
		return BIOS{}, unsupported("Bios")
	}
	var b biosBody
	if _, err := c.get(ctx, s.biosPath, &b); err != nil {
		if IsNotFound(err) {
			return BIOS{}, unsupported("Bios")
		}

		return BIOS{}, err
	}
	out := BIOS{Attributes: b.Attributes, RegistryID: string(b.Registry)}
	if s.Manufacturer != "" && s.Model != "" && s.bios != "" {
		out.Make = strings.Join([]string{s.Manufacturer, s.Model, s.bios}, "\n")
	}
	if b.Settings == nil {
		return out, nil
	}
	at := string(b.Settings.Object)
	if at == "" {
		// AMI's BMCs publish settings without saying where.
		at = strings.TrimRight(s.biosPath, "/") + "/SD"
	}
	var staged biosBody
	a, err := c.get(ctx, at, &staged)
	switch {
	case IsNotFound(err):
		return out, nil
	case err != nil:
		return BIOS{}, err
	}
	out.Writable, out.Staged = true, staged.Attributes
	out.settings, out.applyTimes = place{path: at, etag: a.etag}, b.Settings.Times

	return out, nil
}

// StageBIOS stages changes, all in one PATCH: half of a declared map is worse
// than none. The machine takes them with its next reset.
func (c *Client) StageBIOS(ctx context.Context, s System, b BIOS, changes map[string]bios.Value) (Receipt, error) {
	if !b.Writable {
		return Receipt{}, unsupported("Bios/Settings")
	}
	facts, _, err := c.quirks(ctx, s)
	if err != nil {
		return Receipt{}, err
	}
	body := map[string]any{"Attributes": changes}
	timed := slices.Contains(b.applyTimes, applyOnReset)
	if timed {
		body[propApplyTime] = map[string]string{"ApplyTime": applyOnReset}
	}
	a, err := c.patched(ctx, b.settings, body, facts)
	if timed && statusOf(err) == http.StatusBadRequest && says(err, "PropertyUnknown") {
		// Lenovo's BMCs list apply times and refuse to be told one: what is staged
		// comes with the next reset anyway.
		delete(body, propApplyTime)
		again, againErr := c.patched(ctx, b.settings, body, facts)
		if statusOf(againErr) != http.StatusBadRequest {
			a, err = again, againErr
		}
	}
	if err != nil {
		return Receipt{}, err
	}

	return receiptOf(a), nil
}

// BIOSRegistry reads the attribute registry that b names, or the only one for a
// BIOS that there is. Where none can be read it's the zero one: the BMC has the
// last word then.
func (c *Client) BIOSRegistry(ctx context.Context, b BIOS) (bios.Registry, error) {
	members, err := c.members(ctx, c.registriesPath())
	if err != nil {
		return bios.Registry{}, missing(err)
	}
	for i, uri := range byName(members, b.RegistryID) {
		if i == maxRegistries {
			break
		}
		r, err := c.registryAt(ctx, uri)
		if err != nil || r.Known() {
			return r, err
		}
	}

	return bios.Registry{}, nil
}

// registryAt reads a registry file, and then the registry that it points to.
func (c *Client) registryAt(ctx context.Context, uri string) (bios.Registry, error) {
	var file struct {
		Location []struct {
			Language text
			URI      text `json:"Uri"`
		}
	}
	a, err := c.get(ctx, uri, &file)
	if err != nil {
		return bios.Registry{}, missing(err)
	}
	if r, err := bios.Parse(a.body); err == nil {
		return r, nil // Some BMCs have it right there.
	}
	at := ""
	for _, l := range file.Location {
		if l.URI != "" && (at == "" || strings.HasPrefix(strings.ToLower(string(l.Language)), "en")) {
			at = string(l.URI)
		}
	}
	if at == "" {
		return bios.Registry{}, nil
	}
	a, err = c.get(ctx, at, nil)
	if err != nil {
		return bios.Registry{}, missing(err)
	}
	r, _ := bios.Parse(a.body) // What isn't a registry (an archive) is none.

	return r, nil
}

// byName sorts out the members that may be the registry of that name: BMCs name
// it in the Bios resource with another version than in the collection, or not
// at all.
func byName(members []string, name string) []string {
	plain := func(s string) string {
		s = strings.ToLower(path.Base(strings.TrimRight(s, "/")))
		s, _, _ = strings.Cut(s, ".")

		return s
	}
	var exact, alike, other []string
	for _, m := range members {
		switch {
		case name != "" && strings.EqualFold(path.Base(strings.TrimRight(m, "/")), name):
			exact = append(exact, m)
		case name != "" && plain(m) == plain(name):
			alike = append(alike, m)
		case strings.HasPrefix(plain(m), "biosattributeregistry"):
			other = append(other, m)
		}
	}

	return slices.Concat(exact, alike, other)
}

// missing passes over a resource that this BMC can't show.
func missing(err error) error {
	if skippable(err) {
		return nil
	}

	return err
}

// says whether a BMC gave a message of that name as a reason, of whatever
// registry and version.
func says(err error, name string) bool {
	var e *Error

	return errors.As(err, &e) && slices.ContainsFunc(e.messages, func(id string) bool { return strings.HasSuffix(id, "."+name) })
}
