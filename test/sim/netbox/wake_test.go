package netbox_test

import (
	"context"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxlink"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxwebhook"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestWebhookWakes: an edit, and a deletion, are told to the resource within a second, by one read each; what was ours already costs none.
func TestWebhookWakes(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			s := netbox.New(netbox.Options{Version: v})
			s.AddToken(netbox.Token{Name: "provider", Secret: secret})
			s.AddCIDR("10.77.0.0/24")
			s.AddMarkerField(field)
			if err := s.Start(""); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			const marker = clusterID + "/team-a/web-1/u1"
			links := netboxlink.New(netboxlink.Options{ClusterID: clusterID, AllowLoopback: true})
			n := config.NetBox{
				Identity: config.Identity{Ref: config.Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: "netbox"}, UID: "uid"}, Token: secret,
				Config: v1alpha1.NetBoxConfig{URL: s.URL(), MarkerField: field},
			}
			woken := make(chan string, 100)
			receiver := netboxwebhook.New(netboxwebhook.Options{
				Hooked: func(_ context.Context, ref config.Ref) (config.NetBox, []byte, error) {
					if ref == n.Ref {
						return n, []byte("hook-secret"), nil
					}
					return config.NetBox{}, nil, config.ErrNoHook
				},
				Connect: func(n config.NetBox) (netboxwebhook.Connection, error) {
					return links.Client(n.Identity, netboxlink.Settings(n, clusterID))
				},
				Wake:  func(_ context.Context, _ config.Ref, m string) { woken <- m },
				Freed: func(config.Identity, netip.Addr) {},
				Leads: func() bool { return true },
				Count: func(config.Ref, bool, string) {},
				Log:   logging.NewNopLogger(),
			})
			at := httptest.NewServer(receiver.Handler(t.Context()))
			t.Cleanup(at.Close)
			s.AddWebhook(netbox.Webhook{URL: at.URL + "/netbox/webhook/netbox", Secret: "hook-secret"})
			t.Cleanup(s.RemoveWebhooks)
			id := s.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.9/24"), CustomFields: map[string]any{field: marker}})
			c, err := links.Client(n.Identity, netboxlink.Settings(n, clusterID))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Get(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			told := func(reason string) {
				t.Helper()
				began := time.Now()
				select {
				case m := <-woken:
					if m != marker {
						t.Errorf("%s: woken %q", reason, m)
					}
					t.Logf("%s: told after %s", reason, time.Since(began).Round(time.Millisecond))
				case <-time.After(time.Second):
					t.Fatalf("%s: nobody is told within a second", reason)
				}
			}
			drain := func() {
				for {
					select {
					case <-woken:
					case <-time.After(50 * time.Millisecond):
						return
					}
				}
			}
			drain() // That the record was made may have been news.
			s.ForgetRequests()
			s.ChangeAddressAs("alice", id, func(a *netbox.Address) { a.Description = "edited" })
			told("an edit")
			drain()
			if r := s.Requests(); len(r) != 1 {
				t.Errorf("an edit: %d requests: %+v", len(r), r)
			}
			s.RemoveAddress(id)
			told("a deletion")
			if r := s.Requests(); len(r) != 2 || s.Writes() != 0 {
				t.Errorf("a deletion: %d requests: %+v", len(r), r)
			}
		})
	}
}
