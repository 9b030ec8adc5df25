package admin

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/trace"
)

// TestExplainBoth: a machine with two addresses is told of by both protocols, and found by either address.
func TestExplainBoth(t *testing.T) {
	const mac = boot.MAC("52:54:00:00:09:01")
	at := time.Date(2026, 8, 1, 10, 41, 7, 0, time.UTC)
	name := boot.Name{Namespace: "edge", Name: "rack-1"}
	st := boot.NewState([]boot.Segment{{
		Name: name, Subnets: []netip.Prefix{netip.MustParsePrefix("10.77.0.0/24"), netip.MustParsePrefix("fd00:77::/64")}, Mode: boot.SegmentAuthoritative,
	}}, []boot.Plan{{
		Entry: boot.Name{Namespace: "edge", Name: "node-1"}, EntryUID: "u1", MACs: []boot.MAC{mac}, Mode: boot.ModeLive,
		Network: boot.Network{
			Name: name, Address: netip.MustParsePrefix("10.77.0.11/24"), Lease: time.Hour,
			Six: &boot.Place{Address: netip.MustParsePrefix("fd00:77::11/64"), Gateway: netip.MustParseAddr("fd00:77::1")},
		},
	}}, nil)
	keys, files := [][]byte{[]byte("0123456789abcdef0123456789abcdef")}, dhcp.Files{BIOS: "undionly.kpxe", UEFIAMD64: "snponly.efi"}
	h := &handler{Options{
		View: func() dhcp.View { return dhcp.View{State: st, Keys: keys, Now: at, HTTPPort: 8480, Files: files} },
		View6: func() (dhcp6.View, bool) {
			return dhcp6.View{State: st, Keys: keys, Now: at, TFTP: true, HTTPPort: 8480, Files: files}, true
		},
		Logged: func(string, string) []boot.Consumption { return nil }, Trace: trace.New(1 << 20), Now: func() time.Time { return at },
		Interfaces: func() []Interface {
			return []Interface{{Name: "eth1", Index: 3, Addresses: []netip.Addr{netip.MustParseAddr("10.77.0.2")}, Six: []netip.Addr{netip.MustParseAddr("fd00:77::2")}}}
		},
		File: func(string) (int, bool, bool) { return 1234, false, true },
	}}
	for _, ip := range []string{"10.77.0.11", "fd00:77::11"} {
		p, _, err := h.find(st, Query{IP: ip})
		if err != nil {
			t.Fatal(err)
		}
		e, err := h.explain(t.Context(), p, mac, "")
		if err != nil {
			t.Fatal(err)
		}
		text := e.Text()
		for _, want := range []string{
			"address 10.77.0.11/24, gateway none", "and address fd00:77::11/64, gateway fd00:77::1", "UEFI x64, PXE ", "OFFER 10.77.0.11, then snponly.efi",
			"UEFI x64, PXE, IPv6", "ADVERTISE fd00:77::11, then tftp://[fd00:77::2]/snponly.efi",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("it doesn't say %q:\n%s", want, text)
			}
		}
	}
}

// TestExplainIPv6: a machine of IPv6 is told of by what DHCPv6 would answer it, on the link and through a relay.
func TestExplainIPv6(t *testing.T) {
	const mac = boot.MAC("52:54:00:00:09:01")
	at := time.Date(2026, 8, 1, 10, 41, 7, 0, time.UTC)
	name := boot.Name{Namespace: "edge", Name: "rack-1"}
	plan := boot.Plan{
		Entry: boot.Name{Namespace: "edge", Name: "node-1"}, EntryUID: "u1", MACs: []boot.MAC{mac}, Mode: boot.ModeLive,
		Network: boot.Network{Name: name, Address: netip.MustParsePrefix("fd00:77::11/64"), Lease: time.Hour},
	}
	here := []Interface{{Name: "eth1", Index: 3, Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.2")}, Six: []netip.Addr{netip.MustParseAddr("fd00:77::2")}}}
	away := []Interface{{Name: "eth1", Index: 3, Six: []netip.Addr{netip.MustParseAddr("fd00:1::2")}}}
	cases := map[string]struct {
		reason     string
		interfaces []Interface
		closed     bool
		via, file  string
		answer     string
	}{
		"Link":   {"this node is on the segment", here, false, "multicast on eth1", "tftp://[fd00:77::2]/snponly.efi", "ADVERTISE"},
		"Relay":  {"it isn't", away, false, "relay fd00:77::1", "tftp://[fd00:1::2]/snponly.efi", "ADVERTISE"},
		"Closed": {"nothing is served over IPv6", here, true, "DHCPv6", "", silence},
	}
	for label, tc := range cases {
		t.Run(label, func(t *testing.T) {
			st := boot.NewState([]boot.Segment{{Name: name, Subnets: []netip.Prefix{netip.MustParsePrefix("fd00:77::/64")}, Mode: boot.SegmentAuthoritative}}, []boot.Plan{plan}, nil)
			ring := trace.New(1 << 20)
			h := &handler{Options{
				View: func() dhcp.View { return dhcp.View{State: st, Now: at} },
				View6: func() (dhcp6.View, bool) {
					v := dhcp6.View{State: st, Keys: [][]byte{[]byte("0123456789abcdef0123456789abcdef")}, Now: at, TFTP: true, HTTPPort: 8480, Files: dhcp.Files{UEFIAMD64: "snponly.efi"}}
					return v, !tc.closed
				},
				Logged: func(string, string) []boot.Consumption { return nil }, Interfaces: func() []Interface { return tc.interfaces }, Trace: ring,
				File: func(name string) (int, bool, bool) { return 1234, false, name == "snponly.efi" }, Now: func() time.Time { return at },
			}}
			request, from, err := dhcp6.Solicit(mac, dhcp.Guise{Client: dhcp.ClientOS}, netip.Addr{})
			if err != nil {
				t.Fatal(err)
			}
			ring.Add(mac, true, trace.Packet{At: at, From: netip.AddrPortFrom(from, 546), To: netip.AddrPortFrom(dhcp6.Group(), 547), Index: 3, Data: request}, trace.Packet{})
			p, _ := st.ByMAC(mac)
			e, err := h.explain(t.Context(), p, mac, "uefi-x64")
			if err != nil {
				t.Fatal(err)
			}
			x := e.DHCP[0]
			if x.As != "UEFI x64, PXE" || x.Via != tc.via || x.File != tc.file || x.Answer != tc.answer {
				t.Errorf("%s: %+v", tc.reason, x)
			}
			if tc.closed {
				if !strings.Contains(e.WaitsFor, reasonNoSix) {
					t.Errorf("%s: waits for %q", tc.reason, e.WaitsFor)
				}
				return
			}
			if x.Address != "fd00:77::11" || !strings.HasPrefix(x.TFTP, "1234 bytes") || e.DHCP[1].File == "" || strings.Contains(e.DHCP[1].File, "boot/u1") {
				t.Errorf("%s: %+v", tc.reason, e.DHCP)
			}
			if e.LastAsked == nil || e.LastAsked.As != "its system" {
				t.Errorf("%s: last asked %+v", tc.reason, e.LastAsked)
			}
		})
	}
}
