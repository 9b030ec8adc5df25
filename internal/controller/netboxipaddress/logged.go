package netboxipaddress

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// customFields is what NetBox's API calls them.
const customFields = "custom_fields"

// deletedHere says by this NetBox's change log, where its token may read that, whether the record of a resource was deleted here: the same NetBox may
// be reached by several names. A log by which the record, that isn't there, is of the address is behind; one that has something else, or nothing, may
// be as long as the record is young: a copy may be further behind than that. One that stays so never gets to know of it, as where somebody deleted the
// record past NetBox's models. What can't be read in it says nothing.
func (e *external) deletedHere(ctx context.Context, f former, address netip.Addr, vrf *netbox.VRF) (bool, error) {
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
	behind := types.UID(fmt.Sprintf("%s %d", e.hostKey(address, vrf), f.record))
	text, _ := last.After[fieldAddress].(string)
	at, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return false, e.maybeUnread(f, address, behind)
	case at.Addr() == address && e.ownIn(last.After, f):
		if e.connector.catchesUp(behind) {
			return false, behindError{record: f.record, address: address}
		}
		return true, nil
	}
	return false, e.maybeUnlogged(f, address)
}

// ownIn says that a record, as the log has it, carries the marker of whoever had it, in this provider config's field: others are anybody's to write.
func (e *external) ownIn(record map[string]any, f former) bool {
	fields := record[customFields]
	if u, large := fields.(netbox.Undecoded); large {
		fields = u.Decoded()
	}
	all, _ := fields.(map[string]any)
	return f.marks(all[e.inputs.field])
}

// maybeUnlogged says, by an error, that the log may have more of a record than is shown of it.
func (e *external) maybeUnlogged(f former, address netip.Addr) error {
	if time.Now().Before(f.unlogged) {
		return behindError{f.record, address, true}
	}
	return nil
}

// maybeUnread is that for a log whose last word of a record can't be read: what it says soon may be read.
func (e *external) maybeUnread(f former, address netip.Addr, what types.UID) error {
	if e.connector.catchesUp(what) {
		return behindError{f.record, address, true}
	}
	return nil
}

// catchesUp says of a log that was found to be behind that it may get to know yet.
func (c *Connector) catchesUp(what types.UID) bool {
	now := time.Now()
	since, seen := c.behind.get(what)
	if !seen || now.Sub(since) > noteFor {
		since = now
		c.behind.put(what, since)
	}
	return now.Sub(since) < c.Hidden
}

// carries says that a former's marker is among the custom fields of a record that is there. No more than that it has that record may be concluded:
// tenants write custom fields, too.
func (f former) carries(fields map[string]any) bool {
	if f.field != "" {
		return f.marks(fields[f.field])
	}
	for _, v := range fields {
		if f.marks(v) {
			return true
		}
	}
	return false
}

// owns says that a record is a former's, as far as that tells.
func (f former) owns(is netbox.IPAddress) bool {
	return is.ID == f.record && f.carries(is.CustomFields)
}

// isAt says that a record has an address of a table.
func isAt(is netbox.IPAddress, address netip.Addr, vrf *netbox.VRF) bool {
	return is.Address.Addr() == address && tableRef(is.VRF) == tableRef(vrf)
}

// marks says that a custom field has a former's marker, or the one that it had before it was restored.
func (f former) marks(v any) bool { return v == f.of.marker() || f.marker != "" && v == f.marker }
