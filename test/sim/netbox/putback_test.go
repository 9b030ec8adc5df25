package netbox_test

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// putBack has the API server hold two resources as they were: etcd was restored.
func (l *lab) putBack(gone, changed *v1alpha1.NetBoxIPAddress) {
	l.t.Helper()
	again := gone.DeepCopy()
	again.ResourceVersion = ""
	l.create(again)
	is := l.get(changed.GetName())
	is.Annotations = changed.Annotations
	if err := l.kube.Update(l.t.Context(), is); err != nil {
		l.t.Fatal(err)
	}
	is.Status = changed.Status
	if err := l.kube.Status().Update(l.t.Context(), is); err != nil {
		l.t.Fatal(err)
	}
	l.restart()
}

// TestPutBack: web-1 is released, and web-2 given its address; then etcd is as it was before. web-2's machine uses the address: its record stays as it
// is until somebody says that web-1 is of the past, and is web-2's then.
func TestPutBack(t *testing.T) {
	const one = "10.78.0.0/32"
	only := func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.From[0].Prefix.CIDR = one }
	fixed := func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ForProvider.From, mg.Spec.ForProvider.Address = nil, "10.77.0.1/29"
	}
	none := func(*v1alpha1.NetBoxIPAddress) {}
	refused := func(l *lab) {
		mend := l.netbox.Inject(netbox.Fault{Kind: netbox.FaultReadOnlyToken})
		l.once("web-2")
		l.once("web-2")
		mend()
		l.restart()
	}
	cases := map[string]struct {
		reason  string
		first   func(*v1alpha1.NetBoxIPAddress)
		second  func(*v1alpha1.NetBoxIPAddress)
		waiting func(l *lab)
	}{
		"NeverAsked": {"it hadn't asked by then", none, none, func(*lab) {}},
		"Refused":    {"it had been refused by then", none, none, refused},
		"Exhausted":  {"it had found all full by then", only, only, func(l *lab) { l.settle("web-2", because(v1alpha1.ReasonExhausted)) }},
		"Fixed":      {"it asks for just this one", none, fixed, func(*lab) {}},
		"FixedTaken": {"it had found it taken by then", none, fixed, func(l *lab) { l.once("web-2"); l.once("web-2") }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddCIDR(one)
			l.apply("web-1", tc.first)
			l.settle("web-1", ready)
			first := l.get("web-1").DeepCopy()
			l.apply("web-2", tc.second)
			tc.waiting(l)
			before := l.get("web-2").DeepCopy()
			l.delete("web-1")
			l.settle("web-1", gone)
			l.restart()
			l.settle("web-2", ready)
			record := l.netbox.Addresses()[0]
			l.putBack(first, before)
			said := ""
			for range 6 {
				l.once("web-2")
				l.once("web-1")
				said = l.get("web-2").GetCondition("Ready").Message
				if is := l.netbox.WithMarker(field, markerOf2); len(is) != 1 || is[0].ID != record.ID || is[0].Status != "active" {
					t.Fatalf("%s, and its machine uses %s: %+v", tc.reason, record.Address, is)
				}
			}
			if !strings.Contains(said, `NetBoxIPAddress "web-1"`) {
				t.Errorf("%s: it isn't said whose it is: %q", tc.reason, said)
			}
			l.delete("web-1")
			l.settle("web-1", gone)
			l.restart()
			if mg := l.settle("web-2", ready); mg.Status.AtProvider.ID != record.ID {
				t.Errorf("%s: it has record %d", tc.reason, mg.Status.AtProvider.ID)
			}
		})
	}
}

// TestPutBackKept: web-1 is deleted and its record kept, which web-2 takes over; then etcd is as it was before. So it is of just the record that web-1's status
// has.
func TestPutBackKept(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddMarkerField(field)
	l.apply("web-2", l.ofThis, takes(v1alpha1.AdoptIfUnowned, 0))
	mend := l.netbox.Inject(netbox.Fault{Kind: netbox.FaultDisconnect, Method: "POST"})
	l.once("web-2")
	l.once("web-2")
	mend()
	l.apply("web-1", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ForProvider.Release = &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseKeep}
	})
	l.settle("web-1", ready)
	l.once("web-2")
	first, before := l.get("web-1").DeepCopy(), l.get("web-2").DeepCopy()
	l.delete("web-1")
	l.settle("web-1", gone)
	l.restart()
	record := l.settle("web-2", ready).Status.AtProvider.ID // Its machine uses it from now on.
	l.putBack(first, before)
	l.unwritten("a machine of web-2 uses it", record, "web-2", "web-1")
	l.waits("web-2", `is that of NetBoxIPAddress "web-1", as its status says`)
	l.delete("web-1")
	l.settle("web-1", gone)
	if mg := l.settle("web-2", ready); mg.Status.AtProvider.ID != record {
		t.Errorf("it has record %d", mg.Status.AtProvider.ID)
	}
}
