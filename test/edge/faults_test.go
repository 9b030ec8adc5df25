package edge

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/storm"
)

// TestKilledAtEachStage: bootd is killed at each stage of an install, and started anew. The machine is installed once, and once alone.
func TestKilledAtEachStage(t *testing.T) {
	stages := []machine.Stage{
		machine.StageDHCP, machine.StageFirstLoad, machine.StageScript, machine.StageArtifact, machine.StageKernel, machine.StageBegin,
		machine.StageUserData, machine.StageImage, machine.StageWriting, machine.StageWritten, machine.StageInstalled, machine.StageDisk,
	}
	for _, stage := range stages {
		t.Run(string(stage), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.start()
			goOn := make(chan struct{})
			s.machine.Inject(machine.Fault{Stage: stage, Action: machine.Hang, Until: goOn, Times: 1})
			s.await("the grant", func() bool { return s.granted(1) })
			if err := s.machine.On(bmc.BootNormal); err != nil {
				t.Fatal(err)
			}
			s.await("stage "+string(stage), func() bool { return s.machine.Status().Stage == stage })
			s.stop(syscall.SIGKILL)
			if stage == machine.StageScript || stage == machine.StageImage { // And sometimes it asks while nobody is there.
				close(goOn)
				time.Sleep(300 * time.Millisecond)
				s.start()
			} else {
				s.start()
				close(goOn)
			}
			s.await("the system", func() bool { st := s.machine.Status(); return st.Installs == 1 && st.DiskBoots >= 1 })
			if got := s.boots(); got.Erased != 1 || got.Installs != 1 {
				t.Errorf("the disk was erased %d times, and %d installs were reported", got.Erased, got.Installs)
			}
			t.Logf("\n| bootd: killed at stage %s of an install | %d | %d |", stage, 1, s.boots().Installs)
		})
	}
}

// TestAnothersMAC: two machines have one MAC, as a cloned one has. One of them is installed, and the other isn't.
func TestAnothersMAC(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.start()
	s.await("the grant", func() bool { return s.granted(1) })
	at := netip.MustParseAddrPort(s.dhcp)
	twin, err := machine.New(machine.Config{
		Name: "twin", MAC: net.HardwareAddr{0x52, 0x54, 0, 0, 7, 1}, BootOrder: []machine.Device{machine.Network, machine.LocalDisk},
		Relay:    machine.Relay{Servers: []netip.AddrPort{at}, Link: netip.MustParseAddr("127.77.0.1")},
		TFTPPort: int(netip.MustParseAddrPort(s.tftp).Port()), DHCPTimeout: 200 * time.Millisecond, BootRetry: 100 * time.Millisecond, TimeScale: 0.05,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(twin.Close)
	for _, m := range []*machine.Machine{s.machine, twin} {
		if err := m.On(bmc.BootNormal); err != nil {
			t.Fatal(err)
		}
	}
	s.await("one install", func() bool { return s.machine.Status().Installs+twin.Status().Installs == 1 })
	time.Sleep(3 * time.Second) // For what must not happen.
	if one, two := s.machine.Status(), twin.Status(); one.Erased+two.Erased != 1 || one.Installs+two.Installs != 1 {
		t.Errorf("erased %d and %d times, installed %d and %d times", one.Erased, two.Erased, one.Installs, two.Installs)
	}
	t.Logf("\n| bootd: a machine with another's MAC boots beside it | %d | %d |", 1, s.machine.Status().Installs+twin.Status().Installs)
}

// TestOneUUID: two machines say one UUID, as boards do whose vendor forgot to give them theirs. Each has what is its own.
func TestOneUUID(t *testing.T) {
	a, _, site := rolling(t, nil)
	relay := relayTo(t, netip.AddrPortFrom(a.addr, a.ports[0]))
	uuid := []byte{0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 9}
	both := []*storm.Machine{{MAC: storm.MAC(0), Relay: relay, UUID: uuid, Compare: true}, {MAC: storm.MAC(1), Relay: relay, UUID: uuid, Compare: true}}
	t.Logf("\n| bootd: two machines say one UUID | %d | %d |", len(both), boot(t, site, both, time.Minute))
}

// TestStrangersShout: ten thousand machines that nobody knows ask all the time, by the relay of those that are known. These boot, and quickly.
func TestStrangersShout(t *testing.T) {
	a, _, site := rolling(t, nil)
	relay := relayTo(t, netip.AddrPortFrom(a.addr, a.ports[0]))
	ctx, cancel := context.WithCancel(t.Context())
	var shouting sync.WaitGroup
	shouts, all := 0, make(chan struct{})
	shouting.Go(func() {
		for n := 0; ctx.Err() == nil; n = (n + 1) % 10_000 {
			mac := storm.MAC(n)
			mac[0] = 2 // Nobody's.
			relay.Shout(wire.End(relay.Message(wire.Discover, [4]byte(mac[2:]), mac)))
			shouts++
			if shouts%100 == 0 {
				time.Sleep(time.Millisecond) // Some tens of thousands a second, on a machine that isn't busy.
			}
			if shouts == 10_000 {
				close(all)
			}
		}
	})
	defer shouting.Wait()
	defer cancel()
	<-all
	var known []*storm.Machine
	for i := range 20 {
		known = append(known, &storm.Machine{MAC: storm.MAC(i), Relay: relay, Compare: true})
	}
	booted := boot(t, site, known, time.Minute)
	cancel()
	shouting.Wait()
	t.Logf("\n| bootd: 10,000 unknown machines shout while 20 known ones boot | %d | %d |", len(known), booted)
	t.Logf("%d shouts", shouts)
}

func relayTo(t *testing.T, server netip.AddrPort) *storm.Relay {
	t.Helper()
	r, err := storm.NewRelay(netip.MustParseAddr("127.0.0.1"), storm.Link(), server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// boot has machines boot at once, the first ones of a site, looks at what each has got, and counts those that have what's theirs.
func boot(t *testing.T, site storm.Site, all []*storm.Machine, within time.Duration) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	var booting sync.WaitGroup
	var right atomic.Int32
	for i, m := range all {
		booting.Go(func() {
			b, err := m.Boot(ctx)
			if err == nil {
				err = site.Check(i, rollingKernel, b)
			}
			if err != nil {
				t.Errorf("machine %d: %v; before that %q", i, err, b.Failures)
				return
			}
			right.Add(1)
		})
	}
	booting.Wait()
	return int(right.Load())
}

// TestLossAndDuplication: half of all packets of DHCP and TFTP are lost, and half of those that arrive do so twice. All machines boot, by the tries
// that firmware makes anyway.
func TestLossAndDuplication(t *testing.T) {
	const machines = 8
	// A first stage of many blocks never arrives whole: firmware repeats a block five times, and then gives up.
	a, b, site := rolling(t, nil, "--tftp-single-port", "--tftp-dir="+t.TempDir())
	b.stop(syscall.SIGKILL)
	bad := &segment{t: t}
	dhcp, tftp := bad.to(netip.AddrPortFrom(a.addr, a.ports[0])), bad.to(netip.AddrPortFrom(a.addr, a.ports[1]))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var all []*machine.Machine
	for i := range machines {
		mac := storm.MAC(i)
		m, err := machine.New(machine.Config{
			Name: storm.Role(i), MAC: net.HardwareAddr(mac[:]), BootOrder: []machine.Device{machine.Network}, TFTPPort: int(tftp.Port()),
			Relay:     machine.Relay{Servers: []netip.AddrPort{dhcp}, Link: storm.Link()},
			TimeScale: 0.1, DHCPTimeout: 250 * time.Millisecond, DHCPTries: 8, BootRetry: 100 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Close)
		if err := m.On(bmc.BootNormal); err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	booted := 0
	for i, m := range all {
		_, err := m.Wait(ctx, "its system to run", func(s machine.Status) bool { return s.Stage == machine.StageRunning })
		if err == nil {
			err = got(m, i, site)
		}
		if err != nil {
			t.Errorf("machine %d: %v", i, err)
			continue
		}
		booted++
	}
	lost, doubled := bad.counts()
	if lost == 0 || doubled == 0 {
		t.Errorf("%d packets were lost, and %d doubled", lost, doubled)
	}
	// A packet has no end of its own that could be counted: of what was lost, or doubled, so much is met as machines booted all the same.
	t.Logf("\n| bootd: a packet of DHCP or TFTP is lost | %d | %d |", lost, lost*booted/machines)
	t.Logf("\n| bootd: a packet of DHCP or TFTP arrives twice | %d | %d |", doubled, doubled*booted/machines)
}

// segment loses half of all packets, and doubles half of the others.
type segment struct {
	t *testing.T

	mu            sync.Mutex
	lost, doubled int
}

func (s *segment) counts() (lost, doubled int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost, s.doubled
}

// pass sends a packet on, or doesn't.
func (s *segment) pass(send func()) {
	s.mu.Lock()
	lost, twice := rand.IntN(2) == 0, rand.IntN(2) == 0 //nolint:gosec // It's a bad cable.
	if lost {
		s.lost++
	} else if twice {
		s.doubled++
	}
	s.mu.Unlock()
	if lost {
		return
	}
	send()
	if twice {
		send()
	}
}

// to gives an address by which a server is reached through this segment.
func (s *segment) to(server netip.AddrPort) netip.AddrPort {
	s.t.Helper()
	local := net.UDPAddrFromAddrPort(netip.AddrPortFrom(server.Addr(), 0)) // Machines ask for TFTP at the server's own address.
	in, err := net.ListenUDP("udp4", local)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = in.Close() })
	go s.carry(in, server)
	return netip.MustParseAddrPort(in.LocalAddr().String())
}

// carry gives each client a socket of its own, as a NAT does.
func (s *segment) carry(in *net.UDPConn, server netip.AddrPort) {
	out := map[netip.AddrPort]*net.UDPConn{}
	defer func() {
		for _, c := range out {
			_ = c.Close()
		}
	}()
	b := make([]byte, 2048)
	for {
		n, client, err := in.ReadFromUDPAddrPort(b)
		if err != nil {
			return
		}
		c := out[client]
		if c == nil {
			if c, err = net.DialUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), 0)), net.UDPAddrFromAddrPort(server)); err != nil {
				return
			}
			out[client] = c
			go s.back(c, in, client)
		}
		s.pass(func() { _, _ = c.Write(b[:n]) })
	}
}

func (s *segment) back(from, to *net.UDPConn, client netip.AddrPort) {
	b := make([]byte, 2048)
	for {
		n, err := from.Read(b)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // The server was away for a moment.
		}
		s.pass(func() { _, _ = to.WriteToUDPAddrPort(b[:n], client) })
	}
}
