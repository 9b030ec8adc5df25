package bootentry

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

const mac1, mac2 = "52:54:00:00:00:01", "52:54:00:00:00:02"

// named is an entry whose claim names its machine by its BMC: its host is of the tenant's own namespace.
func named(in *inputs) {
	in.host.Namespace = "team-a"
	in.host.CreationTimestamp = metav1.NewTime(noon)
}

func owner(namespace string, age time.Duration, seen bool) func(*inputs) {
	return func(in *inputs) {
		h := v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "h", UID: "h", CreationTimestamp: metav1.NewTime(noon.Add(-age))}}
		h.Status.AtProvider.MACs = []v1alpha1.HostMAC{{Address: mac1}}
		if seen {
			h.Status.AtProvider.Identity.SystemURI = "/redfish/v1/Systems/1"
		}
		in.hosts = append(in.hosts, h)
	}
}

// TestOwners holds that nobody takes a machine by listing its MAC on a host of his own.
func TestOwners(t *testing.T) {
	cases := map[string]struct {
		reason  string
		in      inputs
		refused bool
	}{
		"Operators":     {"A machine of the segment's owner isn't taken, though its host is the younger one.", world(named, owner("infra", -time.Hour, false)), true},
		"EarlierTenant": {"Nor is another tenant's that was there before.", world(named, owner("team-b", time.Hour, true)), true},
		"LaterTenant":   {"A later one takes nothing.", world(named, owner("team-b", -time.Hour, true)), false},
		"Unseen":        {"One that never showed its machine holds nothing.", world(named, owner("team-b", time.Hour, false)), false},
		"OwnNamespace":  {"Within a namespace the entries decide.", world(named, owner("team-a", time.Hour, true)), false},
		"OfOperator":    {"The operator's own machine isn't blocked by a tenant's host.", world(owner("team-b", time.Hour, true)), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, prob := resolve(tc.in)
			if (prob != nil) != tc.refused {
				t.Fatalf("%s\nresolve(...): problem %+v, want refused: %t", tc.reason, prob, tc.refused)
			}
			if prob != nil && (prob.reason != v1alpha1.ReasonConflict || !strings.Contains(prob.message, "a machine of another namespace")) {
				t.Errorf("%s\nresolve(...): problem %+v", tc.reason, prob)
			}
		})
	}
}

// TestIncumbent holds that who is served for a MAC keeps it against an older entry that asks for it now.
func TestIncumbent(t *testing.T) {
	served := func(macs ...string) func(*inputs) {
		return func(in *inputs) {
			in.entry.Status.AtProvider.Plan = bootspec.PlanStatus(plan())
			in.entry.Status.AtProvider.Plan.MACs = macs
		}
	}
	rival := func(age time.Duration, uid types.UID, bound bool) func(*inputs) {
		return func(in *inputs) {
			o := v1alpha1.BootEntry{ObjectMeta: metav1.ObjectMeta{Namespace: "team-b", Name: "o", UID: uid, CreationTimestamp: metav1.NewTime(noon.Add(-age))}}
			o.Status.AtProvider.Plan = &v1alpha1.Plan{Bound: bound, MACs: []string{mac1}}
			in.others = append(in.others, o)
		}
	}
	cases := map[string]struct {
		reason        string
		in            inputs
		refused, kept bool
	}{
		"AsksAnew":   {"An older entry that is served for another MAC doesn't get this one, and keeps its own.", world(served(mac2), rival(-time.Hour, "o", true)), true, true},
		"HasIt":      {"Of two that are served for it the older one wins.", world(served(mac1), rival(-time.Hour, "o", true)), false, false},
		"LaterHasIt": {"And the later one isn't served for it any more.", world(served(mac1), rival(time.Hour, "o", true)), true, false},
		"Raw":        {"A bound machine beats raw MACs, whoever asks anew.", world(served(mac2), rival(time.Hour, "o", false)), false, false},
		"New":        {"An entry that was never served isn't anew.", world(rival(-time.Hour, "o", true)), false, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := decide(tc.in, noon)
			if (d.problem != nil) != tc.refused || (d.kept != nil) != tc.kept {
				t.Errorf("%s\ndecide(...): problem %+v, kept %v, want refused: %t, kept: %t", tc.reason, d.problem, d.kept, tc.refused, tc.kept)
			}
		})
	}
}

// TestSecondTaken: who asks for a second address that another has goes on with the first.
func TestSecondTaken(t *testing.T) {
	d := decide(world(alsoSix(new("fd00:77::11/64")), func(in *inputs) {
		in.entry.Status.AtProvider.Plan = bootspec.PlanStatus(plan())
		o := v1alpha1.BootEntry{ObjectMeta: metav1.ObjectMeta{Namespace: "team-b", Name: "o", UID: "o", CreationTimestamp: metav1.NewTime(noon.Add(time.Hour))}}
		o.Status.AtProvider.Plan = &v1alpha1.Plan{Bound: true, MACs: []string{mac2}, Network: v1alpha1.PlanNetwork{Namespace: "infra", Name: "rack-7", Address: "fd00:77::11/64"}}
		in.others = append(in.others, o)
	}), noon)
	if d.problem == nil || d.problem.address != "fd00:77::11/64" || d.kept == nil || d.kept.Network.Address != "10.77.0.11/24" {
		t.Errorf("problem %+v, kept %+v", d.problem, d.kept)
	}
}

// TestRivalPort: a port of a switch is one entry's. Who is named by its MACs is served all the same, and installed by nothing.
func TestRivalPort(t *testing.T) {
	const circuit = "Ethernet1/12"
	raw := func(circuit string, generation int64, macs ...string) func(*inputs) {
		return func(in *inputs) {
			in.host, in.claim = nil, nil
			in.entry.Namespace, in.network.Spec.DHCP = "infra", &v1alpha1.NetworkDHCP{Relays: []string{"10.77.0.2/32"}}
			m := &in.entry.Spec.ForProvider
			m.Machine, m.Install.Generation = v1alpha1.MachineSelector{MACs: macs, Port: &v1alpha1.SwitchPort{CircuitID: circuit}}, generation
		}
	}
	served := func(circuit string) func(*inputs) {
		return func(in *inputs) {
			p, prob := resolve(*in)
			if prob != nil {
				t.Fatal(prob.message)
			}
			status := bootspec.PlanStatus(*p)
			status.Port.CircuitID = circuit
			status.HostUID = bootspec.RawUID(v1alpha1.MachineSelector{MACs: status.MACs, Port: status.Port})
			in.entry.Status.AtProvider.Plan = status
		}
	}
	rival := func(age time.Duration, network string) func(*inputs) {
		return func(in *inputs) {
			o := v1alpha1.BootEntry{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "o", UID: "o", CreationTimestamp: metav1.NewTime(noon.Add(-age))}}
			o.Status.AtProvider.Plan = &v1alpha1.Plan{Port: &v1alpha1.SwitchPort{CircuitID: circuit}, Network: v1alpha1.PlanNetwork{Namespace: "infra", Name: network}}
			in.others = append(in.others, o)
		}
	}
	cases := map[string]struct {
		reason  string
		in      inputs
		refused bool
		kept    bool
	}{
		"Free":       {"nobody has it", world(raw(circuit, 0)), false, false},
		"Taken":      {"the earlier one has it", world(raw(circuit, 0), rival(time.Hour, "rack-7")), true, false},
		"Later":      {"a later one hasn't", world(raw(circuit, 0), rival(-time.Hour, "rack-7")), false, false},
		"Elsewhere":  {"another network has ports of the same names", world(raw(circuit, 0), rival(time.Hour, "rack-8")), false, false},
		"AsksAnew":   {"an earlier one that was elsewhere doesn't take it, and isn't found there any more", world(raw(circuit, 0), served("Ethernet1/9"), rival(-time.Hour, "rack-7")), true, false},
		"WithMAC":    {"a machine that's known by its MAC has its address and its disk", world(raw(circuit, 1, mac1), served(circuit), rival(time.Hour, "rack-7")), true, true},
		"WithoutMAC": {"one that isn't has nothing", world(raw(circuit, 0), served(circuit), rival(time.Hour, "rack-7")), true, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := decide(tc.in, noon)
			if (d.problem != nil) != tc.refused || (d.kept != nil) != tc.kept {
				t.Fatalf("%s\ndecide(...): problem %+v, kept %+v, want refused: %t, kept: %t", tc.reason, d.problem, d.kept, tc.refused, tc.kept)
			}
			if d.kept != nil && (d.kept.Port != nil || d.kept.InstallGeneration != 0) {
				t.Errorf("%s: kept %+v", tc.reason, d.kept)
			}
		})
	}
}

func TestShares(t *testing.T) {
	in := world(owner("infra", 0, true), func(in *inputs) { in.entry.Status.AtProvider.Plan = bootspec.PlanStatus(plan()) })
	if !shares(in.entry, &in.hosts[0]) {
		t.Error("an entry isn't woken by a host that has its MAC")
	}
	in.hosts[0].Status.AtProvider.MACs[0].Address = mac2
	if shares(in.entry, &in.hosts[0]) {
		t.Error("an entry is woken by a host of another MAC")
	}
}

// TestRivalAddress holds that two machines of a segment never have one address, whatever NetBox allows.
func TestRivalAddress(t *testing.T) {
	const address = "10.77.0.11/24"
	served := func(with string) func(*inputs) {
		return func(in *inputs) {
			in.entry.Status.AtProvider.Plan = bootspec.PlanStatus(plan())
			in.entry.Status.AtProvider.Plan.Network.Address = with
		}
	}
	rival := func(age time.Duration, network string) func(*inputs) {
		return func(in *inputs) {
			o := v1alpha1.BootEntry{ObjectMeta: metav1.ObjectMeta{Namespace: "team-b", Name: "o", UID: "o", CreationTimestamp: metav1.NewTime(noon.Add(-age))}}
			o.Status.AtProvider.Plan = &v1alpha1.Plan{Bound: true, MACs: []string{mac2}, Network: v1alpha1.PlanNetwork{Namespace: "infra", Name: network, Address: address}}
			in.others = append(in.others, o)
		}
	}
	six := func(age time.Duration) func(*inputs) {
		return func(in *inputs) {
			rival(age, "rack-7")(in)
			n := &in.others[len(in.others)-1].Status.AtProvider.Plan.Network
			n.Address, n.IPv6 = "10.77.0.50/24", &v1alpha1.PlanPlace{Address: "fd00:77::11/64"}
		}
	}
	dual := alsoSix(new("fd00:77::11/64"))
	cases := map[string]struct {
		reason  string
		in      inputs
		refused bool
	}{
		"Second":      {"One of IPv6 beside another of IPv4 is as good.", world(dual, six(time.Hour)), true},
		"SecondLater": {"A later one doesn't take that either.", world(dual, six(-time.Hour)), false},
		"SecondOther": {"Who has none of them is no rival.", world(six(time.Hour)), false},
		"Earlier":     {"The earlier one has it.", world(rival(time.Hour, "rack-7")), true},
		"Later":       {"A later one takes nothing.", world(rival(-time.Hour, "rack-7")), false},
		"Moved":       {"Nor does an older one that comes to it now.", world(served("10.77.0.12/24"), rival(-time.Hour, "rack-7")), true},
		"BothServed":  {"What is a rival's isn't kept either.", world(served(address), rival(time.Hour, "rack-7")), true},
		"Going":       {"One whose machine was given back has nothing any more.", world(rival(time.Hour, "rack-7"), func(in *inputs) { in.others[0].DeletionTimestamp = &metav1.Time{Time: noon} }), false},
		"Held": {"One that is deleted and held still has it.", world(rival(time.Hour, "rack-7"), func(in *inputs) {
			in.others[0].DeletionTimestamp = &metav1.Time{Time: noon}
			in.others[0].Finalizers = []string{v1alpha1.FinalizerHeldByClaim}
		}), true},
		"SameHost":     {"Nor has one that the host was bound to before.", world(rival(time.Hour, "rack-7"), func(in *inputs) { in.others[0].Status.AtProvider.Plan.HostUID = "host" }), false},
		"OtherSegment": {"Another segment may have the same addresses.", world(rival(time.Hour, "rack-8")), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := decide(tc.in, noon)
			if (d.problem != nil) != tc.refused || d.kept != nil {
				t.Errorf("%s\ndecide(...): problem %+v, kept %v, want refused: %t", tc.reason, d.problem, d.kept, tc.refused)
			}
		})
	}
}
