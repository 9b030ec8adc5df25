package netbox_test

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

func prefix(s string) netbox.Parent {
	return netbox.Parent{Kind: netbox.ParentPrefix, ID: 20, Prefix: netip.MustParsePrefix(s)}
}

func TestAllocate(t *testing.T) {
	cases := map[string]struct {
		reason   string
		answers  []string
		versions []string
		marker   string
		want     netbox.Kind
		requests int
	}{
		"Allocated":    {"a good 201 is one request", []string{"330"}, versions(), "cluster-a/ns/node-1", "", 1},
		"Full":         {"409 means full, in whatever language", []string{"373"}, versions(), "m/1", netbox.KindFull, 1},
		"FullAndTaken": {"full is said before a taken marker is noticed", []string{"763"}, []string{"4.6.8"}, "full-1", netbox.KindFull, 1},
		"Taken":        {"the unique field refuses a second use", []string{"331"}, versions(), "cluster-a/ns/node-1", netbox.KindMarkerTaken, 1},
		"TakenGerman":  {"no branch on text", []string{"765"}, []string{"4.6.8"}, "lang-1", netbox.KindMarkerTaken, 1},
		"NoPrefix":     {"a prefix that is gone", []string{"367"}, versions(), "m/1", netbox.KindNotFound, 1},
		"BadStatus":    {"a value that NetBox doesn't know", []string{"350"}, versions(), "m/1", netbox.KindInvalid, 1},
		"NoRight":      {"a 403 with a token that status takes", []string{"802", "803"}, versions(), "m/1", netbox.KindForbidden, 2},
		"BadToken":     {"a 403 with a token that nobody takes", []string{"802", "003"}, versions(), "m/1", netbox.KindUnauthorized, 2},
		"HTML500":      {"cache down: nobody knows", []string{"932"}, []string{"4.6.8"}, "m/1", netbox.KindUnknownOutcome, 1},
		"JSON500":      {"database down: nobody knows", []string{"942"}, []string{"4.6.8"}, "m/1", netbox.KindUnknownOutcome, 1},
		"Redirect":     {"a redirect isn't followed", []string{"723"}, versions(), "m/1", netbox.KindUnexpected, 1},
		"HTML404":      {"a 404 that isn't NetBox's proves nothing", []string{"721"}, versions(), "m/1", netbox.KindUnknownOutcome, 1},
	}
	for name, tc := range cases {
		for _, v := range tc.versions {
			t.Run(name+"/"+v, func(t *testing.T) {
				c, s := play(t, v, tc.answers...)
				ip, err := c.Allocate(t.Context(), prefix("10.42.0.0/24"), netbox.Request{Marker: tc.marker})
				if got := netbox.KindOf(err); got != tc.want {
					t.Fatalf("%s: kind %q (%v), want %q", tc.reason, got, err, tc.want)
				}
				if got := len(s.requests()); got != tc.requests {
					t.Errorf("%s: %d requests, want %d: %v", tc.reason, got, tc.requests, s.requests())
				}
				if err == nil && (ip.ID != 7 || ip.Address.String() != "10.42.0.1/24" || ip.Marker("claim_id") != tc.marker) {
					t.Errorf("%s: got %+v", tc.reason, ip)
				}
				checkText(t, err, s)
			})
		}
	}
}

// checkText holds that there's no token in a text, and nothing of what the server said.
func checkText(t *testing.T, err error, s *script) {
	t.Helper()
	if err == nil {
		return
	}
	if strings.Contains(err.Error(), token) {
		t.Errorf("the token is in %q", err)
	}
	for _, a := range s.answers {
		var body map[string]json.RawMessage
		_ = json.Unmarshal(a.Answer, &body)
		for k, v := range body {
			if text := strings.Trim(string(v), `[]"`); k != "id" && len(text) > 3 && strings.Contains(err.Error(), text) {
				t.Errorf("the server's %q is in %q", text, err)
			}
		}
	}
}

func TestAllocateRequest(t *testing.T) {
	c, s := play(t, "4.6.8", "330")
	_, err := c.Allocate(t.Context(), prefix("10.42.0.0/24"), netbox.Request{
		Marker: "cluster-a/ns/node-1", Status: "reserved", DNSName: "a.example", Description: "d", Role: "vip",
		Tenant: "tenant-a", Tags: []string{"managed"}, CustomFields: map[string]any{"cf_number": 5.0},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"status": "reserved", "role": "vip", "dns_name": "a.example", "description": "d",
		"tenant": map[string]any{"slug": "tenant-a"}, "tags": []any{map[string]any{"slug": "managed"}},
		"custom_fields": map[string]any{"claim_id": "cluster-a/ns/node-1", "cf_number": 5.0},
	}
	if diff := cmp.Diff(want, s.seen[0].Body); diff != "" {
		t.Errorf("one object, marker inside, no address (-want +got):\n%s", diff)
	}
	h := s.seen[0].Header
	if h.Get("Accept-Language") != "en" || h.Get("Authorization") != "Token "+token {
		t.Errorf("headers: %v", h)
	}
	if s.seen[0].Path != "/api/ipam/prefixes/20/available-ips/" {
		t.Errorf("path: %s", s.seen[0].Path)
	}
}

// TestAllocateTakesBack is rule 3: 4.4.10 makes a record without the field that it doesn't know.
func TestAllocateTakesBack(t *testing.T) {
	all := transcripts(t, "4.4.10")
	dropped := all["346"]
	foreign := dropped
	foreign.Answer = json.RawMessage(strings.Replace(string(dropped.Answer), `"last_updated":"`, `"last_updated":"x`, 1))
	outside := made(201, `{"id":9,"address":"192.0.2.1/24","custom_fields":{"claim_id":"m/1"},"last_updated":"t"}`)
	inVRF := made(201, `{"id":9,"address":"10.42.0.9/24","vrf":{"id":3},"custom_fields":{"claim_id":"m/1"},"last_updated":"t"}`)
	found := func(a transcript) transcript { a.Status = 200; return a }
	gone := transcript{Status: 204}

	cases := map[string]struct {
		reason  string
		answers []transcript
		want    netbox.Kind
		text    string
	}{
		"Dropped":  {"a dropped marker", []transcript{dropped, found(dropped), gone}, netbox.KindMarkerField, "it was deleted again"},
		"Outside":  {"an address outside the prefix", []transcript{outside, found(outside), gone}, netbox.KindConflict, "another address"},
		"OtherVRF": {"an address in another VRF", []transcript{inVRF, found(inVRF), gone}, netbox.KindConflict, "another VRF"},
		"Touched":  {"somebody changed it meanwhile: it stays", []transcript{dropped, found(foreign)}, netbox.KindMarkerField, "by hand"},
		"Gone":     {"somebody deleted it already", []transcript{dropped, all["583"], all["585"], all["584"]}, netbox.KindMarkerField, "it was deleted again"},
		"Hidden":   {"a copy that is behind doesn't show it yet", []transcript{dropped, all["583"], gone}, netbox.KindMarkerField, "it was deleted again"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &script{t: t, answers: tc.answers}
			_, err := serve(t, s).Allocate(t.Context(), prefix("10.42.0.0/24"), netbox.Request{Marker: "m/1"})
			if netbox.KindOf(err) != tc.want || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("%s: got %v, want %s with %q", tc.reason, err, tc.want, tc.text)
			}
			if len(s.requests()) != len(tc.answers) {
				t.Errorf("%s: requests %v", tc.reason, s.requests())
			}
		})
	}
}

func TestCreate(t *testing.T) {
	for _, v := range versions() {
		c, s := play(t, v, "500", "501", "511", "509")
		a := netip.MustParsePrefix("10.90.0.5/24")
		ip, err := c.Create(t.Context(), a, nil, netbox.Request{Marker: "static-1"})
		if err != nil || ip.Address != a {
			t.Errorf("%s: created %v, %v", v, ip, err)
		}
		if got := s.seen[0].Body["address"]; got != "10.90.0.5/24" {
			t.Errorf("%s: sent address %v", v, got)
		}
		_, err = c.Create(t.Context(), a, nil, netbox.Request{Marker: "other"})
		want := &netbox.Error{}
		if !netbox.IsInvalid(err) || !asError(err, &want) || !cmp.Equal(want.Fields, []string{"address"}) {
			t.Errorf("%s: a taken address: %v", v, err)
		}
		if _, err = c.Create(t.Context(), a, nil, netbox.Request{Marker: "static-1"}); !netbox.IsMarkerTaken(err) {
			t.Errorf("%s: a taken marker: %v", v, err)
		}
		_, err = c.Create(t.Context(), a, nil, netbox.Request{Marker: "x"})
		if v < "4.6" && !netbox.IsUnknownOutcome(err) || v >= "4.6" && !netbox.IsInvalid(err) {
			t.Errorf("%s: bad input is 500 before 4.6, then 400: %v", v, err)
		}
	}
	c, s := play(t, "4.6.8")
	if _, err := c.Create(t.Context(), netip.MustParsePrefix("10.0.0.1/24"), nil, netbox.Request{}); !netbox.IsInvalid(err) {
		t.Errorf("without a marker: %v", err)
	}
	if len(s.requests()) != 0 {
		t.Errorf("nothing may be sent without a marker: %v", s.requests())
	}
}

func TestGet(t *testing.T) {
	for _, v := range versions() {
		all := transcripts(t, v)
		var want struct {
			ID int64 `json:"id"`
		}
		_ = json.Unmarshal(all["520"].Answer, &want)
		c, _ := play(t, v, "520", "526", "721")
		ip, err := c.Get(t.Context(), want.ID)
		if err != nil {
			t.Fatalf("%s: %v", v, err)
		}
		exp := netbox.IPAddress{
			ID: want.ID, Address: netip.MustParsePrefix("10.90.0.5/24"), Status: "active", Description: "static",
			Tags: []string{"managed", "human"}, ETag: all["520"].AnswerHeaders["Etag"] + all["520"].AnswerHeaders["ETag"],
		}
		ignore := cmpopts.IgnoreFields(netbox.IPAddress{}, "URL", "LastUpdated", "CustomFields")
		if diff := cmp.Diff(exp, ip, ignore, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", v, diff)
		}
		if _, err := c.Get(t.Context(), 999999); !netbox.IsNotFound(err) {
			t.Errorf("%s: missing: %v", v, err)
		}
		if _, err := c.Get(t.Context(), 1); netbox.KindOf(err) != netbox.KindUnexpected {
			t.Errorf("%s: an HTML 404 isn't absence: %v", v, err)
		}
	}
}

func TestFindByMarker(t *testing.T) {
	two := `{"count":2,"next":null,"results":[
		{"id":1,"address":"10.0.0.1/24","custom_fields":{"claim_id":"m/1"}},
		{"id":2,"address":"10.0.0.2/24","custom_fields":{"claim_id":"m/1"}}]}`
	for _, v := range versions() {
		c, s := play(t, v, "612", "615", "626")
		ip, err := c.FindByMarker(t.Context(), "static-1")
		if err != nil || ip.Address.String() != "10.90.0.5/24" {
			t.Errorf("%s: %v, %v", v, ip, err)
		}
		if s.seen[0].Query != "cf_claim_id=static-1&limit=2" {
			t.Errorf("%s: query %s", v, s.seen[0].Query)
		}
		if _, err := c.FindByMarker(t.Context(), "nope"); !netbox.IsNotFound(err) {
			t.Errorf("%s: none: %v", v, err)
		}
		if _, err := c.FindByMarker(t.Context(), "c/ns/n/u"); !netbox.IsMarkerField(err) {
			t.Errorf("%s: an ignored filter returns everything: %v", v, err)
		}
		if _, err := c.FindByMarker(t.Context(), "null"); !netbox.IsInvalid(err) {
			t.Errorf("%s: null means unset to NetBox: %v", v, err)
		}
	}
	s := &script{t: t, answers: []transcript{made(200, two)}}
	if _, err := serve(t, s).FindByMarker(t.Context(), "m/1"); !netbox.IsAmbiguous(err) || !strings.Contains(err.Error(), "1 and 2") {
		t.Errorf("two of one marker are never picked from: %v", err)
	}
}

func TestPatch(t *testing.T) {
	text, empty := "changed", ""
	ip := netbox.IPAddress{ID: 63, ETag: `W/"e"`}
	cases := map[string]struct {
		reason string
		answer string
		patch  netbox.Patch
		body   map[string]any
		want   netbox.Kind
	}{
		"One":      {"only the diff", "530", netbox.Patch{Description: &text}, map[string]any{"description": "changed"}, ""},
		"Clear":    {"a tenant is cleared by null", "530", netbox.Patch{Tenant: &empty, DNSName: &empty}, map[string]any{"tenant": nil, "dns_name": ""}, ""},
		"Tags":     {"tags by slug", "530", netbox.Patch{Tags: []string{"a"}}, map[string]any{"tags": []any{map[string]any{"slug": "a"}}}, ""},
		"All":      {"status, role, tenant, field", "530", netbox.Patch{Status: &text, Role: &text, Tenant: &text, CustomFields: map[string]any{"claim_id": "x"}}, map[string]any{"status": "changed", "role": "changed", "tenant": map[string]any{"slug": "changed"}, "custom_fields": map[string]any{"claim_id": "x"}}, ""},
		"Stale":    {"a change in between", "533", netbox.Patch{Description: &text}, map[string]any{"description": "changed"}, netbox.KindConflict},
		"Taken":    {"a marker that another holds", "552", netbox.Patch{CustomFields: map[string]any{"claim_id": "range-1"}}, map[string]any{"custom_fields": map[string]any{"claim_id": "range-1"}}, netbox.KindMarkerTaken},
		"NotThere": {"gone", "569", netbox.Patch{Description: &text}, map[string]any{"description": "changed"}, netbox.KindNotFound},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, s := play(t, "4.6.8", tc.answer)
			_, err := c.Patch(t.Context(), ip, tc.patch)
			if netbox.KindOf(err) != tc.want {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
			if diff := cmp.Diff(tc.body, s.seen[0].Body); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if s.seen[0].Header.Get("If-Match") != ip.ETag {
				t.Errorf("%s: If-Match %q", tc.reason, s.seen[0].Header.Get("If-Match"))
			}
		})
	}
	c, s := play(t, "4.6.8")
	if got, err := c.Patch(t.Context(), ip, netbox.Patch{}); err != nil || got.ID != 63 || len(s.requests()) != 0 {
		t.Errorf("an empty patch is no call: %v %v %v", got, err, s.requests())
	}
}

func TestDelete(t *testing.T) {
	all := transcripts(t, "4.6.8")
	tag := all["520"].AnswerHeaders["ETag"]
	changed := transcripts(t, "4.6.8")["520"]
	changed.Answer = json.RawMessage(strings.Replace(string(changed.Answer), `"last_updated":"`, `"last_updated":"x`, 1))
	cases := map[string]struct {
		reason   string
		answers  []transcript
		marker   string
		etag     string
		want     netbox.Kind
		requests []string
	}{
		"Ours":      {"seen, then deleted", []transcript{all["520"], all["588"]}, "static-1", "", "", []string{"GET", "DELETE"}},
		"Tagged":    {"NetBox itself sees to it that it's the one that was seen", []transcript{all["588"]}, "static-1", tag, "", []string{"DELETE"}},
		"Stale":     {"and that nobody changed it since", []transcript{all["587"]}, "static-1", tag, netbox.KindConflict, []string{"DELETE"}},
		"Changed":   {"before 4.6 we do", []transcript{changed}, "static-1", "", netbox.KindConflict, []string{"GET"}},
		"Gone":      {"idempotent", []transcript{all["584"], all["583"], all["584"]}, "static-1", "", "", []string{"GET", "DELETE", "GET"}},
		"GoneSince": {"deleted in between", []transcript{all["520"], all["583"], all["584"]}, "static-1", "", "", []string{"GET", "DELETE", "GET"}},
		"LeftOut":   {"what a constraint leaves out of what may be deleted isn't gone (841)", []transcript{all["520"], all["841"], all["520"]}, "static-1", "", netbox.KindForbidden, []string{"GET", "DELETE", "GET"}},
		"Unread":    {"nor is what can't be read then", []transcript{all["583"], all["941"]}, "static-1", tag, netbox.KindServerError, []string{"DELETE", "GET"}},
		"NotOurs":   {"another's marker", []transcript{all["520"]}, "other", "", netbox.KindConflict, []string{"GET"}},
		"NoMarker":  {"never without a marker", []transcript{all["520"]}, "", "", netbox.KindConflict, []string{"GET"}},
		"Forbidden": {"a token without the right", []transcript{all["520"], all["818"], all["803"]}, "static-1", "", netbox.KindForbidden, []string{"GET", "DELETE", "GET"}},
		"Down":      {"a read that fails isn't absence", []transcript{all["941"]}, "static-1", "", netbox.KindServerError, []string{"GET"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			seen := record(t, all["520"])
			seen.ETag = tc.etag
			s := &script{t: t, answers: tc.answers}
			if err := serve(t, s).Delete(t.Context(), seen, tc.marker); netbox.KindOf(err) != tc.want {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
			if diff := cmp.Diff(tc.requests, s.methods()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// record is an address as it was answered.
func record(t *testing.T, tr transcript) netbox.IPAddress {
	t.Helper()
	s := &script{t: t, answers: []transcript{tr}}
	var id struct {
		ID int64 `json:"id"`
	}
	_ = json.Unmarshal(tr.Answer, &id)
	ip, err := serve(t, s).Get(t.Context(), id.ID)
	if err != nil {
		t.Fatal(err)
	}
	return ip
}

// methods are those of what was seen.
func (s *script) methods() []string {
	var out []string
	for _, r := range s.seen {
		out = append(out, r.Method)
	}
	return out
}

func TestFindHost(t *testing.T) {
	a := netip.MustParseAddr("10.90.0.5")
	for _, v := range versions() {
		c, s := play(t, v, "603", "604", "605", "675")
		got, err := c.FindHost(t.Context(), a, nil)
		if err != nil || len(got) != 1 || got[0].Address.Addr() != a || got[0].VRF != nil {
			t.Errorf("%s: the one of the global table: %+v, %v", v, got, err)
		}
		if s.seen[0].Query != "address=10.90.0.5&limit=200&offset=0&ordering=id&vrf_id=null" {
			t.Errorf("%s: query %s", v, s.seen[0].Query)
		}
		got, err = c.FindHost(t.Context(), a, &netbox.VRF{ID: 1})
		if err != nil || len(got) != 1 || got[0].VRF == nil || got[0].VRF.ID != 1 {
			t.Errorf("%s: the one of a VRF: %+v, %v", v, got, err)
		}
		if got, err = c.FindHost(t.Context(), a, nil); err != nil || len(got) != 0 {
			t.Errorf("%s: nobody's: %+v, %v", v, got, err)
		}
		if _, err = c.FindHost(t.Context(), a, nil); netbox.KindOf(err) != netbox.KindUnexpected {
			t.Errorf("%s: an ignored filter returns everything: %v", v, err)
		}
	}
}
