package bootd

import (
	"log/slog"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/foreign"
)

// knows is a source that knows one state.
type knows struct {
	Source

	st *boot.State
}

// State is that.
func (k knows) State() *boot.State { return k.st }

// TestOthers: a server that isn't ours keeps a segment from beginning, and is reported; ours and the peers aren't others.
func TestOthers(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	g := boot.Segment{
		Name: boot.Name{Namespace: "infra", Name: "rack-7"}, Mode: boot.SegmentAuthoritative, RefuseForeign: true,
		Subnets: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	}
	st := boot.NewState([]boot.Segment{g}, nil, nil)
	d := &daemon{
		c:      Config{Advertise: netip.MustParseAddr("10.77.0.5"), Peers: []netip.Addr{netip.MustParseAddr("10.77.0.6")}},
		source: knows{st: st}, proxy: &proxyPort{},
	}
	d.others = foreign.Open(foreign.Options{
		State: func() *boot.State { return st }, Ours: d.ours, Path: filepath.Join(t.TempDir(), "begun.json"),
		Now: func() time.Time { return now }, Logger: slog.New(slog.DiscardHandler),
	})
	in := dhcp.Ingress{Interface: "eth1", Addresses: []netip.Addr{netip.MustParseAddr("127.0.0.1")}}
	for _, a := range []string{"10.77.0.5", "127.0.0.1"} {
		d.named(netip.MustParseAddr(a), in)
	}
	if r := d.report(g); len(r.Foreign) > 0 || r.Message != "" || d.mayBegin(g.Name) != dhcp.SilentListening {
		t.Errorf("ours are taken for others: %+v, %q", r, d.mayBegin(g.Name))
	}
	d.named(netip.MustParseAddr("10.77.0.99"), in)
	r := d.report(g)
	if d.mayBegin(g.Name) != dhcp.SilentForeign || r.Reason != reasonForeignServer || !strings.Contains(r.Message, "DHCP server 10.77.0.99 (its MAC wasn't heard) answers on interface eth1 since 2026-08-01T12:00:00Z") {
		t.Errorf("%q: %+v", d.mayBegin(g.Name), r)
	}
	if len(r.Addresses) == 0 {
		t.Error("this node's addresses aren't told: to other bootds it would be a stranger")
	}
	d.others.Began(g.Name)
	if r := d.report(g); d.mayBegin(g.Name) != "" || r.Message != "" || len(r.Foreign) != 1 {
		t.Errorf("what has begun goes on, and says who else is there: %q, %+v", d.mayBegin(g.Name), r)
	}
	d.solicits = &solicited{}
	d.solicits.problem.set("to hear them takes the right CAP_NET_RAW")
	if r := d.report(g); r.Message != "" {
		t.Errorf("a network that leaves solicitations alone is told of them: %+v", r)
	}
	g.Advertises = &boot.Advertisement{}
	if r := d.report(g); r.Message != "to hear them takes the right CAP_NET_RAW" || r.Reason != "" {
		t.Errorf("a network that is served but for solicitations has a note of it: %+v", r)
	}
	g.Interfaces = []string{"eth77"}
	if r := d.report(g); r.Reason != reasonNoInterface || !strings.HasPrefix(r.Message, "serveOn.interfaces names eth77, which this node hasn't") {
		t.Errorf("a node without its interface: %+v", r)
	}
	g.Interfaces = nil
	d.proxy.problem.set("UDP 0.0.0.0:4011 is in use by dnsmasq (pid 811)")
	g.Mode = boot.SegmentProxy
	if r := d.report(g); r.Reason != reasonPortInUse || r.Message != d.proxy.problem.get() {
		t.Errorf("%+v", r)
	}
}
