package netbox_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// noAddress is an empty list.
var noAddress = made(200, `{"count":0,"next":null,"results":[]}`)

func TestPreflight(t *testing.T) {
	field := func(s string) transcript {
		return made(200, `{"count":1,"next":null,"results":[{"name":"claim_id",`+s+`}]}`)
	}
	none := made(200, `{"count":0,"next":null,"results":[]}`)
	full := made(200, `{"count":4,"next":null,"results":[{"id":1,"address":"10.0.0.1/24"}]}`)
	for _, v := range versions() {
		all := transcripts(t, v)
		status := all["002"]
		cases := map[string]struct {
			reason  string
			answers []transcript
			state   netbox.FieldState
			want    netbox.Kind
			text    string
		}{
			"Ready":     {"as it must be", []transcript{status, all["111"]}, netbox.FieldReady, "", ""},
			"Missing":   {"none of that name", []transcript{status, all["112"], full}, netbox.FieldMissing, "", ""},
			"Empty":     {"none of that name, and no address", []transcript{status, all["112"], none, none}, netbox.FieldMissing, "", ""},
			"Hidden":    {"not listed, and there: only what is there is a filter", []transcript{status, all["112"], none, full}, netbox.FieldUnproven, "", ""},
			"Unseen":    {"not listed, and no address may be seen", []transcript{status, all["112"], all["800"], status}, "", netbox.KindForbidden, "ipam.view_ipaddress"},
			"OtherCase": {"a filter that ignores case", []transcript{status, made(200, `{"results":[{"name":"Claim_ID"}]}`), full}, netbox.FieldMissing, "", ""},
			"NoRight":   {"unseen, but it filters", []transcript{status, all["114"], status, none}, netbox.FieldUnproven, "", ""},
			"NoFilter":  {"unseen, and ignored as a filter", []transcript{status, all["114"], status, full}, "", netbox.KindMarkerField, `"filter_logic":"exact"`},
			"Integer":   {"another type", []transcript{status, field(`"type":{"value":"integer"},"unique":true,"filter_logic":"exact","object_types":["ipam.ipaddress"]`)}, "", netbox.KindMarkerField, "type isn't text"},
			"Loose":     {"not unique, filtered loosely, elsewhere", []transcript{status, field(`"type":"text","unique":false,"filter_logic":{"value":"loose"},"object_types":["ipam.prefix"]`)}, "", netbox.KindMarkerField, `lack "ipam.ipaddress", it isn't unique, its filter logic isn't exact`},
			"BadToken":  {"nobody takes the token", []transcript{all["003"], all["003"]}, "", netbox.KindUnauthorized, "isn't accepted"},
			"Old":       {"before 4.2", []transcript{made(200, `{"netbox-version":"4.1.11"}`)}, "", netbox.KindUnexpected, "4.2 or later"},
			"NotNetBox": {"another program", []transcript{made(200, `{"version":"1"}`)}, "", netbox.KindUnexpected, "which NetBox"},
		}
		for name, tc := range cases {
			t.Run(name+"/"+v, func(t *testing.T) {
				s := &script{t: t, answers: tc.answers}
				p, err := serve(t, s).Preflight(t.Context())
				if netbox.KindOf(err) != tc.want || p.Field != tc.state {
					t.Fatalf("%s: got %v, %v; want %q, %q", tc.reason, p, err, tc.state, tc.want)
				}
				if err != nil && !strings.Contains(err.Error(), tc.text) {
					t.Errorf("%s: %q lacks %q", tc.reason, err, tc.text)
				}
				if err == nil && p.Version.String() != v {
					t.Errorf("version %s, want %s", p.Version, v)
				}
				for _, r := range s.requests() {
					if !strings.HasPrefix(r, "GET ") {
						t.Errorf("a preflight writes nothing: %s", r)
					}
				}
			})
		}
	}
}

func TestPreflightIsRemembered(t *testing.T) {
	all := transcripts(t, "4.6.8")
	now := time.Unix(0, 0)
	s := &script{t: t, answers: []transcript{all["002"], all["112"], noAddress, noAddress, all["002"], all["111"], all["002"], all["111"]}}
	c := serveAt(t, s, func() time.Time { return now })
	steps := []struct {
		after    time.Duration
		requests int
		reason   string
	}{
		{0, 4, "the first looks"},
		{time.Second, 4, "missing is remembered for a moment"},
		{time.Second, 6, "only: somebody may create it any time"},
		{0, 6, "ready is remembered"},
		{9 * time.Minute, 6, "for a while"},
		{2 * time.Minute, 8, "and then looked at again"},
	}
	for _, step := range steps {
		now = now.Add(step.after)
		if _, err := c.Preflight(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := len(s.requests()); got != step.requests {
			t.Errorf("%s: %d requests, want %d", step.reason, got, step.requests)
		}
	}
}

func TestCreateMarkerField(t *testing.T) {
	for _, v := range versions() {
		all := transcripts(t, v)
		cases := map[string]struct {
			reason  string
			answers []transcript
			want    netbox.Kind
			text    string
		}{
			"Created":   {"made, and read back", []transcript{all["100"]}, "", ""},
			"Forbidden": {"the message is what to create", []transcript{all["802"], all["803"]}, netbox.KindMarkerField, `{"name":"claim_id","object_types":["ipam.ipaddress"],"type":"text","unique":true,"filter_logic":"exact"`},
			"Raced":     {"another provider was faster", []transcript{all["108"], all["111"]}, "", ""},
			"Hidden":    {"one that isn't shown", []transcript{all["108"], all["112"], noAddress, noAddress}, netbox.KindMarkerField, "without constraints"},
			"Filters":   {"one that isn't shown, and works", []transcript{all["108"], all["112"], noAddress, made(200, `{"count":1,"next":null,"results":[{"id":1,"address":"10.0.0.1/24"}]}`)}, "", ""},
			"Refused":   {"refused for another reason", []transcript{made(400, `{"type":["x"]}`), all["112"], noAddress, noAddress}, netbox.KindInvalid, "type"},
			"BadToken":  {"nobody takes the token", []transcript{all["802"], all["003"]}, netbox.KindUnauthorized, "isn't accepted"},
			"Ignored":   {"made without what matters", []transcript{made(201, `{"name":"claim_id","type":"text"}`)}, netbox.KindMarkerField, "isn't unique"},
		}
		for name, tc := range cases {
			t.Run(name+"/"+v, func(t *testing.T) {
				s := &script{t: t, answers: tc.answers}
				err := serve(t, s).CreateMarkerField(t.Context())
				if netbox.KindOf(err) != tc.want || (err != nil && !strings.Contains(err.Error(), tc.text)) {
					t.Errorf("%s: got %v, want %q with %q", tc.reason, err, tc.want, tc.text)
				}
				want := map[string]any{
					"object_types": []any{"ipam.ipaddress"}, "name": "claim_id", "type": "text", "unique": true,
					"filter_logic": "exact", "ui_editable": "no", "label": "Crossplane claim",
					"description": "Which Crossplane resource this address belongs to. Don't edit.",
				}
				if diff := cmp.Diff(want, s.seen[0].Body); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		}
	}
}

// TestCreateMarkerFieldOnce: of many that found none, one asks.
func TestCreateMarkerFieldOnce(t *testing.T) {
	all := transcripts(t, "4.6.8")
	s := &script{t: t, answers: []transcript{all["002"], all["112"], noAddress, noAddress, all["100"]}}
	c := serve(t, s)
	for range 3 {
		if _, err := c.Preflight(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if err := c.CreateMarkerField(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	p, err := c.Preflight(t.Context())
	if err != nil || p.Field != netbox.FieldReady || p.Version.String() != "4.6.8" {
		t.Errorf("afterwards: %+v, %v", p, err)
	}
	if got := len(s.requests()); got != 5 {
		t.Errorf("%d requests, want 5: %v", got, s.requests())
	}
}

// TestForgetWhileHanging: nobody waits for a look at the field that hangs, only to have what it finds forgotten.
func TestForgetWhileHanging(t *testing.T) {
	asked, resume := make(chan struct{}), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			close(asked)
			<-resume
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"status":["no"]}`))
	}))
	t.Cleanup(srv.Close)
	c, err := netbox.New(netbox.Config{URL: srv.URL, Token: token, MarkerField: "claim"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := c.Preflight(t.Context())
		done <- err
	}()
	<-asked
	refused := make(chan error, 1)
	go func() {
		_, err := c.Create(t.Context(), netip.MustParsePrefix("10.0.0.5/24"), nil, netbox.Request{Marker: "c1/ns/a/u"})
		refused <- err
	}()
	select {
	case err := <-refused:
		if !netbox.IsInvalid(err) {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("it waits for a look that hangs")
	}
	close(resume)
	if err := <-done; err == nil {
		t.Error("NetBox refused it")
	}
}
