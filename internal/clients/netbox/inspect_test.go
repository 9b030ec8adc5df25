package netbox_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

func urlOf(t *testing.T, h http.Handler) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

// A front answers by method and path, and says what time it is.
type front struct {
	t       *testing.T
	answers map[string]transcript
	date    time.Time
	asked   []string
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.Method + " " + strings.TrimPrefix(r.URL.Path, "/api/")
	f.asked = append(f.asked, key)
	if b, _ := io.ReadAll(r.Body); r.Method == http.MethodPost && string(b) != "{" {
		f.t.Errorf("%s: body %q, which some NetBox may make a record of", key, b)
	}
	a, ok := f.answers[key]
	if !ok {
		a = transcript{Status: http.StatusMethodNotAllowed, Answer: []byte(`{"detail":"x"}`), AnswerHeaders: map[string]string{"Content-Type": "application/json"}}
	}
	for k, v := range a.AnswerHeaders {
		w.Header().Set(k, v)
	}
	w.Header()["Date"] = nil
	if !f.date.IsZero() {
		w.Header().Set("Date", f.date.Format(http.TimeFormat))
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Answer)
}

// html is what stands in front of a NetBox says in HTML.
func html(status int) transcript {
	return transcript{Status: status, Answer: []byte("<html>"), AnswerHeaders: map[string]string{"Content-Type": "text/html; charset=utf-8"}}
}

const description = `{"name":"IP Address List","description":"","renders":["application/json"],"parses":["application/json"]`

func TestInspect(t *testing.T) {
	const (
		status, fields, offers, create = "GET status/", "GET extras/custom-fields/", "OPTIONS ipam/ip-addresses/", "OPTIONS extras/custom-fields/"
		prefixes, addresses            = "GET ipam/prefixes/", "GET ipam/ip-addresses/"
		ranges, try                    = "GET ipam/ip-ranges/", "POST ipam/ip-addresses/"
	)
	now := time.Date(2026, 9, 1, 10, 0, 0, 0, time.UTC)
	list := made(200, `{"count":0,"next":null,"results":[]}`)
	writable := made(200, description+`,"actions":{"POST":{"address":{"type":"string"}},"PUT":{}}}`)
	bare := made(200, description+`}`)
	proven := netbox.Skew{Known: true}
	for _, v := range versions() {
		all := transcripts(t, v)
		base := map[string]transcript{status: all["002"], fields: all["111"], prefixes: list, addresses: list, offers: writable}
		cases := map[string]struct {
			reason string
			but    map[string]transcript
			ahead  time.Duration
			want   netbox.Inspection
			kind   netbox.Kind
		}{
			"Good":      {"All is as it must be.", nil, 0, netbox.Inspection{Token: netbox.TokenWritable}, ""},
			"Described": {"A description as it was recorded, of an endpoint that takes POST: it says nothing.", map[string]transcript{offers: all["297"], try: all["725"]}, 0, netbox.Inspection{Token: netbox.TokenWritable}, ""},
			"ReadOnly":  {"A token whose writes NetBox refuses.", map[string]transcript{offers: bare, try: all["026"]}, 0, netbox.Inspection{Token: netbox.TokenReadOnly, Lacks: []netbox.Right{{Permission: "ipam.add_ipaddress", ObjectType: "ipam.ipaddress"}}}, ""},
			"Fewer":     {"Other writes than the one that matters.", map[string]transcript{offers: made(200, description+`,"actions":{"PUT":{}}}`), try: all["026"]}, 0, netbox.Inspection{Token: netbox.TokenReadOnly, Lacks: []netbox.Right{{Permission: "ipam.add_ipaddress", ObjectType: "ipam.ipaddress"}}}, ""},
			"NoOptions": {"Something in front lets no OPTIONS pass.", map[string]transcript{offers: made(405, `{"detail":"x"}`), try: all["725"]}, 0, netbox.Inspection{Token: netbox.TokenWritable}, ""},
			"CORS":      {"Something in front answers OPTIONS itself, and lets no POST pass.", map[string]transcript{offers: made(200, `{}`), try: made(405, `{"detail":"x"}`)}, 0, netbox.Inspection{Token: netbox.TokenUnproven}, ""},
			"Firewall":  {"Or refuses it by a page.", map[string]transcript{offers: bare, try: html(403)}, 0, netbox.Inspection{Token: netbox.TokenUnproven}, ""},
			"Gateway":   {"Or by JSON that isn't NetBox's.", map[string]transcript{offers: bare, try: made(403, `{"message":"x"}`)}, 0, netbox.Inspection{Token: netbox.TokenUnproven}, ""},
			"Validator": {"Or reads JSON itself.", map[string]transcript{offers: bare, try: made(400, `{"error":"x"}`)}, 0, netbox.Inspection{Token: netbox.TokenUnproven}, ""},
			"Login":     {"Or wants a password.", map[string]transcript{offers: bare, try: made(401, `{"detail":"x"}`)}, 0, netbox.Inspection{Token: netbox.TokenUnproven}, ""},
			"Failing":   {"A database that takes no writes.", map[string]transcript{offers: bare, try: made(500, `{"error":"x"}`)}, 0, netbox.Inspection{Token: netbox.TokenUnproven}, ""},
			"Strange":   {"What no NetBox answers to this.", map[string]transcript{offers: bare, try: made(201, `{"id":7}`)}, 0, netbox.Inspection{Token: netbox.TokenUnproven}, ""},
			"NoView": {
				"A token that would lose what it allocates.", map[string]transcript{prefixes: all["800"], ranges: all["800"], addresses: all["800"]}, 0,
				netbox.Inspection{Token: netbox.TokenWritable, Lacks: []netbox.Right{{Permission: "ipam.view_prefix", ObjectType: "ipam.prefix"}, {Permission: "ipam.view_ipaddress", ObjectType: "ipam.ipaddress"}}}, "",
			},
			"Ranges": {
				"A token for ranges alone.", map[string]transcript{prefixes: all["800"], ranges: list}, 0,
				netbox.Inspection{Token: netbox.TokenWritable, Without: []netbox.Right{{Permission: "ipam.view_prefix", ObjectType: "ipam.prefix"}}}, "",
			},
			"NoField":    {"The field is made later.", map[string]transcript{fields: all["112"], create: writable}, 0, netbox.Inspection{Token: netbox.TokenWritable, Creatable: netbox.TokenWritable, Preflight: netbox.Preflight{Field: netbox.FieldMissing}}, ""},
			"NoCreation": {"The field may be somebody else's to make.", map[string]transcript{fields: all["112"], create: bare}, 0, netbox.Inspection{Token: netbox.TokenWritable, Preflight: netbox.Preflight{Field: netbox.FieldMissing}}, ""},
			"Ahead":      {"Its clock is ahead.", nil, 10 * time.Minute, netbox.Inspection{Token: netbox.TokenWritable, Preflight: netbox.Preflight{Skew: netbox.Skew{Ahead: 10 * time.Minute, Known: true}}}, ""},
			"Behind":     {"Its clock is behind.", nil, -time.Hour, netbox.Inspection{Token: netbox.TokenWritable, Preflight: netbox.Preflight{Skew: netbox.Skew{Ahead: -time.Hour, Known: true}}}, ""},
			"BadToken":   {"Nobody takes the token.", map[string]transcript{status: all["003"]}, 0, netbox.Inspection{Token: netbox.TokenUnproven}, netbox.KindUnauthorized},
			"Down":       {"The database is down.", map[string]transcript{status: made(500, `{}`)}, 0, netbox.Inspection{Token: netbox.TokenUnproven}, netbox.KindServerError},
		}
		for name, tc := range cases {
			t.Run(name+"/"+v, func(t *testing.T) {
				f := &front{t: t, answers: map[string]transcript{}, date: now.Add(tc.ahead)}
				for _, from := range []map[string]transcript{base, tc.but} {
					maps.Copy(f.answers, from)
				}
				got, err := serveAt(t, f, func() time.Time { return now }).Inspect(t.Context())
				if netbox.KindOf(err) != tc.kind {
					t.Fatalf("%s: %v", tc.reason, err)
				}
				want := tc.want
				if err == nil {
					want.Version = got.Version
					if want.Field == "" {
						want.Field = netbox.FieldReady
					}
					if !want.Skew.Known {
						want.Skew = proven
					}
				}
				if want.Creatable == "" {
					want.Creatable = netbox.TokenUnproven
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
				}
				if slices.ContainsFunc(f.asked, func(r string) bool {
					return r != try && !strings.HasPrefix(r, "GET ") && !strings.HasPrefix(r, "OPTIONS ")
				}) || len(f.asked) > 9 {
					t.Errorf("%s: asked %q", tc.reason, f.asked)
				}
			})
		}
	}
}

// TestInspectBrokenOff: a look that was broken off isn't told as a whole one, wherever that was.
func TestInspectBrokenOff(t *testing.T) {
	all := transcripts(t, "4.6.8")
	list := made(200, `{"count":0,"next":null,"results":[]}`)
	for _, at := range []string{"OPTIONS ipam/ip-addresses/", "POST ipam/ip-addresses/", "OPTIONS extras/custom-fields/"} {
		t.Run(at, func(t *testing.T) {
			f := &front{t: t, answers: map[string]transcript{
				"GET status/": all["002"], "GET extras/custom-fields/": all["112"], "GET ipam/prefixes/": list, "GET ipam/ip-addresses/": list,
				"OPTIONS ipam/ip-addresses/": made(200, description+`}`), "POST ipam/ip-addresses/": all["026"],
			}}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method+" "+strings.TrimPrefix(r.URL.Path, "/api/") == at {
					stop()
				}
				f.ServeHTTP(w, r)
			}))
			if _, err := c.Inspect(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestInspectToLook: a connection for looking alone needs to see addresses, and sends nothing that could write.
func TestInspectToLook(t *testing.T) {
	all := transcripts(t, "4.6.8")
	f := &front{t: t, answers: map[string]transcript{
		"GET status/": all["002"], "GET extras/custom-fields/": made(200, `{"count":1,"next":null,"results":[{"name":"claim_id","type":"integer"}]}`),
		"GET ipam/ip-addresses/": noAddress,
	}}
	c, err := netbox.New(netbox.Config{URL: urlOf(t, f), Token: token, MarkerField: "claim_id", ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	i, err := c.Inspect(t.Context())
	if err != nil || len(i.Lacks)+len(i.Without) != 0 || i.Token != netbox.TokenUnproven || i.Version.String() != "4.6.8" {
		t.Errorf("%+v, %v", i, err)
	}
	n := len(f.asked)
	_, err = c.Allocate(t.Context(), netbox.Parent{Kind: netbox.ParentPrefix, ID: 5}, netbox.Request{Marker: "m"})
	if netbox.KindOf(err) != netbox.KindReadOnly || len(f.asked) != n {
		t.Errorf("a write: %v, asked %q", err, f.asked[n:])
	}
}

// TestInspectIsRemembered: what a look found needn't be asked again for an address.
func TestInspectIsRemembered(t *testing.T) {
	all := transcripts(t, "4.6.8")
	f := &front{t: t, answers: map[string]transcript{"GET status/": all["002"], "GET extras/custom-fields/": all["111"]}}
	c := serve(t, f)
	_, _ = c.Inspect(t.Context()) // The rest of it fails.
	n := len(f.asked)
	if p, err := c.Preflight(t.Context()); err != nil || p.Field != netbox.FieldReady || len(f.asked) != n {
		t.Errorf("%+v, %v, asked %q", p, err, f.asked[n:])
	}
}

// TestNeeds names the right that each refused call lacks, as transcripts 800 to 849 show them.
func TestNeeds(t *testing.T) {
	all := transcripts(t, "4.6.8")
	refusal, status := all["800"], all["002"]
	cases := map[string]struct {
		call func(c *netbox.Client) error
		want string
	}{
		"Allocate": {func(c *netbox.Client) error {
			_, err := c.Allocate(t.Context(), netbox.Parent{Kind: netbox.ParentPrefix, ID: 5}, netbox.Request{Marker: "m"})
			return err
		}, "it is read-only, or lacks permission ipam.add_ipaddress on ipam.ipaddress"},
		"Get":    {func(c *netbox.Client) error { _, err := c.Get(t.Context(), 7); return err }, "it lacks permission ipam.view_ipaddress on ipam.ipaddress"},
		"Prefix": {func(c *netbox.Client) error { _, err := c.GetPrefix(t.Context(), 7); return err }, "it lacks permission ipam.view_prefix on ipam.prefix"},
		"Patch": {func(c *netbox.Client) error {
			_, err := c.Patch(t.Context(), netbox.IPAddress{ID: 7, ETag: `W/"1"`}, netbox.Patch{DNSName: new("x")})
			return err
		}, "it is read-only, or lacks permission ipam.change_ipaddress on ipam.ipaddress"},
		"Field": {func(c *netbox.Client) error { return c.CreateMarkerField(t.Context()) }, "extras/custom-fields"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tc.call(serve(t, &script{t: t, answers: []transcript{refusal, status}}))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
