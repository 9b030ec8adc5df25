package netbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// A VRFRef says which table is meant. The zero value is the global table; else one field is set.
type VRFRef struct {
	ID       int64
	Name, RD string
}

// Global says whether the global table is meant.
func (v VRFRef) Global() bool { return v == VRFRef{} }

// String describes the table for a person.
func (v VRFRef) String() string {
	switch {
	case v.ID != 0:
		return fmt.Sprintf("VRF number %d", v.ID)
	case v.Name != "":
		return fmt.Sprintf("VRF %q", v.Name)
	case v.RD != "":
		return fmt.Sprintf("VRF with RD %q", v.RD)
	}
	return "the global table"
}

// Matches compares with what a record refers to, nil being the global table.
func (v VRFRef) Matches(got *VRF) bool {
	switch {
	case got == nil:
		return v.Global()
	case v.ID != 0:
		return got.ID == v.ID
	case v.Name != "":
		return got.Name == v.Name
	case v.RD != "":
		return got.RD == v.RD
	}
	return false
}

// A prefixKey is what a prefix was looked for by.
type prefixKey struct {
	cidr   string
	vrf    VRFRef
	number int64
}

// FindPrefix returns the one prefix with this CIDR in this table. None is KindNotFound; several, as
// NetBox allows within one table and across VRFs of one name, are KindAmbiguous. VRFs are told by what
// the prefixes themselves say, since ?vrf= takes an RD, answers 400 to an unknown one, and needs a
// right of its own. One that was found is remembered for a minute.
func (c *Client) FindPrefix(ctx context.Context, cidr string, vrf VRFRef) (Prefix, error) {
	return c.prefixes.of(prefixKey{cidr: cidr, vrf: vrf}, func() (Prefix, error) { return c.findPrefix(ctx, cidr, vrf) })
}

func (c *Client) findPrefix(ctx context.Context, cidr string, vrf VRFRef) (Prefix, error) {
	k := call{
		op: "find in " + vrf.String() + " the prefix", subject: cidr,
		method: http.MethodGet, path: "ipam/prefixes/", want: http.StatusOK,
	}
	want, err := netip.ParsePrefix(cidr)
	if err != nil || want != want.Masked() {
		return Prefix{}, invalid(k.op, cidr, "it must be a network such as 10.77.0.0/24, without host bits")
	}
	k.query = url.Values{"prefix": {want.String()}}
	if vrf.Global() {
		k.query.Set("vrf_id", "null")
	}
	all, err := listAll(ctx, c, k, decodePrefix)
	if err != nil {
		return Prefix{}, err
	}
	return choosePrefix(k, want, vrf, all)
}

// choosePrefix filters again what came back, as NetBox ignores filters that it doesn't know. Pure.
func choosePrefix(k call, want netip.Prefix, vrf VRFRef, all []Prefix) (Prefix, error) {
	var found []Prefix
	for _, p := range all {
		if p.Prefix == want && vrf.Matches(p.VRF) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return Prefix{}, k.failed(KindNotFound, "NetBox has none, or the token may not see it", nil)
	case 1:
		return found[0], nil
	}
	ids := make([]string, 0, len(found))
	for _, p := range found {
		ids = append(ids, fmt.Sprint(p.ID))
	}
	return Prefix{}, k.failed(KindAmbiguous, "NetBox has several, numbers "+strings.Join(ids, ", ")+"; name one by its id", nil)
}

// GetPrefix reads one prefix by its number. One that was found is remembered for a minute.
func (c *Client) GetPrefix(ctx context.Context, number int64) (Prefix, error) {
	return c.prefixes.of(prefixKey{number: number}, func() (Prefix, error) { return c.getPrefix(ctx, number) })
}

func (c *Client) getPrefix(ctx context.Context, number int64) (Prefix, error) {
	k := call{
		op: "read prefix number", subject: fmt.Sprint(number),
		method: http.MethodGet, path: fmt.Sprintf("ipam/prefixes/%d/", number), want: http.StatusOK,
	}
	a, err := c.do(ctx, k)
	if err != nil {
		return Prefix{}, err
	}
	p, err := decodePrefix(a.body)
	if err != nil || p.ID != number {
		return Prefix{}, k.failed(KindUnexpected, "its answer isn't that prefix", err)
	}
	return p, nil
}

// HasFree says whether a prefix has an address to give just now. It needs the right to view addresses,
// and proves nothing about the next moment: only Allocate takes one.
func (c *Client) HasFree(ctx context.Context, p Prefix) (bool, error) {
	k := call{
		op: "look for a free address in prefix", subject: p.Prefix.String(), method: http.MethodGet,
		path: fmt.Sprintf("ipam/prefixes/%d/available-ips/", p.ID), want: http.StatusOK, query: url.Values{"limit": {"1"}},
	}
	a, err := c.do(ctx, k)
	if err != nil {
		return false, err
	}
	var free []json.RawMessage // a plain list, not a page (300)
	if err := json.Unmarshal(a.body, &free); err != nil {
		return false, k.failed(KindUnexpected, "its answer isn't a list", err)
	}
	return len(free) > 0, nil
}

// FindVRF returns the one VRF that ref names. A ref by number isn't looked up.
func (c *Client) FindVRF(ctx context.Context, ref VRFRef) (VRF, error) {
	if ref.ID != 0 {
		return VRF{ID: ref.ID}, nil
	}
	k := call{op: "find", subject: ref.Name, method: http.MethodGet, path: "ipam/vrfs/", want: http.StatusOK}
	k.op, k.subject, k.query = "find the VRF", ref.Name, url.Values{"name": {ref.Name}}
	if ref.Name == "" {
		k.op, k.subject, k.query = "find the VRF with RD", ref.RD, url.Values{"rd": {ref.RD}}
	}
	all, err := listAll(ctx, c, k, decodeVRF)
	if err != nil {
		return VRF{}, err
	}
	return chooseVRF(k, ref, all)
}

func chooseVRF(k call, ref VRFRef, all []VRF) (VRF, error) {
	var found []VRF
	for _, v := range all {
		if ref.Matches(&v) {
			found = append(found, v)
		}
	}
	switch len(found) {
	case 0:
		return VRF{}, k.failed(KindNotFound, "NetBox has none, or the token may not see it", nil)
	case 1:
		return found[0], nil
	}
	return VRF{}, k.failed(KindAmbiguous, fmt.Sprintf("NetBox has %d of that name; name one by its rd or id", len(found)), nil)
}
