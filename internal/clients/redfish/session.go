package redfish

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"
)

// login opens a session or sets up basic authentication.
func (c *Client) login(ctx context.Context) error {
	if c.cfg.Auth == AuthBasic {
		c.useBasic()

		return nil
	}
	token, err := c.createSession(ctx)
	if err == nil && token.Token != "" {
		c.session = token.Session
		c.header = map[string]string{"X-Auth-Token": token.Token}

		return nil
	}
	if err == nil {
		err = failf(Protocol, "cannot open a session on the BMC: it answered without a token")
	}
	if c.cfg.Auth == AuthSession || !withoutSessions(err) && !sessionsFull(err) {
		return err
	}
	c.useBasic()

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

// sessionsFull says whether the BMC has no session left. Each kill of the
// provider leaves one behind until the BMC's own timeout, which may be half an
// hour away: until then basic authentication needs none. The BMC didn't refuse
// the password, so asking in this way isn't a second try with it.
func sessionsFull(err error) bool {
	var e *Error

	return errors.As(err, &e) && e.Status == http.StatusServiceUnavailable && strings.HasSuffix(e.MessageID, ".SessionLimitExceeded")
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
	c.header = nil
	if IsNotFound(err) || IsUnauthorized(err) {
		return nil
	}

	return err
}
