package bootd

import (
	"errors"
	"net"
	"net/netip"
	"testing"
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
