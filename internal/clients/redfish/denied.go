package redfish

import (
	"context"
	"net/http"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// letIn says, after a 401 about a resource, whether it is that resource which is
// refused, since the BMC still takes the session or the password for another one.
// Its error is that the BMC didn't say.
func (c *Client) letIn(ctx context.Context, path string) (bool, error) {
	other := c.session
	if !c.token {
		other = c.system
	}
	if other == "" || lenient.SamePath(path, other) {
		return false, nil
	}
	known := c.known
	c.known = "" // It's the first resource's.
	a, err := c.try(ctx, http.MethodGet, other, nil, "")
	c.known = known
	var b struct {
		URI text `json:"@odata.id"`
	}
	switch {
	case err == nil: // What else answers there, such as a page to log in by, tells nothing.
		return decode(a.body, &b) == nil && (!c.token || lenient.SamePath(string(b.URI), other)), nil
	case IsUnauthorized(err), c.token && !IsUnreachable(err):
		return false, nil // BMCs may hide sessions: a log-in tells, then.
	default:
		return false, err
	}
}

// leave ends a session that another one was opened beside. It's asked for in the
// session's own name: where it has ended, its URI may be somebody else's by now.
func (c *Client) leave(ctx context.Context, session string, header map[string]string) {
	if session == "" {
		return
	}
	defer changesNothing(ctx)()
	now := c.header
	c.header = header
	_, _ = c.try(ctx, http.MethodDelete, session, nil, "")
	c.header = now
}
