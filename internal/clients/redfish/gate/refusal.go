package gate

import (
	"context"
	"errors"
	"net/http"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// refuses says whether a BMC refused the credentials, so that they aren't to be
// sent again.
func refuses(err error) bool {
	e, ok := errors.AsType[*redfish.Error](err)

	return ok && (e.Kind == redfish.Unauthorized || e.Kind == redfish.PasswordChangeRequired && e.Status == http.StatusUnauthorized)
}

// refuse remembers that a version of a credential was refused. The caller has
// the turn.
func (g *gate) refuse(ctx context.Context, version string, err error) {
	g.drop(ctx)
	// Only the newest version of a credential is worth remembering, and of
	// different credentials for one address (a host of its own Secret beside
	// the pool's) a few.
	const limit = 16
	if len(g.refused) >= limit {
		clear(g.refused)
	}
	g.refused[version] = err
}
