package bootd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mdlayher/ndp"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/net/ipv6"
	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/ownnet"
)

// Flags of an interface, as IFLA_INET6_FLAGS has them (linux/if.h of the kernel, net/if_inet6.h).
const (
	raReceived, raManaged, raOther = 0x20, 0x40, 0x80
)

// TestSolicitationsOnALink: a Linux at the other end of a cable hears of the networks of examples/bootd/no-router.yaml what they are, and of
// IPv4 alone that there's no IPv6 to wait for. It has no router and no address by that. What is no solicitation gets no answer, and once no
// network asks for it nothing is heard.
func TestSolicitationsOnALink(t *testing.T) {
	if !ownnet.Inside(t) {
		return
	}
	m := newFarMachine(t)
	m.cable("six0", "six1", "fd00:78::1/64")
	m.cable("four0", "four1", "10.79.0.1/24")
	c := config(t)
	c.DHCPListen, c.HTTPListen, c.TFTPListen, c.DHCP6Listen, c.HealthListen = "", "0.0.0.0:8480", "0.0.0.0:69", "[::]:547", "127.0.0.1:8481"
	c.SpecDir = exampleSite(t, "no-router.yaml")
	running(t, c)

	eventually(t, "what the network of IPv6 is", func() bool { return m.flags("six1")&(raReceived|raManaged|raOther) == raReceived|raManaged|raOther })
	eventually(t, "that there's no IPv6", func() bool { return m.flags("four1")&raReceived != 0 })
	if f := m.flags("four1"); f&(raManaged|raOther) != 0 {
		t.Errorf("the network of IPv4 has flags %#x", f)
	}
	m.believes("fd00:78::/64")

	l := m.listens("six1")
	local := func(suffix string) netip.Addr { return netip.MustParseAddr("fe80::" + suffix) }
	l.sends(l.local, ndp.HopLimit, nil)
	l.hears(l.local)
	l.sends(netip.IPv6Unspecified(), ndp.HopLimit, nil)
	l.hears(netip.MustParseAddr("ff02::1"))
	l.sends(local("77"), ndp.HopLimit-1, nil)
	l.sends(netip.MustParseAddr("fd00:78::77"), ndp.HopLimit, nil)
	l.sends(local("77"), ndp.HopLimit, func(b []byte) { b[2] ^= 0xff }) // Its checksum.
	l.sends(local("77"), ndp.HopLimit, func(b []byte) { b[9] = 0 })     // An option's length, and so the checksum.
	l.sends(local("78"), ndp.HopLimit, func(b []byte) { b[1], b[3] = 1, b[3]-1 })
	l.silent()
	_, text := get(t, "http://127.0.0.1:8481/metrics")
	for _, want := range []string{`{reason="UnicastFromElsewhere"} 2`, `{reason="Malformed"} 1`} {
		if !strings.Contains(text, "bootd_router_solicitations_total"+want) {
			t.Errorf("the metrics don't say %s", want)
		}
	}

	name := filepath.Join(c.SpecDir, "no-router.yaml")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.ReplaceAll(string(b), "routerSolicitations: Answer", "routerSolicitations: Ignore")), 0o600); err != nil { //nolint:gosec // A test's own file.
		t.Fatal(err)
	}
	eventually(t, "an end", func() bool {
		b, err := os.ReadFile("/proc/thread-self/net/igmp6") // That of /proc/net is the first thread's, which may be the machine's.
		return err == nil && !strings.Contains(string(b), "ff020000000000000000000000000002")
	})
	l.sends(l.local, ndp.HopLimit, nil)
	l.silent()
}

// farMachine is one in a network of its own, of which a thread of this program is.
type farMachine struct {
	t  *testing.T
	ns *os.File
	do chan func()
}

func newFarMachine(t *testing.T) *farMachine {
	t.Helper()
	m := &farMachine{t: t, do: make(chan func())}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // For good: nothing else may run in that network.
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			m.ns, err = os.Open("/proc/thread-self/ns/net")
		}
		ready <- err
		for f := range m.do {
			f()
		}
	}()
	m.try(<-ready)
	t.Cleanup(func() {
		close(m.do)
		_ = m.ns.Close()
	})
	return m
}

func (m *farMachine) try(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// there does something in the machine's network.
func (m *farMachine) there(f func() error) {
	m.t.Helper()
	done := make(chan error)
	m.do <- func() { done <- f() }
	m.try(<-done)
}

// cable lays one between here, where it has an address, and the machine.
func (m *farMachine) cable(here, there, address string) {
	m.t.Helper()
	lo, err := netlink.LinkByName("lo")
	m.try(err)
	m.try(netlink.LinkSetUp(lo))
	m.try(netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: here}, PeerName: there}))
	far, err := netlink.LinkByName(there)
	m.try(err)
	m.try(netlink.LinkSetNsFd(far, int(m.ns.Fd())))
	near, err := netlink.LinkByName(here)
	m.try(err)
	a, err := netlink.ParseAddr(address)
	m.try(err)
	if a.IP.To4() == nil {
		a.Flags = syscall.IFA_F_NODAD
	}
	m.try(netlink.AddrAdd(near, a))
	m.try(netlink.LinkSetUp(near))
	m.there(func() error {
		l, err := netlink.LinkByName(there)
		if err != nil {
			return err
		}
		return netlink.LinkSetUp(l)
	})
}

// flags are what its kernel has heard on an interface.
func (m *farMachine) flags(name string) (flags uint32) {
	m.t.Helper()
	m.there(func() error {
		i, err := net.InterfaceByName(name)
		if err != nil {
			return err
		}
		req := nl.NewNetlinkRequest(unix.RTM_GETLINK, unix.NLM_F_DUMP)
		req.AddData(nl.NewIfInfomsg(unix.AF_INET6))
		all, err := req.Execute(unix.NETLINK_ROUTE, 0)
		if err != nil {
			return err
		}
		for _, b := range all {
			head := nl.DeserializeIfInfomsg(b)
			as, err := nl.ParseRouteAttr(b[head.Len():])
			if err != nil {
				return err
			}
			for _, a := range as {
				if int(head.Index) != i.Index || a.Attr.Type != unix.IFLA_PROTINFO {
					continue
				}
				inner, err := nl.ParseRouteAttr(a.Value)
				if err != nil {
					return err
				}
				for _, x := range inner {
					if x.Attr.Type == unix.IFLA_INET6_FLAGS {
						flags = binary.NativeEndian.Uint32(x.Value)
					}
				}
			}
		}
		return nil
	})
	return flags
}

// believes says what its kernel has made of it: the prefix is on the link, with the link's MTU; there's no router, and no address but for
// the link.
func (m *farMachine) believes(prefix string) {
	m.t.Helper()
	m.there(func() error {
		l, err := netlink.LinkByName("six1")
		if err != nil {
			return err
		}
		routes, err := netlink.RouteList(l, netlink.FAMILY_V6)
		if err != nil {
			return err
		}
		found := false
		for _, r := range routes {
			switch {
			case r.Dst == nil || r.Dst.String() == "::/0":
				m.t.Errorf("it has a router: %s", r)
			case r.Dst.String() == prefix:
				found = r.Gw == nil
			}
		}
		if !found {
			m.t.Errorf("%s isn't on its link: %s", prefix, routes)
		}
		as, err := netlink.AddrList(l, netlink.FAMILY_V6)
		for _, a := range as {
			if !a.IP.IsLinkLocalUnicast() {
				m.t.Errorf("it has made itself the address %s", a)
			}
		}
		mtu, again := os.ReadFile("/proc/sys/net/ipv6/conf/six1/mtu")
		if strings.TrimSpace(string(mtu)) != "1400" {
			m.t.Errorf("its MTU is %s", mtu)
		}
		return errors.Join(err, again)
	})
}

// listener is a machine's own NDP on an interface.
type listener struct {
	*farMachine

	i     *net.Interface
	local netip.Addr
	conn  *ndp.Conn
	raw   int
}

func (m *farMachine) listens(name string) *listener {
	m.t.Helper()
	l := &listener{farMachine: m}
	m.there(func() (err error) {
		if l.i, err = net.InterfaceByName(name); err != nil {
			return err
		}
		if l.conn, l.local, err = ndp.Listen(l.i, ndp.LinkLocal); err != nil {
			return err
		}
		l.local = l.local.WithZone("")
		f := &ipv6.ICMPFilter{}
		f.SetAll(true)
		f.Accept(ipv6.ICMPTypeRouterAdvertisement)
		if err := errors.Join(l.conn.SetICMPFilter(f), l.conn.SetControlMessage(ipv6.FlagDst|ipv6.FlagHopLimit, true)); err != nil {
			return err
		}
		l.raw, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
		return err
	})
	m.t.Cleanup(func() {
		_ = l.conn.Close()
		_ = unix.Close(l.raw)
	})
	return l
}

// sends puts a solicitation onto the cable, with what is wrong about it.
func (l *listener) sends(from netip.Addr, hops byte, wrong func([]byte)) {
	l.t.Helper()
	rs := &ndp.RouterSolicitation{}
	if !from.IsUnspecified() {
		rs.Options = append(rs.Options, &ndp.LinkLayerAddress{Direction: ndp.Source, Addr: l.i.HardwareAddr})
	}
	to := netip.MustParseAddr("ff02::2")
	b, err := ndp.MarshalMessageChecksum(rs, from, to)
	l.try(err)
	if wrong != nil {
		wrong(b)
	}
	frame := append([]byte{0x33, 0x33, 0, 0, 0, 2}, l.i.HardwareAddr...)
	frame = append(frame, 0x86, 0xdd, 0x60, 0, 0, 0, 0, byte(len(b)), unix.IPPROTO_ICMPV6, hops) //nolint:gosec // A short message.
	frame = append(append(append(frame, from.AsSlice()...), to.AsSlice()...), b...)
	l.try(unix.Sendto(l.raw, frame, 0, &unix.SockaddrLinklayer{Ifindex: l.i.Index}))
}

// hears waits for an answer to the machine, or to all.
func (l *listener) hears(to netip.Addr) {
	l.t.Helper()
	for {
		l.try(l.conn.SetReadDeadline(time.Now().Add(10 * time.Second)))
		msg, cm, from, err := l.conn.ReadFrom()
		l.try(err)
		if at, _ := netip.AddrFromSlice(cm.Dst); at != to {
			continue
		}
		ra, ok := msg.(*ndp.RouterAdvertisement)
		if !ok || !from.IsLinkLocalUnicast() || cm.HopLimit != ndp.HopLimit || ra.RouterLifetime != 0 {
			l.t.Errorf("%v from %s with %d hops", msg, from, cm.HopLimit)
		}
		var said []string
		for _, o := range ra.Options {
			switch o := o.(type) {
			case *ndp.PrefixInformation:
				said = append(said, fmt.Sprintf("%s/%d %t %t", o.Prefix, o.PrefixLength, o.OnLink, o.AutonomousAddressConfiguration))
			case *ndp.RecursiveDNSServer:
				said = append(said, fmt.Sprint(o.Servers, o.Lifetime))
			case *ndp.MTU:
				said = append(said, fmt.Sprint(o.MTU))
			}
		}
		if got := strings.Join(said, ", "); got != "1400, fd00:78::/64 true false, [fd00:78::53] 12h0m0s" {
			l.t.Errorf("it's told %s", got)
		}
		return
	}
}

// silent says that nothing comes for longer than an answer takes.
func (l *listener) silent() {
	l.t.Helper()
	l.try(l.conn.SetReadDeadline(time.Now().Add(time.Second)))
	if msg, _, from, err := l.conn.ReadFrom(); err == nil {
		l.t.Errorf("%v comes from %s", msg, from)
	}
}
