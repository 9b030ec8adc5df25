package netbox_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

func TestFindPrefix(t *testing.T) {
	list := made(200, `{"count":5,"next":null,"results":[
		{"id":1,"prefix":"10.10.0.0/24","vrf":null},
		{"id":2,"prefix":"10.10.0.0/24","vrf":{"id":1,"name":"prod","rd":"65000:1"}},
		{"id":3,"prefix":"10.10.0.0/24","vrf":{"id":2,"name":"prod","rd":null}},
		{"id":4,"prefix":"10.10.0.0/24","vrf":{"id":3,"name":"test"}},
		{"id":5,"prefix":"10.11.0.0/24","vrf":null},
		{"id":6,"prefix":"10.13.0.0/24","vrf":{"id":3,"name":"test"}},
		{"id":7,"prefix":"10.14.0.0/24","vrf":null},
		{"id":8,"prefix":"10.14.0.0/24","vrf":null}]}`)
	cases := map[string]struct {
		reason string
		cidr   string
		vrf    netbox.VRFRef
		id     int64
		want   netbox.Kind
		text   string
	}{
		"Global":    {"the global table is said", "10.10.0.0/24", netbox.VRFRef{Global: true}, 1, "", ""},
		"ByName":    {"one VRF of that name", "10.10.0.0/24", netbox.VRFRef{Name: "test"}, 4, "", ""},
		"ByRD":      {"by route distinguisher", "10.10.0.0/24", netbox.VRFRef{RD: "65000:1"}, 2, "", ""},
		"ByID":      {"by number", "10.10.0.0/24", netbox.VRFRef{ID: 2}, 3, "", ""},
		"Anywhere":  {"no table is said, and it's in one alone", "10.13.0.0/24", netbox.VRFRef{}, 6, "", ""},
		"Several":   {"no table is said, and it's in several", "10.10.0.0/24", netbox.VRFRef{}, 0, netbox.KindAmbiguous, "NetBox has several, numbers 1, 2, 3, 4"},
		"Twice":     {"one table may have it twice", "10.14.0.0/24", netbox.VRFRef{Global: true}, 0, netbox.KindAmbiguous, "numbers 7, 8; name one by its id"},
		"Ambiguous": {"two VRFs of one name", "10.10.0.0/24", netbox.VRFRef{Name: "prod"}, 0, netbox.KindAmbiguous, "numbers 2, 3"},
		"NoVRF":     {"it's there, but not in that VRF", "10.13.0.0/24", netbox.VRFRef{Name: "nope"}, 0, netbox.KindNotFound, `it is in VRF "test", not there`},
		"NotGlobal": {"nor in the global table", "10.13.0.0/24", netbox.VRFRef{Global: true}, 0, netbox.KindNotFound, `find in the global table the prefix "10.13.0.0/24": it is in VRF "test"`},
		"NoneSuch":  {"the filter was ignored: nothing fits", "10.12.0.0/24", netbox.VRFRef{Global: true}, 0, netbox.KindNotFound, "the global table"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &script{t: t, answers: []transcript{list}}
			p, err := serve(t, s).FindPrefix(t.Context(), tc.cidr, tc.vrf)
			if p.ID != tc.id || netbox.KindOf(err) != tc.want {
				t.Fatalf("%s: got %v, %v; want %d, %q", tc.reason, p, err, tc.id, tc.want)
			}
			if err != nil && !strings.Contains(err.Error(), tc.text) {
				t.Errorf("%s: %q lacks %q", tc.reason, err, tc.text)
			}
		})
	}
	for _, cidr := range []string{"banana", "10.10.0.5/24", "10.10.0.0", ""} {
		c, s := play(t, "4.6.8")
		if _, err := c.FindPrefix(t.Context(), cidr, netbox.VRFRef{}); !netbox.IsInvalid(err) || len(s.requests()) != 0 {
			t.Errorf("%q: %v %v", cidr, err, s.requests())
		}
	}
}

// TestTwoTables: what to do is said where one CIDR is in the global table and in a VRF.
func TestTwoTables(t *testing.T) {
	list := made(200, `{"count":2,"next":null,"results":[{"id":1,"prefix":"10.10.0.0/24","vrf":null},{"id":2,"prefix":"10.10.0.0/24","vrf":{"id":1,"name":"prod"}}]}`)
	_, err := serve(t, &script{t: t, answers: []transcript{list}}).FindPrefix(t.Context(), "10.10.0.0/24", netbox.VRFRef{})
	if want := `it is in the global table and in VRF "prod": say vrf.table: Global, or name the VRF`; !netbox.IsAmbiguous(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestFindPrefixRecorded(t *testing.T) {
	for _, v := range versions() {
		c, _ := play(t, v, "221", "229", "230", "290", "291")
		global := netbox.VRFRef{Global: true}
		if p, err := c.FindPrefix(t.Context(), "10.10.0.0/24", global); err != nil || p.ID != 1 {
			t.Errorf("%s: global: %v, %v", v, p, err)
		}
		if _, err := c.FindPrefix(t.Context(), "10.99.0.0/24", global); !netbox.IsNotFound(err) {
			t.Errorf("%s: none: %v", v, err)
		}
		if _, err := c.FindPrefix(t.Context(), "10.10.0.0/24", netbox.VRFRef{ID: 99999}); !netbox.IsInvalid(err) {
			t.Errorf("%s: a 400: %v", v, err)
		}
		if p, err := c.FindPrefix(t.Context(), "10.10.0.0/24", global); err != nil || p.ID != 1 {
			t.Errorf("%s: what was found is remembered: %v, %v", v, p, err)
		}
		if p, err := c.GetPrefix(t.Context(), 1); err != nil || p.Prefix.String() != "10.10.0.0/24" || p.Status != "active" {
			t.Errorf("%s: by id: %v, %v", v, p, err)
		}
		if _, err := c.GetPrefix(t.Context(), 999999); !netbox.IsNotFound(err) {
			t.Errorf("%s: by id: %v", v, err)
		}
		c, _ = play(t, v, "800", "803")
		if _, err := c.FindPrefix(t.Context(), "10.10.0.0/24", global); !netbox.IsForbidden(err) {
			t.Errorf("%s: no right: %v", v, err)
		}
	}
}

func TestFindAround(t *testing.T) {
	list := made(200, `{"count":6,"next":null,"results":[
		{"id":1,"prefix":"10.0.0.0/8","vrf":null},
		{"id":2,"prefix":"10.10.0.0/24","vrf":null},
		{"id":3,"prefix":"10.0.0.0/8","vrf":{"id":1,"name":"prod","rd":"65000:1"}},
		{"id":4,"prefix":"10.20.0.0/16","vrf":{"id":2,"name":"prod"}},
		{"id":5,"prefix":"172.16.0.0/12","vrf":{"id":3,"name":"lab"}},
		{"id":6,"prefix":"2001:db8::/32","vrf":null}]}`)
	cases := map[string]struct {
		reason  string
		address string
		vrf     netbox.VRFRef
		id      int64
		want    netbox.Kind
		text    string
	}{
		"Longest":   {"the longest that holds it", "10.10.0.77", netbox.VRFRef{Global: true}, 2, "", ""},
		"Shorter":   {"else a shorter one", "10.11.0.77", netbox.VRFRef{Global: true}, 1, "", ""},
		"VRF":       {"of its table alone", "10.10.0.77", netbox.VRFRef{RD: "65000:1"}, 3, "", ""},
		"Only":      {"no table is said, and one holds it", "172.16.0.9", netbox.VRFRef{}, 5, "", ""},
		"IPv6":      {"in either family", "2001:db8::9", netbox.VRFRef{}, 6, "", ""},
		"Several":   {"no table is said, and several hold it", "10.10.0.77", netbox.VRFRef{}, 0, netbox.KindAmbiguous, `it is in the global table and in VRF "prod": say vrf.table: Global`},
		"SameName":  {"two VRFs of one name hold it", "10.20.0.1", netbox.VRFRef{Name: "prod"}, 0, netbox.KindAmbiguous, "2 VRFs of that name"},
		"Elsewhere": {"it's held in another table", "172.16.0.9", netbox.VRFRef{Global: true}, 0, netbox.KindNotFound, `it is inside one of VRF "lab"`},
		"Nowhere":   {"none holds it", "192.168.0.1", netbox.VRFRef{}, 0, netbox.KindNotFound, "NetBox has none"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &script{t: t, answers: []transcript{list}}
			p, err := serve(t, s).FindAround(t.Context(), netip.MustParseAddr(tc.address), tc.vrf)
			if p.ID != tc.id || netbox.KindOf(err) != tc.want || (err != nil && !strings.Contains(err.Error(), tc.text)) {
				t.Errorf("%s: got %v, %v; want %d, %q with %q", tc.reason, p, err, tc.id, tc.want, tc.text)
			}
			if !strings.Contains(s.seen[0].Query, "contains=") {
				t.Errorf("%s: query %s", tc.reason, s.seen[0].Query)
			}
		})
	}
}

// TestPages follows by offset: the link in the answer names the host that NetBox believes to be.
func TestPages(t *testing.T) {
	one := made(200, `{"count":2,"next":"http://evil.example/api/ipam/prefixes/?offset=1","results":[{"id":7,"prefix":"10.0.0.0/8","vrf":{"id":1,"name":"a"}}]}`)
	two := made(200, `{"count":2,"next":null,"results":[{"id":8,"prefix":"10.0.0.0/8","vrf":{"id":2,"name":"b"}}]}`)
	s := &script{t: t, answers: []transcript{one, two}}
	p, err := serve(t, s).FindPrefix(t.Context(), "10.0.0.0/8", netbox.VRFRef{Name: "b"})
	if err != nil || p.ID != 8 {
		t.Fatalf("got %v, %v", p, err)
	}
	if q := s.seen[1].Query; !strings.Contains(q, "offset=1") {
		t.Errorf("second query %s", q)
	}
	endless := &script{t: t}
	for range 25 {
		endless.answers = append(endless.answers, one)
	}
	if _, err := serve(t, endless).FindPrefix(t.Context(), "10.0.0.0/8", netbox.VRFRef{}); netbox.KindOf(err) != netbox.KindUnexpected {
		t.Errorf("a list without end: %v", err)
	}
}

func TestFindVRF(t *testing.T) {
	for _, v := range versions() {
		c, s := play(t, v, "129", "128", "112", "823", "803", "129", "112")
		if vrf, err := c.FindVRF(t.Context(), netbox.VRFRef{RD: "65000:1"}); err != nil || vrf.ID != 1 {
			t.Errorf("%s: by RD: %v, %v", v, vrf, err)
		}
		if _, err := c.FindVRF(t.Context(), netbox.VRFRef{Name: "prod"}); !netbox.IsAmbiguous(err) {
			t.Errorf("%s: names aren't unique: %v", v, err)
		}
		if _, err := c.FindVRF(t.Context(), netbox.VRFRef{Name: "nope"}); !netbox.IsNotFound(err) {
			t.Errorf("%s: none: %v", v, err)
		}
		if _, err := c.FindVRF(t.Context(), netbox.VRFRef{Name: "prod"}); !netbox.IsForbidden(err) {
			t.Errorf("%s: no right: %v", v, err)
		}
		if vrf, err := c.FindVRF(t.Context(), netbox.VRFRef{ID: 1}); err != nil || vrf.Name != "prod" || !strings.Contains(s.seen[len(s.seen)-1].Query, "id=1&") {
			t.Errorf("%s: by number: %v, %v", v, vrf, err)
		}
		if _, err := c.FindVRF(t.Context(), netbox.VRFRef{ID: 5}); !netbox.IsNotFound(err) || !strings.Contains(err.Error(), `find the VRF number "5"`) {
			t.Errorf("%s: none of that number: %v", v, err)
		}
	}
}
