package netbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// refusedAddress is one that no NetBox makes a record of: it takes no address with the mask /0 (515). It looks at that after custom fields, of which
// one that is unique and taken is refused before (model IPAddress, clean(), 4.2 to 4.7).
const refusedAddress = "192.0.2.1/0"

// Hides says whether NetBox has a record with a marker that the token isn't shown, by requests that can't make one: to NetBox's reads such a record is
// as one that isn't there. Nobodys is a marker like it that no record has. Fields are custom fields that a record is to have, as some may be required.
//
// It's false also where that can't be told: of a connection that may not write, and where another rule always comes first. An error is that NetBox
// said neither, or made a record all the same.
func (c *Client) Hides(ctx context.Context, marker, nobodys string, fields map[string]any) (bool, error) {
	if c.readOnly {
		return false, nil
	}
	tries := []map[string]any{nil}
	if len(fields) > 0 { // Second, as one of them may be unique, and taken by the hidden record, too.
		tries = append(tries, fields)
	}
	for _, fields := range tries {
		if err := c.refused(ctx, marker, fields); !IsMarkerTaken(err) {
			return false, unlessRefused(err)
		}
		// A rule of the record as a whole may be any. It's the marker's where it leaves another one alone.
		err := c.refused(ctx, nobodys, fields)
		if e, ok := errors.AsType[*Error](err); ok && e.Kind == KindInvalid && slices.Contains(e.Fields, "address") {
			return true, nil
		}
		if err := unlessRefused(err); err != nil {
			return false, err
		}
	}
	return false, nil
}

// unlessRefused is nil of an error by which NetBox says no.
func unlessRefused(err error) error {
	if IsInvalid(err) || IsMarkerTaken(err) || IsForbidden(err) {
		return nil
	}
	return err
}

// refused has NetBox refuse a record with a marker, and returns as what. Should it ever make one, that is deleted again, and told as KindConflict.
func (c *Client) refused(ctx context.Context, marker string, fields map[string]any) error {
	k := call{
		op: "look for a hidden record with marker", subject: marker, method: http.MethodPost, path: addressesPath, want: http.StatusCreated,
		body: Request{Marker: marker, CustomFields: fields}.body(c.field, refusedAddress, 0), probe: true,
	}
	a, err := c.do(ctx, k)
	if err != nil {
		return err
	}
	ip, err := decodeIPAddress(a.body)
	if err != nil {
		return k.failed(KindUnexpected, "its answer isn't an address", err)
	}
	reason := fmt.Sprintf("NetBox made record number %d of an address that none takes", ip.ID)
	if err := c.delete(ctx, ip); err != nil {
		return k.failed(KindConflict, reason+", and it couldn't be deleted again; delete it by hand", err)
	}
	return k.failed(KindConflict, reason+"; it was deleted again", nil)
}
