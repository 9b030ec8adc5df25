package netbox

import (
	"context"
	"maps"
	"net/http"
)

// Adopt puts the marker on a record that carries none, and p with it: one PATCH, to the record as it was seen. It's read once more
// before, as only that tells NetBoxes before 4.6 what is overwritten. A release note on it goes. A record that carries a marker by now,
// or was changed, is KindConflict; KindMarkerTaken: another record has our marker; KindMarkerField: NetBox dropped it.
func (c *Client) Adopt(ctx context.Context, seen IPAddress, marker string, p Patch) (IPAddress, error) {
	k := c.idCall("adopt", http.MethodPatch, seen.ID, http.StatusOK)
	k.marks = true
	if marker == "" {
		return IPAddress{}, k.failed(KindInvalid, "it would carry no marker", nil)
	}
	now, err := c.Get(ctx, seen.ID)
	if err != nil {
		return IPAddress{}, err
	}
	switch {
	case now.Marker(c.field) == marker:
		return now, nil // An earlier try, whose answer was lost.
	case !now.Unmarked(c.field):
		return IPAddress{}, c.spared(k, "somebody else marked it meanwhile")
	case now.LastUpdated != seen.LastUpdated || now.Address != seen.Address:
		return IPAddress{}, c.spared(k, "somebody changed it meanwhile")
	}
	p.CustomFields = maps.Clone(p.CustomFields)
	if p.CustomFields == nil {
		p.CustomFields = map[string]any{}
	}
	p.CustomFields[c.field] = marker
	if c.note != "" && now.Marker(c.note) != "" {
		p.CustomFields[c.note] = nil
	}
	k.body, k.ifMatch, k.notAfter = p.body(), now.ETag, p.NotAfter
	ip, err := c.one(ctx, k)
	if err == nil && ip.Marker(c.field) != marker {
		c.forget()
		return IPAddress{}, k.failed(KindMarkerField, "NetBox took the change and left the marker out: the custom field is missing or renamed", nil)
	}
	if IsInvalid(err) || IsMarkerTaken(err) {
		c.forget()
	}
	return ip, err
}
