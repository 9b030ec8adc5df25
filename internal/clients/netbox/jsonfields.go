package netbox

import (
	"context"
	"time"
)

// jsonTTL is how long it's believed which custom fields are of type json: a field's type can't be changed in NetBox, but one can be made anew.
const jsonTTL = 10 * time.Minute

// jsonFields remembers them; the slot lets one caller at a time read them. Whoever has it may read and write the rest.
type jsonFields struct {
	slot  slot
	until time.Time
	names map[string]bool
}

// JSONFields are the custom fields of addresses that are of type json, by their names, as far as the token may read that: a token that may not knows
// of none. Of those alone the order of a list says something; NetBox gives lists of selections and objects back in an order of its own.
func (c *Client) JSONFields(ctx context.Context) (map[string]bool, error) {
	release, err := c.json.slot.hold(ctx, call{op: "list the custom fields of addresses"})
	if err != nil {
		return nil, err
	}
	defer release()
	if c.now().Before(c.json.until) {
		return c.json.names, nil
	}
	known, err := c.addressFields(ctx)
	if err != nil && !IsForbidden(err) {
		return nil, err
	}
	names := map[string]bool{}
	for name, f := range known {
		if f.Type == "json" {
			names[name] = true
		}
	}
	c.json.names, c.json.until = names, c.now().Add(jsonTTL)
	return names, nil
}
