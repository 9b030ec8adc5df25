package tftp

import (
	"bytes"
	"context"
	"encoding/binary"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pin/tftp/v3"
	"golang.org/x/net/ipv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

type seen chan boot.Stage

func (s seen) Seen(_ *boot.Plan, _ boot.MAC, stage boot.Stage, _ boot.Firmware, _ time.Time) {
	s <- stage
}

// at is a state in which machines have addresses.
func at(addresses ...string) *boot.State {
	var plans []boot.Plan
	for i, a := range addresses {
		plans = append(plans, boot.Plan{
			EntryUID: string(rune('a' + i)), Network: boot.Network{Address: netip.PrefixFrom(addr(a), 24)},
		})
	}
	return boot.NewState(nil, plans, nil)
}

// served runs a server with one real file, and gives its port.
func served(t *testing.T, change func(*Config)) *net.UDPAddr {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	// As Serve does, but before the first packet can come.
	if err := ipv4.NewPacketConn(conn).SetControlMessage(ipv4.FlagDst|ipv4.FlagInterface, true); err != nil {
		t.Fatal(err)
	}
	to := conn.LocalAddr().(*net.UDPAddr)
	cfg := Config{Files: Load(boxed(t, map[string][]byte{BIOS: content()})), Timeout: 100 * time.Millisecond}
	if change != nil {
		change(&cfg)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- New(cfg).Serve(ctx, conn) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return to
}

func content() []byte { return bytes.Repeat([]byte("0123456789abcdef"), 4321) } // No multiple of any block.

func fetch(to *net.UDPAddr, name string, size int) (data []byte, announced int64, err error) {
	c, err := tftp.NewClient(to.String())
	if err != nil {
		return nil, 0, err
	}
	c.SetBlockSize(size)
	c.RequestTSize(true)
	c.SetTimeout(time.Second)
	from, err := c.Receive(name, "octet")
	if err != nil {
		return nil, 0, err
	}
	n, _ := from.(tftp.IncomingTransfer).Size()
	var b bytes.Buffer
	_, err = from.WriteTo(&b)
	return b.Bytes(), n, err
}

func TestServe(t *testing.T) {
	cases := map[string]struct {
		reason string
		single bool
		size   int
	}{
		"UEFI":       {reason: "OVMF asks for 1468", size: 1468},
		"IPXE":       {reason: "iPXE asks for 1432", size: 1432},
		"Least":      {reason: "the size of RFC 1350", size: 512},
		"Large":      {reason: "more than the path takes is cut down", size: 9000},
		"SinglePort": {reason: "behind NAT the answer must come from the port that was asked", size: 1468, single: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			sights := make(seen, 1)
			to := served(t, func(c *Config) {
				c.SinglePort, c.Sightings = tc.single, sights
				c.State = func() *boot.State { return at("127.0.0.1") }
			})
			got, size, err := fetch(to, BIOS, tc.size)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if !bytes.Equal(got, content()) || size != int64(len(content())) {
				t.Errorf("%s: got %d bytes after tsize %d, want %d", tc.reason, len(got), size, len(content()))
			}
			if diff := cmp.Diff(boot.StageFirmware, <-sights); diff != "" {
				t.Errorf("sight (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefuse(t *testing.T) {
	outcomes := make(chan Outcome, 8)
	to := served(t, func(c *Config) { c.Observe = func(o Outcome) { outcomes <- o } })
	for _, name := range []string{"autoexec.ipxe", "../../../etc/passwd", `..\boot.ini`} {
		started := time.Now()
		if _, _, err := fetch(to, name, 512); err == nil || !strings.Contains(err.Error(), "not found") {
			t.Errorf("%q: got %v, want not found", name, err)
		}
		if took := time.Since(started); took > 3*time.Second {
			t.Errorf("%q was refused after %s, as if nobody had answered: firmware waits for that", name, took)
		}
		if o := <-outcomes; o != NotFound {
			t.Errorf("%q: outcome %s", name, o)
		}
	}
	c, err := tftp.NewClient(to.String())
	if err != nil {
		t.Fatal(err)
	}
	c.SetTimeout(time.Second)
	if _, err := c.Send(BIOS, "octet"); err == nil {
		t.Error("a write was accepted")
	}
	if o := <-outcomes; o != Refused {
		t.Errorf("a write: outcome %s", o)
	}
}

// exchange sends one datagram from a socket and returns what comes back.
func exchange(t *testing.T, c *net.UDPConn, to *net.UDPAddr, data string) ([]byte, *net.UDPAddr) {
	t.Helper()
	if _, err := c.WriteToUDP([]byte(data), to); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 10000)
	n, from, err := c.ReadFromUDP(buf)
	if err != nil {
		t.Fatal(err)
	}
	return buf[:n], from
}

func client(t *testing.T) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// rrq is a read request as OVMF sends it, windowsize (RFC 7440) and all.
func rrq(size string) string {
	return "\x00\x01undionly.kpxe\x00octet\x00tsize\x000\x00blksize\x00" + size + "\x00windowsize\x004\x00"
}

func TestBlocksFitThePath(t *testing.T) {
	cases := map[string]struct {
		reason string
		mtu    int // of a machine's network
		want   string
		path   int
	}{
		"Ethernet": {"the usual", 0, "1468", 1500},
		"Jumbo":    {"larger than our own link doesn't count", 9000, "1468", 1500},
		"Tunnel":   {"a network with less", 1400, "1368", 1400},
		"Nonsense": {"less than every host must take isn't believed", 100, "1468", 1500},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			state := boot.NewState(nil, []boot.Plan{{EntryUID: "a", Network: boot.Network{MTU: tc.mtu}}}, nil)
			to := served(t, func(c *Config) { c.State = func() *boot.State { return state } })
			c := client(t)
			oack, tid := exchange(t, c, to, rrq("65464"))
			if got := string(oack); !strings.Contains(got, "blksize\x00"+tc.want+"\x00") || !strings.Contains(got, "windowsize\x004\x00") {
				t.Errorf("%s: OACK %q: want blksize %s and a window of 4", tc.reason, got, tc.want)
			}
			data, _ := exchange(t, c, tid, "\x00\x04\x00\x00")
			if got := len(data) + 28; got > tc.path {
				t.Errorf("%s: a DATA packet is %d bytes long on a path of %d", tc.reason, got, tc.path)
			}
		})
	}
}

// TestProbe is what UEFI does: it breaks off once it knows the size, and asks anew.
func TestProbe(t *testing.T) {
	outcomes := make(chan Outcome, 8)
	to := served(t, func(c *Config) { c.Observe = func(o Outcome) { outcomes <- o } })
	c := client(t)
	oack, tid := exchange(t, c, to, rrq("1468"))
	if binary.BigEndian.Uint16(oack) != 6 {
		t.Fatalf("got %q, want an OACK", oack)
	}
	if _, err := c.WriteToUDP([]byte("\x00\x05\x00\x08User aborted the transfer\x00"), tid); err != nil {
		t.Fatal(err)
	}
	if o := <-outcomes; o != Aborted {
		t.Errorf("outcome %s, want %s", o, Aborted)
	}
	if got, _, err := fetch(to, BIOS, 1468); err != nil || !bytes.Equal(got, content()) {
		t.Errorf("the second request: %v", err)
	}
}

// TestBusy: who finds no place hears nothing and asks again; by an error it would give up TFTP, and boot its next device.
func TestBusy(t *testing.T) {
	var log bytes.Buffer // Read once the server has stopped.
	t.Run("Serve", func(t *testing.T) {
		to := served(t, func(c *Config) {
			c.PerClient, c.Total, c.Timeout, c.Log = 1, 2, time.Minute, slog.New(slog.NewTextHandler(&log, nil))
			c.Now = func() time.Time { return time.Unix(1e9, 0) }
		})
		first := client(t)
		oack, tid := exchange(t, first, to, rrq("1468"))
		if binary.BigEndian.Uint16(oack) != opOACK {
			t.Fatalf("got %q, want an OACK", oack)
		}
		_, _ = exchange(t, first, tid, "\x00\x04\x00\x00")
		second := client(t)
		for range 20 {
			if _, err := second.WriteToUDP([]byte(rrq("1468")), to); err != nil {
				t.Fatal(err)
			}
		}
		_ = second.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		b := make([]byte, 2000)
		if n, _, err := second.ReadFromUDP(b); err == nil {
			t.Fatalf("got %q while there's no place, want nothing", b[:n])
		}
		if _, err := first.WriteToUDP([]byte("\x00\x05\x00\x00\x00"), tid); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
		if oack, _ := exchange(t, second, to, rrq("1468")); binary.BigEndian.Uint16(oack) != opOACK {
			t.Errorf("got %q once there's a place, want an OACK", oack)
		}
	})
	if n := strings.Count(log.String(), "outcome=Busy"); n != 1 {
		t.Errorf("%d lines within one second, want 1:\n%s", n, log.String())
	}
}

func TestAddresses(t *testing.T) {
	cases := map[string]struct {
		reason string
		state  *boot.State
		want   bool
	}{
		"Known":     {"one machine has the address", at("10.0.0.1", "10.0.0.2"), true},
		"Second":    {"it has one of IPv6 as well", beside("10.0.0.1", "fd00::1"), true},
		"Unknown":   {"nobody has it", at("10.0.0.2"), false},
		"Ambiguous": {"two segments may use one address", at("10.0.0.1", "10.0.0.1"), false},
		"NoState":   {"nothing is known yet", nil, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := addressesOf(tc.state, 1500).at(addr("10.0.0.1")) != nil; got != tc.want {
				t.Errorf("got %v, want %v: %s", got, tc.want, tc.reason)
			}
		})
	}
	if all := addressesOf(beside("10.0.0.1", "fd00::1"), 1500); all.plans[addr("fd00::1")].Plan() == nil || all.plans[addr("fd00::1")] != all.plans[addr("10.0.0.1")] {
		t.Error("a machine with two addresses isn't found by both")
	}
}

// beside is a machine that has an address of IPv6 beside one of IPv4.
func beside(four, six string) *boot.State {
	p := boot.Plan{EntryUID: "e", Network: boot.Network{Address: netip.PrefixFrom(addr(four), 24), Six: &boot.Place{Address: netip.PrefixFrom(addr(six), 64)}}}
	return boot.NewState(nil, []boot.Plan{p}, nil)
}
