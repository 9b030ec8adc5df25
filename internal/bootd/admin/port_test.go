package admin

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/trace"
)

// TestExplainPort: a machine of a switch port is asked about as it would ask from there, and found by the MAC that was seen there.
func TestExplainPort(t *testing.T) {
	const guest, stranger = boot.MAC("52:54:00:00:00:77"), boot.MAC("52:54:00:00:00:99")
	live := fmt.Sprint(boot.AnswerLive, " ", boot.DecidedLive)
	relay := netip.MustParseAddr("10.77.0.2")
	port := &boot.Port{Circuit: "Ethernet1/12", Remote: "leaf-1"}
	holders := func(t *testing.T) *dhcp.Holders {
		t.Helper()
		h, err := dhcp.OpenHolders(filepath.Join(t.TempDir(), "ports.json"))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	of := func(alone bool) func(*rig) {
		return func(r *rig) {
			r.segment.Relays, r.plan.Port, r.holders = []netip.Prefix{netip.PrefixFrom(relay, 32)}, port, holders(t)
			if alone {
				r.plan.MACs, r.plan.Mode, r.plan.InstallGeneration = nil, boot.ModeLive, 0
			}
		}
	}
	seen := func(r *rig) {
		of(true)(r)
		r.holders.Name(r.plan.PlaceKey(), guest)
	}
	cases := map[string]struct {
		reason string
		change func(*rig)
		q      Query
		answer string
		script string
		text   string
	}{
		"Beside":   {"as it's granted behind its port", of(false), Query{MAC: string(mac1), Firmware: "bios"}, "OFFER", "Install Granted", `"Ethernet1/12" of "leaf-1", behind which none was seen`},
		"Free":     {"whoever boots there first", of(true), Query{Entry: "m1", Firmware: "bios"}, "OFFER", live, "behind which none was seen"},
		"Held":     {"the one that was seen there", seen, Query{Entry: "m1", Firmware: "bios"}, "OFFER", live, "behind which " + string(guest) + " was seen"},
		"HolderIs": {"found by its MAC", seen, Query{MAC: string(guest), Firmware: "bios"}, "OFFER", live, "lab/m1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := newRig(t, tc.change).explains(tc.q)
			if e.DHCP[0].Answer != tc.answer || fmt.Sprint(e.Scripts[0].Answer, " ", e.Scripts[0].Reason) != tc.script {
				t.Errorf("%s: %+v, %s %s", tc.reason, e.DHCP[0], e.Scripts[0].Answer, e.Scripts[0].Reason)
			}
			if !strings.Contains(e.Text(), tc.text) {
				t.Errorf("%s:\n%s", tc.reason, e.Text())
			}
		})
	}

	r := newRig(t, seen)
	data, err := dhcp.DiscoverBehind(stranger, dhcp.Guise{Client: dhcp.ClientPXE, Arch: dhcp.ArchBIOS}, relay, netip.Addr{}, port)
	if err != nil {
		t.Fatal(err)
	}
	asks := trace.Packet{At: start().Add(-time.Second), From: netip.AddrPortFrom(relay, 67), To: netip.MustParseAddrPort("10.77.0.5:67"), Index: 3, Data: data}
	r.ring.Add(stranger, false, asks, trace.Packet{})
	h := &handler{Options{View: r.dhcp.View, Trace: r.ring, Now: start, Interfaces: func() []Interface { return nil }}}
	if _, _, err := h.find(r.state, Query{MAC: string(stranger)}); err == nil || !strings.Contains(err.Error(), `port "Ethernet1/12" of "leaf-1"`) {
		t.Errorf("where a stranger was heard isn't said: %v", err)
	}
	r.ring.Add(guest, true, asks, trace.Packet{})
	if x := r.explains(Query{Entry: "m1"}).LastAsked; x == nil || !strings.HasSuffix(x.Via, `port "Ethernet1/12" of "leaf-1"`) {
		t.Errorf("what it asked last: %+v", x)
	}
}

// TestTowards: a relay asks the address that is on the way to it; where there's no way there's none.
func TestTowards(t *testing.T) {
	if got := towards(netip.MustParseAddr("127.0.0.9")); got != netip.MustParseAddr("127.0.0.1") {
		t.Errorf("%s", got)
	}
	if got := towards(netip.MustParseAddr("fd00::1")); got.IsValid() {
		t.Errorf("%s", got)
	}
}
