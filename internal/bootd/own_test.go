package bootd

import (
	"errors"
	"net"
	"net/netip"
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
