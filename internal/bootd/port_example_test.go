package bootd

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

// TestSwitchPortExample boots what is behind a port of examples/bootd/switch-port.yaml, also after a restart, and nothing else that comes there later.
func TestSwitchPortExample(t *testing.T) {
	const first, second, relay = "52:54:00:00:0c:01", "52:54:00:00:0c:02", "127.77.0.2"
	c := config(t)
	c.SpecDir, c.Advertise = exampleSite(t, "switch-port.yaml"), netip.MustParseAddr("127.0.0.1")
	behind := dhcpv4.WithOption(dhcpv4.OptRelayAgentInfo(
		dhcpv4.OptGeneric(dhcpv4.GenericOptionCode(1), []byte("Ethernet1/12")), dhcpv4.OptGeneric(dhcpv4.GenericOptionCode(2), []byte("leaf-3")),
		dhcpv4.OptGeneric(dhcpv4.GenericOptionCode(19), nil)))
	ask := func(t *testing.T, mac string, patience time.Duration, mods ...dhcpv4.Modifier) *dhcpv4.DHCPv4 {
		t.Helper()
		return dhcpAsk(t, relay, c.DHCPListen, firmwareOf(t, mac, true, append([]dhcpv4.Modifier{dhcpv4.WithRelay(net.ParseIP(relay)), behind}, mods...)...), patience)
	}
	for _, life := range []string{"First", "Restarted"} {
		t.Run(life, func(t *testing.T) {
			log := &lines{}
			c.DHCPListen, c.TFTPListen, c.HTTPListen, c.Logger = freeUDP(t), freePort(t), freePort(t), slogTo(log)
			running(t, c)
			if life == "Restarted" {
				if offer := ask(t, second, 300*time.Millisecond); offer != nil {
					t.Fatalf("another machine is offered %v", offer)
				}
				eventually(t, "a line about it", func() bool {
					return strings.Contains(log.String(), "PortHeldByAnother") && strings.Contains(log.String(), first)
				})
			}
			offer := ask(t, first, 5*time.Second)
			if offer == nil || offer.YourIPAddr.String() != "127.77.0.12" {
				t.Fatalf("it's offered %v", offer)
			}
			ack := ask(t, first, 5*time.Second, dhcpv4.WithMessageType(dhcpv4.MessageTypeRequest),
				dhcpv4.WithOption(dhcpv4.OptServerIdentifier(offer.ServerIdentifier())), dhcpv4.WithOption(dhcpv4.OptRequestedIPAddress(offer.YourIPAddr)))
			if ack == nil || ack.MessageType() != dhcpv4.MessageTypeAck || !strings.Contains(ack.BootFileName, ipxe.PathBoot) {
				t.Fatalf("it gets %v", ack)
			}
			eventually(t, "its script", func() bool {
				_, text := get(t, ack.BootFileName)
				return strings.Contains(text, "live: Live")
			})
		})
	}
}
