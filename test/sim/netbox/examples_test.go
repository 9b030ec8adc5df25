package netbox_test

import (
	"bytes"
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// A shop is a lab in which provider configs, Secrets and hosts are those of examples: only the URL of their NetBox is the emulated one's.
type shop struct {
	rackLab

	resolver *config.Resolver
}

func newShop(t *testing.T, version string) shop {
	t.Helper()
	l := newRackLab(t, version)
	s := shop{l, config.NewResolver(l.kube, l.kube, l.kube)}
	l.netbox.AddToken(netbox.Token{Name: "examples", Secret: "0123456789abcdef0123456789abcdef01234567"})
	l.resolve = func(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (config.NetBox, error) {
		n, err := s.resolver.NetBox(ctx, mg)
		n.Config.URL = l.netbox.URL()
		return n, err
	}
	l.netbox.AddCIDR("10.77.0.0/24")
	s.apply("demo/10-secrets.yaml")
	s.apply("demo/20-clusterproviderconfigs.yaml")
	return s
}

// apply creates what is in a file of examples, as the API server has it, and returns the addresses among it.
func (s shop) apply(file string) []string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", filepath.FromSlash(file)))
	if err != nil {
		s.t.Fatal(err)
	}
	decoder := serializer.NewCodecFactory(s.kube.Scheme(), serializer.EnableStrict).UniversalDeserializer()
	var addresses []string
	for doc := range bytes.SplitSeq(b, []byte("\n---\n")) {
		decoded, _, err := decoder.Decode(doc, nil, nil)
		if err != nil {
			s.t.Fatalf("%s: %v", file, err)
		}
		o := decoded.(client.Object)
		o.SetUID(types.UID("uid-" + o.GetName()))
		o.SetGeneration(1)
		switch o := o.(type) {
		case *corev1.Secret:
			o.Data = map[string][]byte{}
			for key, text := range o.StringData {
				o.Data[key] = []byte(text)
			}
		case *v1alpha1.NetBoxIPAddress:
			o.Spec.ForProvider.Status, o.Spec.ManagementPolicies = "active", xpv2.ManagementPolicies{xpv2.ManagementActionAll}
			addresses = append(addresses, o.Name)
			s.namespace = o.Namespace
		}
		if mg, ok := o.(*v1alpha1.NetBoxIPAddress); ok {
			s.wishes[mg.Name] = wished(mg)
		}
		if err := s.kube.Create(s.t.Context(), o); err != nil {
			s.t.Fatalf("%s: %v", file, err)
		}
	}
	return addresses
}

// TestExamplesOfConfigs applies the examples that have more than addresses to each version, and looks into NetBox.
func TestExamplesOfConfigs(t *testing.T) {
	host := func(l shop) netbox.Machine {
		all := l.netbox.Machines()
		return all[slices.IndexFunc(all, func(m netbox.Machine) bool { return m.Name == netbox.ExampleHost })]
	}
	within := func(a netbox.Address, cidr string) bool {
		return netip.MustParsePrefix(cidr).Contains(a.Address.Addr())
	}
	cases := map[string]map[string]func(shop, netbox.Address) bool{
		"credentials.yaml": {"by-own-credentials": func(_ shop, a netbox.Address) bool { return within(a, "10.77.0.0/24") }},
		"webhook.yaml": {"watched": func(l shop, a netbox.Address) bool {
			_, signs, err := l.resolver.Hooked(t.Context(), config.Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: "netbox-telling"})
			return err == nil && string(signs) == "a-long-random-text" && strings.HasPrefix(a.Description, "an edit of this")
		}},
		"host.yaml": {
			"host-primary": func(l shop, a netbox.Address) bool { return host(l).Primary4 == a.ID && within(a, "10.77.1.0/24") },
			"host-oob": func(l shop, a netbox.Address) bool {
				chosen := l.get("host-oob").Spec.ForProvider.AssignTo.HostRef
				return host(l).OutOfBand == a.ID && chosen != nil && chosen.Namespace == "infra" && chosen.Name == netbox.ExampleHost
			},
		},
		"dual-stack.yaml": {
			"dual-stack-ipv4": func(l shop, a netbox.Address) bool { return host(l).Primary4 == a.ID && a.Address.Addr().Is4() },
			"dual-stack-ipv6": func(l shop, a netbox.Address) bool { return host(l).Primary6 == a.ID && a.Address.Addr().Is6() },
		},
		"policies.yaml": {"by-policy": func(l shop, a netbox.Address) bool {
			is := l.get("by-policy").Status.AtProvider
			return within(a, "10.77.2.0/24") && a.Assigned.Type == "virtualization.vminterface" && is.Tenant == "web" && len(is.Sources) == 2 &&
				is.Sources[0].Reason == "NotAllowed" && strings.Contains(is.Sources[0].Message, "assignTo other than by hostRef") && is.Sources[1].Reason == "Served"
		}},
	}
	for file, want := range cases {
		for _, v := range versions() {
			t.Run(file+"/"+v, func(t *testing.T) {
				l := newShop(t, v)
				names := l.apply("netbox/" + file)
				if len(names) != len(want) {
					t.Errorf("addresses %v", names)
				}
				for _, name := range names {
					l.settle(name, ready)
				}
				for _, name := range names {
					l.once(name)
					mg := l.get(name)
					found := l.netbox.WithMarker(field, clusterID+"/"+mg.Namespace+"/"+name+"/uid-"+name)
					if len(found) != 1 || want[name] == nil || !want[name](l, found[0]) {
						t.Errorf("%s: NetBox has %+v, status %+v", name, found, mg.Status.AtProvider)
					}
					l.still(mg)
				}
			})
		}
	}
}
