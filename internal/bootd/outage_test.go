package bootd

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/snapshot"
)

// TestGrantsOfASnapshot: a bootd that is restarted while nothing can be read goes on from its snapshot: addresses, and the disk. A live grant in
// it is never honoured.
func TestGrantsOfASnapshot(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		source func(c *Config)
		why    string
	}{
		"API":    {"the API is away", func(c *Config) { c.Kube = &rest.Config{Host: "http://" + freePort(t)} }, boot.DecidedNotSynced},
		"Folder": {"the disk with the specs isn't mounted", func(c *Config) { c.SpecDir = t.TempDir() }, gate.ReasonHeld},
	} {
		t.Run(name, func(t *testing.T) {
			c := config(t)
			c.HealthListen = freePort(t)
			tc.source(&c)
			save(t, c.StateDir, granted())
			running(t, c)
			_, script := get(t, request(t, c.DHCPListen))
			if !strings.Contains(script, tc.why) || strings.Contains(script, "kernel") {
				t.Errorf("%s:\n%s", tc.reason, script)
			}
			if status, _ := get(t, "http://"+c.HTTPListen+"/metrics"); status != http.StatusNotFound {
				t.Errorf("machines see the metrics: %d", status)
			}
		})
	}
}

// TestAnHourWithoutAPI: a bootd that finds no API when it starts, and for more than an hour, renews every lease and sends to its disk who boots from
// it; nothing is installed, whatever was granted before, and the metrics say that it's out of touch.
func TestAnHourWithoutAPI(t *testing.T) {
	c := config(t)
	c.HealthListen, c.Kube = freePort(t), &rest.Config{Host: "http://" + freePort(t)}
	var passed atomic.Int64
	c.Now = func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
	st := granted()
	first, _ := st.ByMAC("52:54:00:00:00:01")
	runs := *first
	runs.Entry.Name, runs.EntryUID, runs.HostUID, runs.InstallGeneration = "m2", "u2", "h2", 0
	runs.MACs, runs.Network.Address = []boot.MAC{"52:54:00:00:00:02"}, netip.MustParsePrefix("127.0.0.12/8")
	save(t, c.StateDir, boot.NewState(st.Segments, []boot.Plan{*first, runs}, []boot.Session{st.Sessions["u1"]}))
	running(t, c)
	for _, after := range []time.Duration{0, 30 * time.Minute, 59 * time.Minute, 61 * time.Minute, 26 * time.Hour, -24 * time.Hour} {
		passed.Store(int64(after))
		renewal := exchange(t, c.DHCPListen, "52:54:00:00:00:02", dhcpv4.WithMessageType(dhcpv4.MessageTypeRequest), dhcpv4.WithClientIP(net.IPv4(127, 0, 0, 12)))
		if renewal.MessageType() != dhcpv4.MessageTypeAck || !renewal.YourIPAddr.Equal(net.IPv4(127, 0, 0, 12)) || renewal.IPAddressLeaseTime(0) <= 0 {
			t.Errorf("after %s the lease isn't renewed: %s", after, renewal.Summary())
		}
		if _, script := get(t, exchange(t, c.DHCPListen, "52:54:00:00:00:02").BootFileNameOption()); !strings.Contains(script, "local disk: ") {
			t.Errorf("after %s a machine isn't sent to its disk:\n%s", after, script)
		}
		if _, script := get(t, request(t, c.DHCPListen)); strings.Contains(script, "kernel") || !strings.HasPrefix(script, "#!ipxe\n") {
			t.Errorf("after %s a grant of before is honoured:\n%s", after, script)
		}
	}
	if _, metrics := get(t, "http://"+c.HealthListen+"/metrics"); !strings.Contains(metrics, "\nbootd_sync_lag_seconds -1\n") {
		t.Error("the metrics don't say that the API never answered")
	}
}

// granted is a state of a machine that may be installed.
func granted() *boot.State {
	name := boot.Name{Namespace: "lab", Name: "rack"}
	st := boot.NewState(
		[]boot.Segment{{Name: name, Subnets: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Mode: boot.SegmentRelayOnly}},
		[]boot.Plan{{
			Entry: boot.Name{Namespace: "lab", Name: "m1"}, EntryUID: "u1", HostUID: "h", MACs: []boot.MAC{"52:54:00:00:00:01"},
			Network: boot.Network{Name: name, Address: netip.MustParsePrefix("127.0.0.11/8")}, Mode: boot.ModeInstall, InstallGeneration: 1,
			Artifacts: []boot.Artifacts{{Arch: boot.AMD64}},
		}},
		[]boot.Session{{EntryUID: "u1", Grant: &boot.Grant{ID: "00000000000000aa", HostUID: "h", EntryUID: "u1", Generation: 1, Expires: time.Now().Add(time.Hour)}}},
	)
	p, _ := st.ByMAC("52:54:00:00:00:01")
	st.Sessions["u1"].Grant.PlanDigest = p.Digest()
	return st
}

func save(t *testing.T, dir string, st *boot.State) {
	t.Helper()
	c, err := Config{Name: "b", StateDir: dir, PlansDir: "x"}.complete()
	if err != nil {
		t.Fatal(err)
	}
	s := snapshot.In(dir)
	s.Offer(st, [][]byte{[]byte("key")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Run(ctx, c.Logger); err != nil {
		t.Fatal(err)
	}
}
