package netbox_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot/netconfig"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/bootentry"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

var golden = flag.Bool("golden", false, "write the golden files of machines' networks anew")

// bootNamespace is bootd's.
const bootNamespace = "baremetal-boot"

// A wired is a shop with the machines of examples/kinds/bootentry-from-netbox.yaml, whose entries are looked at by what would serve them.
type wired struct{ shop }

func newWired(t *testing.T, version string) wired {
	t.Helper()
	s := wired{newShop(t, version)}
	for _, name := range s.apply("kinds/bootentry-from-netbox.yaml") {
		s.settle(name, ready)
		s.once(name)
	}
	return s
}

// entry looks at a BootEntry and keeps what its status says.
func (s wired) entry(name string) *v1alpha1.BootEntry {
	s.t.Helper()
	e := &v1alpha1.BootEntry{}
	if err := s.kube.Get(s.t.Context(), types.NamespacedName{Namespace: "infra", Name: name}, e); err != nil {
		s.t.Fatal(err)
	}
	c, err := bootentry.NewConnector(bootentry.Options{Kube: s.kube, Live: s.kube, BootNamespace: bootNamespace, Now: func() time.Time { return s.now }}).Connect(context.Background(), e)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := c.Observe(s.t.Context(), e); err != nil {
		s.t.Fatal(err)
	}
	if err := s.kube.Update(s.t.Context(), e); err != nil {
		s.t.Fatal(err)
	}
	return e
}

// planned says why an entry has no plan of what's written, or "".
func planned(e *v1alpha1.BootEntry) string {
	c := e.GetCondition(v1alpha1.ConditionPlanned)
	return c.Message
}

// TestNetworksFromNetBox: what NetBox has of an address's interface is what a machine's system is told in each language, from each version.
func TestNetworksFromNetBox(t *testing.T) {
	for _, v := range versions() {
		s := newWired(t, v)
		for _, name := range []string{"wired-20", "wired-21"} {
			e := s.entry(name)
			plan, ok, err := bootspec.PlanOf(e)
			if err != nil || !ok {
				t.Fatalf("%s: %s has no plan: %v, %s", v, name, err, planned(e))
			}
			if len(plan.MACs) != 2 || len(plan.Ports()) != 2 {
				t.Errorf("%s: %s boots by %v, and its bond has %v", v, name, plan.MACs, plan.Ports())
			}
			c, _ := netconfig.Of(&plan, boot.Segment{})
			for language, got := range map[string][]byte{"cloud-init": c.CloudInit(), "nmstate": c.NMState(), "talos": c.Talos()} {
				path := filepath.Join("testdata", "networks", name+"."+language+".yaml")
				if *golden {
					if err := os.WriteFile(path, got, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), string(got)); diff != "" {
					t.Errorf("%s: %s in %s (-want +got):\n%s", v, name, language, diff)
				}
			}
		}
	}
}

// look has an address looked at as if somebody had asked for that, by whom NetBox is asked anew.
func (s wired) look(name string) *v1alpha1.NetBoxIPAddress {
	s.t.Helper()
	mg := s.get(name)
	meta.AddAnnotations(mg, map[string]string{meta.AnnotationKeyReconcileRequestedAt: s.now.Format(time.RFC3339Nano)})
	s.now = s.now.Add(time.Second)
	if err := s.kube.Update(s.t.Context(), mg); err != nil {
		s.t.Fatal(err)
	}
	s.once(name)
	return s.get(name)
}

// TestInterfaceEdits: what people change of an interface in NetBox changes the plan, or is told in one sentence while the plan before stays, with
// which nothing is installed. The address stays, whatever they do.
func TestInterfaceEdits(t *testing.T) {
	s := newWired(t, "4.6.8")
	s.maxAge = 2 * time.Minute
	s.restart()
	ports := map[string]netbox.Object{}
	for _, m := range []string{"bond0", "eno1", "eno2", "bond0.120"} {
		ports[m] = s.netbox.InterfaceNamed(netbox.ExampleBonded, m)
	}
	s.once("wired-20")
	before := s.entry("wired-20").Status.AtProvider.Plan
	was := s.netbox.Backup()
	steps := map[string]struct {
		reason string
		object string
		edit   func(*netbox.Interface)
		want   string
		plan   func(*v1alpha1.EntryInterface)
	}{
		"MTU":     {"another MTU is told to whoever is installed from now on", "bond0", func(i *netbox.Interface) { i.MTU = 1500 }, "", func(i *v1alpha1.EntryInterface) { i.MTU = 1500 }},
		"NoPort":  {"a LAG whose ports somebody took out of it", "eno1", func(i *netbox.Interface) { i.LAG = 0 }, "", func(i *v1alpha1.EntryInterface) { i.MACs = i.MACs[1:] }},
		"NoVLAN":  {"a part without a VLAN has that of the prefix", "bond0.120", func(i *netbox.Interface) { i.Untagged, i.Mode = 0, "" }, "", func(*v1alpha1.EntryInterface) {}},
		"NoName":  {"what is no LAG any more", "bond0", func(i *netbox.Interface) { i.Type = "bridge" }, `interface "bond0" of "r7-u20" is of type bridge`, nil},
		"TooWide": {"a part that is wider than what it's on", "bond0.120", func(i *netbox.Interface) { i.MTU = 9100 }, `has MTU 9100 in NetBox, and "bond0"`, nil},
	}
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			s.netbox.Restore(was)
			s.restart()
			s.look("wired-20")
			s.look("wired-20")
			if got := s.entry("wired-20"); planned(got) != "" || got.Status.AtProvider.Plan.Digest != before.Digest {
				t.Fatalf("it isn't as it was: %s", planned(got))
			}
			s.netbox.ChangeInterface(ports[step.object], step.edit)
			mg := s.look("wired-20")
			e := s.entry("wired-20")
			if mg.Status.AtProvider.Address != before.Network.Address || e.Status.AtProvider.Plan == nil || e.Status.AtProvider.Plan.Network.Address != before.Network.Address {
				t.Errorf("%s: the address went: %+v, %+v", step.reason, mg.Status.AtProvider, e.Status.AtProvider.Plan)
			}
			want := before.DeepCopy().Network
			if step.plan != nil {
				step.plan(want.Interface)
			}
			if got := planned(e); (got == "") != (step.want == "") || !strings.Contains(got, step.want) {
				t.Errorf("%s: it says %q, want %q", step.reason, got, step.want)
			}
			if diff := cmp.Diff(want, e.Status.AtProvider.Plan.Network); diff != "" {
				t.Errorf("%s: the plan (-want +got):\n%s", step.reason, diff)
			}
			if e.Status.AtProvider.Grant != nil || e.Status.AtProvider.Plan.InstallGeneration != 0 {
				t.Errorf("%s: something is installed: %+v", step.reason, e.Status.AtProvider)
			}
		})
	}
}

// onABond says whether NetBox has an address of the example where that wants it, and status what NetBox has there.
func onABond(l rackLab, a netbox.Address) bool {
	is := l.get("on-a-bond").Status.AtProvider
	i := is.Interface
	return a.Assigned == l.netbox.InterfaceNamed(netbox.ExampleBonded, "bond0.120") && i != nil && i.UntaggedVLAN == 120 && i.Parent != nil &&
		i.Parent.MTU == 9000 && len(i.Parent.Members) == 2 && i.Parent.Members[1].Name == "eno2" && is.Prefix.VLAN == 120
}
