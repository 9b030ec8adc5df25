package qemu

import (
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
)

// Segment is a boot segment: a bridge with an address in the current network namespace, and a tap device per machine.
// It needs CAP_NET_ADMIN there.
type Segment struct {
	bridge *netlink.Bridge
	cables map[string]netlink.Link
}

// NewSegment makes a bridge of the given name that has address, in CIDR notation, and forwards at once. Without an address nobody here is on it.
func NewSegment(name, address string) (*Segment, error) {
	b := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: name}}
	if err := netlink.LinkAdd(b); err != nil {
		return nil, fmt.Errorf("cannot make bridge %q: %w", name, err)
	}
	s := &Segment{bridge: b, cables: map[string]netlink.Link{}}
	if address != "" {
		a, err := netlink.ParseAddr(address)
		if err != nil {
			return nil, fmt.Errorf("cannot parse the address of bridge %q: %w", name, err)
		}
		if err := netlink.AddrAdd(b, a); err != nil {
			return nil, fmt.Errorf("cannot give bridge %q address %s: %w", name, address, err)
		}
	}
	if err := netlink.LinkSetUp(b); err != nil {
		return nil, fmt.Errorf("cannot bring bridge %q up: %w", name, err)
	}
	return s, nil
}

// Close removes the bridge and its cables; tap devices that are still there lose it.
func (s *Segment) Close() error {
	for name := range s.cables {
		s.unplug(name)
	}
	if err := netlink.LinkDel(s.bridge); err != nil {
		return fmt.Errorf("cannot remove bridge %q: %w", s.bridge.Attrs().Name, err)
	}
	return nil
}

// unplug takes a cable away. The kernel does so too, some time after the last process of the network that it led to has ended: until then its name
// is taken.
func (s *Segment) unplug(name string) {
	if c, ok := s.cables[name]; ok {
		_ = netlink.LinkDel(c) // Mostly it's gone.
		delete(s.cables, name)
	}
}

// Cable adds a port that leads into the network of another process, where its other end has the name there. One of this name that led to an
// earlier process is taken away.
func (s *Segment) Cable(here, there string, pid int) error {
	s.unplug(here)
	v := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: here}, PeerName: there, PeerNamespace: netlink.NsPid(pid)}
	if err := netlink.LinkAdd(v); err != nil {
		return fmt.Errorf("cannot make cable %q into the network of process %d: %w", here, pid, err)
	}
	s.cables[here] = v
	if err := netlink.LinkSetMaster(v, s.bridge); err != nil {
		return fmt.Errorf("cannot add %q to the bridge: %w", here, err)
	}
	if err := netlink.LinkSetUp(v); err != nil {
		return fmt.Errorf("cannot bring %q up: %w", here, err)
	}
	return nil
}

// Route leads to a network through a router on the segment.
func (s *Segment) Route(to, router string) error {
	dst, err := netlink.ParseIPNet(to)
	if err != nil {
		return fmt.Errorf("cannot parse the network %q: %w", to, err)
	}
	if err := netlink.RouteAdd(&netlink.Route{LinkIndex: s.bridge.Attrs().Index, Dst: dst, Gw: net.ParseIP(router)}); err != nil {
		return fmt.Errorf("cannot route to %s by %s: %w", to, router, err)
	}
	return nil
}

// Sent is how many bytes a port has given its machine.
func Sent(name string) (int64, error) {
	l, err := netlink.LinkByName(name)
	if err != nil {
		return 0, fmt.Errorf("cannot look at %q: %w", name, err)
	}
	return int64(l.Attrs().Statistics.TxBytes), nil //nolint:gosec // Some megabytes.
}

// Tap adds a port and returns the Netdev of the machine that it belongs to.
func (s *Segment) Tap(name string) (string, error) {
	t := &netlink.Tuntap{
		LinkAttrs: netlink.LinkAttrs{Name: name, MasterIndex: s.bridge.Attrs().Index}, Mode: netlink.TUNTAP_MODE_TAP,
	}
	if err := netlink.LinkAdd(t); err != nil {
		return "", fmt.Errorf("cannot make tap device %q: %w", name, err)
	}
	if err := netlink.LinkSetMaster(t, s.bridge); err != nil {
		return "", fmt.Errorf("cannot add %q to the bridge: %w", name, err)
	}
	if err := netlink.LinkSetUp(t); err != nil {
		return "", fmt.Errorf("cannot bring %q up: %w", name, err)
	}
	return "tap,ifname=" + name + ",script=no,downscript=no", nil
}
