package bootd

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// TestDiscoveryExample lends an address of examples/bootd/discovery.yaml to a machine that nobody knows, also after a restart, and nothing to boot.
func TestDiscoveryExample(t *testing.T) {
	const mac = "52:54:00:00:09:01"
	c := config(t)
	c.SpecDir, c.Advertise = exampleSite(t, "discovery.yaml"), netip.MustParseAddr("127.0.0.1")
	relay := []dhcpv4.Modifier{
		dhcpv4.WithRelay(net.IPv4(127, 0, 0, 1)), dhcpv4.WithOption(dhcpv4.OptRelayAgentInfo(
			dhcpv4.OptGeneric(dhcpv4.GenericOptionCode(19), nil), dhcpv4.OptGeneric(dhcpv4.GenericOptionCode(5), []byte{127, 77, 0, 1}))),
	}
	exchange := func(t *testing.T) string {
		t.Helper()
		log := &lines{}
		c.DHCPListen, c.TFTPListen, c.HTTPListen, c.Logger = freeUDP(t), freePort(t), freePort(t), slogTo(log)
		running(t, c)
		offer := dhcpAsk(t, "127.0.0.1", c.DHCPListen, firmwareOf(t, mac, false, relay...), 5*time.Second)
		if offer == nil || offer.BootFileName != "" || offer.IPAddressLeaseTime(0) != 10*time.Minute || !strings.HasPrefix(offer.YourIPAddr.String(), "127.77.0.2") {
			t.Fatalf("it's offered %v", offer)
		}
		ack := dhcpAsk(t, "127.0.0.1", c.DHCPListen, firmwareOf(t, mac, false, append(relay, dhcpv4.WithMessageType(dhcpv4.MessageTypeRequest),
			dhcpv4.WithOption(dhcpv4.OptServerIdentifier(offer.ServerIdentifier())), dhcpv4.WithOption(dhcpv4.OptRequestedIPAddress(offer.YourIPAddr)))...), 5*time.Second)
		if ack == nil || ack.MessageType() != dhcpv4.MessageTypeAck || !ack.YourIPAddr.Equal(offer.YourIPAddr) {
			t.Fatalf("it gets %v", ack)
		}
		eventually(t, "a line about it", func() bool { return strings.Contains(log.String(), "AcknowledgedTemporarily") })
		if _, text := get(t, "http://"+c.HTTPListen+"/metrics"); !strings.Contains(text, "bootd_temporary_addresses 1") {
			t.Error("it isn't counted")
		}
		return ack.YourIPAddr.String()
	}
	var first, second string
	t.Run("First", func(t *testing.T) { first = exchange(t) })
	t.Run("Restarted", func(t *testing.T) { second = exchange(t) })
	if first != second {
		t.Errorf("it had %s, and after a restart %s", first, second)
	}
}
