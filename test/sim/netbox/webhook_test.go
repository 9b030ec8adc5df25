package netbox_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	client "github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestWebhooks: each change of an address is told once, soon, signed, and in the form of the version; a receiver's 500 changes nothing.
func TestWebhooks(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			calls := make(chan map[string]any, 16)
			receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				var m map[string]any
				if err := json.Unmarshal(body, &m); err != nil || r.Header.Get("X-Hook-Signature") != netbox.Signature("s", body) || r.Header.Get("X-Extra") != "one" {
					t.Errorf("%v: %s", r.Header, body)
				}
				calls <- m
				w.WriteHeader(http.StatusInternalServerError)
			}))
			t.Cleanup(receiver.Close)
			s, c, p := start(t, v, "10.77.0.0/24")
			s.AddWebhook(netbox.Webhook{URL: receiver.URL + "/hook", Secret: "s", Header: http.Header{"X-Extra": {"one"}}})
			want := func(event string, id int64) {
				t.Helper()
				select {
				case m := <-calls:
					if data, _ := m["data"].(map[string]any); m["event"] != event || data["id"] != float64(id) {
						t.Errorf("told of %v, want %s of %d", m, event, id)
					}
				case <-time.After(5 * time.Second):
					t.Fatalf("nobody was told that %d was %s", id, event)
				}
			}
			ip, err := c.Allocate(t.Context(), p, client.Request{Marker: "m"})
			if err != nil {
				t.Fatal(err)
			}
			want("created", ip.ID)
			s.ChangeAddressAs("alice", ip.ID, func(a *netbox.Address) { a.Status = "reserved" })
			want("updated", ip.ID)
			s.RemoveAddress(ip.ID)
			want("deleted", ip.ID)
			s.RemoveWebhooks()
			s.AddAddress(netbox.Address{Address: cidr("10.77.0.9/24")})
			select {
			case m := <-calls:
				t.Errorf("told of %v", m)
			case <-time.After(300 * time.Millisecond):
			}
		})
	}
}
