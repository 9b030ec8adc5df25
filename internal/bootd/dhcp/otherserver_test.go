package dhcp

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// TestOtherServerIsTold: a machine of ours that takes another's offer is news; what is said to us, or by a machine that isn't ours, isn't.
func TestOtherServerIsTold(t *testing.T) {
	to := func(server string, kind dhcpv4.MessageType) dhcpv4.Modifier {
		return all(ofType(kind), addressOpt(54, server), addressOpt(50, testAddress.String()))
	}
	var told []string
	cfg := testConfig(testState(nil, testPlan()))
	cfg.OtherServer = func(_ *boot.Plan, a netip.Addr) { told = append(told, a.String()) }
	s := New(cfg)
	for _, m := range []dhcpv4.Modifier{
		to("10.99.0.1", dhcpv4.MessageTypeRequest), to("10.99.0.2", dhcpv4.MessageTypeRequest), to("10.99.0.3", dhcpv4.MessageTypeDecline), asPXE(0),
		all(to("10.99.0.4", dhcpv4.MessageTypeRequest), func(p *dhcpv4.DHCPv4) { p.ClientHWAddr = []byte{2, 0, 0, 9, 9, 9} }),
	} {
		s.handle(message(t, request(t, m)), broadcastIn(), desk{reply: &wire.Reply{}})
	}
	if diff := cmp.Diff([]string{"10.99.0.2"}, told); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
