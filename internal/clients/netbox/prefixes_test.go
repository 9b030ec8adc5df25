package netbox_test

import (
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
		{"id":5,"prefix":"10.11.0.0/24","vrf":null}]}`)
	cases := map[string]struct {
		reason string
		cidr   string
		vrf    netbox.VRFRef
		id     int64
		want   netbox.Kind
		text   string
	}{
		"Global":    {"absent VRF is the global table", "10.10.0.0/24", netbox.VRFRef{}, 1, "", ""},
		"ByName":    {"one VRF of that name", "10.10.0.0/24", netbox.VRFRef{Name: "test"}, 4, "", ""},
		"ByRD":      {"by route distinguisher", "10.10.0.0/24", netbox.VRFRef{RD: "65000:1"}, 2, "", ""},
		"ByID":      {"by number", "10.10.0.0/24", netbox.VRFRef{ID: 2}, 3, "", ""},
		"Ambiguous": {"two VRFs of one name", "10.10.0.0/24", netbox.VRFRef{Name: "prod"}, 0, netbox.KindAmbiguous, "numbers 2, 3"},
		"NoVRF":     {"no VRF of that name", "10.10.0.0/24", netbox.VRFRef{Name: "nope"}, 0, netbox.KindNotFound, `VRF "nope"`},
		"NoneSuch":  {"the filter was ignored: nothing fits", "10.12.0.0/24", netbox.VRFRef{}, 0, netbox.KindNotFound, "the global table"},
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
			if global := strings.Contains(s.seen[0].Query, "vrf_id=null"); global != tc.vrf.Global() {
				t.Errorf("%s: query %s", tc.reason, s.seen[0].Query)
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

func TestFindPrefixRecorded(t *testing.T) {
	for _, v := range versions() {
		c, _ := play(t, v, "221", "229", "230", "290", "291")
		if p, err := c.FindPrefix(t.Context(), "10.10.0.0/24", netbox.VRFRef{}); err != nil || p.ID != 1 {
			t.Errorf("%s: global: %v, %v", v, p, err)
		}
		if _, err := c.FindPrefix(t.Context(), "10.99.0.0/24", netbox.VRFRef{}); !netbox.IsNotFound(err) {
			t.Errorf("%s: none: %v", v, err)
		}
		if _, err := c.FindPrefix(t.Context(), "10.10.0.0/24", netbox.VRFRef{ID: 99999}); !netbox.IsInvalid(err) {
			t.Errorf("%s: a 400: %v", v, err)
		}
		if p, err := c.FindPrefix(t.Context(), "10.10.0.0/24", netbox.VRFRef{}); err != nil || p.ID != 1 {
			t.Errorf("%s: what was found is remembered: %v, %v", v, p, err)
		}
		if p, err := c.GetPrefix(t.Context(), 1); err != nil || p.Prefix.String() != "10.10.0.0/24" || p.Status != "active" {
			t.Errorf("%s: by id: %v, %v", v, p, err)
		}
		if _, err := c.GetPrefix(t.Context(), 999999); !netbox.IsNotFound(err) {
			t.Errorf("%s: by id: %v", v, err)
		}
		c, _ = play(t, v, "800", "803")
		if _, err := c.FindPrefix(t.Context(), "10.10.0.0/24", netbox.VRFRef{}); !netbox.IsForbidden(err) {
			t.Errorf("%s: no right: %v", v, err)
		}
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
		c, _ := play(t, v, "129", "128", "112", "823", "803")
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
		if vrf, err := c.FindVRF(t.Context(), netbox.VRFRef{ID: 5}); err != nil || vrf.ID != 5 {
			t.Errorf("%s: by number: %v, %v", v, vrf, err)
		}
	}
}

func TestHasFree(t *testing.T) {
	for _, v := range versions() {
		c, s := play(t, v, "303", "375", "316", "801", "803", "111")
		if free, err := c.HasFree(t.Context(), prefix("10.30.0.0/31")); err != nil || !free {
			t.Errorf("%s: two are free: %v, %v", v, free, err)
		}
		if s.seen[0].Query != "limit=1" {
			t.Errorf("%s: query %s", v, s.seen[0].Query)
		}
		if free, err := c.HasFree(t.Context(), prefix("10.30.0.0/31")); err != nil || free {
			t.Errorf("%s: none is free: %v, %v", v, free, err)
		}
		if _, err := c.HasFree(t.Context(), prefix("10.30.0.0/31")); !netbox.IsNotFound(err) {
			t.Errorf("%s: no prefix: %v", v, err)
		}
		if _, err := c.HasFree(t.Context(), prefix("10.30.0.0/31")); !netbox.IsForbidden(err) {
			t.Errorf("%s: no right: %v", v, err)
		}
		if _, err := c.HasFree(t.Context(), prefix("10.30.0.0/31")); netbox.KindOf(err) != netbox.KindUnexpected {
			t.Errorf("%s: not a list: %v", v, err)
		}
	}
}
