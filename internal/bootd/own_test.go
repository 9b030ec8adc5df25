package bootd

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestOwnAddresses: a flood of requests that name other servers doesn't have our addresses read for each.
func TestOwnAddresses(t *testing.T) {
	var o ownAddresses
	reads := 0
	list := func() ([]net.Addr, error) {
		reads++
		return []net.Addr{&net.IPNet{IP: net.IPv4(10, 0, 0, 1), Mask: net.CIDRMask(24, 32)}}, nil
	}
	for range 100 {
		if o.has(netip.MustParseAddr("10.0.0.2"), list) || !o.has(netip.MustParseAddr("10.0.0.1"), list) {
			t.Fatal("10.0.0.1 is ours, and 10.0.0.2 isn't")
		}
	}
	if reads > 5 {
		t.Errorf("read %d times", reads)
	}
	var none ownAddresses
	if none.has(netip.MustParseAddr("10.0.0.1"), func() ([]net.Addr, error) { return nil, errors.New("netlink") }) { //nolint:err113 // For the test.
		t.Error("what can't be read is nobody's")
	}
}

// TestOwnAddressIsTold: an entry whose address is this node's is told when it's read, once, and not when its machine asks.
func TestOwnAddressIsTold(t *testing.T) {
	loops := boot.Segment{Name: boot.Name{Namespace: "lab", Name: "rack"}, Mode: boot.SegmentAuthoritative, Subnets: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	plan := func(name, mac, address string) boot.Plan {
		return boot.Plan{
			Entry: boot.Name{Namespace: "lab", Name: name}, EntryUID: name, MACs: []boot.MAC{boot.MAC(mac)},
			Network: boot.Network{Name: loops.Name, Address: netip.MustParsePrefix(address)},
		}
	}
	right := plan("right", "52:54:00:00:00:01", "127.0.0.9/8")
	proxied := loops
	proxied.Mode = boot.SegmentProxy
	cases := map[string]struct {
		reason  string
		segment boot.Segment
		plan    boot.Plan
		want    int
	}{
		"Own":     {"this node's", loops, plan("own", "52:54:00:00:00:02", "127.0.0.1/8"), 1},
		"Other":   {"another one", loops, plan("other", "52:54:00:00:00:02", "127.0.0.2/8"), 0},
		"Proxied": {"another server gives the addresses", proxied, plan("own", "52:54:00:00:00:02", "127.0.0.1/8"), 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			log := &lines{}
			d := &daemon{c: Config{Logger: slogTo(log)}}
			segments := []boot.Segment{tc.segment}
			before := boot.NewState(segments, []boot.Plan{right}, nil)
			d.tellOwn(before, nil, false)
			grown, ok := before.With([]*boot.Plan{&tc.plan})
			if !ok {
				t.Fatal("it isn't taken in")
			}
			more, only := grown.Since(before)
			d.tellOwn(grown, more, only)
			d.tellOwn(grown, nil, true)
			all := boot.NewState(segments, []boot.Plan{right, tc.plan}, nil)
			d.tellOwn(all, nil, false)
			d.tellOwn(all, nil, false)
			if got := strings.Count(log.String(), "entry=lab/"+tc.plan.Entry.Name); got != tc.want || strings.Contains(log.String(), "lab/right") {
				t.Errorf("%s: told %d times, want %d:\n%s", tc.reason, got, tc.want, log.String())
			}
			d.tellOwn(before, nil, false)
			d.tellOwn(all, nil, false)
			if got := strings.Count(log.String(), "127.0.0.1 is this node's own"); got != 2*tc.want {
				t.Errorf("%s: it was mended and came back: told %d times", tc.reason, got)
			}
		})
	}
}

// TestHasMAC: a machine that was booted from here, and runs a bootd now, is known by any of its NICs.
func TestHasMAC(t *testing.T) {
	list := func() ([]net.Interface, error) {
		return []net.Interface{{Name: "lo"}, {Name: "eno1", HardwareAddr: net.HardwareAddr{0x52, 0x54, 0, 0, 0, 1}}}, nil
	}
	for mac, want := range map[boot.MAC]bool{"52:54:00:00:00:01": true, "52:54:00:00:00:02": false} {
		if got := hasMAC([]boot.MAC{"52:54:00:00:00:09", mac}, list); got != want {
			t.Errorf("%s: %t", mac, got)
		}
	}
	if !hasMAC(nil, func() ([]net.Interface, error) { return nil, errors.New("netlink") }) { //nolint:err113 // For the test.
		t.Error("where nobody can tell, a machine gets what it's to have")
	}
}
