package redfish

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
)

type rootBody struct {
	URI        text `json:"@odata.id"`
	Type       text `json:"@odata.type"`
	Version    text `json:"RedfishVersion"`
	UUID       text
	Systems    ref
	Managers   ref
	Registries ref

	AccountService ref
	EventService   ref
	SessionService ref

	Vendor   text
	Product  text
	Links    struct{ Sessions ref }
	Features expansion `json:"ProtocolFeaturesSupported"`
}

// start reads the service root and logs in.
func (c *Client) start(ctx context.Context) error {
	a, err := c.get(ctx, pathRoot, &c.root)
	if IsNotFound(err) {
		a, err = c.get(ctx, strings.TrimSuffix(pathRoot, "/"), &c.root) // Few insist on that spelling.
	}
	if IsGuardedRoot(err) && c.cfg.Auth == AuthBasic {
		c.useBasic() // Who says so has it sent with each request: some BMCs have nothing for strangers.
		a, err = c.get(ctx, pathRoot, &c.root)
	}
	if err == nil && !c.root.isRoot() && !isBare(a.body) {
		err = c.stranger(pathRoot, a)
	}
	if err != nil && len(c.header) == 0 {
		return err
	}
	if err == nil {
		c.rootAt = time.Now()
		err = c.login(ctx)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		e.pin = c.Pin()
	}

	return err
}

// IsGuardedRoot says whether what answers wants a password before it says what it is,
// as no service root should (DSP0266, 13.3.1), and none was sent.
func IsGuardedRoot(err error) bool {
	return KindOf(err) == Protocol && statusOf(err) == http.StatusUnauthorized
}

// isRoot says whether a service root is one, as far as BMCs fill it in: what is
// something else gets no password.
func (b rootBody) isRoot() bool {
	return b.URI != "" || b.Version != "" || b.Systems != "" || b.Managers != "" || b.Links.Sessions != "" || strings.Contains(string(b.Type), "ServiceRoot")
}

// sessionless says whether a service root that lists what there is lists nothing of
// sessions, which the standard has in each that knows any (DSP0266, 6.2).
func (b rootBody) sessionless() bool {
	return b.Systems != "" && b.Links.Sessions == "" && b.SessionService == ""
}

// isBare says whether an answer is an object that says nothing: nobody else's either.
func isBare(body []byte) bool {
	var o map[string]any

	return decode(body, &o) == nil && o != nil && len(o) == 0
}

// pathOr is where a link leads, or the usual place where a service root hasn't it.
func pathOr(link ref, usual string) string {
	if link == "" {
		return usual
	}

	return string(link)
}

func (c *Client) systemsPath() string { return pathOr(c.root.Systems, pathSystems) }

// sessionsPath is where one logs in; a root that names the service alone has them below
// that.
func (c *Client) sessionsPath() string {
	usual := pathSessions
	if c.root.SessionService != "" {
		usual = strings.TrimRight(string(c.root.SessionService), "/") + "/Sessions"
	}

	return pathOr(c.root.Links.Sessions, usual)
}

func (c *Client) managersPath() string { return pathOr(c.root.Managers, pathManagers) }

func (c *Client) registriesPath() string { return pathOr(c.root.Registries, pathRegistries) }

// managersOf are the links to a System's managers: its own, or where it names
// none, all of its BMC's.
func (c *Client) managersOf(ctx context.Context, s System) ([]string, error) {
	if len(s.managers) > 0 {
		return s.managers[:min(len(s.managers), maxMembers)], nil
	}

	return c.members(ctx, c.managersPath())
}

// ownManagers are a System's managers that are no other System's, as far as they
// say: what is set there is set for all of them. Of several that the System doesn't
// name, any may be a neighbour's: none is taken.
func (c *Client) ownManagers(ctx context.Context, s System) ([]string, error) {
	managers, err := c.managersOf(ctx, s)
	if err != nil || len(s.managers) == 0 && len(managers) > 1 {
		return []string{}, err
	}
	own := []string{}
	for _, m := range managers {
		var b struct {
			Links struct {
				Systems refs `json:"ManagerForServers"`
			}
		}
		if _, err := c.get(ctx, m, &b); err != nil && !skippable(err) {
			return nil, err
		}
		if len(b.Links.Systems) <= 1 {
			own = append(own, m)
		}
	}

	return own, nil
}

// stranger is the error that what answered isn't Redfish.
func (c *Client) stranger(path string, a answer) error {
	return &Error{Kind: Protocol, Status: a.status, ContentType: c.fence.contentType, what: "cannot get " + path + ": the answer isn't Redfish"}
}
