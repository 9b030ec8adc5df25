package netboxipaddress

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// called counts the calls of a name.
func (f *fakeNetBox) called(name string) int {
	n := 0
	for _, c := range f.calls {
		if c == name {
			n++
		}
	}
	return n
}

// numbered is one of many resources.
func numbered(i int) func(*v1alpha1.NetBoxIPAddress) {
	return func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Name, mg.UID = fmt.Sprintf("web-%d", i), types.UID(fmt.Sprintf("u%d", i))
		meta.SetExternalCreatePending(mg, time.Now()) // As a first try leaves it.
	}
}

// TestManyWait: a hundred that wait for one full source cost one look at it each while, and one freed address is asked for once.
func TestManyWait(t *testing.T) {
	f := newFake()
	f.full = []int64{1}
	h := newHarness(f)
	wake := make(chan event.GenericEvent, 200)
	k := &keeper{connector: h.Connector, unused: time.Hour, wake: wake, log: logging.NewNopLogger()}
	var all []*v1alpha1.NetBoxIPAddress
	look := func() {
		for _, mg := range all {
			e := h.connect(t, mg)
			o, err := e.Observe(t.Context(), mg)
			if err == nil && !o.ResourceExists {
				_, _ = e.Create(t.Context(), mg)
			}
		}
	}
	for i := range 100 {
		all = append(all, newAddress(numbered(i)))
	}
	look()
	look()
	if n := len(f.writes()); n != 1 {
		t.Errorf("%d POSTs to a full source, want the one that found out", n)
	}
	f.calls = nil
	for range 10 {
		h.now = h.now.Add(fullFirst)
		k.settle(t.Context())
		look()
	}
	if n := f.called("Usage"); n == 0 || n > 10 || f.called("FindByMarker") != 0 || f.called("Allocate") != 0 {
		t.Errorf("%d looks in ten rounds: %v", n, slices.Compact(slices.Sorted(slices.Values(f.calls))))
	}
	if len(wake) != 0 {
		t.Errorf("%d were woken for nothing", len(wake))
	}
	// One address becomes free: all but one of the prefix are taken.
	f.full, f.calls = nil, nil
	for i := 2; i < 255; i++ {
		f.records = append(f.records, record(int64(1000+i), fmt.Sprintf("10.77.0.%d/24", i), "x"))
	}
	h.now = h.now.Add(fullMost)
	k.settle(t.Context())
	if len(wake) != 1 {
		t.Fatalf("%d were woken, want one for one address", len(wake))
	}
	if ev := <-wake; ev.Object.GetName() != "web-0" {
		t.Errorf("woken: %s, want who waits longest", ev.Object.GetName())
	}
	look()
	if n := f.called("Allocate"); n != 1 {
		t.Errorf("%d POSTs for one address", n)
	}
	if w := h.stocks.levels(); len(w) != 1 || w[0].waiting != 99 || w[0].free != 0 {
		t.Errorf("levels %+v", w)
	}
}

// TestBadOnesDontHold: what NetBox refuses for another reason keeps no address from others, and one that is gone keeps nobody waiting.
func TestBadOnesDontHold(t *testing.T) {
	f := newFake()
	f.prefixes[0] = inPrefix(1, "10.77.0.0/30")
	f.records = []netbox.IPAddress{record(1001, "10.77.0.1/30", "x"), record(1002, "10.77.0.2/30", "x")}
	f.full = []int64{1}
	h := newHarness(f)
	wake := make(chan event.GenericEvent, 10)
	k := &keeper{connector: h.Connector, unused: time.Hour, wake: wake, log: logging.NewNopLogger()}
	var all []*v1alpha1.NetBoxIPAddress
	for i := range 3 { // The first one will be gone, the second one is bad.
		all = append(all, newAddress(numbered(i), params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From = from("10.77.0.0/30") })))
	}
	look := func(mg *v1alpha1.NetBoxIPAddress) error {
		e := h.connect(t, mg)
		o, err := e.Observe(t.Context(), mg)
		if err == nil && !o.ResourceExists {
			_, err = e.Create(t.Context(), mg)
		}
		return err
	}
	for _, mg := range slices.Concat(all, all) {
		_ = look(mg)
	}
	f.full, f.records = nil, f.records[:1]
	var woken []string
	for range 4 {
		h.now = h.now.Add(fullMost)
		k.settle(t.Context())
		for len(wake) > 0 {
			name := (<-wake).Object.GetName()
			woken = append(woken, name)
			switch name {
			case "web-1":
				f.fail["Allocate"] = kind(netbox.KindInvalid)
				if err := look(all[1]); reasonOf(err) != "Invalid" {
					t.Errorf("the bad one: %v", err)
				}
				delete(f.fail, "Allocate")
			case "web-2":
				if err := look(all[2]); err != nil {
					t.Errorf("the good one: %v", err)
				}
			}
		}
	}
	if diff := cmp.Diff([]string{"web-0", "web-1", "web-2"}, woken[:3]); diff != "" || f.called("Allocate") != 3 {
		t.Errorf("%d POSTs; woken (-want +got):\n%s", f.called("Allocate"), diff)
	}
	h.now = h.now.Add(lookAnyway + time.Second)
	k.settle(t.Context())
	if n := len(h.stocks.waiters); n != 0 {
		t.Errorf("%d still wait", n)
	}
}

// TestWarns: the owner of a source is told once for each time that it crosses the threshold, and not what was so before.
func TestWarns(t *testing.T) {
	f := newFake()
	f.prefixes[0] = inPrefix(1, "10.77.0.0/28") // 14 addresses, of which 10% are 2.
	h := newHarness(f)
	k := &keeper{connector: h.Connector, unused: time.Hour, log: logging.NewNopLogger()}
	i := 0
	take := func() {
		mg := newAddress(numbered(i), params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From = from("10.77.0.0/28") }))
		i++
		e := h.connect(t, mg)
		if _, err := e.Observe(t.Context(), mg); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Create(t.Context(), mg); err != nil {
			t.Fatal(err)
		}
		h.now = h.now.Add(time.Second)
		k.settle(t.Context())
	}
	for range 11 {
		take()
	}
	if len(h.warned) != 0 {
		t.Errorf("three are free: %v", h.warned)
	}
	take()
	take()
	want := []string{`netbox: prefix "10.77.0.0/28" of the global table is about to be full: 2 of 14 addresses are free, and warnBelow is 10%; free some in NetBox, or add a source`}
	if diff := cmp.Diff(want, h.warned); diff != "" {
		t.Errorf("once (-want +got):\n%s", diff)
	}
	f.records = f.records[:5]
	h.now = h.now.Add(time.Minute)
	k.settle(t.Context())
	f.records = append(f.records, slices.Repeat([]netbox.IPAddress{record(77, "10.77.0.9/28", "x")}, 8)...)
	h.now = h.now.Add(idleLook)
	k.settle(t.Context())
	if len(h.warned) != 2 {
		t.Errorf("it crosses again: %v", h.warned)
	}
	// A provider that starts anew finds it low, and tells nobody again.
	again := newHarness(f)
	mg := newAddress(named("77"))
	mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{ID: 77, Address: "10.77.0.9/28", Prefix: &v1alpha1.PrefixObservation{ID: 1, CIDR: "10.77.0.0/28"}}
	f.records[5].CustomFields = map[string]any{testField: ours}
	if _, err := again.connect(t, mg).Observe(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	again.now = again.now.Add(idleLook)
	(&keeper{connector: again.Connector, unused: time.Hour, log: logging.NewNopLogger()}).settle(t.Context())
	if l := again.stocks.levels(); len(again.warned) != 0 || len(l) != 1 || l[0].source != "10.77.0.0/28" || l[0].size != 14 {
		t.Errorf("warned %v, levels %+v", again.warned, l)
	}
}

// TestFreed: a full source that somebody waits for is looked at as soon as one of its addresses may be free, and no more often than one that has
// just been found to be full.
func TestFreed(t *testing.T) {
	f := newFake()
	h := newHarness(f)
	mg := newAddress()
	e := h.connect(t, mg)
	e.plan.candidates = []candidate{{words: "p", parent: f.prefixes[0], err: fullError{}}}
	h.stocks.empty(e, f.prefixes[0], "u2")
	_ = e.exhausted(mg)
	h.stocks.empty(e, f.prefixes[1], "u2") // Nobody waits for it.
	h.now = h.now.Add(time.Minute)
	h.stocks.learn(stockKey{"cfg", netbox.ParentPrefix, 1}, f.prefixes[0], netbox.Usage{Size: 254, SizeKnown: true})
	h.stocks.learn(stockKey{"cfg", netbox.ParentPrefix, 2}, f.prefixes[1], netbox.Usage{Size: 254, SizeKnown: true})
	due := func(of types.UID, address string) int {
		h.stocks.freed(of, netip.MustParseAddr(address))
		return len(h.stocks.due(time.Hour, keeperAtOnce))
	}
	h.now = h.now.Add(fullFirst / 2)
	if n := due("cfg", "10.77.0.9"); n != 0 {
		t.Errorf("%d are looked at without a pause", n)
	}
	h.now = h.now.Add(fullFirst / 2)
	if n := due("other", "10.77.0.9") + due("cfg", "10.78.0.9") + due("cfg", "10.79.0.9"); n != 1 {
		t.Errorf("%d are looked at soon, want the one that was told of", n)
	}
}

func TestThreshold(t *testing.T) {
	for name, tc := range map[string]struct {
		size  int64
		below int32
		want  int64
	}{"Part": {254, 10, 26}, "Small": {6, 10, 1}, "Two": {2, 50, 1}, "One": {1, 10, 0}, "Never": {254, 0, 0}, "All": {254, 100, 253}} {
		s := stock{warnBelow: tc.below, usage: netbox.Usage{Size: tc.size, SizeKnown: true}}
		if got := s.threshold(); got != tc.want {
			t.Errorf("%s: got %d, want %d", name, got, tc.want)
		}
	}
}

// TestDoubt: a source that lists free addresses and gives none, as 4.2 does where it's marked as utilized, isn't asked at each look.
func TestDoubt(t *testing.T) {
	f := newFake()
	f.fail["Allocate"] = kind(netbox.KindFull)
	h, mg := newHarness(f), newAddress()
	for range 600 { // Ten minutes.
		e := h.connect(t, mg)
		if o, err := e.Observe(t.Context(), mg); err == nil && !o.ResourceExists {
			_, _ = e.Create(t.Context(), mg)
		}
		h.now = h.now.Add(time.Second)
		k := &keeper{connector: h.Connector, unused: time.Hour, wake: make(chan event.GenericEvent, 1), log: logging.NewNopLogger()}
		k.settle(t.Context())
	}
	if n := len(f.writes()); n < 4 || n > 10 {
		t.Errorf("%d POSTs in ten minutes", n)
	}
}

// TestWarnsOnce: the owner of a source that lists free addresses and gives none is told once that it's full, however often that is found out.
func TestWarnsOnce(t *testing.T) {
	f := newFake()
	h, mg := newHarness(f), newAddress(numbered(5))
	k := &keeper{connector: h.Connector, unused: time.Hour, wake: make(chan event.GenericEvent, 10000), log: logging.NewNopLogger()}
	look := func(mg *v1alpha1.NetBoxIPAddress) {
		e := h.connect(t, mg)
		if o, err := e.Observe(t.Context(), mg); err == nil && !o.ResourceExists {
			_, _ = e.Create(t.Context(), mg)
		}
		h.now = h.now.Add(time.Second)
		k.settle(t.Context())
	}
	look(newAddress(numbered(1)))
	f.fail["Allocate"] = kind(netbox.KindFull)
	for range 600 { // Ten minutes.
		look(mg)
	}
	if len(h.warned) != 1 {
		t.Errorf("warned %q", h.warned)
	}
	delete(f.fail, "Allocate")
	for range 700 {
		look(mg)
	}
	f.full = []int64{1}
	look(newAddress(numbered(2)))
	h.now = h.now.Add(idleLook)
	k.settle(t.Context())
	if len(h.warned) != 2 {
		t.Errorf("it had addresses again: warned %q", h.warned)
	}
}

// TestBounded: what is known of sources doesn't grow without end, and what isn't of use any more goes.
func TestBounded(t *testing.T) {
	h := newHarness(newFake())
	e := h.connect(t, newAddress())
	for i := range mostStocks + 50 {
		h.stocks.took(e, inPrefix(int64(i+1), "10.77.0.0/24"), "u")
		h.now = h.now.Add(time.Millisecond)
	}
	if n := len(h.stocks.all); n != mostStocks {
		t.Errorf("%d sources", n)
	}
	h.now = h.now.Add(time.Hour)
	if due := h.stocks.due(time.Minute, keeperAtOnce); len(due) != 0 || len(h.stocks.all) != 0 {
		t.Errorf("%d due, %d left", len(due), len(h.stocks.all))
	}
}

func TestCollector(t *testing.T) {
	h := newHarness(newFake())
	e := h.connect(t, newAddress())
	p := inPrefix(1, "10.77.0.0/24")
	h.stocks.took(e, p, "u")
	h.stocks.learn(stockKey{e.of.UID, p.Kind, p.ID}, p, netbox.Usage{Size: 254, SizeKnown: true, Free: 100})
	r := prometheus.NewRegistry()
	c := newCollector()
	r.MustRegister(c)
	if all, err := r.Gather(); err != nil || len(all) != 0 {
		t.Errorf("before there are any: %v, %v", all, err)
	}
	c.stocks.Store(h.stocks)
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range all {
		var labels []string
		for _, l := range m.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName()+"="+l.GetValue())
		}
		got = append(got, fmt.Sprintf("%s{%s} %v", m.GetName(), strings.Join(labels, ","), m.GetMetric()[0].GetGauge().GetValue()))
	}
	const labels = "{config=ClusterProviderConfig/netbox,kind=prefix,source=10.77.0.0/24,vrf=}"
	want := []string{
		"provider_baremetal_netbox_source_addresses" + labels + " 254",
		"provider_baremetal_netbox_source_free_addresses" + labels + " 100",
		"provider_baremetal_netbox_source_waiting" + labels + " 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
