package oncluster

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/guest"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
	"github.com/crossplane-contrib/provider-baremetal/test/uptest"
)

// slow are the hosts of examples/redfish whose BMC takes its time.
var slow = []string{"r7-u36", "r7-u39"}

// The segments of the examples: the node has the first address of each, on the one segment that it has.
const (
	rack7 = "10.77.0.0/24"
	// rack8 is in NetBox's VRF prod.
	rack8 = "10.78.0.0/24"
)

// A world is a cluster, and around it what the examples describe: a NetBox with their prefixes, their BMCs at their addresses, and behind
// those whose machine a claim has installed a virtual machine.
type world struct {
	*stage.Stage

	files        uptest.Files
	tools        programs.Set
	state, cache string

	netbox *stage.NetBox
	// front is what is before it where an example has a proxy, whose URL is proxy.
	front *netbox.Front
	proxy string
	// hosts that boot, and idle ones that are but on or off, by name.
	hosts map[string]*stage.Host
	idle  map[string]*bmc.Idle

	turns turns
}

// furnish installs what users install, both flavours, and makes everything that lasts from the first test to the last.
func (w *world) furnish(ctx context.Context) error {
	artifacts := filepath.Join(w.state, "artifacts")
	files, err := guest.Builder{Cache: filepath.Join(w.cache, "guest"), Out: artifacts}.Build(ctx)
	if err != nil {
		return err
	}
	if err := w.install(ctx); err != nil {
		return err
	}
	if err := w.seedNetBox(); err != nil {
		return err
	}
	if w.front, w.proxy, err = w.Front(w.netbox, "far.example", "netbox"); err != nil {
		return err
	}
	url, err := w.Files(artifacts)
	if err != nil {
		return err
	}
	for name, o := range w.files {
		for _, u := range o {
			if _, ok, _ := unstructured.NestedString(u.Object, "spec", "netbox", "tls", "caBundle"); ok {
				_ = unstructured.SetNestedField(u.Object, w.front.CA, "spec", "netbox", "tls", "caBundle") // It was a text.
			}
			if u.GetKind() == "RedfishHost" {
				// Firmware doesn't hear the button that five minutes are given to, and a HostClaim is deleted when its machine has just been switched on.
				_ = unstructured.SetNestedField(u.Object, "20s", "spec", "forProvider", "powerOff", "grace") // An example that has none yet.
			}
		}
		if err := w.values(url, files).Put(o, uptest.Account{User: lab.BMCUser, Password: lab.BMCPassword}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := w.rack(); err != nil {
		return err
	}
	if err := w.InstallBootd(ctx, w.Packages, "--artifact-range="+node.Address+"/32"); err != nil {
		return err
	}
	setup, err := w.files.Of(uptest.Setup()...)
	if err != nil {
		return err
	}
	return local.Apply(ctx, w.Client(), setup...)
}

// install is what "On your cluster" of the README says, and the flavour v2 beside it.
func (w *world) install(ctx context.Context) error {
	if err := w.Apply(ctx, w.Packages.Manifest("install.yaml"), w.Packages.Manifest("policies.yaml"), w.Packages.Manifest("network.yaml")); err != nil {
		return err
	}
	if err := w.AwaitHealthy(ctx, w.Packages, stage.ConfigurationPackage); err != nil {
		return err
	}
	_, err := w.InstallConfiguration(ctx, w.Packages, stage.ConfigurationV2Package)
	return err
}

// values stand in the place of what nothing can have here: names, which no DNS knows, files that are large, and a serial port that QEMU
// doesn't have. The rest is as examples say it.
func (w *world) values(files string, a guest.Artifacts) uptest.Values {
	kernel := uptest.Value{Text: files + filepath.Base(a.Kernel.Path), Digest: a.Kernel.Digest}
	initrd := uptest.Value{Text: files + filepath.Base(a.Initrd.Path), Digest: a.Initrd.Digest}
	return uptest.Values{
		"https://netbox.example/":                           {Text: w.netbox.Address},
		"https://tools.example/netbox/":                     {Text: w.netbox.Address},
		"https://far.example/netbox/":                       {Text: "https://far.example/netbox/"}, // The proxy knows it.
		"http://proxy.example:3128":                         {Text: w.proxy},
		"https://redfish-events.example":                    {Text: "https://redfish-events.example"}, // Its BMC has nothing to tell.
		"https://images.example/installer/amd64/vmlinuz":    kernel,
		"https://images.example/installer/amd64/initrd.img": initrd,
		"https://images.example/debian-12/amd64/disk.raw":   {Text: files + filepath.Base(a.Image.Path), Digest: a.Image.Digest},
		"https://images.example/rescue/amd64/vmlinuz":       kernel,
		"https://images.example/rescue/amd64/initrd.img":    initrd,
		"https://r8-u03-bmc.example":                        {Text: "https://10.0.8.3"},
		"https://r9-u03-bmc.example":                        {Text: "https://10.0.9.3"},
		"role={{ .role }}":                                  {Text: "role={{ .role }} " + guest.CommandLine},
		"console=ttyS1,115200n8":                            {Text: "console=ttyS0"},
	}
}

func (w *world) seedNetBox() error {
	var err error
	if w.netbox, err = w.NetBox(); err != nil {
		return err
	}
	w.netbox.AddCIDR(rack7)
	prod := w.netbox.AddExampleWorld()
	for i, vrf := range []int64{0, prod} {
		w.netbox.AddAddress(netbox.Address{Address: gateways()[i], VRF: vrf, Status: "active", Description: nodes})
	}
	return nil
}

// nodes is what NetBox says of the node's own addresses.
const nodes = "the node"

// gateways of the segments, which are the node's addresses.
func gateways() []netip.Prefix {
	var out []netip.Prefix
	for _, s := range []string{rack7, rack8} {
		p := netip.MustParsePrefix(s)
		out = append(out, netip.PrefixFrom(p.Addr().Next(), p.Bits()))
	}
	return out
}

// rack makes the machines of all examples.
func (w *world) rack() error {
	all, err := w.files.Of(w.files.Names()...)
	if err != nil {
		return err
	}
	machines, err := all.Machines()
	if err != nil {
		return err
	}
	addresses := gateways()
	for _, m := range machines {
		addresses = append(addresses, netip.PrefixFrom(m.BMC.Addr(), m.BMC.Addr().BitLen()))
	}
	if err := w.Answer(addresses...); err != nil {
		return err
	}
	rack, err := w.Rack()
	if err != nil {
		return err
	}
	w.hosts, w.idle = map[string]*stage.Host{}, map[string]*bmc.Idle{}
	for i, m := range machines {
		model, firmware := bmc.ModelInline, qemu.BIOS
		if i%2 == 1 {
			model = bmc.ModelActionInfo
		}
		if slices.Contains(slow, m.Name) {
			model = bmc.ModelTasks
		}
		if uefi := strings.HasSuffix(m.Name, "-uefi"); uefi || i%2 == 1 && !strings.HasSuffix(m.Name, "-bios") {
			firmware = qemu.UEFI
		}
		if m.Boots {
			w.hosts[m.Name], err = rack.Place(stage.HostSpec{
				Name: m.Name, Serial: m.Serial, MAC: m.MAC, Firmware: firmware, Model: model, BMC: m.BMC.String(),
			})
		} else {
			w.idle[m.Name] = &bmc.Idle{}
			_, err = w.BMC(m.BMC.String(), bmc.SystemConfig{Model: model, Serial: m.Serial, MACs: []net.HardwareAddr{m.MAC}, Machine: w.idle[m.Name]})
		}
		if err != nil {
			return err
		}
	}
	say(fmt.Sprintf("made %d BMCs, with virtual machines behind %s", len(machines), strings.Join(slices.Sorted(maps.Keys(w.hosts)), ", ")))
	return nil
}
