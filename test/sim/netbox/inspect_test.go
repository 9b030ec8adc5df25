package netbox_test

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxlink"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// inspected looks at an emulator as a provider config's controller does.
func inspected(t *testing.T, s *netbox.Server, access v1alpha1.NetBoxAccess) config.Finding {
	t.Helper()
	links := netboxlink.New(netboxlink.Options{ClusterID: clusterID, AllowLoopback: true})
	return links.Inspect(t.Context(), config.NetBox{
		Identity: config.Identity{Ref: config.Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: "netbox"}, UID: "uid"}, Token: secret,
		Config: v1alpha1.NetBoxConfig{URL: s.URL(), MarkerField: field, Access: access},
	})
}

// TestInspected: what a provider config says of a token, by a NetBox that describes what it may do and by one that doesn't. Nothing is made.
func TestInspected(t *testing.T) {
	const readWrite, readOnly = v1alpha1.NetBoxReadWrite, v1alpha1.NetBoxReadOnly
	rights := func(r ...string) netbox.Token { return netbox.Token{Rights: r} }
	all := []string{"view prefix", "view ipaddress", "add ipaddress", "change ipaddress", "delete ipaddress", "view customfield"}
	but := func(right string) netbox.Token {
		var out []string
		for _, r := range all {
			if r != right {
				out = append(out, r)
			}
		}
		return rights(out...)
	}
	cases := map[string]struct {
		reason string
		token  netbox.Token
		access v1alpha1.NetBoxAccess
		terse  bool
		fault  netbox.Fault
		ready  xpv2.ConditionReason
		state  v1alpha1.NetBoxTokenState
		text   string
	}{
		"Good":        {"one that may do all", rights(all...), readWrite, false, netbox.Fault{}, "", v1alpha1.NetBoxTokenWritable, ""},
		"GoodTerse":   {"also where nothing describes that", rights(all...), readWrite, true, netbox.Fault{}, "", v1alpha1.NetBoxTokenWritable, ""},
		"ReadOnly":    {"one that may only read", netbox.Token{ReadOnly: true}, readWrite, false, netbox.Fault{}, v1alpha1.ReasonForbidden, v1alpha1.NetBoxTokenReadOnly, "ipam.add_ipaddress"},
		"ReadTerse":   {"also where nothing describes that", netbox.Token{ReadOnly: true}, readWrite, true, netbox.Fault{}, v1alpha1.ReasonForbidden, v1alpha1.NetBoxTokenReadOnly, "access: ReadOnly"},
		"NoAdd":       {"one that may change and not add", but("add ipaddress"), readWrite, false, netbox.Fault{}, v1alpha1.ReasonForbidden, v1alpha1.NetBoxTokenReadOnly, "ipam.add_ipaddress"},
		"Unclear":     {"something in front keeps its own counsel", rights(all...), readWrite, true, netbox.Fault{Kind: netbox.FaultPage, Method: "POST"}, "", v1alpha1.NetBoxTokenUnproven, "not known before"},
		"Failing":     {"or fails", rights(all...), readWrite, true, netbox.Fault{Kind: netbox.FaultBadGateway, Method: "POST"}, "", v1alpha1.NetBoxTokenUnproven, "not known before"},
		"Lost":        {"or dies after it took the request", rights(all...), readWrite, true, netbox.Fault{Kind: netbox.FaultEOFAfter, Method: "POST"}, "", v1alpha1.NetBoxTokenUnproven, "not known before"},
		"Import":      {"who only looks needs no more", netbox.Token{ReadOnly: true}, readOnly, false, netbox.Fault{}, "", v1alpha1.NetBoxTokenUnproven, "nothing is written"},
		"ImportLeast": {"nor prefixes", rights("view ipaddress"), readOnly, true, netbox.Fault{}, "", v1alpha1.NetBoxTokenUnproven, "nothing is written"},
		"Blind":       {"and addresses all the same", rights("view prefix"), readOnly, false, netbox.Fault{}, v1alpha1.ReasonForbidden, v1alpha1.NetBoxTokenUnproven, "ipam.view_ipaddress"},
		"Ranges":      {"who takes addresses from ranges needs no prefixes", rights("view iprange", "view ipaddress", "add ipaddress", "view customfield"), readWrite, false, netbox.Fault{}, "", v1alpha1.NetBoxTokenWritable, "ipam.view_prefix"},
		"Nowhere":     {"one that sees neither", but("view prefix"), readWrite, false, netbox.Fault{}, v1alpha1.ReasonForbidden, v1alpha1.NetBoxTokenWritable, "ipam.view_prefix"},
	}
	for _, v := range versions() {
		for name, tc := range cases {
			t.Run(v+"/"+name, func(t *testing.T) {
				s := netbox.New(netbox.Options{Version: v, Terse: tc.terse})
				tc.token.Secret, tc.token.Name = secret, "provider"
				s.AddToken(tc.token)
				s.AddCIDR("10.77.0.0/24")
				s.AddMarkerField(field)
				s.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.9/24")})
				if tc.fault.Kind != "" {
					s.Inject(tc.fault)
				}
				if err := s.Start(""); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				f := inspected(t, s, tc.access)
				if f.Reason != tc.ready || f.Facts.Token != tc.state || !strings.Contains(f.Message, tc.text) || (tc.text == "") != (f.Message == "") {
					t.Errorf("%s: %+v, want %q, %s, %q", tc.reason, f, tc.ready, tc.state, tc.text)
				}
				if n := len(s.Addresses()); n != 1 {
					t.Errorf("%d addresses: %+v", n, s.Addresses())
				}
				for _, r := range s.Requests() {
					if r.Writes() && (r.Method != http.MethodPost || r.Body != "{" || tc.access == readOnly) {
						t.Errorf("sent: %+v", r)
					}
				}
			})
		}
	}
}

// TestNothingIsWritten: with access: ReadOnly nothing is taken from a NetBox whose token may, and what is imported is shown.
func TestNothingIsWritten(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddMarkerField(field)
	id := l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.3/29")})
	l.config.Config.Access = v1alpha1.NetBoxReadOnly
	l.apply("web-1")
	mg := l.settle("web-1", because(v1alpha1.ReasonForbidden))
	if m := mg.GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, "managementPolicies: [Observe]") {
		t.Errorf("message %q", m)
	}
	l.apply("seen", func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
		meta.SetExternalName(mg, strconv.FormatInt(id, 10))
	})
	l.settle("seen", ready)
	if l.netbox.Writes() != 0 {
		t.Errorf("%d writes", l.netbox.Writes())
	}
}

// TestGoesReadOnly: what is deleted after its NetBox was made one for looking alone says why it stays, and goes without its record where it's
// only observed.
func TestGoesReadOnly(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.apply("web-1")
	l.settle("web-1", ready)
	l.config.Config.Access = v1alpha1.NetBoxReadOnly
	writes := l.netbox.Writes()
	l.remove()
	l.once("web-1")
	mg := l.get("web-1")
	if c := mg.GetCondition(xpv2.TypeSynced); c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, "access: ReadOnly") || !strings.Contains(c.Message, "managementPolicies: [Observe]") {
		t.Errorf("Synced: %+v", c)
	}
	mg.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	if err := l.kube.Update(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	l.settle("web-1", gone)
	if l.netbox.Writes() != writes || len(l.netbox.Addresses()) != 1 {
		t.Errorf("%d writes, records %+v", l.netbox.Writes()-writes, l.netbox.Addresses())
	}
}
