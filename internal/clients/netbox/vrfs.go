package netbox

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// mostListed are the tables that a sentence names.
const mostListed = 6

// A VRFRef says which table is meant: one field is set, or none, which is any table.
type VRFRef struct {
	ID       int64
	Name, RD string
	// Global is the table of addresses that are in no VRF.
	Global bool
}

// Any says whether any table will do.
func (v VRFRef) Any() bool { return v == VRFRef{} }

// String describes the table for a person.
func (v VRFRef) String() string {
	switch {
	case v.ID != 0:
		return fmt.Sprintf("VRF number %d", v.ID)
	case v.Name != "":
		return fmt.Sprintf("VRF %q", v.Name)
	case v.RD != "":
		return fmt.Sprintf("VRF with RD %q", v.RD)
	case v.Global:
		return "the global table"
	}
	return "any table"
}

// in says where something is looked for, after a verb.
func (v VRFRef) in() string {
	if v.Any() {
		return ""
	}
	return " in " + v.String()
}

// Matches compares with what a record refers to, nil being the global table.
func (v VRFRef) Matches(got *VRF) bool {
	switch {
	case v.Any():
		return true
	case got == nil:
		return v.Global
	case v.ID != 0:
		return got.ID == v.ID
	case v.Name != "":
		return got.Name == v.Name
	case v.RD != "":
		return got.RD == v.RD
	}
	return false
}

// query narrows a list to the table, as far as NetBox can without a look at its VRFs: ?vrf= takes an RD (223, 224), and nothing takes a
// name. To a table that it doesn't have it answers 400.
func (v VRFRef) query(q url.Values) {
	switch {
	case v.Global:
		q.Set("vrf_id", "null")
	case v.ID != 0:
		q.Set("vrf_id", fmt.Sprint(v.ID))
	case v.RD != "":
		q.Set("vrf", v.RD)
	}
}

// narrow has a query find only what is in the VRFs of a name. A token that may not list VRFs leaves the names for the records themselves
// to tell.
func (c *Client) narrow(ctx context.Context, k call, v VRFRef) error {
	if v.Name == "" {
		return nil
	}
	found, err := c.vrfs.of(v.Name, memoTTL, func() ([]VRF, error) {
		all, err := listAll(ctx, c, vrfCall(v), decodeVRF)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(got VRF) bool { return got.Name != v.Name })
		if len(all) == 0 {
			return nil, k.elsewhere("NetBox has no such VRF, or the token may not see it", nil)
		}
		return all, nil
	})
	if IsForbidden(err) {
		return nil
	}
	for _, vrf := range found {
		k.query.Add("vrf_id", fmt.Sprint(vrf.ID))
	}
	return err
}

// weightOfVRFs is about how much memory those of a name take, with their place in a map.
func weightOfVRFs(name string, all []VRF) int64 {
	n := 200 + len(name)
	for _, v := range all {
		n += 48 + len(v.Name) + len(v.RD)
	}
	return int64(n)
}

// vrfNumber is what NetBox numbers a table; 0 is the global one.
func vrfNumber(v *VRF) int64 {
	if v == nil {
		return 0
	}
	return v.ID
}

// tablesOf names the tables that parents are in, each once.
func tablesOf(all []Parent) []string {
	var out []string
	for _, p := range all {
		if w := p.table().String(); !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// FindVRF returns the one VRF that ref names. It needs the right to view VRFs.
func (c *Client) FindVRF(ctx context.Context, ref VRFRef) (VRF, error) {
	k := vrfCall(ref)
	all, err := listAll(ctx, c, k, decodeVRF)
	if err != nil {
		return VRF{}, err
	}
	return chooseVRF(k, ref, all)
}

func vrfCall(ref VRFRef) call {
	k := call{op: "find the VRF", subject: ref.Name, method: http.MethodGet, path: "ipam/vrfs/", want: http.StatusOK}
	switch {
	case ref.ID != 0:
		k.op, k.subject, k.query = "find the VRF number", fmt.Sprint(ref.ID), url.Values{"id": {fmt.Sprint(ref.ID)}}
	case ref.Name != "":
		k.query = url.Values{"name": {ref.Name}}
	default:
		k.op, k.subject, k.query = "find the VRF with RD", ref.RD, url.Values{"rd": {ref.RD}}
	}
	return k
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

// severalTables is what to do where something is in more tables than one. Several VRFs may have one name.
func severalTables(all []Parent) string {
	names, numbers, how, namesakes := tablesOf(all), map[int64]bool{}, "name the VRF by its name, rd or id", ""
	for _, p := range all {
		numbers[vrfNumber(p.VRF)] = true
	}
	if len(numbers) > len(names) {
		how, namesakes = "name the VRF by its rd or id", " (there are several of one name)"
	}
	if numbers[vrfNumber(nil)] {
		how = "say vrf.table: Global, or " + how
	}
	return "it is in " + listed(names, " and in ") + namesakes + ": " + how
}

// listed joins words, the first few of many.
func listed(words []string, with string) string {
	if more := len(words) - mostListed; more > 0 {
		words = append(words[:mostListed:mostListed], fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, with)
}
