package gate

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// doubt is how long a refusal is remembered that may be something else: a BMC
// without a free session says so in words of its own, and with the same status.
// Six tries an hour lock fewer accounts than one at each look, and a session
// that became free is found.
const doubt = 10 * time.Minute

// refusal is what a BMC answered to a version of a credential.
type refusal struct {
	err error
	// until is how long that is believed; zero: for as long as the process lives.
	until time.Time
}

// refuses says whether a BMC refused the credentials, so that they aren't to be
// sent again.
func refuses(err error) bool {
	e, ok := errors.AsType[*redfish.Error](err)

	return ok && (e.Kind == redfish.Unauthorized || e.Kind == redfish.PasswordChangeRequired && e.Status == http.StatusUnauthorized)
}

// refusal is what is remembered of a version of a credential, or nil. The caller
// has the turn.
func (g *gate) refusal(version string, now time.Time) error {
	r, ok := g.refused[version]
	if ok && !r.until.IsZero() && !now.Before(r.until) {
		delete(g.refused, version)

		return nil
	}

	return r.err
}

// refuse remembers that a version of a credential was refused. The caller has
// the turn.
func (g *gate) refuse(ctx context.Context, version string, err error, now time.Time) {
	g.drop(ctx)
	// Only the newest version of a credential is worth remembering, and of
	// different credentials for one address (a host of its own Secret beside
	// the pool's) a few.
	const limit = 16
	if len(g.refused) >= limit {
		clear(g.refused)
	}
	r := refusal{err: err}
	if !redfish.IsPlainRefusal(err) {
		r.until = now.Add(doubt)
	}
	g.refused[version] = r
}
