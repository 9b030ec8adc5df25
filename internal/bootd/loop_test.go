package bootd

import (
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tftp"
)

// TestLoop: a machine that begins to boot again and again is told of, in the log and in its session. What it's told stays the same: nobody asks for that here.
func TestLoop(t *testing.T) {
	sees := func(x session.Sighting) func(*daemon, *boot.Plan, time.Time) {
		return func(d *daemon, p *boot.Plan, at time.Time) {
			x.At = at
			d.Sight(p.Entry, x)
			if x.Kind == session.SawScript {
				d.reached(session.MachineOf(p.Entry), boot.StageScript, at)
			}
		}
	}
	disk := sees(session.Sighting{Kind: session.SawScript, Reason: boot.DecidedInstalled, Disk: true})
	live := sees(session.Sighting{Kind: session.SawScript, Live: true})
	nothing := func(*daemon, *boot.Plan, time.Time) {}
	cases := map[string]struct {
		reason string
		mode   boot.SegmentMode
		six    bool // It has an address of the other family, too.
		boot   func(*daemon, *boot.Plan, time.Time)
		says   string
		report string
		// firmware is UEFI on amd64 where it isn't said.
		firmware  boot.Firmware
		advertise netip.Addr
	}{
		"Disk": {"it's sent to its disk", boot.SegmentProxy, false, disk, "a machine doesn't boot its disk", "sent to its disk 10 times", boot.Firmware{}, netip.Addr{}},
		"Live": {"its live system crashes", boot.SegmentProxy, false, live, "a machine doesn't stay in its live system", "given its live system 10 times", boot.Firmware{}, netip.Addr{}},
		"LiveRuns": {"its live system says something", boot.SegmentAuthoritative, false, func(d *daemon, p *boot.Plan, at time.Time) {
			live(d, p, at)
			sees(session.Sighting{Kind: session.SawReport, Live: true})(d, p, at)
		}, "", "", boot.Firmware{}, netip.Addr{}},
		"Lost": {"its first stage crashes", boot.SegmentAuthoritative, false, nothing, "a machine doesn't come to its boot script", "began anew 10 times", boot.Firmware{}, netip.Addr{}},
		"Held": {"it waits", boot.SegmentAuthoritative, false, sees(session.Sighting{Kind: session.SawScript, Reason: boot.DecidedStale}), "", "", boot.Firmware{}, netip.Addr{}},
		"HeldPi": {"it has no script to reach", boot.SegmentAuthoritative, false, func(d *daemon, p *boot.Plan, at time.Time) {
			d.Sight(p.Entry, session.Sighting{Kind: session.SawScript, At: at, Reason: boot.DecidedStale})
		}, "", "", boot.Firmware{}, netip.Addr{}},
		"Opened": {"the script of an install is no sight", boot.SegmentAuthoritative, false, func(d *daemon, p *boot.Plan, at time.Time) {
			d.reached(session.MachineOf(p.Entry), boot.StageScript, at)
		}, "", "", boot.Firmware{}, netip.Addr{}},
		"Other": {"it took another server's offer", boot.SegmentAuthoritative, false, func(d *daemon, p *boot.Plan, _ time.Time) {
			d.otherServer(p, netip.MustParseAddr("10.77.0.9"))
		}, "", "", boot.Firmware{}, netip.Addr{}},
		"Proxy": {"another server may have another boot for it", boot.SegmentProxy, false, nothing, "", "", boot.Firmware{}, netip.Addr{}},
		"Both":  {"another bootd may have its other family", boot.SegmentAuthoritative, true, nothing, "", "", boot.Firmware{}, netip.Addr{}},
		"BothLoaded": {"it had its first stage of us", boot.SegmentAuthoritative, true, func(d *daemon, p *boot.Plan, at time.Time) {
			d.watchLoop(session.MachineOf(p.Entry), p, "", boot.StageFirmware, boot.Firmware{}, at)
		}, "a machine doesn't come to its boot script", "began anew 10 times", boot.Firmware{}, netip.Addr{}},
		"NoFile":   {"there's no first stage for its firmware, which goes on by itself", boot.SegmentAuthoritative, false, nothing, "", "", boot.Firmware{Kind: boot.FirmwareUEFI, Arch: boot.ARM64}, netip.Addr{}},
		"Balanced": {"another bootd is behind the address that it's told", boot.SegmentAuthoritative, false, nothing, "", "", boot.Firmware{}, netip.MustParseAddr("192.0.2.1")},
		"Kernel": {"a Raspberry Pi that is installed reaches no script", boot.SegmentAuthoritative, false, func(d *daemon, p *boot.Plan, at time.Time) {
			d.reached(session.MachineOf(p.Entry), boot.StageKernel, at)
		}, "", "", boot.Firmware{Kind: boot.FirmwareRaspberryPi, Arch: boot.ARM64}, netip.Addr{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.firmware.Kind == "" {
				tc.firmware = boot.Firmware{Kind: boot.FirmwareUEFI, Arch: boot.AMD64}
			}
			rack := boot.Segment{Name: boot.Name{Namespace: "lab", Name: "rack"}, Mode: tc.mode}
			p := &boot.Plan{Entry: boot.Name{Namespace: "lab", Name: "m1"}, EntryUID: "u1", MACs: []boot.MAC{"52:54:00:00:00:01"}, Network: boot.Network{Name: rack.Name}}
			if tc.six {
				p.Network.Six = &boot.Place{Address: netip.MustParsePrefix("fd00::1/64")}
			}
			m, store, log := session.MachineOf(p.Entry), &oneSession{}, &text{}
			d := &daemon{
				c: Config{Logger: slog.New(slog.NewTextHandler(log, nil)), HTTPListen: ":8480", Advertise: tc.advertise}, files: tftp.Load(t.TempDir()), trails: session.NewTrails(), source: &alone{st: boot.NewState([]boot.Segment{rack}, nil, nil)},
				sessions: session.New(session.Options{Store: store, Now: time.Now, Logger: slog.New(slog.DiscardHandler), Log: emptyLog(t)}),
			}
			d.metrics = newMetrics(d)
			now := time.Now()
			d.watchLoop(m, p, "", boot.StageDHCP, tc.firmware, now)
			for range 10 {
				if log.has("level=WARN") {
					t.Error("it's said too early")
				}
				tc.boot(d, p, now)
				now = now.Add(time.Minute)
				d.watchLoop(m, p, "", boot.StageDHCP, tc.firmware, now)
			}
			_ = d.sessions.Check(t.Context(), p, boot.Claims{}) // Any change writes what waits.
			if got := store.written.Progress.Report; !strings.Contains(got, tc.report) || len(got) == session.MaxMessage || tc.says == "" && got != "" {
				t.Errorf("%s: the session says %q", tc.reason, got)
			}
			if got := log.has("level=WARN"); got != (tc.says != "") || !log.has(tc.says) || got && (!log.has("entry=lab/m1 ") || !log.has("52:54:00:00:00:01") || !log.has("times=10 ")) {
				t.Errorf("%s: the log says %s", tc.reason, log.b.String())
			}
			d.watchLoop(m, p, "", boot.StageBootedFromDisk, boot.Firmware{}, now)
			if _, n, _ := d.trails.Began(m, session.Way{}, func() bool { return true }, now); n != 0 {
				t.Error("its system runs, and it's counted on")
			}
		})
	}
}
