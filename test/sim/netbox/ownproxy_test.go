package netbox_test

import (
	"context"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestOwnProxy: a tenant's own ProviderConfig has NetBox's URL, and a proxy of his that answers for it. He is told nothing of another namespace's resource,
// which isn't looked at for it.
func TestOwnProxy(t *testing.T) {
	l := newLab(t, "4.6.8")
	evil := netbox.New(netbox.Options{Version: "4.6.8"})
	evil.AddToken(netbox.Token{Name: "provider", Secret: secret})
	evil.AddCIDR("10.77.0.0/29")
	evil.AddMarkerField(field)
	if err := evil.Start(""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = evil.Close() })
	to, err := url.Parse(evil.URL())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
	}})
	t.Cleanup(proxy.Close)
	his := l.config
	his.Ref = config.Ref{Kind: v1alpha1.ProviderConfigKind, Namespace: "team-b", Name: "evil"}
	his.UID, his.Config.ProxyURL = "cfg-evil", proxy.URL
	l.resolve = func(_ context.Context, mg *v1alpha1.NetBoxIPAddress) (config.NetBox, error) {
		if mg.GetNamespace() == "team-b" {
			return his, nil
		}
		return l.config, nil
	}
	l.restart()
	l.apply("web-1", l.ofThis)
	had := l.settle("web-1", ready).Status.AtProvider
	l.namespace = "team-b"
	l.apply("spy", func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: "evil"}
	})
	mend := evil.Inject(netbox.Fault{Kind: netbox.FaultDisconnect, Method: "POST"})
	l.once("spy")
	l.once("spy")
	mend()
	evil.AddAddress(netbox.Address{ID: had.ID, Address: netip.MustParsePrefix(had.Address), Status: "active", CustomFields: map[string]any{field: clusterID + "/team-b/spy/uid-spy"}})
	writes := evil.Writes()
	l.woken, l.told = nil, nil
	for range 6 {
		l.once("spy")
	}
	if evil.Writes() != writes || len(l.woken) > 0 || len(l.told) > 0 {
		t.Errorf("his server was told something: %+v; woken %q, told %q", evil.Addresses(), l.woken, l.told)
	}
	if said := l.get("spy").GetCondition(xpv2.TypeReady).Message; strings.Contains(said, "web-1") || strings.Contains(said, "team-a") {
		t.Errorf("he is told %q", said)
	}
}
