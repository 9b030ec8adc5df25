package netboxipaddress

import (
	"fmt"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestUngiven: whoever waits for a given address that isn't to be had looks for it at each look where there are few of them, and all together
// ask ten times a second at most.
func TestUngiven(t *testing.T) {
	const addresses = 250
	other := func(i int, marker string) netbox.IPAddress {
		return record(int64(1000+i), fmt.Sprintf("10.77.0.%d/24", i+1), marker)
	}
	adopt := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Adopt = v1alpha1.AdoptIfUnowned })
	for name, tc := range map[string]struct {
		reason string
		n      int
		fake   func(f *fakeNetBox)
		edits  []edit
		// most requests of all in ten minutes, by looks every five seconds, and least.
		least, most int
	}{
		"One":     {reason: "one alone", n: 1, least: 119, most: 125},
		"Taken":   {reason: "somebody has it", n: addresses, least: 2000, most: 6000},
		"Marked":  {reason: "another cluster has it, and it's not to be adopted", n: addresses, fake: func(f *fakeNetBox) { f.records = nil }, edits: []edit{adopt}, least: 2000, most: 6000},
		"Outside": {reason: "it's in no prefix", n: addresses, fake: func(f *fakeNetBox) { f.prefixes = nil }, least: 2000, most: 6000},
		"Refused": {reason: "what can't be asked isn't known", n: 1, fake: func(f *fakeNetBox) { f.fail["FindHost"] = kind(netbox.KindUnreachable) }, least: 119, most: 250},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			for i := range addresses {
				f.records = append(f.records, other(i, "x"))
			}
			if tc.fake != nil {
				tc.fake(f)
			}
			for i := range addresses {
				if len(f.records) <= i {
					f.records = append(f.records, other(i, "c2/team-a/web/u"))
				}
			}
			h := newHarness(f)
			h.MaxAge = longestAge
			var all []*v1alpha1.NetBoxIPAddress
			for i := range tc.n {
				all = append(all, newAddress(append([]edit{numbered(i), fixedAt(fmt.Sprintf("10.77.0.%d/24", i+1))}, tc.edits...)...))
			}
			look := func(mg *v1alpha1.NetBoxIPAddress) error {
				e := h.connect(t, mg)
				o, err := e.Observe(t.Context(), mg)
				if err == nil && !o.ResourceExists {
					_, err = e.Create(t.Context(), mg)
				}
				return err
			}
			asked := func() int { return max(f.called("FindHost"), f.called("FindAround")) } // What holds it is remembered for a minute.
			for range 120 {
				for _, mg := range all {
					if err := look(mg); err == nil {
						t.Fatalf("%s: %s has one", tc.reason, mg.Name)
					}
				}
				h.now = h.now.Add(5 * time.Second)
			}
			if n := asked(); n < tc.least || n > tc.most+tc.n || len(f.writes()) != 0 {
				t.Errorf("%s: %d requests in ten minutes, want %d to %d; wrote %q", tc.reason, n, tc.least, tc.most, f.writes())
			}
			if f.prefixes == nil || f.fail["FindHost"] != nil {
				return
			}
			f.records = nil
			h.now = h.now.Add(h.patience(tc.n))
			if err := look(all[tc.n-1]); err != nil {
				t.Errorf("%s: it's to be had by now: %v", tc.reason, err)
			}
			if tc.n == 1 {
				return
			}
			f.records = []netbox.IPAddress{other(0, "x")}
			_ = look(all[0])
			before := asked()
			_ = look(all[0])
			if asked() != before {
				t.Error("it's asked for again at once")
			}
			all[0].Generation++
			if _ = look(all[0]); asked() == before {
				t.Error("another spec waits for its look")
			}
		})
	}
}

// TestEdgeForMany: that a pool's next address can't be on an interface one POST finds out for all who want one there, and one look each half a
// minute says whether it's still so.
func TestEdgeForMany(t *testing.T) {
	const n = 40
	f := newFake()
	f.prefixes[0].Pool = true
	h := newHarness(f)
	h.MaxAge = longestAge
	look := func(mg *v1alpha1.NetBoxIPAddress) error {
		e := h.connect(t, mg)
		o, err := e.Observe(t.Context(), mg)
		if err == nil && !o.ResourceExists {
			_, err = e.Create(t.Context(), mg)
		}
		return err
	}
	var all []*v1alpha1.NetBoxIPAddress
	for i := range n {
		all = append(all, newAddress(numbered(i), assignTo(onDevice("r7-u12", "eno1", ""))))
	}
	for range 60 { // Ten minutes.
		for _, mg := range all {
			if err := look(mg); reasonOf(err) != "Invalid" {
				t.Fatalf("%s: %v", mg.Name, err)
			}
		}
		h.now = h.now.Add(10 * time.Second)
	}
	if posts, looks := f.called("Allocate"), f.called("NextFree"); posts != 1 || looks < 15 || looks > 21 {
		t.Errorf("%d POSTs, %d looks", posts, looks)
	}
	if err := look(newAddress(numbered(n+1), assignTo(onDevice("r7-u12", "eno1", "")), masked(32))); err != nil {
		t.Errorf("alone it may be there: %v", err)
	}
	h.now = h.now.Add(retryAfter)
	if err := look(all[1]); err != nil {
		t.Errorf("the next one is as any other: %v", err)
	}
}
