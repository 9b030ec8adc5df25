package netbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A HolderKind is what kind of thing has an interface, as a person calls it.
type HolderKind string

// The kinds of holders.
const (
	Device         HolderKind = "device"
	VirtualMachine HolderKind = "virtual machine"
)

func holderKinds() []HolderKind { return []HolderKind{Device, VirtualMachine} }

// A Seat is a field of a holder that names one of its addresses, as NetBox calls it.
type Seat string

// The seats. A virtual machine has no out-of-band address.
const (
	SeatPrimary4  Seat = "primary_ip4"
	SeatPrimary6  Seat = "primary_ip6"
	SeatOutOfBand Seat = "oob_ip"
)

// Seats are all of them.
func Seats() []Seat { return []Seat{SeatPrimary4, SeatPrimary6, SeatOutOfBand} }

// A Holder is the part of a device or virtual machine that an assignment depends on (4.2 to 4.7).
type Holder struct {
	Kind HolderKind
	ID   int64
	Name string
	// Site is its slug, or "".
	Site string
	// Serial number of a device, or "".
	Serial string
	// Seated are the addresses in its seats; a free seat isn't among them.
	Seated map[Seat]Seated
	// LastUpdated is NetBox's last_updated as it stands; "" where it doesn't tell.
	LastUpdated string
	// ETag is set when one record was read from NetBox 4.6 or later.
	ETag string
}

// A Seated is the address in a seat.
type Seated struct {
	ID int64
	// URL is the address's page for people.
	Address, URL string
}

// A HolderRef says which holder is meant: by its number, or by its name, in a site (slug) where that is set.
type HolderRef struct {
	Kind       HolderKind
	ID         int64
	Name, Site string
}

// Names says whether the holder may be the one that is meant.
func (r HolderRef) Names(kind HolderKind, number int64, name string) bool {
	if kind != r.Kind {
		return false
	}
	if r.ID != 0 {
		return r.ID == number
	}
	return strings.EqualFold(r.Name, name) // As NetBox compares them (179): names are unique in a site, whatever their case.
}

// The paths and words of NetBox's API for a kind of holder.
type holderAPI struct{ holders, interfaces, object, parent, fields string }

func (k HolderKind) api() holderAPI {
	if k == VirtualMachine {
		return holderAPI{
			"virtualization/virtual-machines/", "virtualization/interfaces/", "virtualization.vminterface", "virtual_machine",
			"id,name,site,primary_ip4,primary_ip6,last_updated",
		}
	}
	return holderAPI{"dcim/devices/", "dcim/interfaces/", "dcim.interface", "device", "id,name,site,serial,primary_ip4,primary_ip6,oob_ip,last_updated"}
}

// shown asks for what we read of a holder. Before 4.7 NetBox computes a config context for each that it shows, however few fields are asked for, unless it's
// told not to (163).
func (k HolderKind) shown() url.Values {
	return url.Values{"fields": {k.api().fields}, "exclude": {"config_context"}}
}

// kindOf returns the kind of holder whose interfaces are objects of a type, or "".
func kindOf(objectType string) HolderKind {
	for _, k := range holderKinds() {
		if k.api().object == objectType {
			return k
		}
	}
	return ""
}

// FindHolder returns the one device or virtual machine that is meant. None is KindNotFound, several of one name are KindAmbiguous.
// The site is told by what the records say: ?site= answers 400 to an unknown one.
func (c *Client) FindHolder(ctx context.Context, r HolderRef) (Holder, error) {
	if r.ID != 0 {
		return c.GetHolder(ctx, r.Kind, r.ID)
	}
	k := call{op: "find the " + string(r.Kind), subject: r.Name, method: http.MethodGet, path: r.Kind.api().holders, want: http.StatusOK}
	if r.Site != "" {
		k.op = fmt.Sprintf("find in site %q the %s", r.Site, r.Kind)
	}
	if r.Name == "" {
		return Holder{}, k.failed(KindInvalid, "it has no name", nil)
	}
	k.query = r.Kind.shown()
	k.query.Set("name", r.Name)
	all, err := listAll(ctx, c, k, holderDecoder(r.Kind))
	if err != nil {
		return Holder{}, err
	}
	return chooseHolder(k, r, all)
}

// chooseHolder filters again what came back. Pure.
func chooseHolder(k call, r HolderRef, all []Holder) (Holder, error) {
	found := slices.DeleteFunc(all, func(h Holder) bool {
		return !r.Names(h.Kind, h.ID, h.Name) || r.Site != "" && h.Site != r.Site
	})
	switch len(found) {
	case 0:
		return Holder{}, k.failed(KindNotFound, "NetBox has none, or the token may not see it", nil)
	case 1:
		return found[0], nil
	}
	var them []string
	for _, h := range found {
		them = append(them, fmt.Sprintf("number %d in site %q", h.ID, h.Site))
	}
	how := "; name one by its id, or its site"
	if r.Site != "" || slices.ContainsFunc(found[1:], func(h Holder) bool { return h.Site == found[0].Site }) {
		how = "; name one by its id"
	}
	return Holder{}, k.failed(KindAmbiguous, "NetBox has several: "+strings.Join(them, ", ")+how, nil)
}

// GetHolder reads one device or virtual machine.
func (c *Client) GetHolder(ctx context.Context, kind HolderKind, number int64) (Holder, error) {
	k := holderCall("read the "+string(kind)+" number", http.MethodGet, kind, number)
	k.query = kind.shown()
	return c.holder(ctx, k, kind, number)
}

func holderCall(op, method string, kind HolderKind, number int64) call {
	return call{
		op: op, subject: strconv.FormatInt(number, 10), method: method,
		path: fmt.Sprintf("%s%d/", kind.api().holders, number), want: http.StatusOK,
	}
}

// holder performs a call that is answered with one holder.
func (c *Client) holder(ctx context.Context, k call, kind HolderKind, number int64) (Holder, error) {
	a, err := c.do(ctx, k)
	if err != nil {
		return Holder{}, err
	}
	h, err := decodeHolder(kind, a.body)
	if err != nil || h.ID != number {
		return Holder{}, reply{status: k.want, contentType: typeJSON}.torn(k, "its answer isn't that "+string(kind), err)
	}
	h.ETag = a.etag()
	c.holders[kind].put(number, h)
	return h, nil
}

// Seat puts an address into a seat of a holder that held another one until now, by their numbers; 0 is none. The holder is read
// right before: a seat that doesn't hold what the caller thinks is KindConflict, and nothing is written. From NetBox 4.6 on, nor is
// it where the holder changes in between.
func (c *Client) Seat(ctx context.Context, kind HolderKind, number int64, seat Seat, from, to int64) (Holder, error) {
	now, err := c.GetHolder(ctx, kind, number)
	if err != nil {
		return Holder{}, err
	}
	k := holderCall("set "+string(seat)+" of the "+string(kind)+" number", http.MethodPatch, kind, number)
	switch now.Seated[seat].ID {
	case to:
		return now, nil
	case from:
	default:
		return Holder{}, c.spared(k, "somebody else set it meanwhile")
	}
	body := map[string]any{string(seat): nil}
	if to != 0 {
		body[string(seat)] = to
	}
	k.body, k.ifMatch = body, now.ETag
	h, err := c.holder(ctx, k, kind, number)
	if err == nil && h.Seated[seat].ID != to {
		return Holder{}, k.failed(KindUnexpected, "NetBox accepted it and kept something else", nil)
	}
	return h, err
}

// SeenHolder returns a holder as it was at some moment of the last maxAge. Those of all addresses that are known are read together, and for
// twenty minutes after that only what has changed among them, unless NetBox's clock or its data were set back: see Seen, whose limits it has. ok is false where NetBox doesn't show it.
func (c *Client) SeenHolder(ctx context.Context, kind HolderKind, number int64, maxAge time.Duration) (h Holder, ok bool, err error) {
	k := rosterCall("list each %s with addresses", kind, kind.api().holders, kind.shown())
	others := func() []int64 {
		return c.view.places(func(p Place) (int64, bool) { return p.Holder, p.Kind == kind })
	}
	return c.holders[kind].look(ctx, number, maxAge, others, k, func(ctx context.Context, k call, pages int, stray func(Holder) bool) ([]Holder, bool, error) {
		return listSome(ctx, c, k, pages, holderDecoder(kind), stray)
	})
}

func holderDecoder(kind HolderKind) func([]byte) (Holder, error) {
	return func(b []byte) (Holder, error) { return decodeHolder(kind, b) }
}

// seated takes a nested address, or null.
type seated struct {
	ID      id   `json:"id"`
	Address text `json:"address"`
	Display text `json:"display"`
	URL     text `json:"url"`
}

// UnmarshalJSON never fails: what isn't a nested address is its bare id, or none.
func (s *seated) UnmarshalJSON(b []byte) error {
	type plain seated
	var p plain
	if json.Unmarshal(b, &p) == nil {
		*s = seated(p)
		return nil
	}
	return s.ID.UnmarshalJSON(b)
}

// decodeHolder fails where there is no id.
func decodeHolder(kind HolderKind, b []byte) (Holder, error) {
	var w struct {
		ID       id     `json:"id"`
		Name     text   `json:"name"`
		Site     ref    `json:"site"`
		Serial   text   `json:"serial"`
		Primary4 seated `json:"primary_ip4"`
		Primary6 seated `json:"primary_ip6"`
		OOB      seated `json:"oob_ip"`
		Updated  text   `json:"last_updated"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return Holder{}, fmt.Errorf("%s isn't an object: %w", kind, err)
	}
	if w.ID == 0 {
		return Holder{}, errors.New(string(kind) + " has no id")
	}
	h := Holder{
		Kind: kind, ID: int64(w.ID), Name: string(nameOf(w.Name)), Site: string(w.Site.Slug), Serial: strings.TrimSpace(string(nameOf(w.Serial))),
		LastUpdated: string(nameOf(w.Updated)), Seated: map[Seat]Seated{},
	}
	for seat, s := range map[Seat]seated{SeatPrimary4: w.Primary4, SeatPrimary6: w.Primary6, SeatOutOfBand: w.OOB} {
		if s.ID != 0 {
			address := string(nameOf(s.Address))
			if address == "" {
				address = string(nameOf(s.Display))
			}
			h.Seated[seat] = Seated{ID: int64(s.ID), Address: address, URL: pageOf(nameOf(s.URL))}
		}
	}
	return h, nil
}
