package vm_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/dhcpv4/server4"
	"github.com/pin/tftp/v3"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
)

// The second bridge in these tests' network, and what is on it; the first is the rack's.
const (
	bridge      = "br1"
	firstStages = "/usr/lib/ipxe"
)

// segment serves one bridge the least that firmware needs: DHCP by broadcast and Debian's iPXE by TFTP.
type segment struct {
	mu   sync.Mutex
	seen []string // class and user class of every DISCOVER that was answered, duplicates left out
}

func (s *segment) answer(conn net.PacketConn, _ net.Addr, req *dhcpv4.DHCPv4) {
	kind := dhcpv4.MessageTypeOffer
	if req.MessageType() == dhcpv4.MessageTypeRequest {
		kind = dhcpv4.MessageTypeAck
	}
	here := net.IPv4(10, 88, 0, 1)
	if strings.HasPrefix(req.ClassIdentifier(), "HTTPClient") {
		return // OVMF may try HTTP Boot after a PXE boot that came back
	}
	user := string(req.Options.Get(dhcpv4.OptionUserClassInformation))
	resp, err := dhcpv4.NewReplyFromRequest(req, dhcpv4.WithMessageType(kind), dhcpv4.WithYourIP(net.IPv4(10, 88, 0, 11)),
		dhcpv4.WithServerIP(here), dhcpv4.WithOption(dhcpv4.OptServerIdentifier(here)), dhcpv4.WithLeaseTime(3600),
		dhcpv4.WithNetmask(net.IPv4Mask(255, 255, 255, 0)))
	if err != nil {
		return
	}
	switch {
	case user == "iPXE":
		resp.UpdateOption(dhcpv4.OptBootFileName("http://10.88.0.1/boot.ipxe"))
	case req.ClassIdentifier() != "":
		resp.BootFileName = "snponly.efi"
	}
	s.note(strings.TrimSpace(req.ClassIdentifier() + " " + user))
	_, _ = conn.WriteTo(resp.ToBytes(), &net.UDPAddr{IP: net.IPv4bcast, Port: 68})
}

func (s *segment) note(who string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) == 0 || s.seen[len(s.seen)-1] != who {
		s.seen = append(s.seen, who)
	}
}

func (s *segment) askers() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.seen...)
}

// serve starts everything on the bridge and ends it with the test.
func (s *segment) serve(t *testing.T, handler http.Handler) {
	t.Helper()
	d, err := server4.NewServer(bridge, nil, s.answer)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = d.Serve() }()
	files := tftp.NewServer(func(name string, to io.ReaderFrom) error {
		f, err := os.Open(filepath.Join(firstStages, filepath.Base(name)))
		if err != nil {
			return errors.New("no such file")
		}
		defer func() { _ = f.Close() }()
		_, err = to.ReadFrom(f)
		return err
	}, nil)
	go func() { _ = files.ListenAndServe("10.88.0.1:69") }()
	l, err := net.Listen("tcp4", "10.88.0.1:80")
	if err != nil {
		t.Fatal(err)
	}
	h := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go func() { _ = h.Serve(l) }()
	t.Cleanup(func() {
		_ = d.Close()
		files.Shutdown()
		_ = h.Close()
	})
}

func TestUEFIOnSegment(t *testing.T) {
	needMachines(t)
	parallel(t)
	a := artifacts(t)
	wire, err := qemu.NewSegment(bridge, "10.88.0.1/24")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = wire.Close() }()
	tap, err := wire.Tap("tap0")
	if err != nil {
		t.Fatal(err)
	}
	web := &server{a: a, files: map[string]string{
		"/vmlinuz": a.Kernel.Path, "/initrd.img": a.Initrd.Path, "/disk.img": a.Image.Path,
	}}
	net1 := &segment{}
	net1.serve(t, web)
	m, err := qemu.New(qemu.Config{
		Name: "uefi", MAC: net.HardwareAddr{0x52, 0x54, 0, 0x99, 0, 2}, Dir: t.TempDir(), Netdev: tap, Firmware: qemu.UEFI,
		UUID: uuid.MustParse("4c4c4544-0044-4a10-8051-b4c04f4a3135"),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := m.On(bmc.BootPxe); err != nil {
		t.Fatal(err)
	}
	if err := m.WaitSerial(ctx, "GUEST running from disk", 1); err != nil {
		t.Fatal(err)
	}
	const class = "PXEClient:Arch:00007:UNDI:003000"
	const again = "PXEClient:Arch:00007:UNDI:003010 iPXE"
	want := []string{class, again, ""}
	if diff := cmp.Diff(want, net1.askers()); diff != "" {
		t.Errorf("firmware, iPXE, installer and installed system ask; the last two look alike: -want +got:\n%s", diff)
	}
	if got := diskDigest(t, m, a.Image.Size); got != a.Image.Digest {
		t.Errorf("the disk holds %s, the image is %s", got, a.Image.Digest)
	}
	if err := m.Restart(bmc.BootNormal); err != nil {
		t.Fatal(err)
	}
	if err := m.WaitSerial(ctx, "GUEST running from disk", 2); err != nil {
		t.Fatalf("a disk-first machine starts its disk without asking anybody: %v", err)
	}
	if diff := cmp.Diff(want, net1.askers()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
