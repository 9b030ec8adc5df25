package netboxipaddress

import (
	"context"
	"net/netip"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// customFields is what NetBox's API calls them.
const customFields = "custom_fields"

// deletedHere says by this NetBox's change log, where its token may read that, whether the record of a resource was deleted here: the same NetBox may
// be reached by several names. A log by which the record, that isn't there, is of the address is behind; one that has something else, or nothing, may
// be as long as the record is young: a copy may be further behind than that. What can't be read in it says nothing.
func (e *external) deletedHere(ctx context.Context, f former, address netip.Addr) (bool, error) {
	changes, err := e.netbox.Changes(ctx, f.record)
	if netbox.IsForbidden(err) || netbox.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if len(changes) == 0 {
		return false, e.maybeUnlogged(f, address)
	}
	last := changes[0]
	if last.Deleted() && len(last.Before) > 0 {
		return e.ownIn(last.Before, f), nil
	}
	text, _ := last.After[fieldAddress].(string)
	at, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return false, behindError{f.record, address, true}
	case at.Addr() == address && e.ownIn(last.After, f):
		return false, behindError{record: f.record, address: address}
	}
	return false, e.maybeUnlogged(f, address)
}

// ownIn says that a record, as the log has it, carries the marker of whoever had it.
func (e *external) ownIn(record map[string]any, f former) bool {
	fields := record[customFields]
	if u, large := fields.(netbox.Undecoded); large {
		fields = u.Decoded()
	}
	all, _ := fields.(map[string]any)
	return all[e.inputs.field] == f.of.marker()
}

// maybeUnlogged says, by an error, that the log may have more of a record than is shown of it.
func (e *external) maybeUnlogged(f former, address netip.Addr) error {
	if time.Now().Before(f.unlogged) {
		return behindError{f.record, address, true}
	}
	return nil
}
