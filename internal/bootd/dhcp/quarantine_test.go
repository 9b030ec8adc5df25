package dhcp

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// TestQuarantine is what a machine hears after it has said that another uses its address.
func TestQuarantine(t *testing.T) {
	to := func(server string, m dhcpv4.MessageType) dhcpv4.Modifier {
		return all(ofType(m), addressOpt(54, server), addressOpt(50, testAddress.String()))
	}
	type step struct {
		after time.Duration
		req   dhcpv4.Modifier
		in    Ingress
		want  Reason
	}
	here := broadcastIn()
	unicast := routed(testAddress)
	renews := all(ofType(dhcpv4.MessageTypeRequest), dhcpv4.WithClientIP(net.IP(testAddress.AsSlice())))
	asked := step{0, to("10.99.0.1", dhcpv4.MessageTypeRequest), here, Acknowledged}
	decline := step{time.Second, to("10.99.0.1", dhcpv4.MessageTypeDecline), here, Declined}
	cases := map[string]struct {
		reason string
		steps  []step
	}{
		"NotOfferedAgain": {"the same address again would be the same DECLINE again", []step{
			asked, decline, {0, asPXE(0), here, SilentDeclined}, {0, to("10.99.0.1", dhcpv4.MessageTypeRequest), here, SilentDeclined},
		}},
		"Ends": {"whoever used it may be gone", []step{asked, decline, {quarantined + time.Second, asPXE(0), here, Offered}}},
		"RenewalsGoOn": {"a forged DECLINE takes no address from a system that runs", []step{
			asked, decline, {0, renews, unicast, Acknowledged}, {0, renews, here, Acknowledged},
		}},
		"Unasked": {"nobody gave it anything: who says so isn't the machine", []step{
			{0, decline.req, here, SilentUnasked}, {0, asPXE(0), here, Offered},
		}},
		"TooLate": {"a machine looks at once, not an hour later", []step{
			asked, {checking + time.Second, decline.req, here, SilentUnasked}, {0, asPXE(0), here, Offered},
		}},
		"Once": {"one REQUEST, one DECLINE", []step{asked, decline, {0, decline.req, here, SilentUnasked}}},
		"Routed": {"a DECLINE is broadcast; this one may come from anywhere", []step{
			asked, {0, all(decline.req, dhcpv4.WithClientIP(net.IP(testAddress.AsSlice()))), unicast, SilentUnicast}, {0, asPXE(0), here, Offered},
		}},
		"OtherBootd": {"what another bootd gave, and was told, holds for this one too", []step{
			{0, to("10.99.0.2", dhcpv4.MessageTypeRequest), here, SilentOtherServer},
			{0, to("10.99.0.2", dhcpv4.MessageTypeDecline), here, SilentOtherServer},
			{0, asPXE(0), here, SilentDeclined},
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			now, told := testNow, 0
			cfg := testConfig(testState(nil, testPlan()))
			cfg.Now = func() time.Time { return now }
			cfg.Declined = func(*boot.Plan, boot.MAC, netip.Addr, time.Time) { told++ }
			s := New(cfg)
			for i, x := range tc.steps {
				now = now.Add(x.after)
				a := s.handle(message(t, request(t, x.req)), x.in, desk{reply: &wire.Reply{}})
				if diff := cmp.Diff(x.want, a.Reason); diff != "" {
					t.Errorf("%s: step %d (-want +got):\n%s", tc.reason, i+1, diff)
				}
				if a.Reason == Declined {
					told--
				}
			}
			if told != 0 {
				t.Errorf("%s: who is to be told was told %d times too often", tc.reason, told)
			}
		})
	}
}

// TestQuarantineIsOfANetwork: the same address elsewhere is another one.
func TestQuarantineIsOfANetwork(t *testing.T) {
	q := newQuarantine(maxQuarantine)
	q.until[place{testSegment, testAddress}] = testNow.Add(time.Minute)
	other := testSegment
	other.Name = "rack-2"
	if q.holds(other, testAddress, testNow) || !q.holds(testSegment, testAddress, testNow) || q.holds(testSegment, netip.MustParseAddr("10.99.0.84"), testNow) {
		t.Error("an address is held in one network alone")
	}
}

// TestStrangersQuarantine: what strangers ask and decline has a place of its own.
func TestStrangersQuarantine(t *testing.T) {
	s := New(testConfig(testState(nil, testPlan())))
	plan := testPlan()
	known, stranger := &Answer{Plan: &plan}, &Answer{}
	if s.quarantineOf(known) == s.quarantineOf(stranger) || s.quarantineOf(stranger).most >= s.quarantineOf(known).most {
		t.Error("strangers share it with machines that are known")
	}
}

// TestOwnAddress: a machine that is to have this server's own address gets none; a system that has it, since it's this server's, goes on.
func TestOwnAddress(t *testing.T) {
	cfg := testConfig(testState(nil, testPlan()))
	cfg.Own = func(_ *boot.Plan, a netip.Addr) bool { return a == testAddress }
	s := New(cfg)
	for _, x := range []struct {
		req  dhcpv4.Modifier
		want Reason
	}{
		{asPXE(0), SilentOwn},
		{all(ofType(dhcpv4.MessageTypeRequest), addressOpt(54, "10.99.0.1"), addressOpt(50, testAddress.String())), SilentOwn},
		{all(ofType(dhcpv4.MessageTypeRequest), dhcpv4.WithClientIP(net.IP(testAddress.AsSlice()))), Acknowledged},
	} {
		if a := s.handle(message(t, request(t, x.req)), broadcastIn(), desk{reply: &wire.Reply{}}); a.Reason != x.want {
			t.Errorf("%s, want %s", a.Reason, x.want)
		}
	}
}
