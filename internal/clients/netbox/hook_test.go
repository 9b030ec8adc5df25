package netbox_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// hookSecret is what the recorded webhooks sign with.
const hookSecret = "hook-secret"

// A delivery is a recorded one.
type delivery struct {
	Version   string `json:"version"`
	Name      string `json:"name"`
	Signature string `json:"signature"`
	RawBody   string `json:"rawBody"`
}

func deliveries(tb testing.TB) []delivery {
	tb.Helper()
	f, err := os.Open("testdata/hooks/deliveries.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out []delivery
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var d delivery
		if err := json.Unmarshal(s.Bytes(), &d); err != nil {
			tb.Fatal(err)
		}
		out = append(out, d)
	}
	return out
}

// TestRecordedDeliveries reads what four versions sent, and knows their signatures.
func TestRecordedDeliveries(t *testing.T) {
	event := map[string]string{"872": "created", "873": "updated", "874": "updated", "875": "deleted"}
	all := deliveries(t)
	if len(all) != 16 {
		t.Fatalf("%d deliveries", len(all))
	}
	for _, d := range all {
		t.Run(d.Version+"/"+d.Name, func(t *testing.T) {
			body := []byte(d.RawBody)
			for _, s := range []string{d.Signature, strings.ToUpper(d.Signature), d.Signature + "\n"} {
				if !netbox.Signed(body, []byte(hookSecret), s) {
					t.Errorf("signature %q isn't known", s)
				}
			}
			for _, s := range []string{"", "x", d.Signature[2:], d.Signature + "00", strings.Repeat("0", len(d.Signature))} {
				if netbox.Signed(body, []byte(hookSecret), s) {
					t.Errorf("signature %q is taken", s)
				}
			}
			if netbox.Signed(append(body, ' '), []byte(hookSecret), d.Signature) || netbox.Signed(body, []byte("other"), d.Signature) || netbox.Signed(body, nil, d.Signature) {
				t.Error("another body, another secret, or none, is taken")
			}
			h, err := netbox.DecodeHook(body, "claim_id")
			if err != nil {
				t.Fatal(err)
			}
			if h.Event != event[d.Name[:3]] || h.ID == 0 || h.LastUpdated == "" || !h.Address.IsValid() {
				t.Errorf("got %+v", h)
			}
			if diff := cmp.Diff([]string{"hook-1"}, h.Markers); diff != "" {
				t.Errorf("markers: -want, +got:\n%s", diff)
			}
		})
	}
}

func TestDecodeHook(t *testing.T) {
	const data = `,"data":{"id":7,"last_updated":"x"}}`
	cases := map[string]struct {
		reason, in string
		want       netbox.Hook
		err        string
	}{
		"Model":      {"4.2 calls it model", `{"event":"updated","model":"ipaddress"` + data, netbox.Hook{Event: "updated", ID: 7, LastUpdated: "x"}, ""},
		"ObjectType": {"4.6 calls it object_type", `{"event":"updated","object_type":"ipam.ipaddress"` + data, netbox.Hook{Event: "updated", ID: 7, LastUpdated: "x"}, ""},
		"Device":     {"something else", `{"event":"updated","object_type":"dcim.device","model":"ipaddress"` + data, netbox.Hook{}, "isn't about an address"},
		"NoType":     {"nothing at all", `{"event":"updated"` + data, netbox.Hook{}, "isn't about an address"},
		"NoID":       {"no record", `{"event":"updated","model":"ipaddress"}`, netbox.Hook{}, "which address"},
		"LongTime":   {"a time that is none", `{"event":"updated","model":"ipaddress","data":{"id":7,"last_updated":"` + strings.Repeat("2", 65) + `"}}`, netbox.Hook{}, "more words"},
		"LongEvent":  {"an event that is none", `{"event":"` + strings.Repeat("u", 33) + `","model":"ipaddress"` + data, netbox.Hook{}, "more words"},
		"List":       {"no object", `[]`, netbox.Hook{}, "isn't an object"},
		"Cleared": {
			"a marker that was cleared is one that was", `{"event":"updated","model":"ipaddress","data":{"id":7,"custom_fields":{"claim_id":null}},"snapshots":{"prechange":{"custom_fields":{"claim_id":"a/b/c/d"}},"postchange":null}}`,
			netbox.Hook{Event: "updated", ID: 7, Markers: []string{"a/b/c/d"}}, "",
		},
		"LongMarker": {
			"a marker that is none", `{"event":"updated","model":"ipaddress","data":{"id":7,"custom_fields":{"claim_id":"` + strings.Repeat("x", 513) + `"}}}`,
			netbox.Hook{Event: "updated", ID: 7}, "",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := netbox.DecodeHook([]byte(tc.in), "claim_id")
			if (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func FuzzDecodeHook(f *testing.F) {
	for _, d := range deliveries(f) {
		f.Add([]byte(d.RawBody))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := netbox.DecodeHook(b, "claim_id"); err == nil && (h.ID <= 0 || h.Event == "" || len(h.Markers) > 3) {
			t.Errorf("accepted %q as %+v", b, h)
		}
	})
}

// TestNews: what is known, and what is somebody else's, is asked nothing about.
func TestNews(t *testing.T) {
	record := func(updated string) transcript {
		return made(200, `{"id":7,"address":"10.0.0.1/24","custom_fields":{"claim_id":"us/ns/a/1"},"last_updated":"`+updated+`"}`)
	}
	gone := made(404, `{"detail":"Not found."}`)
	s := &script{t: t, answers: []transcript{record("1"), record("2"), record("2"), gone, gone}}
	c := serveAs(t, s, "us/")
	hook := func(event, updated string, markers ...string) netbox.Hook {
		return netbox.Hook{Event: event, ID: 7, LastUpdated: updated, Markers: markers}
	}
	if c.News(hook("updated", "1")) || c.News(hook("updated", "1", "them/ns/a/1")) || !c.News(hook("updated", "1", "us/ns/a/1")) {
		t.Error("an unknown record is of interest where it carries a marker of ours")
	}
	if _, err := c.Get(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	if c.News(hook("updated", "1", "us/ns/a/1")) || !c.News(hook("updated", "2")) || !c.News(hook("deleted", "1")) {
		t.Error("a known record is of interest where it is another, or gone")
	}
	steps := []struct {
		reason string
		want   []string
	}{
		{"It has changed: as it is, and as it was.", []string{"2", "1"}},
		{"Nothing has changed since.", nil},
		{"It's gone: as it was.", []string{"2"}},
		{"It's gone still.", nil},
	}
	for _, step := range steps {
		changed, err := c.Reread(t.Context(), 7)
		var got []string
		for _, ip := range changed {
			got = append(got, ip.LastUpdated)
		}
		if diff := cmp.Diff(step.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n-want, +got:\n%s", step.reason, err, diff)
		}
	}
}

func serveAs(t *testing.T, h http.Handler, begins string) *netbox.Client {
	t.Helper()
	c, err := netbox.New(netbox.Config{URL: urlOf(t, h), Token: token, MarkerField: "claim_id", MarkersBegin: begins})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
