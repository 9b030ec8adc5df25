package bootd

import (
	"context"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tftp"
)

// TestTFTPTaken: systems get their addresses over IPv6 though somebody has TFTP's port, which is said, and had as soon as it's free.
func TestTFTPTaken(t *testing.T) {
	other, err := net.ListenPacket("udp6", "[::]:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(other.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := Config{Name: "b", StateDir: t.TempDir(), PlansDir: t.TempDir(), DHCP6Listen: "[::1]:0", TFTPListen: ":" + port}.complete()
	if err != nil {
		t.Fatal(err)
	}
	g := boot.Segment{Mode: boot.SegmentAuthoritative, Subnets: []netip.Prefix{netip.MustParsePrefix("fd00:77::/64")}}
	st := boot.NewState([]boot.Segment{g}, nil, nil)
	x := &six{c: c, tftp: func(ctx context.Context, u *net.UDPConn) error {
		<-ctx.Done()
		return u.Close()
	}}
	if x.learnt, err = dhcp6.OpenLearnt(filepath.Join(c.StateDir, "duids.json")); err != nil {
		t.Fatal(err)
	}
	x.server = func() *dhcp6.Server {
		return dhcp6.New(dhcp6.Config{State: func() *boot.State { return st }, Keys: func() [][]byte { return nil }, TFTP: x.tftpOpen.Load})
	}
	defer x.close()
	x.turn(t.Context(), st)
	v, ok := x.view()
	if !ok || v.TFTP || !strings.Contains(x.Problem(g), "no first stage: cannot listen for TFTP") {
		t.Fatalf("served: %t, TFTP: %t, problem %q", ok, v.TFTP, x.Problem(g))
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	x.triedTFTP, x.joined = time.Time{}, time.Time{}
	x.turn(t.Context(), st)
	if v, ok = x.view(); !ok || !v.TFTP || x.Problem(g) != "" {
		t.Errorf("once it's free: served: %t, TFTP: %t, problem %q", ok, v.TFTP, x.Problem(g))
	}
}

// TestNoHTTPOverSix: where HTTP is served at an address of IPv4 alone, that is said of the networks of IPv6 whose machines have nothing to boot for it.
func TestNoHTTPOverSix(t *testing.T) {
	g := boot.Segment{Mode: boot.SegmentAuthoritative, Subnets: []netip.Prefix{netip.MustParsePrefix("fd00:77::/64")}}
	four := boot.Segment{Mode: boot.SegmentAuthoritative, Subnets: []netip.Prefix{netip.MustParsePrefix("10.77.0.0/24")}}
	for listen, want := range map[string]string{"127.0.0.1:0": "nothing to boot, since HTTP is served at 127.0.0.1:0 alone", "0.0.0.0:0": "", "[::1]:0": "", "": ""} {
		c, err := Config{Name: "b", StateDir: t.TempDir(), PlansDir: t.TempDir(), DHCP6Listen: "[::1]:0", HTTPListen: listen}.complete()
		if err != nil {
			t.Fatal(err)
		}
		var l listeners
		if listen != "" {
			if l.http, err = net.Listen("tcp", listen); err != nil {
				t.Fatal(err)
			}
		}
		st := boot.NewState([]boot.Segment{g, four}, nil, nil)
		d := &daemon{c: c, source: &alone{st: st}, six: &six{c: c}, sights: dhcp.NewSights(), files: tftp.Load(t.TempDir())}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- d.serveSix(ctx, l) }()
		for end := time.Now().Add(10 * time.Second); d.six.answers.Load() == nil || d.six.Problem(g) == "" && want != ""; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%q: it isn't served, or nothing is said", listen)
			}
		}
		if says := d.six.Problem(g); !strings.Contains(says, want) || want == "" && says != "" || d.six.Problem(four) != "" {
			t.Errorf("%q: %q, want %q", listen, says, want)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		l.close()
	}
}
