package redfish

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// Bounds on what a BMC may make us read.
const (
	maxMembers = 64
	maxPages   = 16
)

// NoSystems is the Field of an error of kind NotFound by a BMC that has no list of
// Systems, as those of enclosures and power distribution units.
const NoSystems = "Systems"

// Selector says which System of a BMC is meant. Every field that is set must
// fit; the zero value takes the only System that can be reset.
type Selector struct{ ID, UUID, Serial string }

// System finds the System that is meant and reads it.
func (c *Client) System(ctx context.Context, want Selector) (System, error) {
	uris, unlisted, err := c.systemURIs(ctx)
	if err != nil {
		return System{}, err
	}
	systems := make([]System, 0, len(uris))
	for _, uri := range uris {
		s, err := c.SystemAt(ctx, uri)
		if IsNotFound(err) {
			// Dangling members are normal.
			continue
		}
		if err != nil {
			return System{}, err
		}
		systems = append(systems, s)
	}
	if unlisted != nil && !slices.ContainsFunc(systems, func(s System) bool { return s.CanReset }) {
		return System{}, unlisted // Whatever these are, the machine isn't among them.
	}

	s, err := choose(systems, want)
	for _, other := range systems {
		if err == nil && other.CanReset && sameName(other, s) {
			s.Sharing++
		}
	}

	return s, err
}

// systemURIs are the Systems of a BMC: those that it lists. unlisted is why it lists
// none (404); then they are those that its managers are for, by their own word. As
// long as one manager isn't shown nothing is taken of the others': it may be the
// machine's.
func (c *Client) systemURIs(ctx context.Context) (uris []string, unlisted, err error) {
	uris, err = c.members(ctx, c.systemsPath())
	if !IsNotFound(err) {
		return uris, nil, err
	}
	if e, ok := errors.AsType[*Error](err); ok {
		e.Field = NoSystems
	}
	unlisted = err
	managers, err := c.members(ctx, c.managersPath())
	for _, m := range managers {
		var b struct {
			Links struct {
				Systems refs `json:"ManagerForServers"`
			}
		}
		if _, err = c.get(ctx, m, &b); err != nil {
			break
		}
		for _, uri := range b.Links.Systems {
			if !contains(uris, uri) && len(uris) < maxMembers {
				uris = append(uris, uri)
			}
		}
	}
	if err != nil && skippable(err) || err == nil && len(uris) == 0 {
		err = unlisted
	}
	if err != nil {
		return nil, nil, err
	}

	return uris, unlisted, nil
}

// sameName says whether two Systems of a BMC can't be told apart by what they
// call themselves: by their serials, or where neither has one by their UUIDs.
func sameName(a, b System) bool {
	if a.Serial != "" || b.Serial != "" {
		return strings.EqualFold(a.Serial, b.Serial)
	}

	return a.UUID == b.UUID
}

// Find is System with a hint: the URI that the System had last time saves
// reading all the others. It is tried in the spelling that the BMC itself uses
// for it; one that the BMC doesn't know any more, in whatever words, is dropped.
func (c *Client) Find(ctx context.Context, want Selector, hint string) (System, error) {
	if hint != "" {
		s, err := c.SystemAt(ctx, hint)
		if err == nil && want.Fits(s) {
			if lenient.SamePath(s.self, hint) {
				s.path = s.self
			}

			return s, nil
		}
		if err != nil && !skippable(err) {
			return System{}, err
		}
	}

	return c.System(ctx, want)
}

// SystemAt reads the System at a URI that an earlier System had.
func (c *Client) SystemAt(ctx context.Context, uri string) (System, error) {
	a, err := c.get(ctx, uri, nil)
	if err != nil {
		return System{}, err
	}
	c.system = uri

	s, err := decodeSystem(uri, a.body, a.etag)
	if err != nil {
		return System{}, err
	}

	return c.withPending(ctx, s)
}

// Fits says whether a System is one that the selector means.
func (w Selector) Fits(s System) bool {
	if w.ID != "" && !strings.EqualFold(w.ID, s.ID) && !strings.EqualFold(w.ID, path.Base(s.URI)) {
		return false
	}
	if w.UUID != "" && CleanUUID(w.UUID) != s.UUID {
		return false
	}

	return w.Serial == "" || strings.EqualFold(strings.TrimSpace(w.Serial), s.Serial)
}

// choose takes the one System that fits. Where any of a BMC's can be reset, only
// those count: GPU baseboards and the like can't. It refuses to guess.
func choose(systems []System, want Selector) (System, error) {
	canReset := slices.ContainsFunc(systems, func(s System) bool { return s.CanReset })
	fitting := slices.DeleteFunc(slices.Clone(systems), func(s System) bool { return !want.Fits(s) || canReset && !s.CanReset })
	switch len(fitting) {
	case 1:
		return fitting[0], nil
	case 0:
		return System{}, undecided(failf(NoSystem, "no System of the BMC fits, of %d", len(systems)), systems)
	default:
		return System{}, undecided(failf(Ambiguous, "%d Systems of the BMC fit", len(fitting)), fitting)
	}
}

// A Choice is one of several Systems, by what tells it apart.
type Choice struct {
	Identity

	Power    Power
	CanReset bool
}

// maxChoices bounds how many Systems an Error names.
const maxChoices = 16

// undecided adds to an error which Systems there are.
func undecided(err *Error, systems []System) *Error {
	err.Count = len(systems)
	for _, s := range systems[:min(len(systems), maxChoices)] {
		c := Choice{Identity: s.Identity, Power: s.Power, CanReset: s.CanReset}
		for _, field := range []*string{&c.URI, &c.ID, &c.Serial} {
			*field = clip(text(*field))
		}
		if c.ID == "" {
			c.ID = path.Base(c.URI)
		}
		err.Systems = append(err.Systems, c)
	}

	return err
}

type collectionBody struct {
	Members  refs
	NextLink ref `json:"Members@odata.nextLink"`
	Next     ref `json:"@odata.nextLink"`
}

// members lists a collection's members, page by page, each once.
func (c *Client) members(ctx context.Context, uri string) ([]string, error) {
	var out []string
	for page := 0; uri != "" && page < maxPages; page++ {
		var b collectionBody
		if _, err := c.get(ctx, uri, &b); err != nil {
			return nil, err
		}
		for _, m := range b.Members {
			if !contains(out, m) && len(out) < maxMembers {
				out = append(out, m)
			}
		}
		uri = string(b.NextLink)
		if uri == "" {
			uri = string(b.Next)
		}
	}

	return out, nil
}

func contains(uris []string, uri string) bool {
	for _, u := range uris {
		if lenient.SamePath(u, uri) {
			return true
		}
	}

	return false
}
