package netboxlink

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

func TestGuard(t *testing.T) {
	cluster := []netip.Prefix{netip.MustParsePrefix("10.96.0.0/12"), netip.MustParsePrefix("fd00:10:96::/112")}
	cases := map[string]struct {
		reason   string
		address  string
		loopback bool
		denied   []netip.Prefix
		ok       bool
	}{
		"Public":    {"anywhere", "192.0.2.1:443", false, cluster, true},
		"Private":   {"a NetBox at home", "10.0.0.1:443", false, cluster, true},
		"V6":        {"the same", "[2001:db8::1]:443", false, cluster, true},
		"Loopback":  {"the provider's own ports", "127.0.0.1:8000", false, nil, false},
		"Demo":      {"are open where a flag says so", "127.0.0.1:8000", true, nil, true},
		"Mapped":    {"in whatever clothes", "[::ffff:127.0.0.1]:80", false, nil, false},
		"Metadata":  {"a cloud's credentials", "169.254.169.254:80", true, nil, false},
		"LinkLocal": {"the link", "[fe80::1]:80", true, nil, false},
		"Any":       {"which is loopback, too", "0.0.0.0:80", true, nil, false},
		"Nonsense":  {"what can't be checked", "netbox:80", true, nil, false},
		"Service":   {"a tenant's NetBox isn't a Service of the cluster", "10.96.0.1:443", false, cluster, false},
		"Service6":  {"nor one of its IPv6", "[fd00:10:96::1]:443", false, cluster, false},
		"MappedIn":  {"nor in other clothes", "[::ffff:10.96.0.1]:443", false, cluster, false},
		"Operators": {"an operator's may be", "10.96.0.1:443", false, nil, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := guard(tc.loopback, tc.denied)("tcp", tc.address, nil); (err == nil) != tc.ok {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

func TestMostOf(t *testing.T) {
	of := func(n int, err error) func(context.Context, string) (int, error) {
		return func(_ context.Context, namespace string) (int, error) {
			if namespace != "team-a" {
				t.Errorf("of namespace %q", namespace)
			}
			return n, err
		}
	}
	cases := map[string]struct {
		reason    string
		addresses func(context.Context, string) (int, error)
		want      int
	}{
		"None":    {"some may be there without a resource", of(0, nil), spare},
		"Many":    {"and as many again", of(500, nil), 2000},
		"Unknown": {"while nobody knows there's no bound", of(0, errors.New("boom")), math.MaxInt},
		"Nobody":  {"nor where nobody counts", nil, math.MaxInt},
	}
	for name, tc := range cases {
		if got := mostOf(t.Context(), tc.addresses, "ProviderConfig/team-a/mine"); got != tc.want {
			t.Errorf("%s: %s: %d", name, tc.reason, got)
		}
	}
}

func TestSettings(t *testing.T) {
	got := Settings(config.NetBox{
		Identity: config.Identity{Ref: config.Ref{Kind: "ProviderConfig", Namespace: "ns", Name: "n"}}, Token: "t",
		Config: v1alpha1.NetBoxConfig{
			URL: "https://n/", ProxyURL: "http://p:3128", Timeout: &metav1.Duration{Duration: 7 * time.Second},
			RequestsPerSecond: new(int64(7)), TLS: &v1alpha1.TLS{Verify: "Pinned", PinnedSHA256: []string{"ab"}},
		},
	}, "c1")
	want := netbox.Config{
		Name: "ProviderConfig/ns/n", URL: "https://n/", Token: "t", MarkerField: "crossplane_claim", ReleaseField: "crossplane_released", MarkersBegin: "c1/ns/", ProxyURL: "http://p:3128", Owner: "ns",
		Timeout: 7 * time.Second, RequestsPerSecond: 7, TLS: netbox.TLS{Verify: "Pinned", PinnedSHA256: []string{"ab"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if n := Name(config.Ref{Kind: "ClusterProviderConfig", Name: "netbox"}); n != "ClusterProviderConfig/netbox" {
		t.Errorf("name %q", n)
	}
}

// TestRefused: who is told that a token isn't accepted any more, and of which calls.
func TestRefused(t *testing.T) {
	status := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"netbox-version": "4.6.8", "results": []}`))
	}))
	t.Cleanup(srv.Close)
	var told []config.Ref
	l := New(Options{ClusterID: "c1", AllowLoopback: true, Refused: func(of config.Ref) { told = append(told, of) }})
	cases := map[string]struct {
		reason string
		status int
		want   bool
	}{
		"Fine":      {"it's accepted", http.StatusOK, false},
		"Withdrawn": {"it isn't", http.StatusForbidden, true},
		"Expired":   {"nor is it, as others say that", http.StatusUnauthorized, true},
		"Down":      {"nothing is known of it", http.StatusBadGateway, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, ref := range []config.Ref{{Kind: v1alpha1.ClusterProviderConfigKind, Name: "netbox"}, {Kind: v1alpha1.ProviderConfigKind, Namespace: "team-a", Name: "mine"}} {
				told, status = nil, tc.status
				n := config.NetBox{Identity: config.Identity{Ref: ref, UID: types.UID(name + ref.Name)}, Token: "t", Config: v1alpha1.NetBoxConfig{URL: srv.URL}}
				c, err := l.Client(n.Identity, Settings(n, "c1"))
				if err != nil {
					t.Fatal(err)
				}
				_, _ = c.Get(t.Context(), 5) // What it says isn't the question.
				if (len(told) > 0) != tc.want || tc.want && told[0] != ref {
					t.Errorf("%s: told %v", tc.reason, told)
				}
			}
		})
	}
	for _, c := range []netbox.Call{
		{Route: "core/object-changes/", Status: http.StatusForbidden}, {Route: "ipam/ip-addresses/", Status: http.StatusForbidden, Probe: true},
		{Route: "ipam/ip-addresses/", Status: http.StatusConflict},
	} {
		if refused(c) {
			t.Errorf("%+v is no reason to doubt a token", c)
		}
	}
}

// TestFound words what was found of a NetBox that answers.
func TestFound(t *testing.T) {
	n := config.NetBox{Identity: config.Identity{Ref: config.Ref{Kind: "ClusterProviderConfig", Name: "netbox"}}}
	good := netbox.Inspection{
		Preflight: netbox.Preflight{Version: netbox.Version{Major: 4, Minor: 6, Full: "4.6.8"}, Field: netbox.FieldReady, Skew: netbox.Skew{Known: true}},
		Token:     netbox.TokenWritable,
	}
	but := func(f func(*netbox.Inspection)) netbox.Inspection { i := good; f(&i); return i }
	add := netbox.Right{Permission: "ipam.add_ipaddress", ObjectType: "ipam.ipaddress"}
	view := netbox.Right{Permission: "ipam.view_prefix", ObjectType: "ipam.prefix"}
	cases := map[string]struct {
		in      netbox.Inspection
		reason  xpv2.ConditionReason
		message string
	}{
		"Good":     {good, "", ""},
		"Unproven": {but(func(i *netbox.Inspection) { i.Token = netbox.TokenUnproven }), "", "whether the token may write is not known before it is tried"},
		"ReadOnly": {
			but(func(i *netbox.Inspection) { i.Token, i.Lacks = netbox.TokenReadOnly, []netbox.Right{add} }), v1alpha1.ReasonForbidden,
			`the token of ClusterProviderConfig "netbox" is valid but is read-only, or lacks permission ipam.add_ipaddress on ipam.ipaddress: grant it that in NetBox, or put another one into the Secret; for import alone set spec.netbox.access: ReadOnly`,
		},
		"NoView": {
			but(func(i *netbox.Inspection) { i.Lacks = []netbox.Right{view} }), v1alpha1.ReasonForbidden,
			`the token of ClusterProviderConfig "netbox" is valid but lacks permission ipam.view_prefix on ipam.prefix: grant it that in NetBox, or put another one into the Secret`,
		},
		"FieldComes": {
			but(func(i *netbox.Inspection) { i.Field, i.Creatable = netbox.FieldMissing, netbox.TokenWritable }), "",
			`custom field "crossplane_claim" is created with the first address`,
		},
		"FieldMayCome": {
			but(func(i *netbox.Inspection) { i.Field = netbox.FieldMissing }), "",
			`custom field "crossplane_claim" is created with the first address, if the token may; if it may not, ask an administrator of NetBox to create it: POST /api/extras/custom-fields/ {"name":"crossplane_claim"`,
		},
		"Ranges": {
			but(func(i *netbox.Inspection) { i.Without = []netbox.Right{view} }), "",
			`the token lacks permission ipam.view_prefix on ipam.prefix, so that addresses can't come from there`,
		},
		"FieldUnproven": {
			but(func(i *netbox.Inspection) { i.Field = netbox.FieldUnproven }), "",
			`that custom field "crossplane_claim" is unique is not known, since the token lacks permission extras.view_customfield on extras.customfield`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := found(n, tc.in)
			if f.Reason != tc.reason || !strings.HasPrefix(f.Message, tc.message) || (tc.message == "") != (f.Message == "") {
				t.Errorf("%s: %s\nwant %s: %s", f.Reason, f.Message, tc.reason, tc.message)
			}
			if f.Facts.Version != "4.6.8" || f.Clock == nil || f.Clock.Status != "True" {
				t.Errorf("facts %+v, clock %v", f.Facts, f.Clock)
			}
		})
	}
}

// TestFoundUnverified: a connection that nothing verifies says so for as long as it's so, also where all is well, and where it's only looked at.
func TestFoundUnverified(t *testing.T) {
	for verify, want := range map[v1alpha1.TLSVerify]bool{v1alpha1.TLSVerifyNone: true, v1alpha1.TLSVerifyPinned: false, v1alpha1.TLSVerifySystem: false} {
		for _, access := range []v1alpha1.NetBoxAccess{v1alpha1.NetBoxReadWrite, v1alpha1.NetBoxReadOnly} {
			n := config.NetBox{Config: v1alpha1.NetBoxConfig{Access: access, TLS: &v1alpha1.TLS{Verify: verify}}}
			f := found(n, netbox.Inspection{Token: netbox.TokenWritable, Preflight: netbox.Preflight{Field: netbox.FieldReady}})
			if says := strings.Contains(f.Message, "isn't verified (tls.verify: None)"); says != want || f.Reason != "" {
				t.Errorf("%s, %s: %+v", verify, access, f)
			}
		}
	}
}

// TestFoundToLook: who only looks is told so, and needs no more than he uses.
func TestFoundToLook(t *testing.T) {
	n := config.NetBox{Config: v1alpha1.NetBoxConfig{Access: v1alpha1.NetBoxReadOnly}}
	f := found(n, netbox.Inspection{Token: netbox.TokenUnproven, Preflight: netbox.Preflight{Field: netbox.FieldMissing}})
	if f.Reason != "" || !strings.Contains(f.Message, "nothing is written") || strings.Contains(f.Message, "created") {
		t.Errorf("%+v", f)
	}
	if c := Settings(n, "c1"); !c.ReadOnly {
		t.Errorf("settings %+v", c)
	}
}

func TestClock(t *testing.T) {
	n := config.NetBox{Identity: config.Identity{Ref: config.Ref{Kind: "ClusterProviderConfig", Name: "netbox"}}}
	for skew, want := range map[time.Duration]string{5 * time.Minute: "", -5 * time.Minute: "", 10*time.Minute + 7*time.Second: "about 10 minutes ahead of ours", -time.Hour: "about 60 minutes behind ours"} {
		c := clock(n, netbox.Skew{Ahead: skew, Known: true})
		if (c.Status == "True") != (want == "") || !strings.Contains(c.Message, want) {
			t.Errorf("%s: %s %q", skew, c.Status, c.Message)
		}
	}
	if c := clock(n, netbox.Skew{}); c != nil {
		t.Errorf("a NetBox that doesn't say what time it is: %v", c)
	}
}

func TestMetrics(t *testing.T) {
	r := prometheus.NewRegistry()
	m, err := NewMetrics(r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewMetrics(r)
	if err != nil {
		t.Fatal(err)
	}
	of := config.Ref{Kind: "ClusterProviderConfig", Name: "netbox"}
	call := func(method, route string, status int, k netbox.Kind) netbox.Call {
		return netbox.Call{Connection: Name(of), Method: method, Route: route, Status: status, Kind: k, Took: time.Second}
	}
	const allocate = "ipam/prefixes/{id}/available-ips/"
	m.Call(call("POST", allocate, 201, ""))
	again.Call(call("POST", allocate, 409, netbox.KindConflict))
	taken := call("POST", allocate, 400, netbox.KindMarkerTaken)
	taken.Marks = true
	m.Call(taken)
	m.Call(call("PATCH", "ipam/ip-addresses/{id}/", 400, netbox.KindMarkerTaken)) // A rule of another kind.
	m.Call(call("POST", allocate, 201, netbox.KindMarkerField))
	m.Call(call("POST", allocate, 201, netbox.KindConflict)) // Of another table.
	m.Call(netbox.Call{Connection: Name(of), Method: "PATCH", Route: "ipam/ip-addresses/{id}/", Kind: netbox.KindConflict, Spared: true})
	m.Call(netbox.Call{Connection: Name(of), Method: "POST", Route: "ipam/ip-addresses/", Status: 400, Probe: true, Took: time.Second})
	m.Call(call("PATCH", "ipam/ip-addresses/{id}/", 412, netbox.KindConflict))
	m.Call(netbox.Call{Connection: Name(of), Method: "GET", Route: "status/", Held: true})
	m.Retried(of)
	m.Drifted(of, "Corrected")
	m.Delivered(of, true, "Taken")
	m.Delivered(config.Ref{Kind: "ProviderConfig", Namespace: "anything", Name: "anybody says"}, false, "Unsigned")
	const label = ` config="ClusterProviderConfig/netbox"`
	want := map[string]float64{
		"allocations_total" + label + ` result="Full"`: 1, "allocations_total" + label + ` result="Made"`: 1, "allocations_total" + label + ` result="MarkerTaken"`: 1,
		"allocations_total" + label + ` result="MarkerField"`: 1, "allocations_total" + label + ` result="Conflict"`: 1,
		"conflicts_total" + label + ` kind="Conflict"`: 3, "conflicts_total" + label + ` kind="MarkerTaken"`: 1,
		`drift_total action="Corrected"` + label: 1, "retries_total" + label: 1,
		`webhooks_total config="" result="Unsigned"`: 1, "webhooks_total" + label + ` result="Taken"`: 1,
		`requests_total code="201"` + label + ` method="POST" route="` + allocate + `"`:         3,
		`requests_total code="400"` + label + ` method="PATCH" route="ipam/ip-addresses/{id}/"`: 1,
		`requests_total code="400"` + label + ` method="POST" route="ipam/ip-addresses/"`:       1,
		"request_duration_seconds" + label + ` method="POST" route="ipam/ip-addresses/"`:        1,
		`requests_total code="400"` + label + ` method="POST" route="` + allocate + `"`:         1,
		`requests_total code="409"` + label + ` method="POST" route="` + allocate + `"`:         1,
		`requests_total code="412"` + label + ` method="PATCH" route="ipam/ip-addresses/{id}/"`: 1,
		`requests_total code="held"` + label + ` method="GET" route="status/"`:                  1,
		"request_duration_seconds" + label + ` method="POST" route="` + allocate + `"`:          5,
		"request_duration_seconds" + label + ` method="PATCH" route="ipam/ip-addresses/{id}/"`:  2,
	}
	if diff := cmp.Diff(want, gathered(t, r)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// gathered are all series by name and labels; of a histogram it's the count.
func gathered(t *testing.T, r prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			key := strings.TrimPrefix(f.GetName(), "provider_baremetal_netbox_")
			for _, l := range m.GetLabel() {
				key += " " + l.GetName() + "=" + strconv.Quote(l.GetValue())
			}
			out[key] = m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return out
}
