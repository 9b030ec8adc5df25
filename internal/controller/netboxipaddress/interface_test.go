package netboxipaddress

import (
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// bonded has eno1 and eno2 of the first device be ports of a LAG, on which there's a VLAN.
func bonded(r *rack) {
	r.interfaces[0].LAG, r.interfaces[1].LAG = 21, 21
	at := func(id int64, name string) netbox.Place {
		return netbox.Place{Kind: netbox.Device, ID: id, Name: name, Holder: 1, HolderName: "r7-u12"}
	}
	r.interfaces = append(r.interfaces,
		netbox.Interface{Place: at(21, "bond0"), Type: netbox.TypeLAG, MTU: 9000, Mode: netbox.ModeTagged, Untagged: 77, Tagged: []int{120}},
		netbox.Interface{Place: at(22, "bond0.120"), Type: netbox.TypeVirtual, Mode: netbox.ModeAccess, Untagged: 120, Parent: 21},
	)
}

// lagLink is what status says of that LAG.
func lagLink() *v1alpha1.InterfaceLink {
	return &v1alpha1.InterfaceLink{
		ID: 21, Name: "bond0", Type: "lag", MTU: 9000, Mode: "tagged", UntaggedVLAN: 77, TaggedVLANs: []int32{120}, Members: []v1alpha1.InterfaceMember{
			{ID: 11, Name: "eno1", MACs: []string{"52:54:00:00:00:01"}}, {ID: 12, Name: "eno2", MACs: []string{"52:54:00:00:00:02"}},
		},
	}
}

// TestInterfaceShown: what NetBox has of the interface that an address was assigned to, and of what that is on.
func TestInterfaceShown(t *testing.T) {
	cases := map[string]struct {
		reason, iface string
		want          v1alpha1.InterfaceObservation
	}{
		"Part": {"a VLAN on a LAG has that for its parent", "bond0.120", v1alpha1.InterfaceObservation{
			Device: "r7-u12", InterfaceLink: v1alpha1.InterfaceLink{ID: 22, Name: "bond0.120", Type: "virtual", Mode: "access", UntaggedVLAN: 120}, Parent: lagLink(),
		}},
		"LAG": {"a LAG has its ports", "bond0", v1alpha1.InterfaceObservation{Device: "r7-u12", InterfaceLink: *lagLink()}},
		"Port": {"a port of a LAG has that", "eno1", v1alpha1.InterfaceObservation{
			Device: "r7-u12", InterfaceLink: v1alpha1.InterfaceLink{ID: 11, Name: "eno1", MACs: []string{"52:54:00:00:00:01"}}, LAG: lagLink(),
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			bonded(&f.rack)
			h, mg := newHarness(f), newAddress(assignTo(onDevice("r7-u12", tc.iface, v1alpha1.UseAdditional)))
			if err := h.settle(t, mg); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tc.want, mg.Status.AtProvider.Interface); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			mg.Spec.ForProvider.AssignTo = nil
			if err := h.settle(t, mg); err != nil || mg.Status.AtProvider.Interface != nil {
				t.Errorf("one that isn't assigned any more says %+v, %v", mg.Status.AtProvider.Interface, err)
			}
		})
	}
}

// TestInterfaceStays: what was said of an interface stays as long as it can't be read, and is of the one that the address was given, whatever somebody
// does with its record. Whoever asks for a look has it read now.
func TestInterfaceStays(t *testing.T) {
	f := newFake()
	bonded(&f.rack)
	h, mg := newHarness(f), newAddress(assignTo(onDevice("r7-u12", "bond0", v1alpha1.UseAdditional)), func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ForProvider.Drift = v1alpha1.DriftReport
	})
	if err := h.settle(t, mg); err != nil {
		t.Fatal(err)
	}
	h.MaxAge = time.Minute
	h.now = h.now.Add(settling)
	lag := &f.rack.interfaces[len(f.rack.interfaces)-2]
	lag.MTU = 1500
	for _, fails := range []string{"SeenInterface", "SeenMembers"} {
		f.fail[fails] = kind(netbox.KindUnreachable)
		h.now = h.now.Add(settling) // After one that failed nobody tries for a while.
		if err := h.reconcile(t, mg); err != nil {
			t.Errorf("%s: %v", fails, err)
		}
		delete(f.fail, fails)
		if diff := cmp.Diff(lagLink(), &mg.Status.AtProvider.Interface.InterfaceLink); diff != "" {
			t.Errorf("%s can't be asked (-want +got):\n%s", fails, diff)
		}
	}
	h.now = h.now.Add(settling)
	f.records[0].Assigned = f.rack.elsewhere()
	if err := h.reconcile(t, mg); err != nil || mg.Status.AtProvider.Interface.ID != 21 || mg.Status.AtProvider.Interface.MTU != 9000 {
		t.Errorf("somebody assigned it elsewhere: %+v, %v", mg.Status.AtProvider.Interface, err)
	}
	f.records[0].Assigned = &lag.Place
	ages := f.rack.ages
	for _, asked := range []string{"", "", "now", "now"} {
		meta.AddAnnotations(mg, map[string]string{meta.AnnotationKeyReconcileRequestedAt: asked})
		h.doubt(mg.GetUID())
		if err := h.reconcile(t, mg); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]time.Duration{time.Minute, time.Minute, 0, time.Minute}, f.rack.ages[len(ages):]); diff != "" {
		t.Errorf("how old what is known may be (-want +got):\n%s", diff)
	}
	if mg.Status.AtProvider.Interface.MTU != 1500 {
		t.Errorf("it says %+v", mg.Status.AtProvider.Interface)
	}
}

// TestManyVLANs: a trunk of more VLANs than status shows says whether it carries the prefix's.
func TestManyVLANs(t *testing.T) {
	o := &v1alpha1.NetBoxIPAddressObservation{Prefix: &v1alpha1.PrefixObservation{VLAN: 400}, Interface: &v1alpha1.InterfaceObservation{}}
	for v := range int32(500) {
		o.Interface.TaggedVLANs = append(o.Interface.TaggedVLANs, v+1)
	}
	(&external{}).trim(o)
	if vs := o.Interface.TaggedVLANs; len(vs) != mostTagged || vs[0] != 1 || vs[mostTagged-2] != mostTagged-1 || vs[mostTagged-1] != 400 {
		t.Errorf("it shows %v", vs)
	}
}

// TestParentReadAgain: a source that was read long ago is read again, for what it is, and not only for how full it is.
func TestParentReadAgain(t *testing.T) {
	now := time.Now()
	for after, want := range map[time.Duration]bool{parentAge - time.Second: true, parentAge: false} {
		s := stock{known: true, read: now}
		if got := s.asked(now.Add(after)); got.known != want || !s.known {
			t.Errorf("after %s it's known: %v", after, got.known)
		}
	}
}
