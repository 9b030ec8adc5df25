package netbox_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// A rackLab is a lab whose NetBox is the examples'.
type rackLab struct{ *lab }

func newRackLab(t *testing.T, version string) rackLab {
	t.Helper()
	l := newLab(t, version)
	l.netbox.AddMarkerField(field)
	l.netbox.AddExampleWorld()
	return rackLab{l}
}

// standing is where web-1's address is, and in which seats, such as "device 1 primary4".
func (l rackLab) standing() string {
	a := l.only()
	out := fmt.Sprintf("%s %d", a.Assigned.Type, a.Assigned.ID)
	for _, m := range l.netbox.Machines() {
		for seat, id := range map[string]int64{"primary4": m.Primary4, "primary6": m.Primary6, "oob": m.OutOfBand} {
			if id == a.ID {
				out += fmt.Sprintf(", %s %s", m.Name, seat)
			}
		}
	}
	return out
}

// edit changes the spec of web-1, as its owner does.
func (l *lab) edit(change func(*v1alpha1.NetBoxIPAddressParameters)) {
	l.t.Helper()
	mg := l.get("web-1")
	change(&mg.Spec.ForProvider)
	mg.Generation++
	if err := l.kube.Update(l.t.Context(), mg); err != nil {
		l.t.Fatal(err)
	}
}

// rest reconciles until nothing is written any more.
func (l rackLab) rest() *v1alpha1.NetBoxIPAddress {
	l.t.Helper()
	for range 12 {
		before := l.netbox.Writes()
		l.once("web-1")
		if l.netbox.Writes() == before && ready(l.get("web-1")) {
			return l.get("web-1")
		}
	}
	l.t.Fatalf("it doesn't rest: %+v", l.get("web-1"))
	return nil
}

func on(a v1alpha1.Assignment) func(*v1alpha1.NetBoxIPAddressParameters) {
	return func(p *v1alpha1.NetBoxIPAddressParameters) { p.AssignTo = &a }
}

func device(use v1alpha1.AddressUse) v1alpha1.Assignment {
	return v1alpha1.Assignment{
		Device: &v1alpha1.NetBoxDevice{Name: netbox.ExampleDevice, Site: netbox.ExampleSite}, Interface: &v1alpha1.NetBoxInterface{Name: "eno1"}, Use: use,
	}
}

func machine(use v1alpha1.AddressUse) v1alpha1.Assignment {
	return v1alpha1.Assignment{VirtualMachine: &v1alpha1.NetBoxDevice{Name: netbox.ExampleVM}, Interface: &v1alpha1.NetBoxInterface{Name: "eth0"}, Use: use}
}

// TestAssignmentLife takes an address through all assignments that there are, in an order that each version takes, and to its end.
func TestAssignmentLife(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newRackLab(t, v)
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) { on(device(v1alpha1.UsePrimary))(&mg.Spec.ForProvider) })
			for _, step := range []struct {
				to   func(*v1alpha1.NetBoxIPAddressParameters)
				want string
			}{
				{func(*v1alpha1.NetBoxIPAddressParameters) {}, "dcim.interface 1, r7-u12 primary4"},
				{on(machine(v1alpha1.UsePrimary)), "virtualization.vminterface 1, vm-1 primary4"},
				{on(device(v1alpha1.UseOutOfBand)), "dcim.interface 1, r7-u12 oob"},
				{on(v1alpha1.Assignment{Interface: &v1alpha1.NetBoxInterface{MAC: "52:54:00:77:12:ff"}, Use: v1alpha1.UseOutOfBand}), "dcim.interface 2, r7-u12 oob"},
				{on(device(v1alpha1.UseAdditional)), "dcim.interface 1"},
				{on(device(v1alpha1.UsePrimary)), "dcim.interface 1, r7-u12 primary4"},
				{func(p *v1alpha1.NetBoxIPAddressParameters) { p.AssignTo = nil }, " 0"},
				{on(machine(v1alpha1.UsePrimary)), "virtualization.vminterface 1, vm-1 primary4"},
			} {
				l.edit(step.to)
				mg := l.rest()
				if got := l.standing(); got != step.want {
					t.Fatalf("it's %q, want %q", got, step.want)
				}
				l.still(mg)
			}
			if len(l.told) != 0 {
				t.Errorf("what we do ourselves is no drift: %q", l.told)
			}
			l.remove()
			l.settle("web-1", gone)
			if len(l.netbox.Addresses()) != 0 {
				t.Errorf("left behind: %+v", l.netbox.Addresses())
			}
		})
	}
}

// TestAssignmentFaults loses each answer on the way from one device to another, in every way, with a new process after each.
func TestAssignmentFaults(t *testing.T) {
	for _, v := range []string{"4.4.10", "4.6.8"} {
		for _, k := range []netbox.FaultKind{netbox.FaultEOFAfter, netbox.FaultHangAfter, netbox.FaultErrorAfter, netbox.FaultDisconnect, netbox.FaultServerErrorHTML} {
			t.Run(v+"/"+string(k), func(t *testing.T) {
				l := newRackLab(t, v)
				l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) { on(device(v1alpha1.UsePrimary))(&mg.Spec.ForProvider) })
				l.rest()
				l.meets(k, hasty)
				l.netbox.Inject(netbox.Fault{Kind: k, Method: http.MethodPatch, Times: 2})
				l.edit(on(machine(v1alpha1.UsePrimary)))
				for range 8 {
					l.once("web-1")
					l.restart()
				}
				if got := l.standing(); got != "virtualization.vminterface 1, vm-1 primary4" {
					t.Errorf("it's %q", got)
				}
				if len(l.told) != 0 {
					t.Errorf("what we do ourselves is no drift: %q", l.told)
				}
			})
		}
	}
}

// TestDriftByPeople: what somebody changes is undone and told by his name, or reported and left alone.
func TestDriftByPeople(t *testing.T) {
	for _, v := range versions() {
		for _, drift := range []v1alpha1.DriftPolicy{v1alpha1.DriftCorrect, v1alpha1.DriftReport} {
			t.Run(v+"/"+string(drift), func(t *testing.T) {
				l := newRackLab(t, v)
				l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
					p := &mg.Spec.ForProvider
					p.Description, p.Role, p.Comments, p.Drift, p.Tags = new("ours"), new(""), new("ours"), drift, []string{"kubernetes"}
				})
				l.rest()
				l.netbox.ChangeAddressAs("alice", l.only().ID, func(a *netbox.Address) {
					a.Description, a.Role, a.Comments = "hers", "vip", "hers"
				})
				mg := l.rest()
				a := l.only()
				want, reason, noted := "ours", "DriftCorrected: ", 0
				if drift == v1alpha1.DriftReport {
					want, reason, noted = "hers", "Drifted: ", 3
				}
				if a.Description != want || a.Comments != want || (a.Role == "") != (want == "ours") || len(mg.Status.AtProvider.Drift) != noted {
					t.Errorf("it's %+v, noted %+v", a, mg.Status.AtProvider.Drift)
				}
				if len(l.told) != 1 || !strings.HasPrefix(l.told[0], reason+`role, description, comments of 10.77.0.1/29 was changed in NetBox by "alice"`) {
					t.Errorf("told %q", l.told)
				}
				l.still(mg)
			})
		}
	}
}

// TestAssignmentRefused holds the sentences for what NetBox lacks, on each version.
func TestAssignmentRefused(t *testing.T) {
	for _, v := range versions() {
		for name, tc := range map[string]struct {
			want   func(*v1alpha1.NetBoxIPAddressParameters)
			reason xpv2.ConditionReason
			words  string
		}{
			"Device":    {on(v1alpha1.Assignment{Device: &v1alpha1.NetBoxDevice{Name: "nope"}, Interface: &v1alpha1.NetBoxInterface{Name: "eno1"}}), "NotFound", `cannot find the device "nope"`},
			"Interface": {on(v1alpha1.Assignment{Device: &v1alpha1.NetBoxDevice{Name: "r7-u12"}, Interface: &v1alpha1.NetBoxInterface{Name: "nope"}}), "NotFound", `cannot find on device "r7-u12" the interface "nope"`},
			"MAC":       {on(v1alpha1.Assignment{Interface: &v1alpha1.NetBoxInterface{MAC: "52:54:00:77:12:01"}}), "Ambiguous", "name the device"},
			"Tag":       {func(p *v1alpha1.NetBoxIPAddressParameters) { p.Tags = []string{"kubernetes", "nope"} }, "Invalid", `no tag with slug "nope"`},
			"Tenant":    {func(p *v1alpha1.NetBoxIPAddressParameters) { p.Tenant = &v1alpha1.SlugReference{Slug: "nope"} }, "Invalid", `no tenant with slug "nope"`},
			"Field":     {func(p *v1alpha1.NetBoxIPAddressParameters) { p.CustomFields = fields("purpose", "5") }, "Invalid", `custom field "purpose" takes a text`},
			"Status":    {func(p *v1alpha1.NetBoxIPAddressParameters) { p.Status = "bogus" }, "Invalid", "says: status (NetBox has none of that name"},
			"SLAAC":     {func(p *v1alpha1.NetBoxIPAddressParameters) { p.Status = "slaac" }, "Invalid", "slaac is for IPv6 alone"},
			"NoField":   {func(p *v1alpha1.NetBoxIPAddressParameters) { p.CustomFields = fields("nope", "5") }, "Invalid", "nope"},
		} {
			t.Run(v+"/"+name, func(t *testing.T) {
				l := newRackLab(t, v)
				l.netbox.AddInterface(netbox.Interface{Machine: 1, Name: "eno2"}, "52:54:00:77:12:01")
				l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) { tc.want(&mg.Spec.ForProvider) })
				var mg *v1alpha1.NetBoxIPAddress
				for range 4 {
					l.once("web-1")
					mg = l.get("web-1")
				}
				c := mg.GetCondition(xpv2.TypeReady)
				if v == "4.4.10" && name == "NoField" { // It's dropped in silence, and said then.
					c = mg.GetCondition(xpv2.TypeSynced)
					tc.reason, tc.words = c.Reason, "accepted a change of customFields and kept something else"
				}
				if c.Reason != tc.reason || !strings.Contains(c.Message, tc.words) {
					t.Errorf("%s: %s, want %s: %s", c.Reason, c.Message, tc.reason, tc.words)
				}
				t.Log(faultRow("bad input, attributes and assignments: "+name+" ("+v+")", 1, 1))
			})
		}
	}
}

// TestHostSelector: the host is chosen once, written to spec, and stays.
func TestHostSelector(t *testing.T) {
	l := newRackLab(t, "4.6.8")
	for _, name := range []string{"r7-u11", "r7-u12", "r7-u13"} {
		h := &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: name, Labels: map[string]string{"rack": "r7"}}}
		if name != "r7-u11" { // Which isn't team-a's to name.
			h.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: "team-a", Name: "web-1", UID: "u"}
		}
		h.Spec.ForProvider.MACs = []string{"52:54:00:77:12:01"}
		if err := l.kube.Create(t.Context(), h); err != nil {
			t.Fatal(err)
		}
	}
	l.config.Config.Policies = []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, AssignTo: v1alpha1.AssignOwnHosts}}
	l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ForProvider.AssignTo = &v1alpha1.Assignment{HostSelector: &xpv2.NamespacedSelector{MatchLabels: map[string]string{"rack": "r7"}}, Use: v1alpha1.UsePrimary}
	})
	mg := l.rest()
	if got := l.standing(); got != "dcim.interface 1, r7-u12 primary4" {
		t.Errorf("it's %q", got)
	}
	if r := mg.Spec.ForProvider.AssignTo.HostRef; r == nil || r.Name != "r7-u12" || r.Namespace != "infra" {
		t.Errorf("chosen: %+v", r)
	}
	l.still(mg)
}

// TestHostSelectorAlways: by policy.resolve: Always another host is chosen, whole, once the one of before matches no more: of another name, or of
// another namespace alone.
func TestHostSelectorAlways(t *testing.T) {
	always, ours := xpv2.ResolvePolicyAlways, &v1alpha1.ClaimReference{Namespace: "team-a", Name: "web-1", UID: "u"}
	for name, then := range map[string]types.NamespacedName{
		"Name":      {Namespace: "infra", Name: "other"},
		"Namespace": {Namespace: "rack", Name: "r7-u12"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newRackLab(t, "4.6.8")
			host := func(n types.NamespacedName, mac string) *v1alpha1.RedfishHost {
				h := &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: n.Namespace, Name: n.Name, Labels: map[string]string{"rack": "r7"}}}
				h.Spec.ForProvider.MACs, h.Spec.ClaimRef = []string{mac}, ours
				if err := l.kube.Create(t.Context(), h); err != nil {
					t.Fatal(err)
				}
				return h
			}
			first := host(types.NamespacedName{Namespace: "infra", Name: "r7-u12"}, "52:54:00:77:12:01")
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
				selector := &xpv2.NamespacedSelector{MatchLabels: map[string]string{"rack": "r7"}, Policy: &xpv2.Policy{Resolve: &always}}
				mg.Spec.ForProvider.AssignTo = &v1alpha1.Assignment{HostSelector: selector, Interface: &v1alpha1.NetBoxInterface{MAC: "52:54:00:77:12:01"}}
			})
			l.rest()
			host(then, "52:54:00:77:12:01")
			first.Spec.ClaimRef = nil
			if err := l.kube.Update(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				l.once("web-1")
				if r := l.get("web-1").Spec.ForProvider.AssignTo.HostRef; r == nil || r.Name != then.Name || r.Namespace != then.Namespace {
					t.Errorf("it refers to %+v, want %s", r, then)
				}
			}
		})
	}
}

// fields is one custom field with a JSON value.
func fields(name, value string) map[string]apiextv1.JSON {
	return map[string]apiextv1.JSON{name: {Raw: []byte(value)}}
}

// TestExamplesOfAttributes applies the examples of what a record says and where it's assigned, and looks into NetBox.
func TestExamplesOfAttributes(t *testing.T) {
	want := map[string]func(rackLab, netbox.Address) bool{
		"attributes.yaml described": func(_ rackLab, a netbox.Address) bool {
			return a.Status == "reserved" && a.Role == "" && a.DNSName == "described.rack7.example" && a.Tenant == 1 && len(a.Tags) == 2 &&
				a.CustomFields["purpose"] == "web" && strings.HasPrefix(a.Comments, "Whoever needs")
		},
		"drift.yaml reported":        func(_ rackLab, a netbox.Address) bool { return a.Description == "written once" },
		"assign.yaml device-primary": func(l rackLab, a netbox.Address) bool { return l.netbox.Machines()[0].Primary4 == a.ID },
		"assign.yaml device-oob":     func(l rackLab, a netbox.Address) bool { return l.netbox.Machines()[0].OutOfBand == a.ID },
		"assign-id.yaml device-by-number": func(_ rackLab, a netbox.Address) bool {
			return a.Assigned == netbox.Object{Type: "dcim.interface", ID: 1}
		},
		"assign-id.yaml virtual-machine-by-number": func(l rackLab, a netbox.Address) bool {
			return a.Assigned == netbox.Object{Type: "virtualization.vminterface", ID: 1} && l.netbox.Machines()[1].Primary4 == a.ID
		},
		"interface.yaml on-a-bond": onABond,
		"assign.yaml virtual-machine-additional": func(l rackLab, a netbox.Address) bool {
			return a.Assigned.Type == "virtualization.vminterface" && l.netbox.Machines()[1].Primary4 == 0
		}, "assign.yaml virtual-machine-by-mac": func(l rackLab, a netbox.Address) bool {
			return a.Assigned.Type == "virtualization.vminterface" && l.netbox.Machines()[1].Primary4 == 0
		},
	}
	for _, file := range []string{"attributes.yaml", "drift.yaml", "assign.yaml", "assign-id.yaml", "interface.yaml"} {
		l := newRackLab(t, "4.6.8")
		b, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", "netbox", file))
		if err != nil {
			t.Fatal(err)
		}
		for doc := range strings.SplitSeq(string(b), "\n---\n") {
			example := &v1alpha1.NetBoxIPAddress{}
			if err := yaml.UnmarshalStrict([]byte(doc), example); err != nil {
				t.Fatal(err)
			}
			name := file + " " + example.Name
			l.apply(example.Name, func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider = example.Spec.ForProvider })
			mg := l.settle(example.Name, ready)
			held, ok := want[name]
			found := l.netbox.WithMarker(field, clusterID+"/team-a/"+example.Name+"/uid-"+example.Name)
			if !ok || len(found) != 1 || !held(l, found[0]) {
				t.Errorf("%s: NetBox has %+v", name, found)
			}
			l.still(mg)
			delete(want, name)
		}
	}
	for name := range want {
		t.Errorf("%s is no example", name)
	}
}
