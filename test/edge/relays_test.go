package edge

import (
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// overriding is a relay that has machines take it for their server (82.11, RFC 5107).
type overriding struct {
	conn *net.UDPConn
	name netip.Addr
}

// says passes a machine's message on, and gives the server that the answer names; "": there's none.
func (o overriding) says(t *testing.T, kind wire.Type, xid byte, options ...[]byte) string {
	t.Helper()
	const linkSelection, override, sourcePort = 5, 11, 19
	b := wire.Ask(kind, [4]byte{7, 7, 7, xid}, [6]byte{0x52, 0x54, 0, 0, 7, 1}, netip.MustParseAddr("127.0.0.1"))
	b = wire.AppendOption(b, wire.OptionClass, []byte("PXEClient:Arch:00007:UNDI:003016")...)
	b = wire.AppendOption(b, wire.OptionArchitecture, 0, 7)
	for _, x := range options {
		b = append(b, x...)
	}
	agent := append([]byte{sourcePort, 0, linkSelection, 4, 127, 77, 0, 1, override, 4}, o.name.AsSlice()...)
	if _, err := o.conn.Write(wire.End(wire.AppendOption(b, wire.OptionRelayAgent, agent...))); err != nil {
		t.Fatal(err)
	}
	in := make([]byte, 1500)
	_ = o.conn.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
	n, err := o.conn.Read(in)
	if err != nil {
		return ""
	}
	var m wire.Message
	if err := m.Read(in[:n]); err != nil {
		t.Fatal(err)
	}
	server := m.Address(wire.OptionServer)
	return server.String()
}

// TestTwoRelays: both switches of a pair pass on each broadcast of a machine, each with its own address for the server's. That the machine takes the offer
// which came through one of them isn't another server's doing to the other one, be bootd killed in between: it's installed, and nobody is asked.
func TestTwoRelays(t *testing.T) {
	s := newSite(t)
	s.start()
	s.await("the grant", func() bool { return s.granted(1) })
	var relays []overriding
	for _, name := range []string{"127.77.0.253", "127.77.0.254"} {
		c, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}, net.UDPAddrFromAddrPort(netip.MustParseAddrPort(s.dhcp)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		relays = append(relays, overriding{c, netip.MustParseAddr(name)})
	}
	for _, r := range relays {
		if got := r.says(t, wire.Discover, 1); got != r.name.String() {
			t.Fatalf("through %s it's offered by %q", r.name, got)
		}
	}
	s.await("the relays' names", func() bool {
		b, err := os.ReadFile(filepath.Join(s.state, "relays.json"))
		return err == nil && strings.Contains(string(b), relays[0].name.String())
	})
	s.stop(syscall.SIGKILL)
	s.start()
	takes := [][]byte{wire.AppendOption(nil, wire.OptionServer, relays[0].name.AsSlice()...), wire.AppendOption(nil, wire.OptionRequestedAddress, 127, 77, 0, 11)}
	for i, want := range []string{"", relays[0].name.String()} { // Through the one that isn't meant first.
		r := relays[1-i]
		if got := r.says(t, wire.Request, 1, takes...); got != want {
			t.Errorf("through %s the request is answered by %q, want %q", r.name, got, want)
		}
	}
	takes[0] = wire.AppendOption(nil, wire.OptionServer, 127, 77, 0, 9)
	explain := func() string {
		out, err := exec.CommandContext(t.Context(), s.bin, "explain", "--mac", "52:54:00:00:07:01", "--state-dir", s.state).CombinedOutput() //nolint:gosec // Our own program.
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if said := s.log() + explain(); strings.Contains(said, "NeedsConfirmation") || strings.Contains(said, "ForeignServer") {
		t.Error(said)
	}
	if relays[1].says(t, wire.Request, 2, takes...) != "" || !strings.Contains(explain(), "NeedsConfirmation") {
		t.Error("and another server, whose name no relay has, isn't noticed any more")
	}
}
