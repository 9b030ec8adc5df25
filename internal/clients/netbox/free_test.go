package netbox_test

import (
	"net/netip"
	"net/url"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestNextFree: what NetBox would give next, with its parent's mask. What isn't one of the parent's addresses isn't believed.
func TestNextFree(t *testing.T) {
	for _, v := range versions() {
		c, s := play(t, v, "410")
		if a, err := c.NextFree(t.Context(), aRange()); err != nil || a.String() != "10.70.0.10/24" || s.seen[0].Query != "limit=1" {
			t.Errorf("%s: %s, %v, asked %s", v, a, err, s.seen[0].Query)
		}
	}
	for name, tc := range map[string]struct {
		reason, answer string
		want           netbox.Kind
	}{
		"Full":    {"none is free", `[]`, netbox.KindFull},
		"Foreign": {"an address of another place", `[{"address":"10.71.0.10/24"}]`, netbox.KindUnexpected},
		"Odd":     {"no address", `[{"address":5}]`, netbox.KindUnexpected},
		"Scalar":  {"no object", `["10.70.0.10/24"]`, netbox.KindUnexpected},
		"Object":  {"no list", `{"results":[]}`, netbox.KindUnexpected},
	} {
		c := serve(t, &script{t: t, answers: []transcript{made(200, tc.answer)}})
		if a, err := c.NextFree(t.Context(), aRange()); netbox.KindOf(err) != tc.want {
			t.Errorf("%s: %s: %s, %v, want %s", name, tc.reason, a, err, tc.want)
		}
	}
}

// TestPopulatedAround: NetBoxes that don't know the mark list all ranges, so it's looked at once more here.
func TestPopulatedAround(t *testing.T) {
	const all = `{"count":4,"next":null,"results":[
		{"id":1,"start_address":"10.70.0.10/24","end_address":"10.70.0.13/24","mark_populated":true},
		{"id":2,"start_address":"10.70.0.10/24","end_address":"10.70.0.13/24","mark_populated":false},
		{"id":3,"start_address":"10.70.0.20/24","end_address":"10.70.0.23/24","mark_populated":true},
		{"id":4,"start_address":"10.70.0.10/24","end_address":"10.70.0.13/24","mark_populated":true,"vrf":{"id":3,"name":"prod"}}]}`
	for name, tc := range map[string]struct {
		reason string
		vrf    *netbox.VRF
		query  string
		want   int64
	}{
		"Global": {"in the global table", nil, "null", 1},
		"VRF":    {"in a VRF", &netbox.VRF{ID: 3}, "3", 4},
	} {
		s := &script{t: t, answers: []transcript{made(200, all)}}
		got, err := serve(t, s).PopulatedAround(t.Context(), netip.MustParseAddr("10.70.0.11"), tc.vrf)
		if err != nil || len(got) != 1 || got[0].ID != tc.want {
			t.Errorf("%s: %s: %v, %v", name, tc.reason, got, err)
		}
		if q, _ := url.ParseQuery(s.seen[0].Query); q.Get("mark_populated") != "true" || q.Get("vrf_id") != tc.query {
			t.Errorf("%s: asked %v", name, q)
		}
	}
}
