package storm

import (
	"fmt"
	"net/netip"
	"strings"
)

// A Site is what a bootd of many machines serves, as files of its folder of specs say it: all of them load one kernel, each time anew.
type Site struct {
	// Machines that it has.
	Machines int
	// Kernel's URL and digest.
	URL, Digest string
}

// network that the machines are on: all addresses of loopback are this host's.
const network = "127.80.0.0/16"

// MAC of the i-th machine, from 0.
func MAC(i int) [6]byte { return [6]byte{0x52, 0x54, 0x80, byte(i >> 16), byte(i >> 8), byte(i)} } //nolint:gosec // Bytes of it.

// Address of the i-th machine.
func Address(i int) netip.Addr {
	i += 1 << 8                                                     // Not the network's own, nor its gateway.
	return netip.AddrFrom4([4]byte{127, 80, byte(i >> 8), byte(i)}) //nolint:gosec // Bytes of it.
}

// Link is an address of the machines' segment.
func Link() netip.Addr { return netip.MustParsePrefix(network).Addr().Next() }

// Role is a word that the i-th machine's command line has, and no other's.
func Role(i int) string { return fmt.Sprintf("m%05d", i) }

// Specs are the site's, for bootd's --source dir:PATH.
func (s Site) Specs() string {
	var b strings.Builder
	fmt.Fprintf(&b, `apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootNetwork
metadata: {namespace: storm, name: hall}
spec:
  subnets: [{cidr: %s, gateway: %s}]
  dhcp: {mode: RelayOnly, relays: [127.0.0.0/8]}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootProfile
metadata: {namespace: storm, name: live}
spec:
  mode: Live
  method: Kernel
  artifacts: [{arch: amd64, kernel: {url: %q, digest: %q}}]
  commandLine: ["role={{ .role }}"]
  parameters: [{name: role}]
---
`, network, Link(), s.URL, s.Digest)
	for i := range s.Machines {
		m := MAC(i)
		fmt.Fprintf(&b, `{"apiVersion":"baremetal.m.crossplane.io/v1alpha1","kind":"BootEntry","metadata":{"namespace":"storm","name":%q},"spec":{"forProvider":{`+
			`"machine":{"macs":["%02x:%02x:%02x:%02x:%02x:%02x"]},"profileRef":{"name":"live"},"parameters":{"role":%q},"install":{"generation":0},`+
			`"networks":[{"name":"boot","networkRef":{"name":"hall"},"addresses":[{"address":"%s/16"}]}]}}}`+"\n",
			Role(i), m[0], m[1], m[2], m[3], m[4], m[5], Role(i), Address(i))
	}
	return b.String()
}

// Check says what is wrong with what the i-th machine was given; nil: nothing.
func (s Site) Check(i int, size int64, b Boot) error {
	switch {
	case b.Address != Address(i):
		return fmt.Errorf("machine %d was given %s, which isn't its address", i, b.Address)
	case !strings.Contains(" "+b.Command+" ", " role="+Role(i)+" "):
		return fmt.Errorf("machine %d was given the command line %q", i, b.Command)
	case b.Bytes != size:
		return fmt.Errorf("machine %d has %d bytes of its kernel", i, b.Bytes)
	case b.Digest != "" && b.Digest != s.Digest:
		return fmt.Errorf("machine %d has another kernel: %s", i, b.Digest)
	}
	return nil
}
