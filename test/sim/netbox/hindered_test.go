package netbox_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestHinderedCosts: what NetBox doesn't take, doesn't have, or isn't to be asked for costs nothing of its own, on each version: what a list of all
// records shows of one is what it shows of that one alone.
func TestHinderedCosts(t *testing.T) {
	device := device(v1alpha1.UsePrimary)
	cases := map[string]struct {
		reason string
		drift  v1alpha1.DriftPolicy
		then   func(l rackLab, record int64)
		// refused is what NetBox is asked for again after a while.
		refused bool
		synced  bool
	}{
		"Tag": {"a tag that nobody made", v1alpha1.DriftCorrect, func(l rackLab, _ int64) {
			l.edit(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Tags = []string{"nosuch"} })
		}, true, false},
		"Device": {"a device that nobody made", v1alpha1.DriftCorrect, func(l rackLab, _ int64) {
			l.edit(func(p *v1alpha1.NetBoxIPAddressParameters) {
				p.AssignTo.Device = &v1alpha1.NetBoxDevice{Name: "nosuch"}
			})
		}, false, false},
		"Seat": {"another address has its seat", v1alpha1.DriftCorrect, func(l rackLab, _ int64) {
			other := l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.6/29"), Assigned: netbox.Object{Type: "dcim.interface", ID: 1}})
			l.netbox.ChangeMachine(false, 1, func(m *netbox.Machine) { m.Primary4 = other })
		}, false, false},
		"Theirs": {"another resource has it by now", v1alpha1.DriftCorrect, func(l rackLab, record int64) {
			l.netbox.ChangeAddressAs("alice", record, func(a *netbox.Address) { a.CustomFields[field] = clusterID + "/team-b/x/uid-x" })
		}, false, false},
		"Reported": {"it's assigned elsewhere, which is only reported", v1alpha1.DriftReport, func(l rackLab, record int64) {
			l.netbox.ChangeMachine(false, 1, func(m *netbox.Machine) { m.Primary4 = 0 })
			l.netbox.ChangeAddressAs("alice", record, func(a *netbox.Address) { a.Assigned = netbox.Object{Type: "virtualization.vminterface", ID: 1} })
		}, false, true},
		"Lost": {"its device was deleted, and it along", v1alpha1.DriftCorrect, func(l rackLab, _ int64) {
			l.edit(func(p *v1alpha1.NetBoxIPAddressParameters) { p.WhenLost = v1alpha1.LostRestore })
			l.rest()
			l.netbox.RemoveMachine(false, 1)
		}, false, true},
	}
	for _, v := range versions() {
		for name, tc := range cases {
			t.Run(v+"/"+name, func(t *testing.T) {
				l := newRackLab(t, v)
				l.maxAge = time.Minute
				l.restart()
				l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
					p := &mg.Spec.ForProvider
					on(device)(p)
					p.Drift, p.Description, p.Tags = tc.drift, new("web"), []string{"kubernetes"}
					p.CustomFields = map[string]apiextv1.JSON{"purpose": {Raw: []byte(`"web"`)}}
				})
				l.rest()
				looks := []time.Duration{2 * time.Minute, time.Second}
				if tc.refused {
					looks = append(looks, 31*time.Second, 61*time.Second)
				}
				tc.then(l, l.only().ID)
				look := func(later time.Duration) []netbox.Request {
					l.now = l.now.Add(later)
					before := len(l.netbox.Requests())
					l.once("web-1")
					return l.netbox.Requests()[before:]
				}
				for _, later := range looks {
					look(later)
				}
				told, synced := len(l.told), l.get("web-1").GetCondition(xpv2.TypeSynced)
				if all := look(61 * time.Second); len(all) != 1 || all[0].Path != "/api/ipam/ip-addresses/" {
					t.Errorf("%s: a look at all took %d requests: %+v", tc.reason, len(all), all)
				}
				if all := look(time.Second); len(all) != 0 {
					t.Errorf("%s: the next one %d: %+v", tc.reason, len(all), all)
				}
				said := func(c xpv2.Condition) string {
					return strings.TrimPrefix(strings.TrimPrefix(c.Message, "observe failed: "), "update failed: ")
				}
				if is := l.get("web-1").GetCondition(xpv2.TypeSynced); said(is) != said(synced) || (is.Reason == xpv2.ReasonReconcileSuccess) != tc.synced || len(l.told) != told {
					t.Errorf("%s: %+v, and was %+v; told %q", tc.reason, is, synced, l.told)
				}
			})
		}
	}
}
