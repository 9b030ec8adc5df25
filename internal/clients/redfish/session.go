package redfish

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// login opens a session or sets up basic authentication.
func (c *Client) login(ctx context.Context) error {
	if c.cfg.Auth == AuthBasic {
		c.useBasic()

		return nil
	}
	err := c.openSession(ctx)
	if err == nil || c.cfg.Auth == AuthSession || !withoutSessions(err) && !sessionsFull(err) {
		return err
	}
	c.useBasic()

	return nil
}

// openSession logs in. Its URI is in the answer's Location (DSP0266, 13.3.4),
// or, with BMCs that forget that, in its body.
func (c *Client) openSession(ctx context.Context) error {
	path := string(c.root.Links.Sessions)
	if path == "" {
		path = pathSessions
	}
	a, err := c.try(ctx, http.MethodPost, path, map[string]string{"UserName": c.cfg.Username, "Password": c.cfg.Password}, "")
	if err != nil {
		return err
	}
	token := a.header.Get("X-Auth-Token")
	if token == "" {
		return failf(Protocol, "cannot open a session on the BMC: it answered without a token")
	}
	var b struct {
		URI text `json:"@odata.id"`
	}
	_ = decode(a.body, &b) // An empty body is none of ours to complain of.
	c.token, c.session = true, string(b.URI)
	if u, err := url.Parse(a.header.Get("Location")); err == nil && u.Path != "" {
		c.session = u.RequestURI()
	}
	c.header = map[string]string{"X-Auth-Token": token}

	return nil
}

func (c *Client) useBasic() {
	pair := base64.StdEncoding.EncodeToString([]byte(c.cfg.Username + ":" + c.cfg.Password))
	c.header = map[string]string{"Authorization": "Basic " + pair}
}

// withoutSessions says whether err means that the BMC has no sessions, and not
// that it refused ours: after a 401, a 403, or the 400 that some vendors answer
// instead, a second try in another way would count as a second wrong password.
func withoutSessions(err error) bool {
	if KindOf(err) == Protocol {
		return true
	}

	return slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented}, statusOf(err))
}

// full are the ends of the MessageIds by which vendors say that no session is
// left: the standard's, the standard's of other collections, and iDRAC's own.
var full = []string{".SessionLimitExceeded", ".CreateLimitReachedForResource", ".RAC0218"} //nolint:gochecknoglobals // A table.

// sessionsFull says whether the BMC has no session left. Each kill of the
// provider leaves one behind until the BMC's own timeout, which may be half an
// hour away: until then basic authentication needs none. The BMC didn't refuse
// the password, so asking in this way isn't a second try with it; a 401 always
// is a refusal, whatever stands beside it.
func sessionsFull(err error) bool {
	var e *Error
	if !errors.As(err, &e) || e.Status == http.StatusUnauthorized {
		return false
	}

	return slices.ContainsFunc(e.messages, func(id string) bool {
		return slices.ContainsFunc(full, func(end string) bool { return strings.HasSuffix(id, end) })
	})
}

// Close ends the session and the connections. It is safe to call twice.
func (c *Client) Close(ctx context.Context) error {
	defer c.http.CloseIdleConnections()
	if c.session == "" {
		return nil
	}
	session := c.session
	c.session = ""
	_, err := c.try(ctx, http.MethodDelete, session, nil, "")
	c.token, c.header = false, nil
	if IsNotFound(err) || IsUnauthorized(err) {
		return nil
	}

	return err
}
