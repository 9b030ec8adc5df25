package netbox_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	netboxclient "github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// byRole asks for an address of any prefix of a role.
func byRole(role string) func(*v1alpha1.NetBoxIPAddress) {
	return func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ForProvider.From = []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{Filter: &v1alpha1.PrefixFilter{Role: role}}}}
	}
}

// TestManyFullPrefixes: of hundreds of full prefixes that a filter finds each is asked once, a few by each try; then the one behind them is found,
// and asked alone, until it's full, too; then nobody asks any more, and what is freed is given to who waits.
func TestManyFullPrefixes(t *testing.T) {
	const full, most = 300, 16
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			l.netbox.AddMarkerField(field)
			role := l.netbox.AddRole(netbox.Named{Name: "many", Slug: "many"})
			var first int64
			for i := range full {
				p := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 100, byte(i / 64), byte(i % 64 * 4)}), 32)
				l.netbox.AddPrefix(netbox.Prefix{Prefix: p, Role: role})
				if id := l.netbox.AddAddress(netbox.Address{Address: p}); i == 0 {
					first = id
				}
			}
			l.netbox.AddPrefix(netbox.Prefix{Prefix: netip.MustParsePrefix("10.101.0.0/31"), Role: role})
			until := func(name string, tries int, is func(*v1alpha1.NetBoxIPAddress) bool) (posts int) {
				t.Helper()
				l.apply(name, byRole("many"))
				for range tries {
					before := l.posts()
					l.once(name)
					if n := l.posts() - before; n > most {
						t.Errorf("%d POSTs by one look", n)
					}
					posts += l.posts() - before
					if is(l.get(name)) {
						return posts
					}
				}
				t.Fatalf("%s after %d looks: %+v", name, tries, l.get(name).Status.Conditions)
				return 0
			}
			if n := until("web-1", full/most+4, ready); n != full+1 {
				t.Errorf("the first one: %d POSTs", n)
			}
			l.now = l.now.Add(time.Minute)
			if n := until("web-2", 4, ready); n != 1 {
				t.Errorf("the second one: %d POSTs", n)
			}
			l.now = l.now.Add(time.Minute)
			if n := until("web-3", 4, because(v1alpha1.ReasonExhausted)); n > 1 {
				t.Errorf("one that there's no address for: %d POSTs", n)
			}
			posts := l.posts()
			for range 10 {
				l.now = l.now.Add(20 * time.Second)
				l.once("web-3")
			}
			if l.posts() != posts {
				t.Errorf("%d POSTs of one that waits", l.posts()-posts)
			}
			l.netbox.RemoveAddress(first)
			for range full { // No keeper looks here: the resource does, at a few of them each time.
				l.now = l.now.Add(20 * time.Second)
				l.once("web-3")
				if ready(l.get("web-3")) {
					break
				}
			}
			if a := l.get("web-3").Status.AtProvider.Address; a != "10.100.0.0/32" || l.posts() != posts+1 {
				t.Errorf("what was freed: got %q by %d POSTs", a, l.posts()-posts)
			}
		})
	}
}

// TestUsageAsNetBoxCounts: how much is free in a large prefix is what NetBox would give: nothing of ranges that are marked as populated, before 4.3 of any,
// and in a global container nothing that any table has.
func TestUsageAsNetBoxCounts(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			vrf := l.netbox.AddVRF(netbox.VRF{Name: "x"})
			l.netbox.AddPrefix(netbox.Prefix{Prefix: netip.MustParsePrefix("10.96.0.0/21"), Status: "container"})
			for i := range 900 {
				l.netbox.AddAddress(netbox.Address{Address: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 96, byte(i / 250), byte(1 + i%250)}), 21), VRF: vrf})
			}
			before43 := v == "4.2.9"
			l.netbox.AddCIDR("10.112.0.0/20")
			l.netbox.AddRange(netbox.Range{Start: netip.MustParsePrefix("10.112.0.1/20"), End: netip.MustParsePrefix("10.112.7.255/20"), MarkPopulated: !before43})
			l.netbox.AddCIDR("10.128.0.0/20")
			l.netbox.AddRange(netbox.Range{Start: netip.MustParsePrefix("10.128.0.1/20"), End: netip.MustParsePrefix("10.128.15.250/20"), MarkPopulated: !before43})
			l.netbox.AddCIDR("10.144.0.0/20")
			l.netbox.AddRange(netbox.Range{Start: netip.MustParsePrefix("10.144.0.1/20"), End: netip.MustParsePrefix("10.144.7.255/20")})
			c, err := netboxclient.New(netboxclient.Config{URL: l.netbox.URL(), Token: secret, MarkerField: field, MarkersBegin: clusterID + "/", Timeout: patient})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]int64{"10.96.0.0/21": 2046 - 900, "10.112.0.0/20": 2047, "10.128.0.0/20": 4, "10.144.0.0/20": 4094}
			if before43 {
				want["10.144.0.0/20"] = 2047
			}
			for cidr, free := range want {
				p, err := c.FindPrefix(t.Context(), cidr, netboxclient.VRFRef{})
				if err != nil {
					t.Fatal(err)
				}
				if u, err := c.Usage(t.Context(), p); err != nil || u.Free != free || u.AtLeast {
					t.Errorf("%s: %+v, %v, want %d free", cidr, u, err, free)
				}
			}
		})
	}
}

// TestMaxPageSize: a NetBox that lists fewer free addresses than a thousand, as its MAX_PAGE_SIZE says, isn't believed to have no others.
func TestMaxPageSize(t *testing.T) {
	l := newLab(t, "4.6.8")
	to, err := url.Parse(l.netbox.URL())
	if err != nil {
		t.Fatal(err)
	}
	behind := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if n, err := strconv.Atoi(q.Get("limit")); err == nil && (n > 100 || n == 0) {
			q.Set("limit", "100")
			r.URL.RawQuery = q.Encode()
		}
		behind.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	l.netbox.AddCIDR("10.98.0.0/23")
	role := l.netbox.AddRole(netbox.Named{Name: "many", Slug: "many"})
	for i := range 150 {
		l.netbox.AddPrefix(netbox.Prefix{Prefix: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 100, byte(i), 0}), 24), Role: role})
	}
	l.netbox.AddRange(netbox.Range{Start: netip.MustParsePrefix("10.98.4.1/22"), End: netip.MustParsePrefix("10.98.7.200/22")})
	c, err := netboxclient.New(netboxclient.Config{URL: front.URL + "/", Token: secret, MarkerField: field, MarkersBegin: clusterID + "/", Timeout: patient})
	if err != nil {
		t.Fatal(err)
	}
	usage := func(what string, p netboxclient.Parent, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if u, err := c.Usage(t.Context(), p); err != nil || u.Free != 100 || !u.AtLeast {
			t.Errorf("%s: %+v, %v, want at least 100 free", what, u, err)
		}
	}
	p, err := c.FindPrefix(t.Context(), "10.98.0.0/23", netboxclient.VRFRef{})
	usage("a prefix", p, err)
	if _, err := c.FindPrefixes(t.Context(), netboxclient.Filter{Role: "many"}); err != nil { // Which says how many it lists.
		t.Fatal(err)
	}
	r, err := c.FindRange(t.Context(), "10.98.4.1/22", netboxclient.VRFRef{})
	usage("a range", r, err)
	usage("a prefix again", p, nil)
}
