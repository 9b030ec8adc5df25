package netboxipaddress

import (
	"fmt"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// many are full sources, by their numbers.
func many(f *fakeNetBox, from, n int) []netbox.Parent {
	var out []netbox.Parent
	for i := range n {
		p := inPrefix(int64(from+i), fmt.Sprintf("10.%d.%d.0/24", 100+i/250, i%250))
		f.full = append(f.full, p.ID)
		out = append(out, p)
	}
	return out
}

// waitFor has a resource wait for full sources, and says how it says so again.
func (h *harness) waitFor(t *testing.T, mg *v1alpha1.NetBoxIPAddress, all []netbox.Parent) (again func()) {
	t.Helper()
	e := h.connect(t, mg)
	for _, p := range all {
		e.plan.candidates = append(e.plan.candidates, candidate{words: "p", parent: p, err: fullError{}})
		h.stocks.empty(e, p, "another")
	}
	again = func() { _ = e.exhausted(mg) }
	again()
	return again
}

// TestLooksAtMany: looks at full sources are ten a second at most, however many there are and wait, and as often as ever where they are few.
func TestLooksAtMany(t *testing.T) {
	for name, tc := range map[string]struct {
		reason        string
		waiters, each int
		apart         bool
		least, most   int
	}{
		"One":     {reason: "every 2 seconds at first, every 10 later", waiters: 1, each: 1, least: 60, most: 120},
		"Ten":     {reason: "each as if it were alone", waiters: 1, each: 10, least: 600, most: 1200},
		"Hundred": {reason: "ten a second", waiters: 1, each: 100, least: 5000, most: 6100},
		"More":    {reason: "ten a second", waiters: 1, each: 600, least: 5000, most: 6100},
		"Shared":  {reason: "who waits for the same adds nothing", waiters: 30, each: 100, least: 5000, most: 6100},
		"Others":  {reason: "who waits for others has a part of it", waiters: 30, each: 50, apart: true, least: 5000, most: 6200},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			h := newHarness(f)
			var again []func()
			for i := range tc.waiters {
				from := 100
				if tc.apart {
					from += i * tc.each
				}
				again = append(again, h.waitFor(t, newAddress(numbered(i)), many(f, from, tc.each)))
			}
			k := &keeper{connector: h.Connector, unused: time.Hour, wake: make(chan event.GenericEvent), log: logging.NewNopLogger()}
			f.calls = nil
			worst := 0
			for i := range 600 {
				h.now = h.now.Add(time.Second)
				if i%60 == 0 {
					for _, say := range again {
						say()
					}
				}
				before := f.called("Usage")
				k.settle(t.Context())
				worst = max(worst, f.called("Usage")-before)
			}
			if n := f.called("Usage"); n < tc.least || n > tc.most || worst > 20 {
				t.Errorf("%s: %d looks in ten minutes, want %d to %d; %d in one second at worst", tc.reason, n, tc.least, tc.most, worst)
			}
		})
	}
}

// TestFewBesideMany: who waits for one source isn't behind those who wait for hundreds.
func TestFewBesideMany(t *testing.T) {
	f := newFake()
	h := newHarness(f)
	says := []func(){h.waitFor(t, newAddress(numbered(1)), many(f, 1000, 500)), h.waitFor(t, newAddress(numbered(2)), many(f, 2000, 500))}
	one := many(f, 10, 1)
	says = append(says, h.waitFor(t, newAddress(numbered(3)), one))
	k := &keeper{connector: h.Connector, unused: time.Hour, wake: make(chan event.GenericEvent), log: logging.NewNopLogger()}
	key := stockKey{"cfg", netbox.ParentPrefix, 10}
	for i := range 120 {
		h.now = h.now.Add(time.Second)
		if i%60 == 0 {
			for _, say := range says {
				say()
			}
		}
		k.settle(t.Context())
		if d := h.now.Sub(h.stocks.all[key].looked); d > fullMost+time.Second {
			t.Fatalf("after %d s: it was looked at %s ago", i, d)
		}
	}
}

// TestManyFull: each of hundreds of full sources is asked once, a few of them by each Create, and then the resource waits; and one behind them
// that has addresses is found, and asked alone from then on.
func TestManyFull(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		full   int
		open   bool
	}{
		"All":  {reason: "more than there are others of", full: mostStocks + 100},
		"Some": {reason: "with one behind them", full: mostStocks + 100, open: true},
		"Few":  {reason: "as many as one Create asks", full: mostAsked},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			h := newHarness(f)
			woken := 0
			h.Again = func(types.NamespacedName, time.Time) { woken++ }
			f.prefixes = many(f, 100, tc.full)
			if tc.open {
				f.prefixes = append(f.prefixes, inPrefix(7, "10.77.0.0/24"))
			}
			look := func(mg *v1alpha1.NetBoxIPAddress) (posts int, err error) {
				t.Helper()
				f.calls = nil
				e := h.connect(t, mg)
				o, err := e.Observe(t.Context(), mg)
				if err == nil && !o.ResourceExists {
					_, err = e.Create(t.Context(), mg)
				}
				h.now = h.now.Add(time.Second)
				if n := f.called("Allocate"); n > mostAsked {
					t.Errorf("%d POSTs of one Create", n)
				}
				if n := f.called("Usage"); n > mostLooks {
					t.Errorf("%d looks of one resource", n)
				}
				return f.called("Allocate"), err
			}
			filtered := func(i int) *v1alpha1.NetBoxIPAddress {
				return newAddress(numbered(i), params(func(p *v1alpha1.NetBoxIPAddressParameters) {
					p.From = []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{Filter: &v1alpha1.PrefixFilter{Role: "many"}}}}
				}))
			}
			posts, want := 0, tc.full
			if tc.open {
				want++
			}
			mg := filtered(1)
			for range want/mostAsked + 2 {
				n, err := look(mg)
				if posts += n; err == nil && n > 0 {
					break
				}
			}
			if posts != want || woken != (want-1)/mostAsked {
				t.Errorf("%s: %d POSTs, want %d; it went on at once %d times", tc.reason, posts, want, woken)
			}
			if tc.open {
				if n, err := look(filtered(2)); n != 1 || err != nil {
					t.Errorf("the next one: %d POSTs, %v", n, err)
				}
				return
			}
			if n, err := look(mg); n != 0 || err != nil || mg.GetCondition(v1alpha1.ConditionExhausted).Reason != v1alpha1.ReasonExhausted {
				t.Errorf("%d POSTs, %v, %+v", n, err, mg.Status.Conditions)
			}
			h.now = h.now.Add(10 * time.Minute)
			if n, err := look(mg); n != 0 || err != nil {
				t.Errorf("ten minutes later: %d POSTs, %v", n, err)
			}
		})
	}
}

// TestSlowSources: a Create doesn't go on to further sources when each takes long.
func TestSlowSources(t *testing.T) {
	f := newFake()
	h := newHarness(f)
	f.prefixes = many(f, 100, mostAsked)
	mg := newAddress(params(func(p *v1alpha1.NetBoxIPAddressParameters) {
		p.From = []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{Filter: &v1alpha1.PrefixFilter{Role: "many"}}}}
	}))
	e := h.connect(t, mg)
	if _, err := e.Observe(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	e.netbox = slowNetBox{f, func() { h.now = h.now.Add(askedFor / 3) }}
	if _, err := e.Create(t.Context(), mg); reasonOf(err) != "Exhausted" || f.called("Allocate") != 4 {
		t.Errorf("%d POSTs, %v", f.called("Allocate"), err)
	}
}

// TestFullStay: that a source is full isn't forgotten for others that come, and metrics stay bounded.
func TestFullStay(t *testing.T) {
	f := newFake()
	h := newHarness(f)
	e := h.connect(t, newAddress())
	full := many(f, 1000, 2*mostStocks)
	for _, p := range full {
		h.stocks.empty(e, p, "u")
	}
	for i := range mostStocks + 50 {
		h.stocks.took(e, inPrefix(int64(i+1), "10.77.0.0/24"), "u")
		h.now = h.now.Add(time.Millisecond)
	}
	for _, p := range full {
		if h.stocks.has(e, p, "u") {
			t.Fatalf("%s is to be asked again", p)
		}
	}
	if n := len(h.stocks.all); n != 3*mostStocks {
		t.Errorf("%d sources", n)
	}
	if n := len(h.stocks.shown(mostStocks)); n != mostStocks || h.stocks.crowded(e.of.UID) {
		t.Errorf("%d in metrics, crowded: %v", n, h.stocks.crowded(e.of.UID))
	}
}
