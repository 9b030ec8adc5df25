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

// login opens a session or sets up basic authentication. The latter at once where
// the BMC has no sessions: it may want to know who asks before it says that there's
// no such thing (sushy-tools behind its password file), and a 401 for a log-in is a
// refusal.
func (c *Client) login(ctx context.Context) error {
	if c.cfg.Auth == AuthBasic || c.cfg.Auth != AuthSession && c.root.sessionless() {
		c.useBasic()

		return nil
	}
	err := c.openSession(ctx)
	none := sessionsFull(err)
	switch {
	case c.cfg.Auth == AuthSession && none:
		return fullError(err)
	case err == nil, c.cfg.Auth == AuthSession, !none && !withoutSessions(err):
		return err
	}
	c.useBasic()
	c.leave(ctx, c.stray, c.header) // One that was opened all the same stands in others' way.
	c.stray = ""

	return nil
}

// openSession logs in. Its URI is in the answer's Location (DSP0266, 13.3.4),
// or, with BMCs that forget that, in its body.
func (c *Client) openSession(ctx context.Context) error {
	a, err := c.try(ctx, http.MethodPost, c.sessionsPath(), map[string]string{"UserName": c.cfg.Username, "Password": c.cfg.Password}, "")
	if err != nil {
		return refusedLogin(err)
	}
	token := a.header.Get("X-Auth-Token")
	if token == "" {
		c.stray = localPath(a.header.Get("Location"))

		return failf(Protocol, "cannot open a session on the BMC: it answered without a token")
	}
	var b struct {
		errorBody

		URI text `json:"@odata.id"`
	}
	_ = decode(a.body, &b) // An empty body is none of ours to complain of.
	c.token, c.session, c.initial = true, string(b.URI), false
	said := slices.Concat(b.Infos, b.Error.Infos)
	for _, info := range said {
		c.initial = c.initial || isNewPassword(string(info.ID))
	}
	c.account = accountNamed(said)
	if u, err := url.Parse(a.header.Get("Location")); err == nil && strings.HasPrefix(u.Path, "/") {
		c.session = u.RequestURI()
	}
	c.header = map[string]string{"X-Auth-Token": token}

	return nil
}

// refusedLogin is err, or, where the BMC refused the password in other words than
// a 401, that it did: who tries it again at each look has the account locked. Too
// many requests and a BMC that is busy, or has no session left, are no refusals,
// nor are the answers of one that has no sessions.
func refusedLogin(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Kind != Refused && e.Kind != Forbidden || e.Status < http.StatusBadRequest || e.Status >= http.StatusInternalServerError {
		return err
	}
	if withoutSessions(err) || saysAny(e, full) || saysAny(e, busy) || slices.Contains([]int{http.StatusRequestTimeout, http.StatusTooEarly}, e.Status) {
		return err
	}
	refused := *e
	refused.Kind = Unauthorized

	return &refused
}

// busy are the ends of the standard's MessageIds of a BMC that is busy with itself.
var busy = []string{".ServiceTemporarilyUnavailable", ".ServiceInUnknownState", ".ServiceShuttingDown", ".ResourceInUse", ".ResourceInStandby"} //nolint:gochecknoglobals // A table.

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

	return saysAny(e, full)
}

// saysAny says whether one of an error's MessageIds has one of those ends.
func saysAny(e *Error, ends []string) bool {
	return slices.ContainsFunc(e.messages, func(id string) bool {
		return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(id, end) })
	})
}

// fullError is err, of which sessionsFull is true, as an error of its own kind.
func fullError(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	full := *e
	full.Kind = SessionsFull

	return &full
}

// isNewPassword says whether a MessageId is the standard's for a password that
// must be changed.
func isNewPassword(id string) bool { return strings.HasSuffix(id, ".PasswordChangeRequired") }

// wantsNewPassword says whether a BMC refuses everything until the password is
// changed. No other login helps: this one is right.
func wantsNewPassword(e *Error) bool {
	return (e.Status == http.StatusForbidden || e.Status == http.StatusUnauthorized) && slices.ContainsFunc(e.messages, isNewPassword)
}

// explained is err, where it's a bare 403 of a BMC that has said at the login, or
// says by where it sends us, that the password must be changed first.
func (c *Client) explained(err error) error {
	e, ok := errors.AsType[*Error](err)
	if ok && e.Kind == Forbidden && (c.initial || c.token && isAccount(c.fence.location)) {
		e.Kind = PasswordChangeRequired
	}
	if ok && e.Kind == PasswordChangeRequired {
		c.learnAccount(e.account)
	}

	return err
}

// learnAccount takes down which account's password must be changed, as the
// answer's message has it, or where it sends us.
func (c *Client) learnAccount(named string) {
	if named == "" && isAccount(c.fence.location) {
		named = localPath(c.fence.location)
	}
	if named != "" {
		c.account = named
	}
}

// isAccount says whether a Location is an account's.
func isAccount(location string) bool {
	u, err := url.Parse(location)

	return err == nil && strings.Contains(strings.ToLower(u.Path), "/accountservice/accounts/")
}

// Close ends the session and the connections. It is safe to call twice.
func (c *Client) Close(ctx context.Context) error {
	defer c.http.CloseIdleConnections()
	if c.session == "" {
		return nil
	}
	defer changesNothing(ctx)()
	session := c.session
	c.session = ""
	_, err := c.try(ctx, http.MethodDelete, session, nil, "")
	c.token, c.header = false, nil
	if IsNotFound(err) || IsUnauthorized(err) {
		return nil
	}

	return err
}
