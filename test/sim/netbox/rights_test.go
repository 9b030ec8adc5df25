package netbox_test

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	netboxclient "github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// permissions are those that docs/netbox.md has people post, by name without the word before it: as rights of a token.
func permissions(t *testing.T) map[string][]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "netbox.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, m := range regexp.MustCompile("(?s)(?:`|```json\n)(\\{\\s*\"name\": \"crossplane [^`]*\\})\n?`").FindAllStringSubmatch(string(b), -1) {
		var p struct {
			Name    string   `json:"name"`
			Objects []string `json:"object_types"`
			Actions []string `json:"actions"`
			Users   []int64  `json:"users"`
		}
		if err := json.Unmarshal([]byte(m[1]), &p); err != nil {
			t.Fatalf("%s: %v", m[1], err)
		}
		if len(p.Objects) == 0 { // An event rule, whose object types are others' business, has them, too, and no actions.
			continue
		}
		for _, o := range p.Objects {
			for _, a := range p.Actions {
				_, model, _ := strings.Cut(o, ".")
				out[strings.TrimPrefix(p.Name, "crossplane ")] = append(out[strings.TrimPrefix(p.Name, "crossplane ")], a+" "+model)
			}
		}
	}
	return out
}

// A use is what some permissions are for.
type use struct {
	permissions []string
	// unmarked NetBoxes have no marker's field yet.
	unmarked bool
	// writes, if set, is what the first permission's constraint leaves.
	writes func(netbox.Address) bool
	// do says what is wrong, or "".
	do func(l rackLab) string
}

func uses() map[string]use {
	const addresses, prefixes, interfaces, vmInterfaces = "addresses", "prefixes", "interfaces", "vm interfaces"
	both := []string{addresses, prefixes}
	assigned := func(a v1alpha1.Assignment) func(rackLab) string {
		return func(l rackLab) string { return l.lives(on(a)) }
	}
	return map[string]use{
		"Address": {permissions: both, do: func(l rackLab) string { return l.lives() }},
		"Fixed": {permissions: both, do: func(l rackLab) string {
			return l.lives(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From, p.Address = nil, "10.77.0.5/29" })
		}},
		"Range": {permissions: []string{addresses, "ranges"}, do: func(l rackLab) string {
			return l.lives(func(p *v1alpha1.NetBoxIPAddressParameters) {
				p.From = []v1alpha1.AddressSource{{Range: &v1alpha1.RangeSource{Start: "10.77.9.100/24"}}}
			})
		}},
		"Filter": {permissions: both, do: func(l rackLab) string {
			return l.lives(func(p *v1alpha1.NetBoxIPAddressParameters) {
				p.From = []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{Filter: &v1alpha1.PrefixFilter{
					Site: netbox.ExampleSite, Role: "servers", Tags: []string{"kubernetes"}, Family: v1alpha1.IPv4, VRF: &v1alpha1.VRFSelector{Table: v1alpha1.VRFGlobal},
				}}}}
			})
		}},
		"VRFs": {permissions: []string{addresses, prefixes, "vrfs"}, do: func(l rackLab) string {
			why := l.lives(byVRF(v1alpha1.VRFSelector{Name: "prod"}))
			if why == "" && !slices.ContainsFunc(l.netbox.Requests(), func(r netbox.Request) bool {
				return r.Path == "/api/ipam/prefixes/" && strings.Contains(r.Query, "vrf_id=")
			}) {
				return "NetBox didn't look for the VRF itself"
			}
			return why
		}},
		"VRFName": {permissions: both, do: func(l rackLab) string { return l.lives(byVRF(v1alpha1.VRFSelector{Name: "prod"})) }},
		"VRFRD":   {permissions: both, do: func(l rackLab) string { return l.lives(byVRF(v1alpha1.VRFSelector{RD: "65000:1"})) }},
		"FixedInVRF": {permissions: both, do: func(l rackLab) string {
			return l.lives(func(p *v1alpha1.NetBoxIPAddressParameters) {
				p.From, p.Address, p.VRF = nil, "10.78.0.40/24", &v1alpha1.VRFSelector{Name: "prod"}
			})
		}},
		"Proof":       {permissions: []string{addresses, prefixes, "fields"}, do: func(l rackLab) string { return l.proven() + l.lives() }},
		"MakesFields": {permissions: []string{addresses, prefixes, "makes fields"}, unmarked: true, do: func(l rackLab) string { return l.lives() }},
		"Names": {permissions: []string{addresses, prefixes, "names"}, do: func(l rackLab) string {
			return l.lives(func(p *v1alpha1.NetBoxIPAddressParameters) {
				p.Tags, p.Tenant = []string{"kubernetes"}, &v1alpha1.SlugReference{Slug: "platform"}
			})
		}},
		"Device":  {permissions: []string{addresses, prefixes, interfaces}, do: assigned(device(v1alpha1.UseAdditional))},
		"Primary": {permissions: []string{addresses, prefixes, interfaces, "devices"}, do: assigned(device(v1alpha1.UsePrimary))},
		"MAC": {permissions: []string{addresses, prefixes, interfaces, "macs", "devices"}, do: assigned(v1alpha1.Assignment{
			Interface: &v1alpha1.NetBoxInterface{MAC: "52:54:00:77:12:01"}, Use: v1alpha1.UsePrimary,
		})},
		"VM":        {permissions: []string{addresses, prefixes, vmInterfaces}, do: assigned(machine(v1alpha1.UseAdditional))},
		"VMPrimary": {permissions: []string{addresses, prefixes, vmInterfaces, "vms"}, do: assigned(machine(v1alpha1.UsePrimary))},
		"History":   {permissions: []string{addresses, prefixes, "history"}, do: rackLab.toldBy},
		"Own":       {permissions: []string{"own addresses", "sees addresses", prefixes}, writes: markedByUs, do: func(l rackLab) string { return l.lives() }},
	}
}

// byVRF wants an address from whichever prefix of a VRF.
func byVRF(v v1alpha1.VRFSelector) func(*v1alpha1.NetBoxIPAddressParameters) {
	return func(p *v1alpha1.NetBoxIPAddressParameters) {
		p.From = []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{Filter: &v1alpha1.PrefixFilter{VRF: &v, Family: v1alpha1.IPv4}}}}
	}
}

func markedByUs(a netbox.Address) bool {
	m, _ := a.CustomFields[field].(string)
	return strings.HasPrefix(m, clusterID+"/")
}

// TestLeastRights: what docs/netbox.md says is enough for each use, on the oldest NetBox and a new one, and nothing of it can be left out.
func TestLeastRights(t *testing.T) {
	all, used := permissions(t), map[string]bool{}
	for name, u := range uses() {
		var rights []string
		for _, p := range u.permissions {
			if used[p] = true; all[p] == nil {
				t.Fatalf("%s: docs/netbox.md has no permission %q", name, p)
			}
			rights = append(rights, all[p]...)
		}
		t.Run(name, func(t *testing.T) {
			for _, v := range []string{"4.2.9", "4.6.8"} {
				if why := u.with(t, v, rights); why != "" {
					t.Errorf("%s: %q isn't enough: %s", v, rights, why)
				}
			}
			for i, r := range rights {
				if why := u.with(t, "4.6.8", slices.Delete(slices.Clone(rights), i, i+1)); why == "" {
					t.Errorf("%q isn't needed", r)
				}
			}
		})
	}
	for p := range all {
		if !used[p] {
			t.Errorf("no test uses permission %q", p)
		}
	}
}

// with tries a use with a token that has these rights.
func (u use) with(t *testing.T, version string, rights []string) string {
	t.Helper()
	l := rackLab{newLab(t, version)}
	if !u.unmarked {
		l.netbox.AddMarkerField(field)
	}
	l.netbox.AddExampleWorld()
	l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.1/29"), Description: "the gateway"})
	l.netbox.RemoveToken(secret)
	l.netbox.AddToken(netbox.Token{Name: "provider", Secret: secret, Rights: rights, Writes: u.writes})
	return u.do(l)
}

// comes reconciles web-1 until cond holds, or says what it says.
func (l rackLab) comes(cond func(*v1alpha1.NetBoxIPAddress) bool) string {
	l.t.Helper()
	var mg *v1alpha1.NetBoxIPAddress
	for range 6 {
		l.once("web-1")
		if mg = l.get("web-1"); cond(mg) {
			return ""
		}
	}
	return "Ready: " + mg.GetCondition(xpv2.TypeReady).Message + ", Synced: " + mg.GetCondition(xpv2.TypeSynced).Message
}

// lives takes web-1 from its wish over a change to its end.
func (l rackLab) lives(change ...func(*v1alpha1.NetBoxIPAddressParameters)) string {
	l.t.Helper()
	before := len(l.netbox.Addresses())
	l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
		for _, c := range change {
			c(&mg.Spec.ForProvider)
		}
	})
	if why := l.comes(ready); why != "" {
		return why
	}
	l.edit(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Description = new("another") })
	changed := func(*v1alpha1.NetBoxIPAddress) bool {
		all := l.netbox.Addresses()
		return all[len(all)-1].Description == "another"
	}
	if why := l.comes(changed); why != "" {
		return why
	}
	l.remove()
	if why := l.comes(gone); why != "" {
		return why
	}
	if n := len(l.netbox.Addresses()); n != before {
		return "something is left behind"
	}
	return ""
}

// proven says whether the marker's field is known to be unique.
func (l rackLab) proven() string {
	c, err := netboxclient.New(netboxclient.Config{URL: l.netbox.URL(), Token: secret, MarkerField: field, MarkersBegin: clusterID + "/", Timeout: patient})
	if err != nil {
		l.t.Fatal(err)
	}
	defer c.Close()
	i, err := c.Inspect(l.t.Context())
	if err != nil {
		return err.Error()
	}
	if i.Field != netboxclient.FieldReady || len(i.Lacks) > 0 {
		return string(i.Field)
	}
	return ""
}

// toldBy says whether a change is told with the name of who made it.
func (l rackLab) toldBy() string {
	l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.Description = new("ours") })
	if why := l.comes(ready); why != "" {
		return why
	}
	all := l.netbox.Addresses()
	l.netbox.ChangeAddressAs("alice", all[len(all)-1].ID, func(a *netbox.Address) { a.Description = "hers" })
	if why := l.comes(func(*v1alpha1.NetBoxIPAddress) bool { return len(l.told) > 0 }); why != "" {
		return why
	}
	if !strings.Contains(l.told[0], `"alice"`) {
		return l.told[0]
	}
	l.remove()
	return l.comes(gone)
}

// TestConstraintHoldsTheMarker: a token that may write our own records alone can't take the marker off one, and that is said.
func TestConstraintHoldsTheMarker(t *testing.T) {
	all := permissions(t)
	u := use{writes: markedByUs, do: func(l rackLab) string {
		return l.lives(func(p *v1alpha1.NetBoxIPAddressParameters) {
			p.Release = &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseKeep}
		})
	}}
	why := u.with(t, "4.6.8", slices.Concat(all["own addresses"], all["sees addresses"], all["prefixes"], all["makes fields"]))
	if !strings.Contains(why, "ipam.change_ipaddress") {
		t.Errorf("got %q", why)
	}
}
