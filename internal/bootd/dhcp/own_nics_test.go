package dhcp

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// TestDeclinesOfOneMachine: all NICs of a machine are given its one address. A system that asks by each finds that somebody has it: itself.
func TestDeclinesOfOneMachine(t *testing.T) {
	const second = boot.MAC("02:00:00:00:00:77")
	by := func(p *dhcpv4.DHCPv4) { p.ClientHWAddr = []byte{2, 0, 0, 0, 0, 0x77} }
	to := func(m dhcpv4.MessageType) dhcpv4.Modifier {
		return all(ofType(m), addressOpt(54, "10.99.0.1"), addressOpt(50, testAddress.String()))
	}
	requests, declines := to(dhcpv4.MessageTypeRequest), to(dhcpv4.MessageTypeDecline)
	type step struct {
		after time.Duration
		req   dhcpv4.Modifier
		want  Reason
	}
	cases := map[string]struct {
		reason string
		steps  []step
	}{
		"Itself": {
			reason: "the first has it: nobody else uses it, and the machine boots",
			steps:  []step{{0, requests, Acknowledged}, {time.Second, all(requests, by), Acknowledged}, {time.Second, all(declines, by), SilentUnasked}, {0, asPXE(0), Offered}, {0, all(asPXE(0), by), Offered}},
		},
		"FirstFindsSecond": {
			reason: "in whatever order",
			steps:  []step{{0, all(requests, by), Acknowledged}, {0, requests, Acknowledged}, {time.Second, declines, SilentUnasked}, {0, asPXE(0), Offered}},
		},
		"Another": {
			reason: "one alone has asked: who answers is another",
			steps:  []step{{0, all(requests, by), Acknowledged}, {time.Second, all(declines, by), Declined}, {0, asPXE(0), SilentDeclined}},
		},
		"BothFindAnother": {
			reason: "the second DECLINE is of a machine of which none has it",
			steps:  []step{{0, requests, Acknowledged}, {0, all(requests, by), Acknowledged}, {time.Second, declines, SilentUnasked}, {0, all(declines, by), Declined}, {0, asPXE(0), SilentDeclined}},
		},
		"LongAgo": {
			reason: "what the first asked for yesterday says nothing",
			steps:  []step{{0, requests, Acknowledged}, {together + time.Second, all(requests, by), Acknowledged}, {time.Second, all(declines, by), Declined}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			now := testNow
			cfg := testConfig(testState(nil, testPlan(func(p *boot.Plan) { p.MACs = append(p.MACs, second) })))
			cfg.Now = func() time.Time { return now }
			s := New(cfg)
			for i, x := range tc.steps {
				now = now.Add(x.after)
				a := s.handle(message(t, request(t, x.req)), broadcastIn(), desk{reply: &wire.Reply{}})
				if diff := cmp.Diff(x.want, a.Reason); diff != "" {
					t.Errorf("%s: step %d (-want +got):\n%s", tc.reason, i+1, diff)
				}
			}
		})
	}
}
