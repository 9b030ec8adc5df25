package netbox_test

import (
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestRestoreWaits: what keeps a record from being made again hides no loss. It's told once, said until the address is there again, costs little
// meanwhile, and that somebody else is given the address is prevented as for any loss.
func TestRestoreWaits(t *testing.T) {
	cases := map[string]struct {
		reason string
		assign v1alpha1.Assignment
		// lose the record, and end what keeps it from being made again. says is a part of why.
		lose func(l rackLab)
		end  func(l rackLab, was netbox.Machine)
		says string
	}{
		"Device": {
			"a device is deleted, and its addresses go along", device(v1alpha1.UsePrimary),
			func(l rackLab) { l.netbox.RemoveMachine(false, 1) },
			func(l rackLab, was netbox.Machine) {
				was.ID, was.Primary4 = 0, 0
				l.netbox.AddInterface(netbox.Interface{Machine: l.netbox.AddMachine(was), Name: "eno1"}, "52:54:00:77:12:01")
			}, `the device "r7-u12": NetBox has none`,
		},
		"Interface": {
			"an interface is renamed", device(v1alpha1.UseAdditional),
			func(l rackLab) { rename(l, "eth0"); l.netbox.RemoveAddress(l.only().ID) },
			func(l rackLab, _ netbox.Machine) { rename(l, "eno1") }, `the interface "eno1": NetBox has none`,
		},
		"Host": {
			"a RedfishHost is deleted", v1alpha1.Assignment{HostRef: &xpv2.NamespacedReference{Name: "r7-u12"}},
			func(l rackLab) {
				h := &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "r7-u12"}}
				if err := l.kube.Delete(l.t.Context(), h); err != nil {
					l.t.Fatal(err)
				}
				l.netbox.RemoveAddress(l.only().ID)
			},
			func(l rackLab, _ netbox.Machine) { hostOf(l) }, `RedfishHost "team-a/r7-u12", which assignTo.hostRef names, doesn't exist`,
		},
		"Tag": {
			"a tag is renamed, which NetBox refuses then", device(v1alpha1.UseAdditional),
			func(l rackLab) { l.netbox.RenameTag(1, "other"); l.netbox.RemoveAddress(l.only().ID) },
			func(l rackLab, _ netbox.Machine) { l.netbox.RenameTag(1, "kubernetes") }, "",
		},
	}
	for _, v := range versions() {
		for name, tc := range cases {
			t.Run(v+"/"+name, func(t *testing.T) {
				l := newRackLab(t, v)
				l.maxAge = 2 * time.Minute
				l.restart()
				hostOf(l)
				was := l.netbox.Machines()[0]
				l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
					on(tc.assign)(&mg.Spec.ForProvider)
					mg.Spec.ForProvider.WhenLost, mg.Spec.ForProvider.Tags = v1alpha1.LostRestore, []string{"kubernetes"}
				})
				address := l.rest().Status.AtProvider.Address
				tc.lose(l)
				l.now = l.now.Add(3 * time.Minute)
				mg := l.settle("web-1", because(v1alpha1.ReasonLost))
				if c := mg.GetCondition(xpv2.TypeReady); c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, "can't be made again yet") || !strings.Contains(c.Message, tc.says) {
					t.Errorf("%s: %+v, want %q", tc.reason, c, tc.says)
				}
				l.restart()
				for range 3 {
					l.now = l.now.Add(3 * time.Minute)
					l.once("web-1")
				}
				if told := strings.Join(l.told, "\n"); strings.Count(told, "Lost: record ") != 1 || len(l.told) != 1 {
					t.Errorf("%s: told %q", tc.reason, l.told)
				}
				l.apply("web-2")
				if other := l.settle("web-2", ready); other.Status.AtProvider.Address == address {
					t.Errorf("%s: another one was given %s", tc.reason, address)
				}
				tc.end(l, was)
				l.now = l.now.Add(11 * time.Minute)
				back := l.settle("web-1", ready)
				if back.Status.AtProvider.Address != address || len(l.netbox.WithMarker(field, clusterID+"/team-a/web-1/uid-web-1")) != 1 || len(l.netbox.Addresses()) != 2 {
					t.Errorf("%s: it has %s, want %s again: %+v", tc.reason, back.Status.AtProvider.Address, address, l.netbox.Addresses())
				}
			})
		}
	}
	t.Log(faultRow("a record is gone, and so is what it would be made again for", 1, 1))
}

// rename the first interface.
func rename(l rackLab, to string) {
	l.netbox.ChangeInterface(netbox.Object{Type: "dcim.interface", ID: 1}, func(i *netbox.Interface) { i.Name = to })
}

// hostOf makes the RedfishHost of the first device.
func hostOf(l rackLab) {
	l.t.Helper()
	h := &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "r7-u12"}}
	h.Spec.ForProvider.MACs = []string{"52:54:00:77:12:01"}
	if err := l.kube.Create(l.t.Context(), h); err != nil {
		l.t.Fatal(err)
	}
}
