package netboxipaddress

import (
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

func fromNumber(id int64, vrf *v1alpha1.VRFSelector) v1alpha1.AddressSource {
	return v1alpha1.AddressSource{Prefix: &v1alpha1.PrefixSource{ID: &id, VRF: vrf}}
}

func fromRange(r v1alpha1.RangeSource) v1alpha1.AddressSource {
	return v1alpha1.AddressSource{Range: &r}
}

// TestUnreadSources: what is wrong with a source is no matter to those before it, and to those behind it only where asking again tells.
func TestUnreadSources(t *testing.T) {
	good, bad := from("10.77.0.0/24")[0], fromRange(v1alpha1.RangeSource{Start: "10.77.0.100/24"})
	cases := map[string]struct {
		reason string
		kind   netbox.Kind
		from   []v1alpha1.AddressSource
		full   []int64
		// address is "" where nothing is made; ready is the reason then, and first that of the first source in status.
		address string
		ready   xpv2.ConditionReason
		first   string
		asked   bool
	}{
		"Behind":          {"the first one serves: the second isn't asked", netbox.KindForbidden, []v1alpha1.AddressSource{good, bad}, nil, "10.77.0.1/24", "Available", "", false},
		"BehindServer":    {"nor is a server error any matter", netbox.KindServerError, []v1alpha1.AddressSource{good, bad}, nil, "10.77.0.1/24", "Available", "", false},
		"First":           {"a right that lacks for the first one", netbox.KindForbidden, []v1alpha1.AddressSource{bad, good}, nil, "10.77.0.1/24", "Available", "Forbidden", true},
		"FirstOdd":        {"an answer that's no use", netbox.KindUnexpected, []v1alpha1.AddressSource{bad, good}, nil, "10.77.0.1/24", "Available", "Invalid", true},
		"FirstDown":       {"the next one isn't taken as NetBox doesn't answer for a moment", netbox.KindServerError, []v1alpha1.AddressSource{bad, good}, nil, "", "Unreachable", "", true},
		"Alone":           {"none can serve", netbox.KindForbidden, []v1alpha1.AddressSource{bad}, nil, "", "Forbidden", "Forbidden", true},
		"BehindFull":      {"the first one is full: the second is asked", netbox.KindForbidden, []v1alpha1.AddressSource{good, bad}, []int64{1}, "", "Exhausted", "Exhausted", true},
		"BehindFullDown":  {"and doesn't answer", netbox.KindServerError, []v1alpha1.AddressSource{good, bad}, []int64{1}, "", "Unreachable", "", true},
		"BehindFullThird": {"the third one serves", netbox.KindForbidden, []v1alpha1.AddressSource{good, bad, fromNumber(2, nil)}, []int64{1}, "10.78.0.1/24", "Available", "Exhausted", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.full = tc.full
			f.fail["FindRange"] = kind(tc.kind)
			h, mg := newHarness(f), newAddress(params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From = tc.from }))
			for range 3 {
				_ = h.reconcile(t, mg)
			}
			got := mg.Status.AtProvider
			if ready := mg.GetCondition(xpv2.TypeReady); got.Address != tc.address || ready.Reason != tc.ready {
				t.Errorf("%s: address %q, condition %+v", tc.reason, got.Address, ready)
			}
			if tc.first != "" && (len(got.Sources) == 0 || got.Sources[0].Reason != tc.first) {
				t.Errorf("%s: sources %+v", tc.reason, got.Sources)
			}
			if slices.Contains(f.calls, "FindRange") != tc.asked {
				t.Errorf("%s: calls %v", tc.reason, f.calls)
			}
		})
	}
}

// TestHiddenSources: what the policies don't leave to a namespace isn't told anything of, in whichever way it is named, nor counted.
func TestHiddenSources(t *testing.T) {
	secret := &netbox.VRF{ID: 7, Name: "customer-x"}
	prod := &v1alpha1.VRFSelector{Name: "prod"}
	cases := map[string]struct {
		reason string
		from   v1alpha1.AddressSource
		says   string
	}{
		"Prefix":     {"by its number", fromNumber(1, nil), "prefix number 1 is not allowed"},
		"PrefixVRF":  {"and another table", fromNumber(1, prod), "prefix number 1 is not allowed"},
		"PrefixID":   {"and its own", fromNumber(1, &v1alpha1.VRFSelector{ID: new(int64(7))}), "prefix number 1 is not allowed"},
		"Range":      {"a range", fromRange(v1alpha1.RangeSource{ID: new(int64(12))}), "range number 12 is not allowed"},
		"RangeVRF":   {"and another table", fromRange(v1alpha1.RangeSource{ID: new(int64(12)), VRF: prod}), "range number 12 is not allowed"},
		"RangeStart": {"a range of which the policies allow the start", fromRange(v1alpha1.RangeSource{Start: "10.77.0.100/24"}), `the range of any table that starts at "10.77.0.100/24" is not allowed`},
		"Filter":     {"a filter", fromFilter(v1alpha1.PrefixFilter{Role: "x"}), `all that a prefix with "role x" finds is not allowed`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.prefixes = f.prefixes[:1]
			f.prefixes[0].VRF, f.ranges[0].VRF = secret, secret
			h, mg := newHarness(f), newAddress(params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From = []v1alpha1.AddressSource{tc.from} }))
			h.cfg.Config.Policies = []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, Prefixes: []string{"10.77.0.96/29"}}}
			if name == "RangeStart" {
				h.cfg.Config.Policies[0].Prefixes = []string{"10.77.0.0/24"}
				f.ranges[0] = inRange(12, "10.77.0.100/24", "10.99.0.9/24")
				f.ranges[0].VRF = secret
			}
			made(t, h, mg)
			if m := mg.GetCondition(xpv2.TypeReady).Message; !strings.HasPrefix(m, tc.says) {
				t.Errorf("%s: Ready says %q, want %q", tc.reason, m, tc.says)
			}
			b, err := json.Marshal(mg.Status)
			for _, word := range []string{"customer-x", "10.77.0.0", "10.77.0.109", "10.99.", `"size"`, `"prefixID"`, `"rangeID"`} {
				if strings.Contains(string(b), word) || err != nil {
					t.Errorf("%s: %q is in status: %s, %v", tc.reason, word, b, err)
				}
			}
			if slices.Contains(f.calls, "Usage") || len(h.stocks.all) != 0 {
				t.Errorf("%s: it's counted: %v", tc.reason, f.calls)
			}
		})
	}
}

// TestSeatBehindFull: a source that is looked for only once the one before it is found full is judged by the seats all the same.
func TestSeatBehindFull(t *testing.T) {
	f := newFake()
	f.full = []int64{1}
	f.prefixes = append(f.prefixes, inPrefix(3, "2001:db8::/64"))
	f.rack.holders[0].Seated[netbox.SeatPrimary6] = netbox.Seated{ID: 99, Address: "2001:db8::9/64"}
	h, mg := newHarness(f), newAddress(assignTo(onDevice("r7-u12", "eno1", v1alpha1.UsePrimary)), params(func(p *v1alpha1.NetBoxIPAddressParameters) {
		p.From = append(from("10.77.0.0/24"), from("2001:db8::/64")...)
	}))
	for range 4 {
		_ = h.reconcile(t, mg)
	}
	if r := mg.GetCondition(xpv2.TypeReady).Reason; len(f.records) != 0 || r != v1alpha1.ReasonExhausted {
		t.Errorf("records %v, Ready is %q", f.records, r)
	}
}

// TestPrefixOfFixed: of a fixed address the prefix that holds it is shown, which costs a request once, and only where the policies leave it
// to the namespace.
func TestPrefixOfFixed(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		policies []v1alpha1.NetBoxPolicy
		want     string
	}{
		"Shown":  {"the prefix that holds it", nil, "10.77.0.0/24"},
		"Hidden": {"which is more than the namespace's", []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, Prefixes: []string{"10.77.0.40/32"}}}, ""},
	} {
		f := newFake()
		h, mg := newHarness(f), newAddress(params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From, p.Address = nil, "10.77.0.40/32" }))
		h.cfg.Config.Policies = tc.policies
		made(t, h, mg)
		f.calls = nil
		got := made(t, h, mg)
		if cidr := ""; got.Address == "" || got.Prefix != nil {
			if got.Prefix != nil {
				cidr = got.Prefix.CIDR
			}
			if cidr != tc.want || slices.Contains(f.calls, "FindAround") {
				t.Errorf("%s: %s: prefix %q, calls %v", name, tc.reason, cidr, f.calls)
			}
		} else if tc.want != "" {
			t.Errorf("%s: %s: %+v", name, tc.reason, got)
		}
	}
}

// TestMarkedSources: what gives nothing as it's marked so in NetBox isn't told to be mended by freeing an address.
func TestMarkedSources(t *testing.T) {
	cases := map[string]struct {
		reason string
		from   []v1alpha1.AddressSource
		says   string
	}{
		"Utilized":  {"4.2 gives nothing of what is marked as utilized", from("10.77.0.0/24"), `prefix "10.77.0.0/24" of the global table (254 of 254 used, marked as utilized): free one in NetBox or take the mark off, or name another source`},
		"Populated": {"nobody gives anything of what is marked as populated", []v1alpha1.AddressSource{fromRange(v1alpha1.RangeSource{ID: new(int64(12))})}, `(marked as populated): take that mark off in NetBox, or name another source`},
	}
	for name, tc := range cases {
		f := newFake()
		f.full = []int64{1, 12}
		f.prefixes[0].Utilized, f.ranges[0].Populated = true, true
		h, mg := newHarness(f), newAddress(params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From = tc.from }))
		for range 2 {
			_ = h.reconcile(t, mg)
		}
		if c := mg.GetCondition(v1alpha1.ConditionExhausted); !strings.Contains(c.Message, tc.says) {
			t.Errorf("%s: %s: %+v", name, tc.reason, c)
		}
	}
}

// TestNotAllowedWords: what isn't allowed is named, and where that's the mask alone, which looks as if it were in the policies' prefix, that is said.
func TestNotAllowedWords(t *testing.T) {
	e := &external{grant: grantOf([]v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, Prefixes: []string{"10.80.1.8/29"}, DNSZones: []string{"a.example"}}}, "team-a")}
	for name, tc := range map[string]struct{ reason, network, dnsName, want string }{
		"Outside": {"another prefix", "10.80.2.0/24", "", `prefix or address "10.80.2.0/24"`},
		"Mask":    {"an address of a block of theirs, or the start of a range, with the mask of its network", "10.80.1.9/24", "", `prefix or address "10.80.1.9/24" (its mask counts, too, and is wider than their prefix)`},
		"Both":    {"the name comes after that", "10.80.1.9/24", "b.example", `prefix or address "10.80.1.9/24" (its mask counts, too, and is wider than their prefix)`},
		"Around":  {"a network around theirs", "10.80.1.0/24", "", `prefix or address "10.80.1.0/24"`},
		"Name":    {"another zone", "10.80.1.9/29", "b.example", `DNS name "b.example"`},
	} {
		t.Run(name, func(t *testing.T) {
			var got notAllowedError
			if err := e.notAllowed(netip.MustParsePrefix(tc.network), tc.dnsName); !errors.As(err, &got) || got.what != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got.what, tc.want)
			}
		})
	}
}
