package netboxlink

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// TestRotation: a token that was rotated in NetBox and in the Secret is used by the next call, by the same Links, for operators and
// tenants; the old one isn't sent any more.
func TestRotation(t *testing.T) {
	for _, kind := range []string{v1alpha1.ClusterProviderConfigKind, v1alpha1.ProviderConfigKind} {
		t.Run(kind, func(t *testing.T) {
			var valid atomic.Value
			valid.Store("Token old")
			var refused atomic.Int32
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				body := `{"netbox-version":"4.6.8","count":0,"next":null,"results":[]}`
				if r.Header.Get("Authorization") != valid.Load() {
					refused.Add(1)
					w.WriteHeader(http.StatusForbidden)
					body = `{"detail":"x"}`
				}
				_, _ = w.Write([]byte(body))
			}))
			defer srv.Close()
			l := New(Options{ClusterID: "c1", AllowLoopback: true})
			n := config.NetBox{
				Identity: config.Identity{Ref: config.Ref{Kind: kind, Namespace: "ns", Name: "n"}, UID: "uid"}, Token: "old",
				Config: v1alpha1.NetBoxConfig{URL: srv.URL},
			}
			status := func() error {
				c, err := l.Client(n.Identity, Settings(n, "c1"))
				if err != nil {
					t.Fatal(err)
				}
				_, err = c.Status(t.Context())
				return err
			}
			if err := status(); err != nil {
				t.Fatal(err)
			}
			valid.Store("Bearer nbt_new.secret")
			if err := status(); !netbox.IsUnauthorized(err) {
				t.Errorf("with the old token: %v", err)
			}
			if f := l.Inspect(t.Context(), n); f.Reason != v1alpha1.ReasonUnauthorized {
				t.Errorf("with the old token: %+v", f)
			}
			n.Token = "nbt_new.secret"
			before := refused.Load()
			if err := status(); err != nil {
				t.Errorf("with the new token: %v", err)
			}
			if f := l.Inspect(t.Context(), n); f.Reason != "" || f.Facts.Version != "4.6.8" {
				t.Errorf("with the new token: %+v", f)
			}
			if refused.Load() != before {
				t.Error("the old token was sent after the rotation")
			}
		})
	}
}

// TestGuarded: the guard is the tenants' own where the config is theirs.
func TestGuarded(t *testing.T) {
	l := New(Options{ClusterID: "c1"})
	n := config.NetBox{Identity: config.Identity{Ref: config.Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: "n"}, UID: "uid"}, Token: "t", Config: v1alpha1.NetBoxConfig{URL: "http://127.0.0.1:1"}}
	if f := l.Inspect(t.Context(), n); f.Reason != v1alpha1.ReasonNotAllowed {
		t.Errorf("loopback: %+v", f)
	}
}
