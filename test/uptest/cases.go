package uptest

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// A Case is what one run of uptest is given.
type Case struct {
	// Name is that of its first file, without its ending.
	Name string
	// Files are tested.
	Files []string
	// Beside are there before them, and are taken away after them.
	Beside []string
	// Patience is how long all of it may take.
	Patience time.Duration
}

// Boots says whether a machine is installed in it.
func (c Case) Boots() bool { return c.Patience == long }

// How long a case may take: one in which nothing boots, and one in which machines do or are powered off again, whose emulated processors share two real ones.
const (
	brief = 6 * time.Minute
	long  = 20 * time.Minute
)

// Setup is there from the beginning to the end, for all.
func Setup() []string {
	return []string{
		"demo/00-namespaces.yaml", "demo/10-secrets.yaml", "demo/20-clusterproviderconfigs.yaml", "demo/30-bootprofiles.yaml",
		"kinds/clusterproviderconfig-bmc.yaml", "kinds/providerconfig.yaml", "kinds/bootprofile.yaml", "kinds/bootnetwork.yaml",
	}
}

// Aside are examples that are neither tested here nor needed, and why.
func Aside() map[string]string {
	return map[string]string{
		"bootd/cloud-init.yaml":            "a machine of bootd/edge.yaml's site, which cmd/bootd renders",
		"bootd/discovery.yaml":             "a rack whose machines nobody knows, which internal/bootd's tests serve",
		"bootd/edge.yaml":                  "a site without a cluster, which test/edge installs a machine by",
		"bootd/firmware.yaml":              "machines whose firmware wants something of its own, which nobody here has; cmd/bootd renders what they are told",
		"bootd/hold.yaml":                  "machines that never start from their disk, which cmd/bootd renders",
		"bootd/https.yaml":                 "a site by HTTPS, whose certificate nobody has here; tests of internal/bootd serve one",
		"bootd/installers.yaml":            "installers of distributions, which nobody has here; cmd/bootd renders what each is told",
		"bootd/interfaces.yaml":            "machines whose systems are told their network, which cmd/bootd renders",
		"kinds/bootentry-from-netbox.yaml": "machines whose network NetBox says, which no cluster here has; test/sim/netbox applies it to each NetBox, and renders what they are told",
		"bootd/oci.yaml":                   "a profile whose files are in a registry that nobody has here; tests of internal/bootd/artifacts fetch from one",
		"bootd/registry.yaml":              "a profile whose registry, which nobody has here, wants a password; tests of internal/bootd/artifacts tell one its own, and test/e2e brings it to bootd",
		"bootd/ipv6.yaml":                  "a site whose machines boot over IPv6, which no cluster here has; test/examples holds that both its readers take it, and tests of internal/bootd serve such",
		"bootd/iso.yaml":                   "ISO images, which nobody has here; cmd/bootd renders what their machines are told",
		"bootd/dual-stack.yaml":            "a site whose machines have two addresses, which no cluster here has; test/examples holds that both its readers take it, cmd/bootd renders it, and tests of internal/bootd serve such",
		"bootd/no-router.yaml":             "links without a router, which internal/bootd's tests serve",
		"bootd/options.yaml":               "routes and options of one's own, which cmd/bootd renders and internal/bootd's tests give to a machine",
		"bootd/qcow2.yaml":                 "an image as clouds publish them, which internal/bootd's tests unpack and give to an installer",
		"bootd/raspberry-pi.yaml":          "Raspberry Pis, which test/edge simulates",
		"bootd/proxy.yaml":                 "a site beside another DHCP server, which internal/bootd's tests serve",
		"bootd/secure-boot.yaml":           "machines that boot by shim and grub, which cmd/bootd renders, and test/vm boots",
		"bootd/segments.yaml":              "networks without machines, whose modes internal/bootd/dhcp's tests answer in; test/examples holds that both its readers take it",
		"bootd/switch-port.yaml":           "machines behind the ports of a switch that no cluster here has, which internal/bootd's tests serve",
		"bootd/two-bootds.yaml":            "a site with two bootds and without a cluster, whose commands cmd/bootd reads; tests of internal/bootd hold what such two do",
		"bootd/script.yaml":                "a script of a profile's own, which cmd/bootd renders",
		"netbox/begin.yaml":                "what the demo's files of Setup have already, and a first address, which test/sim/netbox has made by each NetBox",
		"kinds/baremetalnode-bond.yaml":    "a machine with a bond, whose switch no cluster here has; test/e2e has such claims from apply to deleted",
		"kinds/baremetalnode-both.yaml":    "a claim with an address of each family, whose segment no cluster here has; test/e2e has such claims from apply to deleted",
		"kinds/baremetalnode-netbox.yaml":  "claims whose network NetBox says, which no cluster here has; test/e2e has such claims from apply to deleted",
		"kinds/clusterproviderconfig.yaml": "configuration, which no example uses; its NetBox has a certificate of its own to pin",
	}
}

// groups are files that are tested at once: their machines boot side by side.
func groups() [][]string {
	return [][]string{
		{"demo/50-claims-team-a.yaml", "demo/51-claims-team-b.yaml"},
		{"kinds/baremetalnode.yaml", "v2/baremetalnode.yaml"},
	}
}

// beside is what a file needs that neither itself nor Setup has.
func beside() map[string][]string {
	const rack7, host = "demo/40-rackpool.yaml", "kinds/redfishhost.yaml"
	return map[string][]string{
		"demo/50-claims-team-a.yaml": {rack7},
		"demo/51-claims-team-b.yaml": {rack7},
		"demo-vm/50-claims.yaml":     {"demo-vm/40-rackpool.yaml"},
		"kinds/baremetalnode.yaml":   {rack7, host},
		"kinds/hostclaim.yaml":       {rack7, host, "beside/hostclaim.yaml"},
		"kinds/rackpool.yaml":        {"beside/rackpool.yaml"},
		"redfish/rotation.yaml":      {"beside/rotation.yaml"},
		"v2/baremetalnode.yaml":      {rack7, "beside/baremetalnode-v2.yaml"},
		"v2/rackpool.yaml":           {"beside/rackpool-v2.yaml"},
	}
}

// Cases are of all files that have a managed resource or a claim, but for those that are set aside, so that one that is added to examples/
// is tested. The error has a sentence for each that can't be: what it is, what it lacks, and what to do.
func (f Files) Cases() ([]Case, error) {
	var out []Case
	var errs []error
	placed := map[string]bool{}
	for _, name := range f.Names() {
		switch {
		case placed[name] || strings.HasPrefix(name, besideFolder+"/") || Aside()[name] != "":
		case f[name].tested():
			c := caseOf(f, name)
			for _, n := range c.Files {
				placed[n] = true
			}
			out = append(out, c)
			errs = append(errs, f.complete(c))
		case !slices.Contains(Setup(), name):
			errs = append(errs, fmt.Errorf("%s has nothing that uptest tests, and no place: put it into Setup or Aside of test/uptest/cases.go", name))
		}
	}
	slices.SortStableFunc(out, func(a, b Case) int { return cmp.Compare(a.Patience, b.Patience) }) // What fails soonest comes first.
	return out, errors.Join(errs...)
}

func caseOf(f Files, name string) Case {
	c := Case{Name: strings.TrimSuffix(strings.ReplaceAll(name, "/", "-"), path.Ext(name)), Files: []string{name}, Patience: brief}
	for _, g := range groups() {
		if slices.Contains(g, name) {
			c.Files = g
		}
	}
	for _, n := range c.Files {
		for _, b := range beside()[n] {
			if !slices.Contains(c.Beside, b) {
				c.Beside = append(c.Beside, b)
			}
		}
		if f[n].installs() || f[n].powers() {
			c.Patience = long
		}
	}
	return c
}

// complete says whether everything is there that the objects of a case name.
func (f Files) complete(c Case) error {
	around, err := f.Of(slices.Concat(Setup(), c.Beside, c.Files)...)
	if err != nil {
		return err
	}
	there := around.provide()
	var errs []error
	for _, n := range c.Files {
		for _, u := range f[n] {
			for _, r := range references(u) {
				if !there[r] {
					errs = append(errs, fmt.Errorf("%s: %s %s names %s, which nothing around it has: put the file that has it into beside() of test/uptest/cases.go, "+
						"or a new one into test/uptest/beside", n, u.GetKind(), u.GetName(), r))
				}
			}
		}
	}
	return errors.Join(errs...)
}
