package e2e

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

const declineManifest = `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootNetwork
metadata: {namespace: «tenant», name: declines}
spec:
  allowedProfileNamespaces: {from: All}
  subnets: [{cidr: «cidr»}]
  dhcp: {mode: Authoritative, relays: [127.0.0.0/8], leaseDuration: 12h}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootProfile
metadata: {namespace: «tenant», name: live}
spec:
  mode: Live
  method: Kernel
  artifacts:
  - arch: amd64
    kernel: {url: "https://images.invalid/vmlinuz", digest: "sha256:abababababababababababababababababababababababababababababababab"}
    initrds: [{url: "https://images.invalid/initrd.img", digest: "sha256:cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"}]
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootEntry
metadata: {namespace: «tenant», name: live}
spec:
  forProvider:
    machine: {macs: ["«live»"]}
    profileRef: {name: live}
    networks: [{name: boot, networkRef: {name: declines}, addresses: [{address: «liveAddress»}]}]
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootEntry
metadata: {namespace: «tenant», name: installed}
spec:
  forProvider:
    machine: {macs: ["«mac»"]}
    profileRef: {namespace: «profiles», name: «profile»}
    networks: [{name: boot, networkRef: {name: declines}, addresses: [{address: «address»}]}]
    install: {generation: 1}
`

// TestDeclineIsTold holds that a machine that declines its address is told of by an Event of its entry, once, whether it's installed or netboots each time.
func TestDeclineIsTold(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	n := byte(numbers.Add(1)) //nolint:gosec // There are a few cases.
	cidr := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 88, n, 0}), 24)
	at := func(last byte) netip.Addr { return netip.AddrFrom4([4]byte{10, 88, n, last}) }
	live, installed := net.HardwareAddr{2, 0, 0, 0x88, n, 11}, net.HardwareAddr{2, 0, 0, 0x88, n, 12}
	e.apply(declineManifest, "cidr", cidr.String(), "live", live.String(), "liveAddress", at(11).String()+"/24", "mac", installed.String(), "address", at(12).String()+"/24")
	e.await(lab.Kind("BootNetwork", e.Tenant, "declines"), "served", lab.Is("Ready", "True"))
	for i, mac := range []net.HardwareAddr{live, installed} {
		entry, address := lab.Kind("BootEntry", e.Tenant, []string{"live", "installed"}[i]), at(byte(11+i))
		e.await(lab.Kind("BootSession", e.Tenant, entry.Name), "made", lab.All())
		e.declines(mac, address)
		e.tells(entry, "AddressDeclined", address.String(), mac.String())
		if all := e.eventsOf(entry, "AddressDeclined"); len(all) != 1 {
			t.Errorf("%s has the events %q", entry, all)
		}
	}
}

// declines has a machine take an address that is planned for it from a bootd, and decline it.
func (e *env) declines(mac net.HardwareAddr, address netip.Addr) {
	e.t.Helper()
	to := e.Bootds[0].DHCP
	is := func(more ...dhcpv4.Modifier) []dhcpv4.Modifier {
		return append([]dhcpv4.Modifier{
			dhcpv4.WithOption(dhcpv4.OptRelayAgentInfo(
				dhcpv4.OptGeneric(dhcpv4.RelaySourcePortSubOption, nil),
				dhcpv4.OptGeneric(dhcpv4.LinkSelectionSubOption, netip.PrefixFrom(address, 24).Masked().Addr().Next().AsSlice()))),
			dhcpv4.WithOption(dhcpv4.OptServerIdentifier(to.Addr().AsSlice())), dhcpv4.WithOption(dhcpv4.OptRequestedIPAddress(address.AsSlice())),
		}, more...)
	}
	e.until("an ACK of "+address.String(), func(context.Context) error {
		got, err := exchange(e.relayed(dhcpv4.MessageTypeRequest, mac, is(speakers()["OS"]...)...), to)
		if err == nil && (got == nil || got.MessageType() != dhcpv4.MessageTypeAck) {
			err = fmt.Errorf("bootd says %v", got)
		}
		return err
	})
	if got := e.exchange(e.relayed(dhcpv4.MessageTypeDecline, mac, is()...), to); got != nil {
		e.t.Errorf("a DECLINE is answered: %s", got.Summary())
	}
}
