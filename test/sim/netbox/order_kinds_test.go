package netbox_test

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// A couple is two resources that rightly have one address, each by a record of its own.
type couple struct {
	reason string
	// records of the address that people made before either, and one that they made after the first had it.
	records int
	second  bool
	// first and then are what they ask for, of those records; later is how the second one's spec is edited once it has the address.
	first, then func(ids []int64) func(*v1alpha1.NetBoxIPAddress)
	later       func(*v1alpha1.NetBoxIPAddress)
}

// couples are all that there are.
func couples() map[string]couple {
	is := func(change func(*v1alpha1.NetBoxIPAddress)) func([]int64) func(*v1alpha1.NetBoxIPAddress) {
		return func([]int64) func(*v1alpha1.NetBoxIPAddress) { return change }
	}
	adopts := func(n int) func([]int64) func(*v1alpha1.NetBoxIPAddress) {
		return func(ids []int64) func(*v1alpha1.NetBoxIPAddress) { return adopting(ids[n]) }
	}
	fixed := func(d v1alpha1.Duplicates, role *string) func(*v1alpha1.NetBoxIPAddress) {
		return func(mg *v1alpha1.NetBoxIPAddress) {
			p := &mg.Spec.ForProvider
			p.From, p.Address, p.Duplicates, p.Role = nil, firstLoose, d, role
		}
	}
	allow, vip := fixed(v1alpha1.DuplicatesAllow, nil), fixed(v1alpha1.DuplicatesSharedRole, new("vip"))
	vipOfLoose := func(mg *v1alpha1.NetBoxIPAddress) { looseOf(mg); mg.Spec.ForProvider.Role = new("vip") }
	strict := func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.Duplicates = "" }
	unnamed := func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.Adopt = "" }
	return map[string]couple{
		"Allow":       {reason: "the second allows it", first: is(looseOf), then: is(allow)},
		"AllowStrict": {reason: "the second allowed it", first: is(looseOf), then: is(allow), later: strict},
		"Both":        {reason: "both do", first: is(allow), then: is(allow)},
		"Vip":         {reason: "they share it by a role", first: is(vipOfLoose), then: is(vip)},
		"VipStrict":   {reason: "they shared it by one", first: is(vipOfLoose), then: is(vip), later: strict},
		"Adopted":     {reason: "people made both records", records: 2, first: adopts(0), then: adopts(1)},
		"AdoptedOnce": {reason: "and that isn't said of the second any more", records: 2, first: adopts(0), then: adopts(1), later: unnamed},
		"Mixed":       {reason: "people made the second record", second: true, first: is(looseOf), then: adopts(0)},
	}
}

// again has a person make a second record of the table's first address.
func (l *lab) again() int64 {
	return l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix(firstLoose), VRF: l.netbox.Addresses()[0].VRF, Status: "active"})
}

// upgraded leaves statuses as a provider wrote them that showed no times.
func (l *lab) upgraded() {
	l.t.Helper()
	for _, name := range []string{"web-1", "web-2"} {
		mg := l.get(name)
		mg.Status.AtProvider.Given = nil
		if err := l.kube.Status().Update(l.t.Context(), mg); err != nil {
			l.t.Fatal(err)
		}
	}
	l.restart()
}

// has makes a couple, of which web-2 goes by another provider config of the same NetBox where two is true.
func (l *lab) has(c couple, two bool) (record int64) {
	l.t.Helper()
	l.netbox.AddMarkerField(field)
	goesBy := func(*v1alpha1.NetBoxIPAddress) {}
	if two {
		other := l.config
		other.Name, other.UID, other.Config.URL = "netbox-b", "cfg-b", strings.Replace(l.config.Config.URL, "127.0.0.1", "localhost", 1)
		goesBy = l.beside(other)
	}
	ids := l.inLoose(c.records)
	l.apply("web-1", l.ofThis, c.first(ids))
	l.passes(8, time.Minute, "web-1")
	if c.second {
		ids = []int64{l.again()}
	}
	l.apply("web-2", l.ofThis, c.then(ids), goesBy)
	l.passes(8, time.Minute, "web-2", "web-1")
	if c.later != nil {
		l.rewrite("web-2", c.later)
		l.passes(4, time.Minute, "web-2", "web-1")
	}
	if !l.readyWith("web-1", firstLoose) || !l.readyWith("web-2", firstLoose) {
		l.t.Fatalf("web-1 says %q, web-2 %q", l.says("web-1"), l.says("web-2"))
	}
	return l.get("web-2").Status.AtProvider.ID
}

// TestCouples: whatever comes to web-2's record, or to what is known of both, takes nothing from web-1.
func TestCouples(t *testing.T) {
	events := map[string]func(l *lab, two int64){
		"Deleted": func(l *lab, two int64) { l.netbox.RemoveAddress(two) },
		"Moved":   func(l *lab, two int64) { l.moves(two, "10.88.0.9/24"); l.passes(3, time.Minute, "web-1") },
		"Unmarked": func(l *lab, two int64) {
			marker := l.record(two).CustomFields[field]
			l.mark(two, nil)
			l.passes(3, time.Minute, "web-1")
			l.mark(two, marker)
		},
		"Trouble": func(l *lab, two int64) {
			over := l.netbox.Inject(netbox.Fault{Kind: netbox.FaultServerErrorJSON, Path: "/ip-addresses/" + strconv.FormatInt(two, 10) + "/"})
			l.passes(3, time.Minute, "web-1")
			over()
		},
		"Upgrade":  func(l *lab, _ int64) { l.upgraded() },
		"Restored": func(l *lab, _ int64) { l.restored() },
	}
	for kind, c := range couples() {
		for event, happens := range events {
			for _, two := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/%t", kind, event, two), func(t *testing.T) {
					l := newLab(t, "4.6.8")
					l.maxAge = 2 * time.Minute
					l.restart()
					happens(l, l.has(c, two))
					l.passes(8, 11*time.Minute, "web-2", "web-1")
					if !l.readyWith("web-1", firstLoose) {
						t.Errorf("%s: web-1 says %q, web-2 %q", c.reason, l.says("web-1"), l.says("web-2"))
					}
				})
			}
		}
	}
}

// TestOtherNetBoxCostsNothing: that another NetBox has the same addresses, given later, is no reason to ask this one for them.
func TestOtherNetBoxCostsNothing(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.maxAge = 2 * time.Minute
	l.netbox.AddMarkerField(field)
	s, goesBy := l.far()
	for range 40 { // Numbers there are other ones.
		s.AddAddress(netbox.Address{Address: netip.MustParsePrefix("192.0.2.1/32"), Status: "active"})
	}
	names := []string{"a-0", "a-1", "a-2", "a-3"}
	for _, name := range names {
		l.apply(name, l.ofThis)
		l.settle(name, ready)
	}
	for i := range names {
		far := "b-" + strconv.Itoa(i)
		l.apply(far, goesBy)
		l.settle(far, ready)
	}
	l.passes(3, time.Minute, names...)
	before := len(l.netbox.Requests())
	l.passes(10, time.Minute, names...)
	if n := len(l.netbox.Requests()) - before; n > 12 {
		t.Errorf("%d requests for forty looks", n)
	}
}
