package bootentry

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// byNetBox has an entry ask NetBox for its network, in which its address is on a LAG of the host's two ports.
func byNetBox(in *inputs) {
	in.host.Spec.ForProvider.MACs = []string{"52:54:00:00:00:01", "52:54:00:00:00:02"}
	in.entry.Spec.ForProvider.Networks[0].Interface = &v1alpha1.EntryInterface{From: v1alpha1.InterfaceFromNetBox}
	in.addresses[0].Name = "web-1-boot-ipv4"
	in.addresses[0].Spec.ForProvider.AssignTo = &v1alpha1.Assignment{}
	in.addresses[0].Status.AtProvider.Interface = &v1alpha1.InterfaceObservation{
		Device: "r7-u12",
		InterfaceLink: v1alpha1.InterfaceLink{ID: 3, Name: "bond0", Type: "lag", MTU: 9000, Members: []v1alpha1.InterfaceMember{
			{ID: 1, Name: "eno1", MACs: []string{"52:54:00:00:00:01"}}, {ID: 2, Name: "eno2", MACs: []string{"52:54:00:00:00:02"}},
		}},
	}
}

// edited has somebody change the interface in NetBox, of which the plan was published before.
func edited(change func(*v1alpha1.InterfaceObservation)) func(*inputs) {
	return func(in *inputs) {
		p, prob := resolve(*in)
		if prob != nil {
			panic(prob.message)
		}
		in.entry.Status.AtProvider.Plan = bootspec.PlanStatus(*p)
		change(in.addresses[0].Status.AtProvider.Interface)
	}
}

// installedAs has the machine installed from the plan as it's then.
func installedAs(in *inputs) {
	granted(in)
	installed(in)
	p, prob := resolve(*in)
	if prob != nil {
		panic(prob.message)
	}
	for _, o := range []v1alpha1.InstalledRecord{{EntryUID: "entry", HostUID: "host", Generation: 1, PlanDigest: p.Digest(), Serial: "ABC123"}} {
		note(in.entry, v1alpha1.AnnotationInstalled, o)
		note(in.host, v1alpha1.AnnotationInstalled, o)
	}
	in.session.Status.Installed.PlanDigest = p.Digest()
}

// TestWiredPlan: what NetBox has is in the plan as if it had been written, and all NICs of the bond are of the one entry and boot on its one address.
func TestWiredPlan(t *testing.T) {
	p, prob := resolve(world(byNetBox))
	if prob != nil {
		t.Fatal(prob.message)
	}
	byHand, prob := resolve(world(byNetBox, func(in *inputs) {
		in.entry.Spec.ForProvider.Networks[0].Interface = &v1alpha1.EntryInterface{
			MACs: []string{"52:54:00:00:00:01", "52:54:00:00:00:02"}, MTU: 9000, Bond: &v1alpha1.EntryBond{Mode: v1alpha1.BondLACP},
		}
	}))
	if prob != nil {
		t.Fatal(prob.message)
	}
	if p.Digest() != byHand.Digest() {
		t.Errorf("by NetBox %+v, by hand %+v", p.Network, byHand.Network)
	}
	if !slices.Equal(p.Ports(), p.MACs) || len(p.MACs) != 2 || p.Network.Address.String() != "10.77.0.11/24" {
		t.Errorf("%v boot on %s, and the bond has %v", p.MACs, p.Network.Address, p.Ports())
	}
}

// TestWiredEdits: whatever somebody makes of an interface in NetBox, nothing is installed by it, and the machine that runs keeps its address.
func TestWiredEdits(t *testing.T) {
	cases := map[string]struct {
		reason string
		edit   func(*v1alpha1.InterfaceObservation)
		// kept says that the plan before stays, and message why.
		kept    bool
		message string
	}{
		"MTU":     {"What was installed says that it's of another plan.", func(i *v1alpha1.InterfaceObservation) { i.MTU = 1500 }, false, ""},
		"OnePort": {"A port that left the bond is still the machine's.", func(i *v1alpha1.InterfaceObservation) { i.Members = i.Members[:1] }, false, ""},
		"NoPorts": {"A LAG without ports is told.", func(i *v1alpha1.InterfaceObservation) { i.Members = nil }, true, "is a LAG in NetBox that no interface is a port of"},
		"Foreign": {"Another machine's port isn't made one of this.", func(i *v1alpha1.InterfaceObservation) { i.Members[1].MACs = []string{"52:54:00:00:00:99"} }, true, "has MAC 52:54:00:00:00:99 in NetBox, and the machine has"},
		"Virtual": {"What is on no port is told.", func(i *v1alpha1.InterfaceObservation) { i.Type = "virtual" }, true, "which says no port"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := world(byNetBox, installedAs, poweredOn, edited(tc.edit))
			d := decide(in, noon)
			o := observation(in, d, noon)
			if d.step != stepNone || d.issue.Step != boot.StepNone || o.Grant != nil {
				t.Errorf("%s: it goes on with %q, %q", tc.reason, d.step, d.issue.Step)
			}
			if o.Plan == nil || o.Plan.Network.Address != "10.77.0.11/24" || slices.Contains(o.Plan.MACs, "52:54:00:00:00:99") || len(o.Plan.MACs) != 2 {
				t.Fatalf("%s: the machine is served %+v", tc.reason, o.Plan)
			}
			if (d.kept != nil) != tc.kept || tc.kept && (o.Plan.InstallGeneration != 0 || !strings.Contains(d.problem.message, tc.message)) {
				t.Errorf("%s: kept %v, %+v", tc.reason, d.kept != nil, d.problem)
			}
			current := conditionOf(conditions(in, d, noon), typeOf(string(v1alpha1.ConditionCurrent)))
			if !tc.kept && current.Status != corev1.ConditionFalse {
				t.Errorf("%s: it isn't said that it was installed from another plan", tc.reason)
			}
		})
	}
	before := world(byNetBox, edited(func(*v1alpha1.InterfaceObservation) {}))
	if d := decide(before, noon); d.step != stepIssue || d.issue.Step != boot.StepRecordHost {
		t.Errorf("a machine that is asked for is granted: %q, %q", d.step, d.issue.Step)
	}
	foreign := world(byNetBox, edited(cases["Foreign"].edit))
	if d := decide(foreign, noon); d.step != stepNone || d.plan != nil {
		t.Errorf("as long as what NetBox has doesn't fit, nothing is granted: %q, %q", d.step, d.issue.Step)
	}
}
