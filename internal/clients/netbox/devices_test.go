package netbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// page is an answer that lists some objects.
func page(objects ...string) transcript {
	return made(200, fmt.Sprintf(`{"count":%d,"next":null,"previous":null,"results":[%s]}`, len(objects), strings.Join(objects, ",")))
}

// number is the id of what a recorded answer tells of.
func number(t *testing.T, tr transcript) int64 {
	t.Helper()
	var o struct {
		ID int64 `json:"id"`
	}
	if err := json.Unmarshal(tr.Answer, &o); err != nil || o.ID == 0 {
		t.Fatalf("%s has no id: %v", tr.Name, err)
	}
	return o.ID
}

func TestFindHolder(t *testing.T) {
	for _, v := range versions() {
		c, s := play(t, v, "162")
		h, err := c.FindHolder(t.Context(), netbox.HolderRef{Kind: netbox.Device, Name: "NODE-1", Site: "ams1"})
		if err != nil || h.ID != 1 || h.Name != "node-1" || h.Site != "ams1" || h.Serial != "SN0001" || len(h.Seated) != 0 {
			t.Errorf("%s: %+v, %v", v, h, err)
		}
		if s.requests()[0] != "GET /api/dcim/devices/" || !strings.Contains(s.seen[0].Query, "name=NODE-1") {
			t.Errorf("%s: asked %s ?%s", v, s.requests()[0], s.seen[0].Query)
		}
	}
	device := func(id int, name, site string) string {
		return fmt.Sprintf(`{"id":%d,"name":%q,"site":{"id":1,"slug":%q}}`, id, name, site)
	}
	cases := map[string]struct {
		reason  string
		ref     netbox.HolderRef
		objects []string
		want    int64
		kind    netbox.Kind
		text    string
	}{
		"None":     {"there is none", netbox.HolderRef{Kind: netbox.Device, Name: "a"}, nil, 0, netbox.KindNotFound, `cannot find the device "a"`},
		"Two":      {"two of one name are never picked from", netbox.HolderRef{Kind: netbox.Device, Name: "a"}, []string{device(1, "a", "x"), device(2, "a", "y")}, 0, netbox.KindAmbiguous, `number 1 in site "x", number 2 in site "y"`},
		"BySite":   {"unless by their sites", netbox.HolderRef{Kind: netbox.Device, Name: "a", Site: "y"}, []string{device(1, "a", "x"), device(2, "a", "y")}, 2, "", ""},
		"NoSite":   {"none in that site", netbox.HolderRef{Kind: netbox.Device, Name: "a", Site: "z"}, []string{device(1, "a", "x")}, 0, netbox.KindNotFound, `in site "z" the device "a"`},
		"Ignored":  {"a filter that is ignored returns everything", netbox.HolderRef{Kind: netbox.Device, Name: "a"}, []string{device(1, "b", "x"), device(2, "c", "y")}, 0, netbox.KindNotFound, ""},
		"Virtual":  {"a virtual machine may have no site", netbox.HolderRef{Kind: netbox.VirtualMachine, Name: "a"}, []string{`{"id":7,"name":"a","site":null,"primary_ip4":9}`}, 7, "", ""},
		"Nameless": {"which would be any", netbox.HolderRef{Kind: netbox.Device}, nil, 0, netbox.KindInvalid, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h, err := serve(t, &script{t: t, answers: []transcript{page(tc.objects...)}}).FindHolder(t.Context(), tc.ref)
			if h.ID != tc.want || netbox.KindOf(err) != tc.kind || (err != nil && !strings.Contains(err.Error(), tc.text)) {
				t.Errorf("%s: %+v, %v", tc.reason, h, err)
			}
		})
	}
	c, _ := play(t, "4.6.8", "189", "526")
	if h, err := c.FindHolder(t.Context(), netbox.HolderRef{Kind: netbox.Device, ID: 1}); err != nil || h.ETag == "" {
		t.Errorf("by number: %+v, %v", h, err)
	}
	if _, err := c.FindHolder(t.Context(), netbox.HolderRef{Kind: netbox.Device, ID: 9}); !netbox.IsNotFound(err) {
		t.Errorf("by a number that is none: %v", err)
	}
}

// TestSeat: a holder is read right before it's written, and written only as it was read.
func TestSeat(t *testing.T) {
	for _, v := range versions() {
		all := transcripts(t, v)
		ip := number(t, all["570"])
		c, s := play(t, v, "189", "571")
		h, err := c.Seat(t.Context(), netbox.Device, 1, netbox.SeatPrimary4, 0, ip)
		if err != nil || h.Seated[netbox.SeatPrimary4].ID != ip || h.Seated[netbox.SeatPrimary4].Address != "10.90.0.5/24" {
			t.Errorf("%s: %+v, %v", v, h, err)
		}
		if diff := cmp.Diff(map[string]any{"primary_ip4": float64(ip)}, s.seen[1].Body); diff != "" {
			t.Errorf("%s (-want +got):\n%s", v, diff)
		}
		if got, want := s.seen[1].Header.Get("If-Match"), all["189"].AnswerHeaders["ETag"]; got != want {
			t.Errorf("%s: If-Match %q, want %q", v, got, want)
		}
		c, s = play(t, v, "580")
		if _, err := c.Seat(t.Context(), netbox.Device, 1, netbox.SeatPrimary4, 0, 99); !netbox.IsConflict(err) || len(s.seen) != 1 {
			t.Errorf("%s: another's seat isn't taken: %v, %v", v, err, s.requests())
		}
		c, s = play(t, v, "580")
		if _, err := c.Seat(t.Context(), netbox.Device, 1, netbox.SeatPrimary4, 0, ip); err != nil || len(s.seen) != 1 {
			t.Errorf("%s: what is so already isn't written: %v, %v", v, err, s.requests())
		}
		cleared := all["571"]
		cleared.Answer = json.RawMessage(`{"id":1,"name":"node-1","primary_ip4":null}`)
		s = &script{t: t, answers: []transcript{all["580"], cleared}}
		if _, err := serve(t, s).Seat(t.Context(), netbox.Device, 1, netbox.SeatPrimary4, ip, 0); err != nil || s.seen[1].Body["primary_ip4"] != nil {
			t.Errorf("%s: cleared: %v, %v", v, err, s.seen)
		}
		s = &script{t: t, answers: []transcript{made(200, `{"id":2,"name":"node-2"}`), all["572"]}}
		_, err = serve(t, s).Seat(t.Context(), netbox.Device, 2, netbox.SeatPrimary4, 0, ip)
		e := &netbox.Error{}
		if !netbox.IsInvalid(err) || !asError(err, &e) || !cmp.Equal(e.Fields, []string{"primary_ip4"}) {
			t.Errorf("%s: an address of another device: %v", v, err)
		}
		checkText(t, err, s)
	}
	all := transcripts(t, "4.6.8")
	for name, tc := range map[string]struct {
		reason string
		answer transcript
		want   netbox.Kind
	}{
		"Stale":   {"somebody was faster", all["533"], netbox.KindConflict},
		"Lost":    {"nobody knows", all["942"], netbox.KindUnknownOutcome},
		"Ignored": {"a field that isn't kept", made(200, `{"id":1,"name":"node-1"}`), netbox.KindUnexpected},
		"Other":   {"another record", made(200, `{"id":2,"name":"node-2"}`), netbox.KindUnknownOutcome},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{t: t, answers: []transcript{all["189"], tc.answer}}
			if _, err := serve(t, s).Seat(t.Context(), netbox.Device, 1, netbox.SeatPrimary4, 0, 5); netbox.KindOf(err) != tc.want {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

func serveMarked(t *testing.T, h http.Handler, now func() time.Time) *netbox.Client {
	t.Helper()
	c, err := netbox.New(netbox.Config{URL: started(t, h), Token: token, MarkerField: "claim", MarkersBegin: "c1/"}, netbox.WithClock(now))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
