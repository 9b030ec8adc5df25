package netbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
)

// addressesPath is where all addresses are listed and given ones made.
const addressesPath = pathAddresses

// rangesPath is where IP ranges are.
const rangesPath = "ipam/ip-ranges/"

// pathAddresses is where all addresses are.
const pathAddresses = "ipam/ip-addresses/"

// Allocate takes the first free address of a prefix or range: one POST of a single object with the marker in
// it. NetBox allocates under one lock, and validates the marker's uniqueness inside it. NetBoxes before 4.5.1 ignore
// Request.PrefixLength, and what they do with it in a range isn't known: the address may have its parent's mask all the same.
//
// KindFull: nothing is free; NetBox says so before it looks at the marker. KindMarkerTaken and
// KindUnknownOutcome: look by marker before anything else. A 201 that isn't what was asked for is
// taken back, and told as KindConflict (of another table, or outside the parent: somebody has just changed that) or KindMarkerField.
func (c *Client) Allocate(ctx context.Context, p Parent, r Request) (IPAddress, error) {
	k := call{
		op: fmt.Sprintf("allocate an address in %s", p.Kind), subject: p.CIDR(), method: http.MethodPost,
		path: p.path("available-ips/"), want: http.StatusCreated,
	}
	if p.Kind == ParentRange {
		r.PrefixLength = 0
	}
	ip, err := c.create(ctx, k, r, "", 0, func(ip IPAddress) string { return c.wrong(ip, r.Marker, p.VRF, p.Contains(ip.Address.Addr())) })
	if e, ok := errors.AsType[*Error](err); ok && e.Kind == KindConflict && e.Status == http.StatusConflict {
		e.Kind, e.Reason = KindFull, "no address of it is free"
	}
	if IsNotFound(err) {
		c.parents.forget()
	}
	return ip, err
}

// Create makes a record for one given address. KindInvalid with field address, or KindMarkerTaken,
// mean that NetBox has it already: look by marker to know.
func (c *Client) Create(ctx context.Context, address netip.Prefix, vrf *VRF, r Request) (IPAddress, error) {
	k := call{
		op: "create the address", subject: address.String(), method: http.MethodPost,
		path: addressesPath, want: http.StatusCreated,
	}
	var number int64
	if vrf != nil {
		number = vrf.ID
	}
	return c.create(ctx, k, r, address.String(), number, func(ip IPAddress) string { return c.wrong(ip, r.Marker, vrf, ip.Address == address) })
}

// create makes a record, and takes it back where wrong says what it isn't.
func (c *Client) create(ctx context.Context, k call, r Request, address string, vrf int64, wrong func(IPAddress) string) (IPAddress, error) {
	if r.Marker == "" {
		return IPAddress{}, k.failed(KindInvalid, "it would carry no marker", nil)
	}
	k.body, k.marks, k.notAfter = r.body(c.field, address, vrf), true, r.NotAfter
	k.verdict = func(body []byte) Kind {
		ip, err := decodeIPAddress(body)
		if err != nil {
			return KindUnknownOutcome
		}
		return kindOfWrong(wrong(ip))
	}
	ip, err := c.one(ctx, k)
	if IsInvalid(err) || IsMarkerTaken(err) { // both are also what a vanished marker field looks like
		c.forget()
	}
	if err != nil {
		return IPAddress{}, err
	}
	return c.accept(ctx, k, ip, wrong(ip))
}

// one performs a call that is answered with one address.
func (c *Client) one(ctx context.Context, k call) (IPAddress, error) {
	a, err := c.do(ctx, k)
	if err != nil {
		return IPAddress{}, err
	}
	ip, err := decodeIPAddress(a.body)
	if err != nil {
		return IPAddress{}, reply{status: k.want, contentType: typeJSON}.torn(k, "its answer isn't an address", err)
	}
	ip.ETag = a.etag()
	c.view.put(sighting{ip: ip})
	return ip, nil
}

// wrong says what a 201 is not, or "". NetBox 4.4.10 to 4.5.7 drop a custom field that they don't
// know, silently: every retry would then take another address. Pure.
func (c *Client) wrong(ip IPAddress, marker string, vrf *VRF, placed bool) string {
	var want, got int64
	if vrf != nil {
		want = vrf.ID
	}
	if ip.VRF != nil {
		got = ip.VRF.ID
	}
	switch {
	case ip.Marker(c.field) != marker:
		return "marker"
	case want != got:
		return "VRF"
	case !placed:
		return "address"
	}
	return ""
}

// kindOfWrong is what a 201 counts as that isn't what was asked for; "" where nothing is wrong with it.
func kindOfWrong(wrong string) Kind {
	switch wrong {
	case "":
		return ""
	case "marker":
		return KindMarkerField
	}
	return KindConflict
}

// accept returns a good 201, and takes back a bad one: nobody else knows of that record, and nothing
// on it would lead us back to it.
func (c *Client) accept(ctx context.Context, k call, ip IPAddress, wrong string) (IPAddress, error) {
	if wrong == "" {
		return ip, nil
	}
	c.parents.forget()
	kind, why := kindOfWrong(wrong), ", as where somebody has just moved what it was asked from"
	var cause error
	if kind == KindMarkerField {
		why, cause = "", errUnmarked
		c.forget()
	}
	reason := fmt.Sprintf("NetBox made record number %d with another %s than asked for%s", ip.ID, wrong, why)
	if err := c.takeBack(ctx, ip); err != nil {
		return IPAddress{}, k.failed(kind, reason+", and it couldn't be deleted again; delete it by hand", err)
	}
	return IPAddress{}, k.failed(kind, reason+"; it was deleted again", cause)
}

// takeBack deletes a record that was made a moment ago, unless somebody has touched it since. One that isn't shown may be hidden yet: the DELETE tells.
func (c *Client) takeBack(ctx context.Context, made IPAddress) error {
	now, err := c.Get(ctx, made.ID)
	if IsNotFound(err) {
		return c.delete(ctx, made)
	}
	if err != nil {
		return err
	}
	if now.LastUpdated != made.LastUpdated || now.Address != made.Address {
		return c.spared(c.idCall("take back", http.MethodDelete, made.ID, 0), "somebody changed it meanwhile")
	}
	return c.delete(ctx, now)
}

func (c *Client) idCall(op, method string, number int64, want int) call {
	return call{
		op: op + " address number", subject: fmt.Sprint(number),
		method: method, path: fmt.Sprintf("ipam/ip-addresses/%d/", number), want: want,
	}
}

// Get reads one address by its number.
func (c *Client) Get(ctx context.Context, number int64) (IPAddress, error) {
	k := c.idCall("read", http.MethodGet, number, http.StatusOK)
	ip, err := c.one(ctx, k)
	if err == nil && ip.ID != number {
		return IPAddress{}, k.failed(KindUnexpected, "its answer is another record", nil)
	}
	return ip, err
}

// FindByMarker returns the one address that carries the marker. None is KindNotFound. Two, which bulk
// writes can make, are KindAmbiguous: never pick. A filter that NetBox doesn't know returns
// everything, so what came back is compared, and a stranger among it is KindMarkerField.
func (c *Client) FindByMarker(ctx context.Context, marker string) (IPAddress, error) {
	k := call{
		op: "find the address with marker", subject: marker,
		method: http.MethodGet, path: addressesPath, want: http.StatusOK,
		query: url.Values{"cf_" + c.field: {marker}, "limit": {"2"}},
	}
	if marker == "" || marker == "null" { // both mean something else to NetBox
		return IPAddress{}, k.failed(KindInvalid, "that isn't a marker", nil)
	}
	p, err := list(ctx, c, k, decodeIPAddress)
	if err != nil {
		return IPAddress{}, err
	}
	return c.chooseMarked(k, marker, p.Items)
}

func (c *Client) chooseMarked(k call, marker string, found []IPAddress) (IPAddress, error) {
	for _, ip := range found {
		if ip.Marker(c.field) != marker {
			c.forget()
			return IPAddress{}, k.failed(KindMarkerField, fmt.Sprintf("NetBox ignored the filter cf_%s: the custom field is missing, renamed or no longer filtered", c.field), nil)
		}
	}
	switch len(found) {
	case 0:
		return IPAddress{}, k.failed(KindNotFound, "there is none, or none that the token may see", nil)
	case 1:
		return found[0], nil
	}
	return IPAddress{}, k.failed(KindAmbiguous, fmt.Sprintf("records number %d and %d both carry it; delete the wrong one in NetBox", found[0].ID, found[1].ID), nil)
}

// FindHost returns the records that have an address, whatever their mask, in one table: that of a VRF, or the global one where vrf is
// nil. Those that the token may not see aren't among them.
func (c *Client) FindHost(ctx context.Context, address netip.Addr, vrf *VRF) ([]IPAddress, error) {
	k := call{
		op: "look for the address", subject: address.String(), method: http.MethodGet,
		path: addressesPath, want: http.StatusOK, query: url.Values{"address": {address.String()}, "vrf_id": {"null"}},
	}
	if vrf != nil {
		k.query.Set("vrf_id", fmt.Sprint(vrf.ID))
	}
	return listAll(ctx, c, k, func(b []byte) (IPAddress, error) {
		ip, err := decodeIPAddress(b)
		if err == nil && (ip.Address.Addr() != address || (ip.VRF == nil) != (vrf == nil) || (vrf != nil && ip.VRF.ID != vrf.ID)) {
			err = errors.New("NetBox ignored one of the filters address and vrf_id")
		}
		return ip, err
	})
}

// Delete frees the address of a record, which it reads once more unless ip says which state of it is meant (ETag). A record that is
// gone is fine; one that doesn't carry the marker, or was changed since ip was read, is KindConflict and stays.
func (c *Client) Delete(ctx context.Context, ip IPAddress, marker string) error {
	now, err := c.ours(ctx, "delete", ip, marker)
	if err != nil {
		return ignoreNotFound(err)
	}
	return c.delete(ctx, now)
}

// ours is a record as it's just now, which must carry the marker and be what was seen of it before. From NetBox 4.6 on a record that was
// read by itself has an ETag, which the write that follows is made conditional on: then there is no need to read it again. One that was seen with the marker
// and isn't shown now may be hidden by a copy of NetBox's database that is behind: whether it's gone, the write tells.
func (c *Client) ours(ctx context.Context, op string, seen IPAddress, marker string) (IPAddress, error) {
	k := c.idCall(op, http.MethodPatch, seen.ID, 0)
	now := seen
	if seen.ETag == "" {
		is, err := c.Get(ctx, seen.ID)
		switch {
		case err == nil:
			now = is
		case !IsNotFound(err) || marker == "" || seen.Marker(c.field) != marker:
			return IPAddress{}, err
		}
	}
	switch {
	case marker == "" || now.Marker(c.field) != marker:
		return IPAddress{}, c.spared(k, "it doesn't carry our marker any more, so it isn't ours to "+op)
	case now.LastUpdated != seen.LastUpdated || now.Address != seen.Address:
		return IPAddress{}, c.spared(k, "somebody changed it meanwhile")
	}
	return now, nil
}

func ignoreNotFound(err error) error {
	if IsNotFound(err) {
		return nil
	}
	return err
}

func (c *Client) delete(ctx context.Context, ip IPAddress) error {
	k := c.idCall("delete", http.MethodDelete, ip.ID, http.StatusNoContent)
	k.ifMatch = ip.ETag
	_, err := c.do(ctx, k)
	if err = c.unlessGone(ctx, k, ip.ID, err); err == nil {
		c.view.put(sighting{ip: ip, gone: true})
	}
	return err
}

// unlessGone is nil of a write that found nothing, where the record isn't shown either. NetBox answers so of a record, too, that it shows and that a
// constraint of the token's right to write leaves out (841): to take that for gone would leave it behind. It's Forbidden then; so it is for a moment where
// a copy of NetBox's database that is behind still shows what is gone.
func (c *Client) unlessGone(ctx context.Context, k call, number int64, err error) error {
	if !IsNotFound(err) {
		return err
	}
	_, rerr := c.Get(ctx, number)
	switch {
	case IsNotFound(rerr):
		return nil
	case rerr != nil:
		return rerr
	}
	e := k.failed(KindForbidden, "it's shown, and isn't among those that the token may write to", err)
	e.Status, e.Needs = http.StatusNotFound, right(k.method, k.path)
	return e
}
