package gate

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// doubts are how long a refusal is remembered that may be something else, of the
// first one, the second, and all others: a BMC without a free session says so in words
// of its own, and with the same status. A session that became free is found, and few
// accounts are locked by that.
var doubts = []time.Duration{10 * time.Minute, 30 * time.Minute, 2 * time.Hour} //nolint:gochecknoglobals // A table.

// Doubt is how long a refusal that may be something else is believed, when there were
// so many before it.
func Doubt(before int) time.Duration { return doubts[min(max(before, 0), len(doubts)-1)] }

// refusal is what a BMC answered to a version of a credential.
type refusal struct {
	err error
	// until is how long that is believed; zero: for as long as the process lives.
	until time.Time
	// times is how often it was refused so that it may be something else.
	times int
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
		return nil // How often that was is remembered.
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
	r := refusal{times: g.refused[version].times}
	if len(g.refused) >= limit {
		clear(g.refused)
	}
	r.err = err
	if !redfish.IsPlainRefusal(err) && redfish.IsUnauthorized(err) {
		r.until = now.Add(Doubt(r.times))
		r.times++
	}
	g.refused[version] = r
}
