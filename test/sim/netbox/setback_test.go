package netbox_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestSetBack: NetBox's clock is set back, or an older backup of it is restored, after which what changes there is earlier than what was seen already. That
// another address has taken the seat of web-1's is seen all the same, by the next look, on each version; and what is looked at then costs no more
// than before.
func TestSetBack(t *testing.T) {
	const age = 2 * time.Minute
	take := func(l rackLab, by int64) {
		l.netbox.ChangeMachine(false, 1, func(m *netbox.Machine) { m.Primary4 = by })
	}
	cases := map[string]struct {
		reason string
		// happens ends with other in the device's seat, after web-1 was Ready.
		happens func(l rackLab, other int64)
		within  time.Duration
	}{
		"Clock": {"its clock is an hour back", func(l rackLab, other int64) {
			l.netbox.SetClock(-time.Hour, true)
			take(l, other)
		}, age},
		"Later": {"it's an hour back, and what is changed is some time after that", func(l rackLab, other int64) {
			l.netbox.SetClock(-time.Hour, true)
			l.now = l.now.Add(age)
			l.once("web-1")
			l.netbox.SetClock(15*time.Minute, true)
			take(l, other)
		}, age},
		"Untold": {"what stands in front of it dates its answers by a clock that goes on", func(l rackLab, other int64) {
			l.netbox.SetClock(-time.Hour, false)
			take(l, other)
		}, 21 * time.Minute},
	}
	for _, v := range versions() {
		for name, tc := range cases {
			t.Run(v+"/"+name, func(t *testing.T) {
				l := newRackLab(t, v)
				other := l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.1.6/24"), Assigned: netbox.Object{Type: "dcim.interface", ID: 1}})
				l.seated(age)
				tc.happens(l, other)
				for waited := time.Duration(0); waited < tc.within; waited += age {
					l.now = l.now.Add(age + time.Second)
					l.once("web-1")
				}
				l.ousted(tc.reason)
			})
		}
	}
	for _, v := range versions() {
		t.Run(v+"/Backup", func(t *testing.T) {
			l := newRackLab(t, v)
			other := l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.1.6/24"), Assigned: netbox.Object{Type: "dcim.interface", ID: 1}})
			l.seated(age)
			l.apply("web-2") // Which shows what was restored: it's the one that was changed since.
			second := l.settle("web-2", ready).Status.AtProvider.ID
			take(l, other)
			backup := l.netbox.Backup()
			l.netbox.SetClock(10*time.Minute, true)
			take(l, 0)
			l.netbox.ChangeAddressAs("alice", second, func(a *netbox.Address) { a.Comments = "mine" })
			for range 4 {
				l.now = l.now.Add(age + time.Second)
				l.once("web-1")
			}
			l.rest()
			l.netbox.Restore(backup)
			l.now = l.now.Add(age + time.Second)
			l.once("web-1")
			l.ousted("a backup is restored in which another address has the seat")
		})
	}
}

// seated has web-1 be the primary address of a device, and known to be.
func (l rackLab) seated(age time.Duration) {
	l.t.Helper()
	l.maxAge = age
	l.restart()
	l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) { on(device(v1alpha1.UsePrimary))(&mg.Spec.ForProvider) })
	l.rest()
	for range 3 { // Looks at all, the last of which only ask for what has changed.
		l.now = l.now.Add(age + time.Second)
		l.once("web-1")
	}
	if !ready(l.get("web-1")) {
		l.t.Fatalf("it's %+v", l.get("web-1").Status)
	}
}

// ousted holds that web-1 says that another address has its seat, that it takes it once it's free, and that looks cost then what they did: one at all
// addresses, and one at what has changed.
func (l rackLab) ousted(reason string) {
	l.t.Helper()
	if mg := l.get("web-1"); ready(mg) {
		l.t.Fatalf("%s: nobody has seen it: %+v", reason, mg.Status.Conditions)
	}
	l.netbox.ChangeMachine(false, 1, func(m *netbox.Machine) { m.Primary4 = 0 })
	for range 3 {
		l.now = l.now.Add(2*time.Minute + time.Second)
		l.once("web-1")
	}
	l.rest()
	l.now = l.now.Add(2*time.Minute + time.Second)
	l.once("web-1")
	before := len(l.netbox.Requests())
	l.now = l.now.Add(2*time.Minute + time.Second)
	l.once("web-1")
	all := slices.DeleteFunc(slices.Clone(l.netbox.Requests()[before:]), func(r netbox.Request) bool { // What is asked of a NetBox once in ten minutes.
		return r.Path == "/api/status/" || r.Path == "/api/extras/custom-fields/"
	})
	if len(all) > 2 || !ready(l.get("web-1")) {
		l.t.Errorf("%s: a look took %d requests: %+v", reason, len(all), all)
	}
	l.t.Log(faultRow("NetBox's clock or data is set back", 1, 1))
}
