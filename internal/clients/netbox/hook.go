package netbox

import (
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"
)

// SignatureHeader holds the hex HMAC-SHA512 of a delivery's raw body.
const SignatureHeader = "X-Hook-Signature"

// Signed says whether a delivery's body was signed with a webhook's secret. It takes as long for a wrong signature as for a right one.
func Signed(body, secret []byte, signature string) bool {
	got, err := hex.DecodeString(strings.TrimSpace(signature))
	if err != nil || len(secret) == 0 {
		return false
	}
	m := hmac.New(sha512.New, secret)
	_, _ = m.Write(body)
	return hmac.Equal(got, m.Sum(nil))
}

// A Hook is what one delivery of a webhook says (4.2 to 4.7). It's only a hint: what it says may be old, or said again.
type Hook struct {
	// Event is created, updated or deleted; later NetBoxes may have others.
	Event string
	// ID of the address.
	ID int64
	// LastUpdated is the record's own, at that moment.
	LastUpdated string
	// Address of the record, where the delivery says it.
	Address netip.Addr
	// Markers that the record carries, and carried before the event, without repetition.
	Markers []string
}

const (
	// longestEvent and longestTime are more than any NetBox's words for these have, in bytes: what is longer isn't a delivery of one.
	longestEvent, longestTime = 32, 64
	// longestMarker is more than any marker of ours has: a cluster's id, a namespace, a name and a UID.
	longestMarker = 512
)

// ErrOtherObject says that a delivery is about something else than an address.
var ErrOtherObject = errors.New("the delivery isn't about an address")

// DecodeHook reads a delivery; field is the marker's. The object type is called model before 4.4, and both in 4.4.
func DecodeHook(b []byte, field string) (Hook, error) {
	type record struct {
		ID           id     `json:"id"`
		LastUpdated  text   `json:"last_updated"`
		Address      text   `json:"address"`
		CustomFields values `json:"custom_fields"`
	}
	var w struct {
		Event      text   `json:"event"`
		ObjectType text   `json:"object_type"`
		Model      text   `json:"model"`
		Data       record `json:"data"`
		Snapshots  struct {
			Before record `json:"prechange"`
			After  record `json:"postchange"`
		} `json:"snapshots"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return Hook{}, errors.New("the delivery isn't an object")
	}
	if w.ObjectType != typeAddress && (w.ObjectType != "" || w.Model != "ipaddress") {
		return Hook{}, ErrOtherObject
	}
	if w.Data.ID == 0 || w.Event == "" {
		return Hook{}, errors.New("the delivery says neither which address it is about nor what happened")
	}
	if len(w.Event) > longestEvent || len(w.Data.LastUpdated) > longestTime {
		return Hook{}, errors.New("the delivery says what happened, or when, in more words than NetBox has")
	}
	h := Hook{Event: string(w.Event), ID: int64(w.Data.ID), LastUpdated: string(w.Data.LastUpdated)}
	if p, err := netip.ParsePrefix(string(w.Data.Address)); err == nil {
		h.Address = p.Addr()
	}
	for _, r := range []record{w.Data, w.Snapshots.Before, w.Snapshots.After} {
		m := IPAddress{CustomFields: r.CustomFields}.Marker(field)
		if m != "" && len(m) <= longestMarker && !slices.Contains(h.Markers, m) {
			h.Markers = append(h.Markers, m)
		}
	}
	return h, nil
}

// News says whether a delivery may tell something that isn't known yet, and is about a record of ours: one that this connection has
// seen, or whose marker begins as ours do. Where not, nothing need be asked.
func (c *Client) News(h Hook) bool {
	was, known := c.view.peek(h.ID)
	switch {
	case known && h.Event != "deleted":
		return h.LastUpdated == "" || was.LastUpdated != h.LastUpdated
	case known:
		return true
	}
	return c.begins != "" && slices.ContainsFunc(h.Markers, func(m string) bool { return strings.HasPrefix(m, c.begins) })
}

// Reread reads one address, as Get does, and returns it as it is and as it was known, where these differ: who carried which marker. A
// record that is gone is returned as it was.
func (c *Client) Reread(ctx context.Context, number int64) ([]IPAddress, error) {
	was, known := c.view.peek(number)
	is, err := c.Get(ctx, number)
	switch {
	case IsNotFound(err):
		c.view.put(sighting{ip: IPAddress{ID: number}, gone: true})
		if known {
			return []IPAddress{was}, nil
		}
		return nil, nil
	case err != nil:
		return nil, err
	case !known:
		return []IPAddress{is}, nil
	case is.LastUpdated == was.LastUpdated:
		return nil, nil
	}
	return []IPAddress{is, was}, nil
}

// peek returns a record as it was last seen, whenever that was.
func (v *view) peek(number int64) (IPAddress, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s, ok := v.seen[number]
	return s.ip, ok
}
