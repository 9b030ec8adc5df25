package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/iana"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// A dualNetwork is a network of a case's own that has addresses of both families.
type dualNetwork struct {
	name, four, six string
}

// newDual makes one, in NetBox as well. Its gateways have records there, as an operator gives them.
func (e *env) newDual(bits int) dualNetwork {
	e.t.Helper()
	n := numbers.Add(1)
	d := dualNetwork{fmt.Sprintf("dual-%d", n), fmt.Sprintf("10.79.%d.0/24", n%256), fmt.Sprintf("fd00:79:%x::/%d", n, bits)}
	for _, cidr := range []string{d.four, d.six} {
		e.NetBox.AddCIDR(cidr)
		e.NetBox.AddAddress(netbox.Address{Address: d.at(cidr, 1), Status: "active", Description: "gateway"})
	}
	e.apply(`
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootNetwork
metadata: {namespace: infra, name: «name»}
spec:
  allowedNamespaces: {from: All}
  allowedProfileNamespaces: {from: All}
  domain: dual.example
  subnets:
  - cidr: «four»
    gateway: «gateway»
    addressesFrom: {netboxProviderConfigRef: {kind: ClusterProviderConfig, name: netbox}, sources: [{prefix: {cidr: «four»}}]}
  - cidr: "«six»"
    dns: ["«dns»"]
    addressesFrom: {netboxProviderConfigRef: {kind: ClusterProviderConfig, name: netbox}, sources: [{prefix: {cidr: "«six»"}}]}
  dhcp: {mode: Authoritative, leaseDuration: 12h}
`, "name", d.name, "four", d.four, "six", d.six, "gateway", d.at(d.four, 1).Addr().String(), "dns", d.at(d.six, 1).Addr().String())
	e.t.Cleanup(func() {
		if err := e.Delete(context.Background(), lab.Kind("BootNetwork", lab.InfraNamespace, d.name)); err != nil {
			e.t.Error(err)
		}
	})
	return d
}

// at is the n-th address of a subnet, with its mask.
func (d dualNetwork) at(cidr string, n int) netip.Prefix {
	p := netip.MustParsePrefix(cidr)
	a := p.Addr()
	for range n {
		a = a.Next()
	}
	return netip.PrefixFrom(a, p.Bits())
}

// onIt puts a machine on the network.
func (d dualNetwork) onIt(s *lab.HostSpec) {
	s.Change = func(c *machine.Config) { c.Relay.Link = d.at(d.four, 1).Addr() }
}

// claims a host with those addresses.
func (e *env) claims(name string, h *lab.Host, d dualNetwork, addresses string) lab.Ref {
	e.t.Helper()
	e.apply(changed("addresses: [{family: IPv4}]", "addresses: "+addresses), "name", name, "host", h.Name, "network", d.name)
	return e.node(name)
}

// addressesIn a claim's status, in its order.
func addressesIn(claim *unstructured.Unstructured) (out []string) {
	all, _, _ := unstructured.NestedSlice(claim.Object, "status", "addresses")
	for _, a := range all {
		if m, ok := a.(map[string]any); ok {
			out = append(out, fmt.Sprint(m["network"], " ", m["family"], " ", m["address"]))
		}
	}
	return out
}

// sixOf is the address that a bootd gives a machine by DHCPv6, as a relay hears it that says which link it's on.
func (e *env) sixOf(b *lab.Bootd, h *lab.Host, link netip.Addr) (string, error) {
	mac := h.MAC
	client := net.IP{0xfe, 0x80, 0, 0, 0, 0, 0, 0, mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]}
	ask, err := dhcpv6.NewMessage(dhcpv6.WithClientID(&dhcpv6.DUIDLL{HWType: iana.HWTypeEthernet, LinkLayerAddr: mac}), dhcpv6.WithIAID([4]byte{1}))
	if err != nil {
		return "", err
	}
	ask.MessageType = dhcpv6.MessageTypeSolicit
	relayed, err := dhcpv6.EncapsulateRelay(ask, dhcpv6.MessageTypeRelayForward, link.AsSlice(), client)
	if err != nil {
		return "", err
	}
	relayed.AddOption(dhcpv6.OptRelayPort(0)) // RFC 8357: it has a port of its own, and is answered there.
	c, err := net.DialUDP("udp6", nil, net.UDPAddrFromAddrPort(b.DHCP6))
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	buf := make([]byte, 2000)
	for range 10 {
		if _, err := c.Write(relayed.ToBytes()); err != nil {
			return "", err
		}
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		n, err := c.Read(buf)
		if err != nil {
			continue // Nobody is obliged to answer the first.
		}
		p, err := dhcpv6.FromBytes(buf[:n])
		if err != nil {
			return "", err
		}
		m, err := p.GetInnerMessage()
		if err != nil {
			return "", err
		}
		if ia := m.Options.OneIANA(); ia != nil && ia.Options.OneAddress() != nil {
			return ia.Options.OneAddress().IPv6Addr.String(), nil
		}
		return "", fmt.Errorf("%s gives no address: %s", b.Name, m.Summary())
	}
	return "", errors.New(b.Name + " doesn't answer")
}

// TestClaimOfBothFamilies is the main job with an address of IPv4 and one of IPv6: NetBox gives both, the machine is installed with both, every
// bootd gives the one by DHCP and the other by DHCPv6, and both go when the machine is off.
func TestClaimOfBothFamilies(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	d := e.newDual(64)
	h := e.newHost(d.onIt)
	node := e.claims("web", h, d, "[{family: IPv6}, {family: IPv4}]")
	claim := e.ready(node)
	e.wantActs(h, "a claim of both families", acts{Installs: 1, Erased: 1, Ons: 1})
	want := []string{"boot IPv4 " + d.at(d.four, 2).String(), "boot IPv6 " + d.at(d.six, 2).String()}
	if diff := cmp.Diff(want, addressesIn(claim)); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
	if m := lab.ConditionOf(claim, "Addressed").Message; m != d.at(d.four, 2).String()+", "+d.at(d.six, 2).String() {
		t.Errorf("Addressed says %q", m)
	}
	var records []int64
	for _, name := range []string{"web-boot-ipv4", "web-boot-ipv6"} {
		a := e.ready(lab.Kind("NetBoxIPAddress", e.Tenant, name))
		records = append(records, recordOf(a))
		if f := a.GetFinalizers(); !slices.Contains(f, annotation("held-by-claim")) {
			t.Errorf("%s isn't held by its claim: %v", name, f)
		}
		if n := lab.StringOf(a, "spec", "forProvider", "dnsName"); n != "web.dual.example" {
			t.Errorf("%s has the name %q", name, n)
		}
	}
	entry := e.ready(lab.Kind("BootEntry", e.Tenant, "web"))
	if six := lab.StringOf(entry, "status", "atProvider", "plan", "network", "ipv6", "address"); six != d.at(d.six, 2).String() {
		t.Errorf("the plan has the address of IPv6 %q", six)
	}
	for _, b := range e.Bootds {
		if got, err := e.sixOf(b, h, d.at(d.six, 1).Addr()); err != nil || got != d.at(d.six, 2).Addr().String() {
			t.Errorf("by DHCPv6 %s gives %q, %v", b.Name, got, err)
		}
	}
	e.deleted(node)
	e.releasedWhole(h)
	for _, record := range records {
		writes := e.writesTo(record)
		i := slices.IndexFunc(writes, func(r netbox.Request) bool { return r.Method == http.MethodDelete })
		if off := lastOff(h); i < 0 || off.IsZero() || writes[i].At.Before(off) {
			t.Errorf("want the address to go after the machine was off at %s, got %v", off, writes)
		}
	}
}

// TestClaimOfIPv6 holds that a machine may have an address of IPv6 alone, given by its tenant. The simulated one asks for none over IPv6, so that
// the claim says what it waits for; the test asks in its place.
func TestClaimOfIPv6(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	d := e.newDual(64)
	h := e.newHost(d.onIt)
	e.shortGrace(hostRef(h))
	given := d.at(d.six, 0x40)
	node := e.claims("six", h, d, `[{family: IPv6, address: "`+given.Addr().String()+`"}]`)
	e.says(node, "WaitingForDHCP")
	claim := e.await(node, "addressed", lab.Is("Addressed", "True"))
	if diff := cmp.Diff([]string{"boot IPv6 " + given.String()}, addressesIn(claim)); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
	for _, b := range e.Bootds {
		if got, err := e.sixOf(b, h, d.at(d.six, 1).Addr()); err != nil || got != given.Addr().String() {
			t.Errorf("by DHCPv6 %s gives %q, %v", b.Name, got, err)
		}
	}
	if n := e.count("NetBoxIPAddress"); n != 1 {
		t.Errorf("%d addresses were made", n)
	}
	e.deleted(node)
	e.releasedWhole(h)
}

// TestOneFamilyExhausted holds that a claim says which family has no address left, that its machine stays off meanwhile, and that it goes on as soon
// as one is free.
func TestOneFamilyExhausted(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	d := e.newDual(126)
	h := e.newHost(d.onIt)
	var taken []int64
	for i := 2; i < 4; i++ {
		taken = append(taken, e.NetBox.AddAddress(netbox.Address{Address: d.at(d.six, i), Status: "active", Description: "somebody else's"}))
	}
	node := e.claims("web", h, d, "[{family: IPv4}, {family: IPv6}]")
	e.await(node, "Exhausted", func(u *unstructured.Unstructured) bool {
		c := lab.ConditionOf(u, "Addressed")
		return c.Status == "False" && c.Reason == "Exhausted" && strings.Contains(c.Message, d.six) && lab.StringOf(u, "status", "reason") == "Exhausted"
	})
	e.await(lab.Kind("NetBoxIPAddress", e.Tenant, "web-boot-ipv4"), "ready", lab.Is("Ready", "True"))
	e.wantActs(h, "an address that is missing", acts{})
	e.NetBox.RemoveAddress(taken[0])
	e.until("the claim to be Ready with the freed address", func(ctx context.Context) error {
		_, err := e.Await(ctx, node, "Ready", 2*soon, lab.Is("Ready", "True"))
		return err
	})
	e.wantActs(h, "an address that was freed", acts{Installs: 1, Erased: 1, Ons: 1})
	e.deleted(node)
	e.releasedWhole(h)
}
