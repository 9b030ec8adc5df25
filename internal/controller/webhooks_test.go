package controller

import (
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxwebhook"
)

const hookSecret = "hook-secret"

// An echo is a NetBox in which each record has changed.
type echo struct{ netboxwebhook.Connection }

func (echo) MarkerField() string   { return "claim" }
func (echo) News(netbox.Hook) bool { return true }
func (echo) Reread(_ context.Context, number int64) ([]netbox.IPAddress, error) {
	return []netbox.IPAddress{{CustomFields: map[string]any{"claim": fmt.Sprintf("record-%d", number)}}}, nil
}

// TestWebhooksOfTwo: of two providers behind one Service the one that leads is told of everything, whichever of them NetBox's deliveries meet,
// also after the other one has taken its place.
func TestWebhooksOfTwo(t *testing.T) {
	kube := fake.NewClientset()
	woken := make(chan string, 10)
	type provider struct {
		url   string
		lease *lease
		leads <-chan struct{}
		end   func()
	}
	start := func(name string) *provider {
		p := &provider{}
		var receiver http.Handler
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { receiver.ServeHTTP(w, r) }))
		t.Cleanup(srv.Close)
		var err error
		if p.lease, err = leaseOf(kube.CoordinationV1(), "crossplane-system", strings.TrimPrefix(srv.URL, "http://")); err != nil {
			t.Fatal(err)
		}
		p.url = srv.URL
		p.lease.now = func() time.Time { return time.Time{} } // It's asked each time.
		p.leads, p.end = elect(t, p.lease)
		receiver = netboxwebhook.New(netboxwebhook.Options{
			Hooked: func(_ context.Context, ref config.Ref) (config.NetBox, []byte, error) {
				return config.NetBox{Identity: config.Identity{Ref: ref, UID: "uid"}}, []byte(hookSecret), nil
			},
			Connect: func(config.NetBox) (netboxwebhook.Connection, error) { return echo{}, nil },
			Wake:    func(_ context.Context, of config.Ref, marker string) { woken <- name + " " + of.Name + " " + marker },
			Freed:   func(config.Identity, netip.Addr) {},
			Leads: func() bool {
				select {
				case <-p.leads:
					return true
				default:
					return false
				}
			},
			Leader: p.lease.leader,
			Count:  func(config.Ref, bool, string) {},
			Log:    logging.NewNopLogger(),
		}).Handler(t.Context())
		return p
	}
	number := 0
	tells := func(p *provider, want string) {
		t.Helper()
		number++
		body := fmt.Sprintf(`{"event":"updated","model":"ipaddress","data":{"id":%d,"last_updated":"1"}}`, number)
		sum := hmac.New(sha512.New, []byte(hookSecret))
		_, _ = sum.Write([]byte(body))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/netbox/webhook/netbox", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(netbox.SignatureHeader, hex.EncodeToString(sum.Sum(nil)))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		select {
		case got := <-woken:
			if want := fmt.Sprintf("%s netbox record-%d", want, number); got != want || res.StatusCode != http.StatusNoContent {
				t.Errorf("%s, want %s; status %d", got, want, res.StatusCode)
			}
		case <-time.After(time.Second):
			t.Errorf("nobody is told of record %d within a second; status %d", number, res.StatusCode)
		}
	}
	first := start("first")
	<-first.leads
	second := start("second")
	for range 3 {
		tells(first, "first")
		tells(second, "first")
	}
	first.end()
	<-second.leads
	tells(second, "second")
}
