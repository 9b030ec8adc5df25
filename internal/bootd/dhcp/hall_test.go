package dhcp

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestHall: of more machines than have their plans at hand, those that ask in one batch have each its own address, token and line.
func TestHall(t *testing.T) {
	const machines = 20_000
	mac := func(i int) boot.MAC { return boot.MAC(fmt.Sprintf("52:54:01:00:%02x:%02x", i>>8, i&255)) }
	address := func(i int) string { return fmt.Sprintf("10.99.%d.%d", 1+i>>8, i&255) }
	plans := make([]boot.Plan, machines)
	for i := range plans {
		plans[i] = testPlan(func(p *boot.Plan) {
			p.Entry.Name, p.EntryUID, p.MACs = fmt.Sprint("m-", i), fmt.Sprint("entry-", i), []boot.MAC{mac(i)}
			p.Network.Address = netip.MustParsePrefix(address(i) + "/16")
		})
	}
	var log bytes.Buffer
	var pis []Pi
	var elsewhere []*boot.Plan
	seen := map[string]bool{}
	c, cfg := newCable(), testConfig(testState(func(g *boot.Segment) { g.Subnets = []netip.Prefix{netip.MustParsePrefix("10.99.0.0/16")} }, plans...))
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	cfg.Sightings = SightingsFn(func(p *boot.Plan, _ boot.MAC, _ boot.Stage, _ boot.Firmware, _ time.Time) { seen[p.Entry.Name] = true })
	cfg.Pi = func(x Pi) { pis = append(pis, x) }
	cfg.OtherServer = func(p *boot.Plan, _ netip.Addr) { elsewhere = append(elsewhere, p) }
	w := newWork(New(cfg), c)
	asked := []int{1, 257, 16_400, 19_999}
	for _, i := range asked {
		mods := all(asPXE(0), ofType(dhcpv4.MessageTypeRequest), addressOpt(50, address(i)), onMAC(string(mac(i))))
		w.one(context.Background(), &Packet{Data: request(t, mods).ToBytes(), In: broadcastIn()})
	}
	pi := all(asPXE(0), option(97, append([]byte{0}, "RPi4567812345678"...)...), onMAC(string(mac(300))))
	w.one(context.Background(), &Packet{Data: request(t, pi).ToBytes(), In: broadcastIn()})
	for _, i := range []int{301, 302} {
		other := all(asPXE(0), ofType(dhcpv4.MessageTypeRequest), addressOpt(54, "10.99.0.99"), addressOpt(50, address(i)), onMAC(string(mac(i))))
		w.one(context.Background(), &Packet{Data: request(t, other).ToBytes(), In: broadcastIn()})
	}
	w.flush(context.Background())
	for _, i := range asked {
		p, err := dhcpv4.FromBytes((<-c.out).Data)
		if err != nil || p.YourIPAddr.String() != address(i) || p.ClientHWAddr.String() != string(mac(i)) {
			t.Fatalf("machine %d is told %v: %v", i, p, err)
		}
		if !seen[fmt.Sprint("m-", i)] || !strings.Contains(log.String(), fmt.Sprintf("mac=%s client=PXE from=0.0.0.0:68 interface=br0 entry=tenant/m-%d address=%s/16", mac(i), i, address(i))) {
			t.Errorf("machine %d isn't seen (%v), or its line is missing:\n%s", i, seen, log.String())
		}
	}
	if len(pis) != 1 || pis[0].Plan.Entry.Name != "m-300" || pis[0].Plan.MACs[0] != mac(300) {
		t.Errorf("a plan that's kept stays: %+v", pis)
	}
	if len(elsewhere) != 2 || elsewhere[0].Entry.Name != "m-301" || elsewhere[0].MACs[0] != mac(301) || elsewhere[1].MACs[0] != mac(302) {
		t.Errorf("nor is one of a machine that another server gives its address: %+v", elsewhere)
	}
}
