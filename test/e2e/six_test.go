package e2e

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// A sixRack is a network of IPv6 alone, and both bootds with ports for it. Loopback has one address of IPv6, under which both are one server, with
// ports of their own for HTTP. TFTP's no DHCP answer names, so that the first alone has it.
type sixRack struct {
	name string
	cidr netip.Prefix
	tftp int
}

// newSixRack makes one. The bootds are as they were when the case ends.
func (e *env) newSixRack() sixRack {
	e.t.Helper()
	n := numbers.Add(1)
	r := sixRack{name: fmt.Sprintf("six-%d", n), cidr: netip.MustParsePrefix(fmt.Sprintf("fd00:82:%x::/64", n))}
	var err error
	r.tftp, err = e.Port()
	e.must(err)
	e.t.Cleanup(func() {
		for _, b := range e.Bootds {
			if err := e.HealBootd(context.Background(), b); err != nil {
				e.t.Error(err)
			}
		}
	})
	for i, b := range e.Bootds {
		web, err := e.Port()
		e.must(err)
		tftp := fmt.Sprintf(":%d", r.tftp)
		if i > 0 {
			tftp = ""
		}
		e.must(e.BootdWith(e.t.Context(), b, fmt.Sprintf("--http-listen=[::1]:%d", web), "--tftp-listen="+tftp))
	}
	e.NetBox.AddCIDR(r.cidr.String())
	e.NetBox.AddAddress(netbox.Address{Address: netip.PrefixFrom(r.at(1), r.cidr.Bits()), Status: "active", Description: "router"})
	e.apply(`
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootNetwork
metadata: {namespace: infra, name: «name»}
spec:
  allowedNamespaces: {from: All}
  allowedProfileNamespaces: {from: All}
  domain: six.example
  subnets:
  - cidr: "«cidr»"
    dns: ["«dns»"]
    addressesFrom: {netboxProviderConfigRef: {kind: ClusterProviderConfig, name: netbox}, sources: [{prefix: {cidr: "«cidr»"}}]}
  dhcp: {mode: Authoritative, leaseDuration: 12h}
`, "name", r.name, "cidr", r.cidr.String(), "dns", r.at(0x53).String())
	network := lab.Kind("BootNetwork", lab.InfraNamespace, r.name)
	e.t.Cleanup(func() {
		if err := e.Delete(context.Background(), network); err != nil {
			e.t.Error(err)
		}
	})
	served := e.await(network, "served", lab.Is("Ready", "True"))
	servers, _, _ := unstructured.NestedSlice(served.Object, "status", "servers")
	for _, s := range servers {
		if at, _ := s.(map[string]any)["address"].(string); strings.Contains(at, ".") {
			e.t.Errorf("a network of IPv6 alone is served from %s", at)
		}
	}
	return r
}

// at is the address of the rack that ends with n.
func (r sixRack) at(n byte) netip.Addr {
	a := r.cidr.Addr().As16()
	a[15] = n
	return netip.AddrFrom16(a)
}

// sixHost is a machine on the rack, with UEFI, that has no IPv4, asks these bootds, boots from these devices, and is otherwise changed.
func (e *env) sixHost(r sixRack, bootds []*lab.Bootd, change func(*machine.Config), order ...machine.Device) *lab.Host {
	e.t.Helper()
	return e.newHost(func(s *lab.HostSpec) {
		s.Firmware = machine.UEFI
		s.Change = func(c *machine.Config) {
			c.BootOrder, c.TFTPPort, c.Relay.Servers = order, r.tftp, nil
			c.Six.Link = r.at(1)
			for _, b := range bootds {
				c.Six.Servers = append(c.Six.Servers, b.DHCP6)
			}
			change(c)
		}
	})
}

// testBootsOverIPv6 is the main job without IPv4: NetBox gives an address of IPv6, firmware, iPXE, installer and system have it of DHCPv6, all that
// they load, and all that they say, goes to a bootd's address of IPv6, and the address goes when the machine is off.
func testBootsOverIPv6(t *testing.T) {
	t.Helper()
	e := newEnv(t)
	r := e.newSixRack()
	ways := map[string]struct {
		bootds []*lab.Bootd
		order  []machine.Device
	}{
		// By TFTP, from the network at each boot; and by a URL with an address in brackets.
		"pxe":  {e.Bootds[:1], []machine.Device{machine.Network, machine.LocalDisk}},
		"http": {e.Bootds, []machine.Device{machine.LocalDisk, machine.HTTPBoot}},
	}
	hosts := map[string]*lab.Host{}
	for name, w := range ways {
		hosts[name] = e.sixHost(r, w.bootds, func(*machine.Config) {}, w.order...)
		e.claimOver(r, name, hosts[name])
	}
	var records []int64
	for name := range ways {
		records = append(records, e.bootedOverSix(name, hosts[name], r))
	}
	hosts["quiet"] = e.reportsLate(r)
	e.bootsByNetwork(hosts["pxe"], hosts["pxe"].Machine.Status().Lease.Address.String())
	for name := range hosts {
		e.deleted(e.node(name))
	}
	e.releasedWhole(slices.Collect(maps.Values(hosts))...)
	for _, record := range records {
		if !slices.ContainsFunc(e.writesTo(record), func(q netbox.Request) bool { return q.Method == http.MethodDelete }) {
			t.Errorf("record %d wasn't deleted: %v", record, e.writesTo(record))
		}
	}
}

// bootedOverSix waits until a claim, named after what its firmware asks as, is Ready, and fails the case where it's not all of IPv6. It returns its
// address's record.
func (e *env) bootedOverSix(name string, h *lab.Host, r sixRack) (record int64) {
	e.t.Helper()
	claim := e.ready(e.node(name))
	e.wantActs(h, name+" over IPv6", acts{Installs: 1, Erased: 1, Ons: 1})
	a := e.ready(lab.Kind("NetBoxIPAddress", e.Tenant, name+"-boot-ipv6"))
	given := netip.MustParsePrefix(lab.StringOf(a, "status", "atProvider", "address"))
	if diff := cmp.Diff([]string{"boot IPv6 " + given.String()}, addressesIn(claim)); diff != "" || !r.cidr.Contains(given.Addr()) {
		e.t.Errorf("%s: addresses (-want +got):\n%s", name, diff)
	}
	s := h.Machine.Status()
	if s.Lease.Address != given.Addr() {
		e.t.Errorf("%s: its system has %s, want %s", name, s.Lease.Address, given)
	}
	if s.DHCP[name] == 0 || s.DHCP["ipxe"] == 0 || s.DHCP["os"] == 0 {
		e.t.Errorf("%s: DHCPv6 was asked as %v", name, s.DHCP)
	}
	for what, u := range map[string]string{"callback": s.Disk.Callback, "command line": s.Command} {
		if !strings.Contains(u, "http://[::1]:") || strings.Contains(u, "127.0.0.") {
			e.t.Errorf("%s: the %s isn't of IPv6 alone: %s", name, what, u)
		}
	}
	if s.Callbacks["booted"] == 0 {
		e.t.Errorf("%s: nobody heard that its system runs: %v", name, s.Callbacks)
	}
	plan := networkOf(e.t, e.ready(lab.Kind("BootEntry", e.Tenant, name)))
	if plan["address"] != given.String() || plan["ipv6"] != nil {
		e.t.Errorf("%s: the plan has %v", name, plan)
	}
	return recordOf(a)
}

// reportsLate installs a machine whose system runs and doesn't say so, by the claim "quiet": that it asks for its address tells nothing over IPv6, so
// that the claim says whose word is missing, and it's Ready once that is said.
func (e *env) reportsLate(r sixRack) *lab.Host {
	e.t.Helper()
	h := e.sixHost(r, e.Bootds, func(c *machine.Config) { c.SilentOS = true }, machine.LocalDisk, machine.HTTPBoot)
	e.claimOver(r, "quiet", h)
	s := e.machineIs(h, "a system that runs", func(s machine.Status) bool { return s.Stage == machine.StageRunning && s.DHCP["os"] > 0 })
	e.says(e.node("quiet"), "WaitingForDiskBoot", "over IPv6 its system must say itself, by reporting booted")
	req, err := http.NewRequestWithContext(e.t.Context(), http.MethodPost, s.Disk.Callback+"/booted", strings.NewReader("{}"))
	e.must(err)
	req.Header.Set("Authorization", "Bearer "+s.Disk.Token)
	res, err := http.DefaultClient.Do(req)
	e.must(err)
	_ = res.Body.Close()
	if res.StatusCode >= http.StatusMultipleChoices {
		e.t.Errorf("booted is answered by %s", res.Status)
	}
	e.ready(e.node("quiet"))
	e.wantActs(h, "a system that reports late", acts{Installs: 1, Erased: 1, Ons: 1})
	return h
}

// claimOver claims a host with an address of IPv6 alone.
func (e *env) claimOver(r sixRack, name string, h *lab.Host) {
	e.t.Helper()
	e.apply(changed("addresses: [{family: IPv4}]", "addresses: [{family: IPv6}]"), "name", name, "host", h.Name, "network", r.name)
}
