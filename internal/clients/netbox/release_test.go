package netbox_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

const (
	ourMarker = "c1/team-a/web-1/u1"
	ourNote   = "c1/team-a/web-1/u1 2026-09-01T10:00:00Z"
)

// releasing is a client that knows both fields, in front of some answers.
func releasing(t *testing.T, answers ...transcript) (*netbox.Client, *script) {
	t.Helper()
	s := &script{t: t, answers: answers}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	c, err := netbox.New(netbox.Config{URL: srv.URL, Token: token, MarkerField: "claim_id", ReleaseField: "released", MarkersBegin: "c1/"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, s
}

// one is record 7, with its custom fields and whatever else.
func one(fields, more string) transcript {
	return made(200, `{"id":7,"address":"10.77.0.11/24","last_updated":"t","custom_fields":{`+fields+`}`+more+`}`)
}

const onDevice = `,"assigned_object_type":"dcim.interface","assigned_object_id":1,"assigned_object":{"id":1,"name":"eth0","device":{"id":4,"name":"node-1"}}`

func TestRelease(t *testing.T) {
	ours := one(`"claim_id":"`+ourMarker+`"`, "")
	assigned := one(`"claim_id":"`+ourMarker+`"`, onDevice)
	released := one(`"claim_id":null,"released":"`+ourNote+`"`, `,"status":{"value":"deprecated"}`)
	dropped := one(`"claim_id":null`, "")
	all := transcripts(t, "4.6.8")
	retire := map[string]any{
		"status": "deprecated", "dns_name": "", "custom_fields": map[string]any{"claim_id": nil, "released": ourNote},
	}
	unassign := map[string]any{
		"status": "deprecated", "dns_name": "", "custom_fields": map[string]any{"claim_id": nil, "released": ourNote},
		"assigned_object_type": nil, "assigned_object_id": nil,
	}
	keep := map[string]any{"custom_fields": map[string]any{"claim_id": nil, "released": ourNote}}
	refusal, refused := made(400, `{"__all__":["so"]}`), []string{"GET", "PATCH", "GET"}
	fields := func(those ...string) transcript {
		for i := range those {
			those[i] += `,"object_types":["ipam.ipaddress"],"type":"text"}`
		}
		return made(200, `{"count":9,"next":null,"results":[`+strings.Join(those, ",")+`]}`)
	}
	cases := map[string]struct {
		reason  string
		answers []transcript
		keep    bool
		want    netbox.Kind
		text    string
		methods []string
		body    map[string]any
	}{
		"Retired":   {"one PATCH does it all", []transcript{ours, released}, false, "", "", []string{"GET", "PATCH"}, retire},
		"Assigned":  {"with its assignment", []transcript{assigned, released}, false, "", "", []string{"GET", "PATCH"}, unassign},
		"Kept":      {"or just the marker goes", []transcript{assigned, released}, true, "", "", []string{"GET", "PATCH"}, keep},
		"Gone":      {"what is gone is released", []transcript{all["584"]}, false, "", "", []string{"GET"}, nil},
		"GoneSince": {"also in between", []transcript{ours, all["585"], all["584"]}, false, "", "", []string{"GET", "PATCH", "GET"}, retire},
		"LeftOut":   {"what a constraint leaves out of what may be changed isn't gone (840)", []transcript{ours, all["840"], ours}, false, netbox.KindForbidden, "isn't among those", []string{"GET", "PATCH", "GET"}, retire},
		"NotOurs":   {"another's is left alone", []transcript{one(`"claim_id":"c2/x/y/z"`, "")}, false, netbox.KindConflict, "isn't ours to release", []string{"GET"}, nil},
		"Unmarked":  {"nobody's, too", []transcript{one(`"claim_id":null`, "")}, false, netbox.KindConflict, "isn't ours", []string{"GET"}, nil},
		"Changed":   {"what somebody changed is looked at again", []transcript{made(200, strings.Replace(string(ours.Answer), `"t"`, `"t2"`, 1))}, false, netbox.KindConflict, "meanwhile", []string{"GET"}, nil},
		"Stale":     {"NetBox says so from 4.6 on", []transcript{ours, all["533"]}, false, netbox.KindConflict, "", []string{"GET", "PATCH"}, retire},
		"Primary":   {"a primary address isn't unassigned (574)", []transcript{assigned, refusal, fields(`{"name":"rack","required":false`)}, false, netbox.KindConflict, "primary or out-of-band", refused, unassign},
		"Required": {
			"what is required by now is missing (757): that is said, and not guessed", []transcript{assigned, refusal, fields(`{"name":"rack","required":true`, `{"name":"claim_id","required":true`, `{"name":"released","required":true`)},
			false, netbox.KindConflict, `no value in custom field "rack", which is required`, refused, unassign,
		},
		"RequiredKept": {"also where it isn't unassigned", []transcript{assigned, refusal, fields(`{"name":"rack","required":true`)}, true, netbox.KindConflict, `no value in custom field "rack", which is required`, refused, keep},
		"RuleKept":     {"which nothing but its own rules can refuse", []transcript{assigned, refusal, fields()}, true, netbox.KindConflict, "rule of its own: a custom field may be required", refused, keep},
		"RuleUnread":   {"what can't be read isn't told", []transcript{ours, refusal, all["802"], all["803"]}, false, netbox.KindConflict, "rule of its own: a custom field may be required", []string{"GET", "PATCH", "GET", "GET"}, retire},
		"Dropped": {"4.4.10 drops a note that it has no field for: the record stays ours", []transcript{ours, dropped, ours, ours}, false, netbox.KindReleaseField, "the marker was put back",
			[]string{"GET", "PATCH", "GET", "PATCH"}, retire},
		"DroppedForGood": {"or a person must help", []transcript{ours, dropped, all["941"]}, false, netbox.KindReleaseField, `put "` + ourMarker + `" back`,
			[]string{"GET", "PATCH", "GET"}, retire},
		"Lost": {"nobody knows", []transcript{ours, all["942"]}, false, netbox.KindUnknownOutcome, "", []string{"GET", "PATCH"}, retire},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, s := releasing(t, tc.answers...)
			seen := netbox.IPAddress{ID: 7, LastUpdated: "t"}
			seen.Address = prefix("10.77.0.11/24").Prefix
			err := c.Release(t.Context(), seen, netbox.Release{Marker: ourMarker, Note: ourNote, Retire: !tc.keep})
			if netbox.KindOf(err) != tc.want || (err != nil && !strings.Contains(err.Error(), tc.text)) {
				t.Errorf("%s: got %v, want %q with %q", tc.reason, err, tc.want, tc.text)
			}
			if diff := cmp.Diff(tc.methods, s.methods()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if tc.body != nil {
				if diff := cmp.Diff(tc.body, s.seen[1].Body); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			}
		})
	}
}

// TestReleaseClear: what a request wrote goes with its marker, unless NetBox requires that it's there.
func TestReleaseClear(t *testing.T) {
	ours := one(`"claim_id":"`+ourMarker+`","rack":"R7"`, `,"description":"x"`)
	released := one(`"claim_id":null,"released":"`+ourNote+`"`, `,"status":{"value":"deprecated"}`)
	fields := map[string]any{"claim_id": nil, "released": ourNote}
	cleared := map[string]any{
		"status": "deprecated", "dns_name": "", "role": "", "description": "", "comments": "", "tenant": nil, "tags": []any{},
		"custom_fields": map[string]any{"claim_id": nil, "released": ourNote, "rack": nil},
	}
	plain := map[string]any{"status": "deprecated", "dns_name": "", "custom_fields": fields}
	for name, tc := range map[string]struct {
		answers []transcript
		bodies  []map[string]any
	}{
		"Cleared":   {[]transcript{ours, released}, []map[string]any{cleared}},
		"Required":  {[]transcript{ours, made(400, `{"custom_fields":{"rack":["Required field cannot be empty."]}}`), released}, []map[string]any{cleared, plain}},
		"Validated": {[]transcript{ours, made(400, `{"__all__":["a tenant is required"]}`), released}, []map[string]any{cleared, plain}},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := releasing(t, tc.answers...)
			seen := netbox.IPAddress{ID: 7, LastUpdated: "t"}
			seen.Address = prefix("10.77.0.11/24").Prefix
			if err := c.Release(t.Context(), seen, netbox.Release{Marker: ourMarker, Note: ourNote, Retire: true, Clear: true, Fields: []string{"rack"}}); err != nil {
				t.Fatal(err)
			}
			var got []map[string]any
			for _, r := range s.seen[1:] {
				got = append(got, r.Body)
			}
			if diff := cmp.Diff(tc.bodies, got); diff != "" {
				t.Errorf("bodies (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReleased(t *testing.T) {
	field := made(200, `{"results":[{"name":"released","type":"text","filter_logic":"exact","object_types":["ipam.ipaddress"]}]}`)
	page := func(items ...transcript) transcript {
		var all []string
		for _, i := range items {
			all = append(all, string(i.Answer))
		}
		return made(200, `{"count":`+"9"+`,"next":null,"results":[`+strings.Join(all, ",")+`]}`)
	}
	note := func(s string) transcript { return one(`"released":"`+s+`"`, "") }
	cases := map[string]struct {
		reason  string
		answers []transcript
		notes   []string
		want    netbox.Kind
	}{
		"NoField":  {"nobody released anything", []transcript{made(200, `{"results":[]}`), page(one("", ""))}, nil, ""},
		"Hidden":   {"a field that isn't shown is one", []transcript{made(200, `{"results":[]}`), noAddress, page(one("", "")), page(note(ourNote))}, []string{ourNote}, ""},
		"NoRight":  {"one that may not be listed, and is no filter", []transcript{transcripts(t, "4.6.8")["114"], transcripts(t, "4.6.8")["803"], page(one("", ""))}, nil, ""},
		"Unfit":    {"a field that can't hold notes", []transcript{made(200, `{"results":[{"name":"released","type":"integer"}]}`)}, nil, netbox.KindReleaseField},
		"Some":     {"those whose notes begin with our cluster", []transcript{field, page(note(ourNote), note("c1/a/b/c"))}, []string{ourNote, "c1/a/b/c"}, ""},
		"Case":     {"the filter ignores case, ids don't", []transcript{field, page(note("C1/a/b/c"), note(ourNote))}, []string{ourNote}, ""},
		"Ignored":  {"an ignored filter returns everything", []transcript{field, page(note(ourNote), one("", ""))}, nil, netbox.KindUnexpected},
		"Stranger": {"also other clusters'", []transcript{field, page(note("c2/a/b/c"))}, nil, netbox.KindUnexpected},
		"Down":     {"nobody knows", []transcript{field, transcripts(t, "4.6.8")["941"]}, nil, netbox.KindServerError},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, s := releasing(t, tc.answers...)
			all, err := c.Released(t.Context())
			if netbox.KindOf(err) != tc.want {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
			var notes []string
			for _, ip := range all {
				notes = append(notes, ip.Marker("released"))
			}
			if diff := cmp.Diff(tc.notes, notes); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if last := s.seen[len(s.seen)-1]; len(notes) > 0 && !strings.HasPrefix(last.Query, "cf_released__isw=c1%2F&") {
				t.Errorf("query %s", last.Query)
			}
		})
	}
}

func TestExpire(t *testing.T) {
	retired := one(`"claim_id":null,"released":"`+ourNote+`"`, `,"status":{"value":"deprecated"}`)
	cases := map[string]struct {
		reason string
		is     transcript
		note   string
		want   netbox.Kind
		sent   []string
	}{
		"Retired":  {"as it was left", retired, ourNote, "", []string{"GET", "DELETE"}},
		"Gone":     {"somebody deleted it", transcripts(t, "4.6.8")["584"], ourNote, "", []string{"GET"}},
		"Active":   {"somebody uses it", one(`"released":"`+ourNote+`"`, `,"status":{"value":"active"}`), ourNote, netbox.KindConflict, []string{"GET"}},
		"Marked":   {"a resource took it", one(`"claim_id":"x","released":"`+ourNote+`"`, `,"status":{"value":"deprecated"}`), ourNote, netbox.KindConflict, []string{"GET"}},
		"Assigned": {"it's on an interface", one(`"released":"`+ourNote+`"`, `,"status":{"value":"deprecated"}`+onDevice), ourNote, netbox.KindConflict, []string{"GET"}},
		"Named":    {"somebody gave it a name", one(`"released":"`+ourNote+`"`, `,"status":{"value":"deprecated"},"dns_name":"db-1.example"`), ourNote, netbox.KindConflict, []string{"GET"}},
		"OtherNote": {"it was released again, later", one(`"released":"c1/a/b/c 2027-01-01T00:00:00Z"`, `,"status":{"value":"deprecated"}`), ourNote, netbox.KindConflict,
			[]string{"GET"}},
		"NoNote": {"what has no note was never released", one("", `,"status":{"value":"deprecated"}`), "", netbox.KindConflict, []string{"GET"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, s := releasing(t, tc.is, transcript{Status: 204})
			if err := c.Expire(t.Context(), 7, tc.note); netbox.KindOf(err) != tc.want {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
			if diff := cmp.Diff(tc.sent, s.methods()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestEnsureReleaseField(t *testing.T) {
	none := made(200, `{"count":0,"results":[]}`)
	good := `{"name":"released","type":{"value":"text"},"unique":false,"filter_logic":{"value":"exact"},"object_types":["ipam.ipaddress"]}`
	there := made(200, `{"count":1,"results":[`+good+`]}`)
	some := made(200, `{"count":4,"results":[{"id":1,"address":"10.0.0.1/24"}]}`)
	all := transcripts(t, "4.6.8")
	cases := map[string]struct {
		reason  string
		answers []transcript
		want    netbox.Kind
		text    string
	}{
		"There":     {"nothing to do", []transcript{there}, "", ""},
		"Made":      {"made where the token may", []transcript{none, some, made(201, good)}, "", ""},
		"Hidden":    {"not made where it's only not shown", []transcript{none, none, some}, "", ""},
		"Forbidden": {"else the exact object is named", []transcript{none, some, all["802"], all["803"]}, netbox.KindReleaseField, `{"name":"released","object_types":["ipam.ipaddress"],"type":"text","unique":false,"filter_logic":"exact","ui_editable":"no"}`},
		"Raced":     {"another provider was faster", []transcript{none, some, all["108"], there}, "", ""},
		"Unseen":    {"a token that may not read fields, but filter by it", []transcript{all["114"], all["803"], none}, "", ""},
		"Missing":   {"and one that can't", []transcript{all["114"], all["803"], some}, netbox.KindReleaseField, `"unique":false`},
		"Loose":     {"a field that finds too much", []transcript{made(200, strings.Replace(string(there.Answer), `"exact"`, `"loose"`, 1))}, netbox.KindReleaseField, "filter logic"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, s := releasing(t, tc.answers...)
			for range 2 {
				err := c.EnsureReleaseField(t.Context())
				if netbox.KindOf(err) != tc.want || (err != nil && !strings.Contains(err.Error(), tc.text)) {
					t.Fatalf("%s: got %v, want %q with %q", tc.reason, err, tc.want, tc.text)
				}
				if err != nil {
					return // A failure isn't remembered.
				}
			}
			if len(s.seen) != len(tc.answers) {
				t.Errorf("%s: %v", tc.reason, s.requests())
			}
		})
	}
}

func TestAdopt(t *testing.T) {
	bare := one(`"claim_id":null`, "")
	ours := one(`"claim_id":"`+ourMarker+`"`, "")
	noted := one(`"claim_id":"","released":"`+ourNote+`"`, "")
	all := transcripts(t, "4.6.8")
	mark := map[string]any{"custom_fields": map[string]any{"claim_id": ourMarker}}
	cases := map[string]struct {
		reason  string
		answers []transcript
		patch   netbox.Patch
		want    netbox.Kind
		methods []string
		body    map[string]any
	}{
		"Adopted":  {"read, then marked", []transcript{bare, ours}, netbox.Patch{}, "", []string{"GET", "PATCH"}, mark},
		"Again":    {"an answer was lost", []transcript{ours}, netbox.Patch{}, "", []string{"GET"}, nil},
		"Note":     {"it isn't released any more", []transcript{noted, ours}, netbox.Patch{Status: new("active")}, "", []string{"GET", "PATCH"}, map[string]any{"status": "active", "custom_fields": map[string]any{"claim_id": ourMarker, "released": nil}}},
		"Marked":   {"another was faster", []transcript{one(`"claim_id":"c2/a/b/c"`, "")}, netbox.Patch{}, netbox.KindConflict, []string{"GET"}, nil},
		"Number":   {"whatever stands there", []transcript{one(`"claim_id":5`, "")}, netbox.Patch{}, netbox.KindConflict, []string{"GET"}, nil},
		"Changed":  {"it isn't what was seen", []transcript{made(200, strings.Replace(string(bare.Answer), `"t"`, `"t2"`, 1))}, netbox.Patch{}, netbox.KindConflict, []string{"GET"}, nil},
		"Stale":    {"nor in between", []transcript{bare, all["533"]}, netbox.Patch{}, netbox.KindConflict, []string{"GET", "PATCH"}, mark},
		"Taken":    {"our marker is on another record", []transcript{bare, all["552"]}, netbox.Patch{}, netbox.KindMarkerTaken, []string{"GET", "PATCH"}, mark},
		"Dropped":  {"4.4.10 drops it", []transcript{bare, bare}, netbox.Patch{}, netbox.KindMarkerField, []string{"GET", "PATCH"}, mark},
		"Gone":     {"nothing to adopt", []transcript{all["584"]}, netbox.Patch{}, netbox.KindNotFound, []string{"GET"}, nil},
		"Lost":     {"nobody knows", []transcript{bare, all["942"]}, netbox.Patch{}, netbox.KindUnknownOutcome, []string{"GET", "PATCH"}, mark},
		"ReadOnly": {"a token that may only read", []transcript{bare, all["817"], all["803"]}, netbox.Patch{}, netbox.KindForbidden, []string{"GET", "PATCH", "GET"}, mark},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tagged := make([]transcript, 0, len(tc.answers))
			for _, a := range tc.answers {
				if a.Status == 200 && json.Valid(a.Answer) && a.Name == "" {
					a.AnswerHeaders = map[string]string{"Content-Type": "application/json", "ETag": `W/"t"`}
				}
				tagged = append(tagged, a)
			}
			c, s := releasing(t, tagged...)
			seen := netbox.IPAddress{ID: 7, LastUpdated: "t", Address: prefix("10.77.0.11/24").Prefix}
			ip, err := c.Adopt(t.Context(), seen, ourMarker, tc.patch)
			if netbox.KindOf(err) != tc.want || (err == nil && ip.Marker("claim_id") != ourMarker) {
				t.Errorf("%s: got %+v, %v, want %q", tc.reason, ip, err, tc.want)
			}
			if diff := cmp.Diff(tc.methods, s.methods()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if tc.body == nil {
				return
			}
			if diff := cmp.Diff(tc.body, s.seen[1].Body); diff != "" || s.seen[1].Header.Get("If-Match") != `W/"t"` {
				t.Errorf("%s: If-Match %q (-want +got):\n%s", tc.reason, s.seen[1].Header.Get("If-Match"), diff)
			}
		})
	}
	c, s := releasing(t)
	if _, err := c.Adopt(t.Context(), netbox.IPAddress{ID: 7}, "", netbox.Patch{}); !netbox.IsInvalid(err) || len(s.seen) != 0 {
		t.Errorf("nothing is written without a marker: %v", err)
	}
}
