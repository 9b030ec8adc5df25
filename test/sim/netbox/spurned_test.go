package netbox_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// front puts something in front of NetBox, which answers some requests itself, and counts these.
func (l *lab) front(answers func(*http.Request) (status int, body string)) (asked *int) {
	l.t.Helper()
	u, err := url.Parse(l.netbox.URL())
	if err != nil {
		l.t.Fatal(err)
	}
	asked = new(int)
	behind := httputil.NewSingleHostReverseProxy(u)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, body := answers(r)
		if status == 0 {
			behind.ServeHTTP(w, r)
			return
		}
		*asked++
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	l.t.Cleanup(srv.Close)
	l.config.Config.URL = srv.URL + "/"
	return asked
}

// ofPrefix says of a request that it's for an address of the prefix of a number.
func ofPrefix(r *http.Request, number int) bool {
	return r.Method == http.MethodPost && strings.Contains(r.URL.Path, fmt.Sprintf("/prefixes/%d/available-ips/", number))
}

// TestSourceRefused: where NetBox refuses an address of the first source by what may be of that one alone, the next one serves, and status says why;
// what is wrong with the request itself, and what may have been done, has no other one asked.
func TestSourceRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		status int
		body   string
		// next says that the next source serves, by is the reason in status of the first, or of Ready, and says a part of its message.
		next     bool
		by, says string
		// most POSTs to the first source in twenty looks, a minute apart.
		most int
	}{
		"Forbidden": {"the token has no right there", 403, `{"detail":"no"}`, true, "Forbidden", "lacks permission ipam.add_ipaddress|or lack permission ipam.add_ipaddress", 1},
		"Address":   {"the address that it would give is refused", 400, `{"address":["no"]}`, true, "Invalid", "gives no address of prefix \"10.77.0.0/29\"", 1},
		"Rule":      {"a rule of its own is against it", 400, `{"__all__":["not in this prefix"]}`, true, "Conflict", "or a rule of that NetBox itself refuses it", 1},
		"Status":    {"what the request says is wrong everywhere", 400, `{"status":["no"]}`, false, "Invalid", "status (NetBox has none of that name", 8},
		"Both":      {"also beside the address", 400, `{"address":["no"],"tags":["no"]}`, false, "Invalid", "tags (each must exist", 20},
		"Failed":    {"what NetBox failed over it may have done", 500, `{"error":"x"}`, false, "Unreachable", "fails inside (status 500) each time", 9},
		"Gateway":   {"nor is it known of what isn't NetBox's", 409, `{"message":"x"}`, false, "Unreachable", "something in front of the NetBox of ClusterProviderConfig \"netbox\" answers 409 each time", 9},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddMarkerField(field)
			l.netbox.AddCIDR("10.91.0.0/24")
			asked := l.front(func(r *http.Request) (int, string) {
				if ofPrefix(r, 1) {
					return tc.status, tc.body
				}
				return 0, ""
			})
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
				mg.Spec.ForProvider.From = append(mg.Spec.ForProvider.From, v1alpha1.AddressSource{Prefix: &v1alpha1.PrefixSource{CIDR: "10.91.0.0/24"}})
			})
			for range 20 {
				l.now = l.now.Add(time.Minute)
				l.once("web-1")
			}
			l.now = l.now.Add(time.Second)
			l.once("web-1")
			mg := l.get("web-1")
			if ready(mg) != tc.next || *asked > tc.most {
				t.Errorf("%s: %d POSTs to the first, %+v", tc.reason, *asked, mg.Status)
			}
			c := mg.GetCondition(xpv2.TypeReady)
			by, says := string(c.Reason), c.Message
			if tc.next {
				if len(mg.Status.AtProvider.Sources) != 2 || mg.Status.AtProvider.Address != "10.91.0.1/24" {
					t.Fatalf("%s: %+v", tc.reason, mg.Status.AtProvider)
				}
				by, says = mg.Status.AtProvider.Sources[0].Reason, mg.Status.AtProvider.Sources[0].Message
			}
			part := func() bool {
				for s := range strings.SplitSeq(tc.says, "|") {
					if strings.Contains(says, s) {
						return true
					}
				}
				return false
			}
			if tc.by != "" && (by != tc.by || !part()) {
				t.Errorf("%s: %s %q", tc.reason, by, says)
			}
		})
	}
}

// TestAllRefused: where NetBox refuses an address of each source, the first one's sentence is said, and it's asked ever less often; so it is of
// one that is refused while another is full, as often as that is looked at.
func TestAllRefused(t *testing.T) {
	for name, full := range map[string]bool{"Both": false, "OtherFull": true, "FullFirst": true} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddMarkerField(field)
			l.netbox.AddCIDR("10.91.0.0/32")
			if full {
				l.netbox.AddAddress(netbox.Address{Address: cidr("10.91.0.0/32")})
			}
			asked := l.front(func(r *http.Request) (int, string) {
				if ofPrefix(r, 1) || ofPrefix(r, 2) && !full {
					return http.StatusForbidden, `{"detail":"no"}`
				}
				return 0, ""
			})
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
				other := v1alpha1.AddressSource{Prefix: &v1alpha1.PrefixSource{CIDR: "10.91.0.0/32"}}
				mg.Spec.ForProvider.From = append(mg.Spec.ForProvider.From, other)
				if name == "FullFirst" {
					slices.Reverse(mg.Spec.ForProvider.From)
				}
			})
			for range 60 {
				l.now = l.now.Add(10 * time.Second)
				l.once("web-1")
			}
			mg := l.get("web-1")
			c := mg.GetCondition(xpv2.TypeReady)
			want, part := v1alpha1.ReasonForbidden, `allocate an address in prefix "10.77.0.0/29"`
			if full {
				want, part = v1alpha1.ReasonExhausted, "10.91.0.0/32"
			}
			if c.Reason != want || !strings.Contains(c.Message, part) || len(mg.Status.AtProvider.Sources) != 2 {
				t.Errorf("%+v, %+v", c, mg.Status.AtProvider.Sources)
			}
			if full {
				l.netbox.RemoveAddress(l.netbox.Addresses()[0].ID)
				l.now = l.now.Add(20 * time.Second)
				l.once("web-1")
				l.once("web-1")
				if !ready(l.get("web-1")) {
					t.Errorf("space has appeared, and it waits: %+v", l.get("web-1").GetCondition(xpv2.TypeReady))
				}
			}
			if *asked > 12 { // 30 s, 1 min, 2, 4, of each.
				t.Errorf("%d POSTs in ten minutes", *asked)
			}
		})
	}
}

// TestTakenMarkerStays: a marker that a hidden record has is refused in each source: no other one is asked for that.
func TestTakenMarkerStays(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddMarkerField(field)
	l.netbox.AddCIDR("10.91.0.0/24")
	l.netbox.AddAddress(netbox.Address{Address: cidr("10.77.0.5/29"), CustomFields: map[string]any{field: clusterID + "/team-a/web-1/uid-web-1"}})
	l.netbox.Let("provider", func(tk *netbox.Token) { tk.Sees = func(netbox.Address) bool { return false } })
	second := 0
	l.front(func(r *http.Request) (int, string) {
		if ofPrefix(r, 2) {
			second++
		}
		return 0, ""
	})
	l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ForProvider.From = append(mg.Spec.ForProvider.From, v1alpha1.AddressSource{Prefix: &v1alpha1.PrefixSource{CIDR: "10.91.0.0/24"}})
	})
	for range 10 {
		l.now = l.now.Add(time.Minute)
		l.once("web-1")
	}
	if second > 0 || len(l.netbox.Addresses()) != 1 {
		t.Errorf("%d POSTs to the second source, %+v", second, l.netbox.Addresses())
	}
}

// TestFailsInside: what NetBox fails inside over each time is asked for ever less often, Ready says so, and as soon as it doesn't fail any more there's
// one record.
func TestFailsInside(t *testing.T) {
	for _, with := range []bool{false, true} {
		t.Run(fmt.Sprint(with), func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddMarkerField(field)
			l.netbox.AddCustomField(netbox.CustomField{Name: "txt", Type: "text", FilterLogic: "exact", ObjectTypes: []string{"ipam.ipaddress"}})
			heals := l.netbox.Inject(netbox.Fault{Kind: netbox.FaultServerErrorJSON, Method: http.MethodPost, Path: "available-ips"})
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
				if with {
					mg.Spec.ForProvider.CustomFields = map[string]apiextv1.JSON{"txt": {Raw: []byte(`"a b"`)}}
				}
			})
			for range 3 {
				l.once("web-1")
			}
			if n := l.posts(); n != 3 {
				t.Errorf("%d POSTs at first, want one a look", n)
			}
			for range 120 {
				l.now = l.now.Add(10 * time.Second)
				l.once("web-1")
			}
			if n := l.posts(); n > 10 { // 30 s, 1 min, 2, 4, 8.
				t.Errorf("%d POSTs in 20 minutes", n)
			}
			if c := l.get("web-1").GetCondition(xpv2.TypeReady); !strings.Contains(c.Message, "fails inside (status 500) each time") {
				t.Errorf("%+v", c)
			}
			heals()
			l.now = l.now.Add(10 * time.Minute)
			l.settle("web-1", ready)
			l.only()
		})
	}
}

// TestMarkerDropped: a NetBox that leaves the marker out of what it makes is asked for another one after a while, and not at each look.
func TestMarkerDropped(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddMarkerField(field)
	l.netbox.Inject(netbox.Fault{Kind: netbox.FaultDropFields, Path: "available-ips"})
	l.apply("web-1")
	for range 60 {
		l.now = l.now.Add(time.Second)
		l.once("web-1")
	}
	if n := l.posts(); n > 2 {
		t.Errorf("%d POSTs in a minute", n)
	}
	for range 20 {
		l.now = l.now.Add(time.Minute)
		l.once("web-1")
	}
	if n := l.posts(); n > 9 { // 30 s, 1 min, 2, 4, 8.
		t.Errorf("%d POSTs in twenty minutes", n)
	}
	l.now = l.now.Add(time.Second)
	l.once("web-1")
	mg := l.get("web-1")
	if c := mg.GetCondition(xpv2.TypeReady); c.Reason != v1alpha1.ReasonInvalid || !strings.Contains(c.Message, "can't hold our marker") {
		t.Errorf("%+v", c)
	}
	if n := len(l.netbox.Addresses()); n != 0 {
		t.Errorf("%d addresses are left", n)
	}
}
