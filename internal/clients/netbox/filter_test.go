package netbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// A crowd is a NetBox with many prefixes in the global table, and some in two VRFs.
type crowd struct {
	t        *testing.T
	prefixes []map[string]any
	// blind says that the token may not list VRFs, and cap is the most that it puts on a page.
	blind bool
	cap   int
	asked []string
}

func newCrowd(t *testing.T, many int) *crowd {
	t.Helper()
	c := &crowd{t: t, cap: 1000}
	for i := range many {
		p := map[string]any{"id": i + 1, "prefix": fmt.Sprintf("10.%d.%d.0/24", i/256, i%256), "vrf": nil, "custom_fields": map[string]any{"pool": nil}}
		switch i {
		case many / 2, many - 1:
			p["vrf"], p["custom_fields"] = map[string]any{"id": 3, "name": "prod", "rd": "65000:1"}, map[string]any{"pool": "nodes"}
		}
		c.prefixes = append(c.prefixes, p)
	}
	return c
}

func (c *crowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	c.asked = append(c.asked, r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	found := c.prefixes
	switch {
	case strings.HasSuffix(r.URL.Path, "/status/"):
		_, _ = w.Write([]byte(`{"netbox-version":"4.6.8"}`))
		return
	case strings.HasSuffix(r.URL.Path, "/vrfs/") && c.blind:
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"detail":"You do not have permission to perform this action."}`))
		return
	case strings.HasSuffix(r.URL.Path, "/vrfs/"):
		found = nil
		if q.Get("name") == "prod" {
			found = []map[string]any{{"id": 3, "name": "prod"}}
		}
	case q.Get("ordering") != "id" || q.Get("fields") == "":
		c.t.Errorf("a page without order, or of whole records: %s", r.URL)
	case q.Has("vrf_id") || q.Has("vrf"):
		found = slices.DeleteFunc(slices.Clone(found), func(p map[string]any) bool {
			v, _ := p["vrf"].(map[string]any)
			return v == nil || fmt.Sprint(v["id"]) != q.Get("vrf_id") && v["rd"] != q.Get("vrf")
		})
	}
	limit, _ := strconv.Atoi(q.Get("limit"))
	offset, _ := strconv.Atoi(q.Get("offset"))
	from := min(offset, len(found))
	to := min(from+min(limit, c.cap), len(found))
	page := map[string]any{"count": len(found), "next": nil, "results": append([]map[string]any{}, found[from:to]...)}
	if to < len(found) {
		page["next"] = "http://elsewhere/"
	}
	b, err := json.Marshal(page)
	if err != nil {
		c.t.Error(err)
	}
	_, _ = w.Write(b)
}

// TestFindAmongMany: NetBoxes have tens of thousands of prefixes. What it can filter by isn't read through, and what it can't is, up to
// a bound that is told.
func TestFindAmongMany(t *testing.T) {
	cases := map[string]struct {
		reason string
		many   int
		by     netbox.Filter
		change func(*crowd)
		found  int
		asked  int
		says   string
	}{
		"Name":       {"a VRF by its name, which is looked up once", 5001, netbox.Filter{VRF: netbox.VRFRef{Name: "prod"}}, nil, 2, 2, ""},
		"RD":         {"by its RD", 5001, netbox.Filter{VRF: netbox.VRFRef{RD: "65000:1"}}, nil, 2, 1, ""},
		"Blind":      {"by its name, where the token may not list VRFs", 5001, netbox.Filter{VRF: netbox.VRFRef{Name: "prod"}}, func(c *crowd) { c.blind = true }, 2, 2 + 6, ""},
		"SmallPages": {"NetBox may put less on a page", 5001, netbox.Filter{VRF: netbox.VRFRef{Name: "prod"}}, func(c *crowd) { c.blind, c.cap = true, 250 }, 2, 2 + 21, ""},
		"Field":      {"a custom field", 5001, netbox.Filter{Fields: map[string]string{"pool": "nodes"}}, nil, 2, 6, ""},
		"NoField":    {"one that NetBox doesn't have, and so doesn't filter by", 5001, netbox.Filter{Fields: map[string]string{"nope": "x"}}, nil, 0, 1, `cannot find a prefix with "custom field nope=x": NetBox has no custom field "nope" for a prefix`},
		"NoVRF":      {"a VRF that NetBox doesn't have", 5001, netbox.Filter{VRF: netbox.VRFRef{Name: "nope"}}, nil, 0, 1, "NetBox has no such VRF"},
		"TooMany":    {"more than anybody reads through", 20001, netbox.Filter{Family: 4}, nil, 0, 1, `with "family IPv4": NetBox answers with more than the 20000 records that are looked through: narrow it by another field of the filter`},
		"TooBlind":   {"or with a name that only reading tells", 20001, netbox.Filter{VRF: netbox.VRFRef{Name: "prod"}}, func(c *crowd) { c.blind = true }, 0, 3, "name the VRF by its rd or id"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newCrowd(t, tc.many)
			if tc.change != nil {
				tc.change(s)
			}
			c := serveAt(t, s, func() time.Time { return time.Unix(1000, 0) })
			got, err := c.FindPrefixes(t.Context(), tc.by)
			if len(got) != tc.found || (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %d found, %v", tc.reason, len(got), err)
			}
			if err != nil && !netbox.IsNotFound(err) && !netbox.IsAmbiguous(err) {
				t.Errorf("%s: another source isn't tried for that: %v", tc.reason, err)
			}
			if len(s.asked) != tc.asked {
				t.Errorf("%s: asked %v", tc.reason, s.asked)
			}
			if _, _ = c.FindPrefixes(t.Context(), tc.by); len(s.asked) != tc.asked {
				t.Errorf("%s: it isn't remembered: %v", tc.reason, s.asked)
			}
		})
	}
}

// TestSeveral: what is found in several tables is told with a way to name one of them.
func TestSeveral(t *testing.T) {
	in := func(vrf *netbox.VRF) netbox.Parent {
		p := prefix("10.0.0.0/24")
		p.VRF = vrf
		return p
	}
	global, prod, other := in(nil), in(&netbox.VRF{ID: 3, Name: "prod"}), in(&netbox.VRF{ID: 8, Name: "prod"})
	var many []netbox.Parent
	for i := range int64(20) {
		many = append(many, in(&netbox.VRF{ID: i + 1, Name: fmt.Sprint("v", i)}))
	}
	cases := map[string]struct {
		reason string
		by     netbox.Filter
		found  []netbox.Parent
		says   string
	}{
		"One":    {"one table", netbox.Filter{Role: "x"}, []netbox.Parent{prod, prod}, ""},
		"Global": {"the global one is named, too", netbox.Filter{Role: "x"}, []netbox.Parent{global, prod}, `cannot find a prefix with "role x": what it finds is not in one table: it is in the global table and in VRF "prod": say vrf.table: Global, or name`},
		"Names":  {"two of one name", netbox.Filter{VRF: netbox.VRFRef{Name: "prod"}}, []netbox.Parent{prod, other}, "is in 2 VRFs of that name: name one by its rd or id"},
		"Shared": {"a name that several have names none of them", netbox.Filter{Role: "x"}, []netbox.Parent{prod, other}, `it is in VRF "prod" (there are several of one name): name the VRF by its rd or id`},
		"Three":  {"beside the global one", netbox.Filter{Role: "x"}, []netbox.Parent{global, prod, other}, `it is in the global table and in VRF "prod" (there are several of one name): say vrf.table: Global, or name the VRF by its rd or id`},
		"Many":   {"not all are listed", netbox.Filter{Role: "x"}, many, `VRF "v5" and in 14 more: name the VRF`},
	}
	for name, tc := range cases {
		err := tc.by.Several(tc.found)
		if (err == nil) != (tc.says == "") || err != nil && (!netbox.IsAmbiguous(err) || !strings.Contains(err.Error(), tc.says)) {
			t.Errorf("%s: %s: %v", name, tc.reason, err)
		}
	}
}
