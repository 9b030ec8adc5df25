package kubesource

import (
	"fmt"
	"net/netip"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// PlanOf gives what an entry's machine is served: its status.atProvider.plan. The bool is false where the
// entry has none. A plan of another UID is an error: it was restored with the status of an object that
// is gone. An entry that is being deleted is served as long as it has a plan.
func PlanOf(e *v1alpha1.BootEntry) (boot.Plan, bool, error) {
	a := e.Status.AtProvider.Plan
	if a == nil {
		return boot.Plan{}, false, nil
	}
	name := boot.Name{Namespace: e.Namespace, Name: e.Name}
	if a.EntryUID != string(e.UID) {
		return boot.Plan{}, false, fmt.Errorf("the plan of BootEntry %q is of another object: it holds UID %q", name, a.EntryUID)
	}
	p := boot.Plan{
		Entry: name, EntryUID: a.EntryUID, HostUID: a.HostUID, Bound: a.Bound, Since: e.CreationTimestamp.Time,
		UUID: a.UUID, Serial: a.Serial, Hostname: a.Hostname, Mode: boot.Mode(a.Mode), Method: boot.Method(a.Method),
		CommandLine: a.CommandLine, UserDataFormat: string(a.UserDataFormat), UserDataSecret: a.UserDataSecret,
		UserDataDigest: a.UserDataDigest, ProfileDigest: a.ProfileDigest,
		InstallGeneration: a.InstallGeneration, InstalledGeneration: e.Status.AtProvider.InstalledGeneration,
		Otherwise: boot.Otherwise(a.Otherwise), LocalBoot: boot.LocalBoot(a.LocalBoot),
		InstallTimeout: time.Duration(a.InstallTimeoutSeconds) * time.Second,
	}
	for _, m := range a.MACs {
		mac, err := boot.ParseMAC(m)
		if err != nil {
			return boot.Plan{}, false, fmt.Errorf("the plan of BootEntry %q: %w", name, err)
		}
		p.MACs = append(p.MACs, mac)
	}
	for _, f := range a.Artifacts {
		p.Artifacts = append(p.Artifacts, artifactsOf(f))
	}
	var err error
	if p.Network, err = networkOf(a.Network); err != nil {
		return boot.Plan{}, false, fmt.Errorf("the plan of BootEntry %q: %w", name, err)
	}
	return p, true, nil
}

func artifactsOf(a v1alpha1.PlanArtifacts) boot.Artifacts {
	out := boot.Artifacts{Arch: boot.Arch(a.Arch), Kernel: boot.Artifact{URL: a.Kernel.URL, Digest: a.Kernel.Digest}}
	for _, i := range a.Initrds {
		out.Initrds = append(out.Initrds, boot.Artifact{URL: i.URL, Digest: i.Digest})
	}
	if a.Image != nil {
		out.Image = &boot.Image{
			Artifact: boot.Artifact{URL: a.Image.URL, Digest: a.Image.Digest},
			Format:   a.Image.Format, Compression: a.Image.Compression,
		}
	}
	return out
}

func networkOf(a v1alpha1.PlanNetwork) (boot.Network, error) {
	n := boot.Network{
		Name: boot.Name{Namespace: a.Namespace, Name: a.Name}, Domain: a.Domain, MTU: int(a.MTU),
		Lease: time.Duration(a.LeaseSeconds) * time.Second,
	}
	var err error
	if n.Address, err = netip.ParsePrefix(a.Address); err != nil {
		return n, fmt.Errorf("address %q isn't an address with its mask", a.Address)
	}
	if a.Gateway != "" {
		if n.Gateway, err = netip.ParseAddr(a.Gateway); err != nil {
			return n, fmt.Errorf("gateway %q isn't an address", a.Gateway)
		}
	}
	if n.DNS, err = addressesOf("DNS server", a.DNS); err != nil {
		return n, err
	}
	n.NTP, err = addressesOf("NTP server", a.NTP)
	return n, err
}

func addressesOf(what string, list []string) ([]netip.Addr, error) {
	var out []netip.Addr
	for _, s := range list {
		a, err := netip.ParseAddr(s)
		if err != nil {
			return nil, fmt.Errorf("%s %q isn't an address", what, s)
		}
		out = append(out, a)
	}
	return out, nil
}

// SegmentOf gives a BootNetwork as a bootd serves it on a node with those labels. The bool is false
// where this bootd doesn't serve it.
func SegmentOf(n *v1alpha1.BootNetwork, node map[string]string) (boot.Segment, bool, error) {
	g := boot.Segment{Name: boot.Name{Namespace: n.Namespace, Name: n.Name}, Mode: boot.SegmentAuthoritative}
	if d := n.Spec.DHCP; d != nil {
		if d.Mode != "" {
			g.Mode = boot.SegmentMode(d.Mode)
		}
		for _, r := range d.Relays {
			p, err := netip.ParsePrefix(r)
			if err != nil {
				return g, false, fmt.Errorf("relay %q of BootNetwork %q isn't a CIDR", r, g.Name)
			}
			g.Relays = append(g.Relays, p)
		}
	}
	if g.Mode != boot.SegmentAuthoritative && g.Mode != boot.SegmentRelayOnly {
		return g, false, nil
	}
	for _, s := range n.Spec.Subnets {
		p, err := netip.ParsePrefix(s.CIDR)
		if err != nil {
			return g, false, fmt.Errorf("subnet %q of BootNetwork %q isn't a CIDR", s.CIDR, g.Name)
		}
		g.Subnets = append(g.Subnets, p)
	}
	interfaces, served, err := servedOn(n.Spec.ServeOn, node)
	if err != nil {
		return g, false, fmt.Errorf("serveOn of BootNetwork %q: %w", g.Name, err)
	}
	g.Interfaces = interfaces
	return g, served, nil
}

func servedOn(on []v1alpha1.ServeOn, node map[string]string) (interfaces []string, served bool, err error) {
	if len(on) == 0 {
		return nil, true, nil
	}
	all := false
	for _, o := range on {
		if o.NodeSelector != nil {
			s, err := metav1.LabelSelectorAsSelector(o.NodeSelector)
			if err != nil {
				return nil, false, err
			}
			if !s.Matches(labels.Set(node)) {
				continue
			}
		}
		served = true
		all = all || len(o.Interfaces) == 0
		interfaces = append(interfaces, o.Interfaces...)
	}
	if all {
		return nil, served, nil
	}
	return interfaces, served, nil
}
