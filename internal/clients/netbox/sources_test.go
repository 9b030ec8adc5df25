package netbox_test

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// aRange is the recorded one: four addresses in the global table.
func aRange() netbox.Parent {
	return netbox.Parent{
		Kind: netbox.ParentRange, ID: 1, Prefix: netip.MustParsePrefix("10.70.0.0/24"),
		First: netip.MustParseAddr("10.70.0.10"), Last: netip.MustParseAddr("10.70.0.13"),
	}
}

func TestFindRangeRecorded(t *testing.T) {
	for _, v := range versions() {
		c, s := play(t, v, "430", "431", "430", "440", "316", "229", "229")
		p, err := c.FindRange(t.Context(), "10.70.0.10/24", netbox.VRFRef{Global: true})
		if err != nil || p.ID != 1 || p.CIDR() != "10.70.0.10-10.70.0.13/24" || p.Status != "active" {
			t.Errorf("%s: by its start: %v, %v", v, p, err)
		}
		if q := s.seen[0].Query; !strings.Contains(q, "start_address=10.70.0.10%2F24") {
			t.Errorf("%s: query %s", v, q)
		}
		if _, err := c.FindRange(t.Context(), "10.70.0.10/25", netbox.VRFRef{}); !netbox.IsNotFound(err) {
			t.Errorf("%s: with another mask: %v", v, err)
		}
		if p, err := c.GetRange(t.Context(), 1); err != nil || p.ID != 1 || !p.Contains(netip.MustParseAddr("10.70.0.13")) || p.Contains(netip.MustParseAddr("10.70.0.14")) {
			t.Errorf("%s: by id: %v, %v", v, p, err)
		}
		if _, err := c.GetRange(t.Context(), 999999); !netbox.IsNotFound(err) {
			t.Errorf("%s: none: %v", v, err)
		}
		if _, err := c.FindRange(t.Context(), "10.70.0.99/24", netbox.VRFRef{}); !netbox.IsNotFound(err) {
			t.Errorf("%s: none starts there: %v", v, err)
		}
		if _, err := c.FindRange(t.Context(), "10.70.0.10", netbox.VRFRef{}); !netbox.IsInvalid(err) {
			t.Errorf("%s: no mask: %v", v, err)
		}
	}
}

func TestAllocateInRange(t *testing.T) {
	for _, v := range versions() {
		c, s := play(t, v, "413", "416", "420")
		ip, err := c.Allocate(t.Context(), aRange(), netbox.Request{Marker: "range-1", PrefixLength: 32})
		if err != nil || ip.Address.String() != "10.70.0.10/24" {
			t.Errorf("%s: %v, %v", v, ip, err)
		}
		if r := s.seen[0]; r.Path != "/api/ipam/ip-ranges/1/available-ips/" || r.Body["prefix_length"] != nil {
			t.Errorf("%s: %s %v: nobody knows what a range does with a length", v, r.Path, r.Body)
		}
		if _, err := c.Allocate(t.Context(), aRange(), netbox.Request{Marker: "m"}); !netbox.IsFull(err) {
			t.Errorf("%s: full: %v", v, err)
		}
		if _, err := c.Allocate(t.Context(), aRange(), netbox.Request{Marker: "m"}); !netbox.IsNotFound(err) {
			t.Errorf("%s: gone: %v", v, err)
		}
	}
}

// TestPrefixLength: 4.5.1 and later take it; before, the address has its parent's mask, which isn't an error: the caller sees it.
func TestPrefixLength(t *testing.T) {
	want := map[string]string{"4.2.9": "10.42.0.11/24", "4.4.10": "10.42.0.11/24", "4.6.8": "10.42.0.11/32", "4.7.0-beta1": "10.42.0.11/32"}
	for _, v := range versions() {
		tr := transcripts(t, v)["342"]
		tr.Answer = []byte(strings.Replace(string(tr.Answer), `"claim_id":null`, `"claim_id":"m"`, 1))
		s := &script{t: t, answers: []transcript{tr}}
		ip, err := serve(t, s).Allocate(t.Context(), prefix("10.42.0.0/24"), netbox.Request{Marker: "m", PrefixLength: 32})
		if err != nil || ip.Address.String() != want[v] {
			t.Errorf("%s: %v, %v", v, ip.Address, err)
		}
		if s.seen[0].Body["prefix_length"] != 32.0 {
			t.Errorf("%s: body %v", v, s.seen[0].Body)
		}
	}
	c, _ := play(t, "4.6.8", "345")
	_, err := c.Allocate(t.Context(), prefix("10.42.0.0/24"), netbox.Request{Marker: "m", PrefixLength: 16})
	if !netbox.IsInvalid(err) || !strings.Contains(err.Error(), "prefix_length") {
		t.Errorf("a refusal names the field, though it's in a list: %v", err)
	}
}

// TestFindBySite: what is in a part of a site doesn't say the site's name, and is there all the same: NetBox knows.
func TestFindBySite(t *testing.T) {
	s := &script{t: t, answers: []transcript{made(200, `{"count":2,"next":null,"results":[
		{"id":7,"prefix":"10.3.0.0/24","scope_type":"dcim.location","scope":{"slug":"room-1"}},{"id":8,"prefix":"10.4.0.0/24","scope_type":"dcim.site","scope":{"slug":"fra1"}}]}`)}}
	got, err := serve(t, s).FindPrefixes(t.Context(), netbox.Filter{Site: "fra1"})
	if err != nil || len(got) != 2 || got[0].ID != 7 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestFindPrefixes(t *testing.T) {
	one := func(id int, cidr, more string) string {
		return fmt.Sprintf(`{"id":%d,"prefix":%q,"scope_type":"dcim.site","scope":{"slug":"fra1"},"role":{"slug":"nodes"},"tenant":{"slug":"a"},"tags":[{"slug":"pool"},{"slug":"x"}],"custom_fields":{"use":"web","n":5,"on":true,"zone":{"value":"a","label":"A"},"zones":["a","b"],"dc":{"id":7,"url":"u"}}%s}`, id, cidr, more)
	}
	all := made(200, `{"count":9,"next":null,"results":[`+strings.Join([]string{
		one(9, "10.2.0.0/24", ""), one(2, "10.10.0.0/24", ""), one(4, "10.2.0.0/24", `,"vrf":{"id":3,"name":"prod"}`), one(5, "10.2.0.0/25", ""),
		one(6, "2001:db8::/64", ""), one(7, "10.3.0.0/24", `,"scope_type":"dcim.location","scope":{"slug":"room-1"}`),
		one(10, "10.4.0.0/24", `,"scope":{"slug":"ams1"},"role":{"slug":"oob"},"tenant":null,"tags":[{"slug":"pool"}],"custom_fields":{"use":"webby"}`),
	}, ",")+`]}`)
	cases := map[string]struct {
		reason string
		by     netbox.Filter
		query  url.Values
		want   []int64
	}{
		"Order":    {"by network, whatever the VRF, then by number", netbox.Filter{Tags: []string{"pool"}}, url.Values{"tag": {"pool"}}, []int64{4, 9, 5, 7, 10, 2, 6}},
		"Site":     {"NetBox shows another site's, so it didn't filter: what doesn't say its site isn't believed", netbox.Filter{Site: "fra1", Family: 4}, url.Values{"site": {"fra1"}, "family": {"4"}}, []int64{4, 9, 5, 2}},
		"Role":     {"by role", netbox.Filter{Role: "oob"}, url.Values{"role": {"oob"}}, []int64{10}},
		"Tenant":   {"by tenant and family", netbox.Filter{Tenant: "a", Family: 6}, url.Values{"tenant": {"a"}, "family": {"6"}}, []int64{6}},
		"AllTags":  {"all tags must be there", netbox.Filter{Tags: []string{"pool", "x"}, Family: 6}, url.Values{"tag": {"pool", "x"}, "family": {"6"}}, []int64{6}},
		"Global":   {"the global table", netbox.Filter{Role: "nodes", Family: 4, VRF: netbox.VRFRef{Global: true}}, url.Values{"role": {"nodes"}, "family": {"4"}, "vrf_id": {"null"}}, []int64{9, 5, 7, 2}},
		"VRF":      {"VRFs by name: NetBox's own filters take an RD, or numbers", netbox.Filter{Role: "nodes", VRF: netbox.VRFRef{Name: "prod"}}, url.Values{"role": {"nodes"}, "vrf_id": {"3", "8"}}, []int64{4}},
		"VRFID":    {"by number", netbox.Filter{VRF: netbox.VRFRef{ID: 3}}, url.Values{"vrf_id": {"3"}}, []int64{4}},
		"Field":    {"a custom field, all of its text", netbox.Filter{Fields: map[string]string{"use": "web"}, Family: 6}, url.Values{"cf_use": {"web"}, "family": {"6"}}, []int64{6}},
		"Number":   {"a number", netbox.Filter{Fields: map[string]string{"n": "5", "on": "true"}, Family: 6}, url.Values{"cf_n": {"5"}, "cf_on": {"true"}, "family": {"6"}}, []int64{6}},
		"Choice":   {"a selection by value, one of several, an object by id", netbox.Filter{Fields: map[string]string{"zone": "a", "zones": "b", "dc": "7"}, Family: 6}, url.Values{"cf_zone": {"a"}, "cf_zones": {"b"}, "cf_dc": {"7"}, "family": {"6"}}, []int64{6}},
		"NoField":  {"a field that isn't there: NetBox returns everything", netbox.Filter{Fields: map[string]string{"nope": "x"}}, url.Values{"cf_nope": {"x"}}, nil},
		"NoneSuch": {"nothing is of that VRF", netbox.Filter{Role: "nodes", VRF: netbox.VRFRef{RD: "1:1"}}, url.Values{"role": {"nodes"}, "vrf": {"1:1"}}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &script{t: t, answers: []transcript{all}}
			if tc.by.VRF.Name != "" {
				s.answers = []transcript{made(200, `{"count":3,"next":null,"results":[{"id":3,"name":"prod"},{"id":8,"name":"prod"},{"id":9,"name":"Prod"}]}`), all}
			}
			got, err := serve(t, s).FindPrefixes(t.Context(), tc.by)
			var ids []int64
			for _, p := range got {
				ids = append(ids, p.ID)
			}
			if diff := cmp.Diff(tc.want, ids); diff != "" || netbox.IsNotFound(err) != (tc.want == nil) {
				t.Errorf("%s: %v (-want +got):\n%s", tc.reason, err, diff)
			}
			q, _ := url.ParseQuery(s.seen[len(s.seen)-1].Query)
			for _, of := range []string{"limit", "offset", "ordering", "fields"} {
				q.Del(of)
			}
			if diff := cmp.Diff(tc.query, q); diff != "" {
				t.Errorf("%s: query (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFilterRefused: NetBox says 400 to a role, tag, site or VRF that it doesn't have.
func TestFilterRefused(t *testing.T) {
	for _, v := range versions() {
		for number, tc := range map[string]struct {
			by   netbox.Filter
			want string
		}{
			"234": {netbox.Filter{Role: "nope"}, `cannot find a prefix with "role nope": NetBox has no such role, or the token may not see it`},
			"237": {netbox.Filter{Tags: []string{"nope"}}, "no such tag"},
			"240": {netbox.Filter{Site: "nope"}, "no such site"},
			"230": {netbox.Filter{VRF: netbox.VRFRef{ID: 99999}}, "no such VRF"},
		} {
			c, _ := play(t, v, number)
			if _, err := c.FindPrefixes(t.Context(), tc.by); !netbox.IsNotFound(err) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %s: %v", v, number, err)
			}
		}
	}
	c, s := play(t, "4.6.8")
	if _, err := c.FindRanges(t.Context(), netbox.Filter{Fields: map[string]string{"a&limit=1": "x"}}); !netbox.IsInvalid(err) || len(s.seen) != 0 {
		t.Errorf("no field has such a name: %v", err)
	}
}

func TestFindRanges(t *testing.T) {
	list := made(200, `{"count":3,"next":null,"results":[
		{"id":3,"start_address":"10.1.0.50/24","end_address":"10.1.0.60/24","role":{"slug":"nodes"},"mark_populated":true},
		{"id":2,"start_address":"10.1.0.10/24","end_address":"10.1.0.20/24","role":{"slug":"nodes"},"status":{"value":"reserved"}},
		{"id":1,"start_address":"2001:db8::1/64","end_address":"2001:db8::f/64","role":{"slug":"nodes"},"mark_utilized":true}]}`)
	s := &script{t: t, answers: []transcript{list}}
	got, err := serve(t, s).FindRanges(t.Context(), netbox.Filter{Role: "nodes"})
	if err != nil || len(got) != 3 || got[0].ID != 2 || got[0].Status != "reserved" || !got[1].Populated || !got[2].Utilized {
		t.Errorf("got %+v, %v", got, err)
	}
	if r := s.requests(); len(r) != 1 || r[0] != "GET /api/ipam/ip-ranges/" {
		t.Errorf("requests %v", r)
	}
}

func TestSize(t *testing.T) {
	cases := map[string]struct {
		in   netbox.Parent
		want int64
		ok   bool
	}{
		"24":    {prefix("10.0.0.0/24"), 254, true},
		"30":    {prefix("10.0.0.0/30"), 2, true},
		"31":    {prefix("10.0.0.0/31"), 2, true},
		"32":    {prefix("10.0.0.0/32"), 1, true},
		"Pool":  {netbox.Parent{Kind: netbox.ParentPrefix, Prefix: netip.MustParsePrefix("10.0.0.0/24"), Pool: true}, 256, true},
		"V6":    {prefix("2001:db8::/120"), 255, true},
		"V6127": {prefix("2001:db8::/127"), 2, true},
		"V6128": {prefix("2001:db8::/128"), 1, true},
		"V664":  {prefix("2001:db8::/64"), 0, false},
		"Range": {aRange(), 4, true},
		"Huge":  {netbox.Parent{Kind: netbox.ParentRange, First: netip.MustParseAddr("2001:db8::"), Last: netip.MustParseAddr("2001:dba::")}, 0, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got, ok := tc.in.Size(); got != tc.want || ok != tc.ok {
				t.Errorf("got %d, %v", got, ok)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	free := func(n int) transcript {
		return made(200, "["+strings.TrimSuffix(strings.Repeat(`{"family":4,"address":"10.0.0.1/24"},`, n), ",")+"]")
	}
	count := func(n int, address string) transcript {
		return made(200, fmt.Sprintf(`{"count":%d,"next":null,"results":[{"id":1,"address":%q}]}`, n, address))
	}
	ranges := func(mark string) transcript {
		one := func(from, to, more string) string {
			return fmt.Sprintf(`{"id":1,"start_address":%q,"end_address":%q%s}`, from, to, more)
		}
		const not = `,"mark_populated":false`
		if mark == "" {
			mark = not
		}
		return made(200, fmt.Sprintf(`{"count":5,"next":null,"results":[%s,%s,%s,%s]}`, one("10.0.1.0/16", "10.0.10.255/16", mark), one("10.0.11.0/16", "10.0.11.255/16", not),
			one("10.0.12.0/16", "10.0.12.255/16", mark+`,"vrf":{"id":3}`), one("9.255.255.0/8", "10.0.0.9/8", mark)))
	}
	cases := map[string]struct {
		reason  string
		in      netbox.Parent
		answers []transcript
		want    netbox.Usage
		used    int64
		known   bool
	}{
		"Small": {"what NetBox lists, by its own rules", prefix("10.0.0.0/24"), []transcript{free(249)}, netbox.Usage{Size: 254, SizeKnown: true, Free: 249}, 5, true},
		"Full":  {"nothing", prefix("10.0.0.0/24"), []transcript{free(0)}, netbox.Usage{Size: 254, SizeKnown: true}, 254, true},
		"Large": {"a count is enough where much is free", prefix("10.0.0.0/16"), []transcript{count(5000, "10.0.3.4/16"), ranges("")}, netbox.Usage{Size: 65534, SizeKnown: true, Free: 60534}, 5000, true},
		"Populated": {
			"what ranges hold isn't free, but for those that aren't marked, of another table, or not all in it", prefix("10.0.0.0/16"),
			[]transcript{count(5000, "10.0.3.4/16"), ranges(`,"mark_populated":true`)}, netbox.Usage{Size: 65534, SizeKnown: true, Free: 60534 - 2560}, 7560, true,
		},
		"Unmarked": {
			"before 4.3 all are", prefix("10.0.0.0/16"), []transcript{count(5000, "10.0.3.4/16"), made(200, strings.ReplaceAll(string(ranges("").Answer), `,"mark_populated":false`, ""))},
			netbox.Usage{Size: 65534, SizeKnown: true, Free: 60534 - 2560 - 256}, 7816, true,
		},
		"Held":   {"nor is there anything where they hold all", prefix("10.0.0.0/20"), []transcript{count(1000, "10.0.3.4/20"), ranges(`,"mark_populated":true`), free(7)}, netbox.Usage{Size: 4094, SizeKnown: true, Free: 7}, 4087, true},
		"Hidden": {"a token may not see ranges", prefix("10.0.0.0/16"), []transcript{count(5000, "10.0.3.4/16"), made(403, `{"detail":"no"}`), made(200, `{"netbox-version":"4.6.8"}`)}, netbox.Usage{Size: 65534, SizeKnown: true, Free: 60534}, 5000, true},
		"Round":  {"a round number is all that there is", prefix("10.0.0.0/23"), []transcript{free(100), count(410, "10.0.0.1/23")}, netbox.Usage{Size: 510, SizeKnown: true, Free: 100}, 410, true},
		"Cut":    {"or what NetBox lists at most", prefix("10.0.0.0/23"), []transcript{free(100), count(20, "10.0.0.1/23"), ranges("")}, netbox.Usage{Size: 510, SizeKnown: true, Free: 100, AtLeast: true}, 0, false},
		"Little": {"not where little is", prefix("10.0.0.0/20"), []transcript{count(4000, "10.0.3.4/20"), free(90)}, netbox.Usage{Size: 4094, SizeKnown: true, Free: 90}, 4004, true},
		"Huge":   {"more than anybody counts", prefix("2001:db8::/64"), []transcript{count(7, "2001:db8::1/64")}, netbox.Usage{Free: 1000, AtLeast: true}, 0, false},
		"Range":  {"four of four", aRange(), []transcript{free(4)}, netbox.Usage{Size: 4, SizeKnown: true, Free: 4}, 0, true},
		"Long": {
			"of a long range a thousand are listed", netbox.Parent{Kind: netbox.ParentRange, ID: 1, First: netip.MustParseAddr("10.0.0.0"), Last: netip.MustParseAddr("10.0.255.255")},
			[]transcript{free(1000)}, netbox.Usage{Size: 65536, SizeKnown: true, Free: 1000, AtLeast: true}, 0, false,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &script{t: t, answers: tc.answers}
			got, err := serve(t, s).Usage(t.Context(), tc.in)
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil || len(s.seen) != len(tc.answers) {
				t.Errorf("%s: %v, %d requests (-want +got):\n%s", tc.reason, err, len(s.seen), diff)
			}
			if n, ok := got.Used(); ok != tc.known || (ok && n != tc.used) {
				t.Errorf("%s: used %d, %v", tc.reason, n, ok)
			}
		})
	}
	for name, a := range map[string][]transcript{
		"Ignored": {count(9, "192.168.0.1/24")}, "Cursor": {made(200, `{"count":null,"next":null,"results":[]}`)}, "NoList": {count(4000, "10.0.0.1/20"), made(200, `{}`)},
	} {
		if _, err := serve(t, &script{t: t, answers: a}).Usage(t.Context(), prefix("10.0.0.0/20")); netbox.KindOf(err) != netbox.KindUnexpected {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUsageRecorded(t *testing.T) {
	for _, v := range versions() {
		c, s := play(t, v, "410", "375", "610", "437", "316", "801", "803")
		if u, err := c.Usage(t.Context(), aRange()); err != nil || u.Free != 4 || s.seen[0].Query != "limit=1000" {
			t.Errorf("%s: range: %+v, %v, query %s", v, u, err, s.seen[0].Query)
		}
		if u, err := c.Usage(t.Context(), prefix("10.40.0.0/29")); err != nil || u.Free != 0 || u.Size != 6 {
			t.Errorf("%s: full: %+v, %v", v, u, err)
		}
		if u, err := c.Usage(t.Context(), prefix("10.90.0.0/16")); err != nil || u.Free != 65534-5 {
			t.Errorf("%s: counted: %+v, %v", v, u, err)
		}
		if q, _ := url.ParseQuery(s.seen[2].Query); q.Get("parent") != "10.90.0.0/16" || q.Get("vrf_id") != "null" {
			t.Errorf("%s: query %v", v, q)
		}
		if _, err := c.Usage(t.Context(), prefix("10.40.0.0/29")); !netbox.IsNotFound(err) {
			t.Errorf("%s: gone: %v", v, err)
		}
		if _, err := c.Usage(t.Context(), prefix("10.40.0.0/29")); !netbox.IsForbidden(err) {
			t.Errorf("%s: no right: %v", v, err)
		}
	}
}
