package redfishhost

import (
	"context"
	"errors"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// mediaAccount is what an image's server wants to know of whoever fetches it. It's
// read for each look and kept nowhere: the journal has the image's digest alone.
type mediaAccount struct {
	config.Account

	// missing says why there's none, though one is wanted.
	missing error
}

// String is nothing: what is printed of a look must not have it.
func (mediaAccount) String() string { return "account" }

// errNoAccounts is for a connector that was made without a reader of Secrets.
var errNoAccounts = errors.New("cannot read the Secret of an image's server: nobody reads Secrets here")

// mediaAccounts reads the Secrets of the images that are wanted. Another password
// in one is used when the image is inserted next: one that is in stays in, since
// the machine may run from it.
func (e *external) mediaAccounts(ctx context.Context, host *v1alpha1.RedfishHost, w want) map[string]mediaAccount {
	out := map[string]mediaAccount{}
	for kind, m := range w.media {
		if m.secret == "" {
			continue
		}
		a := mediaAccount{missing: errNoAccounts}
		if e.connector.Account != nil {
			a.Account, a.missing = e.connector.Account(ctx, host, m.secret)
		}
		out[kind] = a
	}

	return out
}

// secretName is that of a reference; "" where there is none.
func secretName(ref *v1alpha1.LocalReference) string {
	if ref == nil {
		return ""
	}

	return ref.Name
}
