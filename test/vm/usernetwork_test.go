package vm_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/test/able"
	"github.com/crossplane-contrib/provider-baremetal/test/guest"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
)

// server is the least that a virtual machine can boot from, reached through QEMU's user network: it needs no root.
type server struct {
	mu    sync.Mutex
	asked []string
	files map[string]string // path → file
	local bool              // the script sends the machine to its disk
	a     guest.Artifacts
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+r.URL.Path)
	local := s.local
	if r.URL.Path == "/installed" {
		s.local = true
	}
	s.mu.Unlock()
	switch path, ok := s.files[r.URL.Path]; {
	case ok:
		http.ServeFile(w, r, path)
	case r.Method == http.MethodPost:
		w.WriteHeader(http.StatusNoContent)
	case local:
		_, _ = io.WriteString(w, "#!ipxe\nexit 1\n")
	default:
		//nolint:gosec // iPXE runs no scripts of browsers
		_, _ = fmt.Fprintf(w, "#!ipxe\nkernel http://%[1]s/vmlinuz initrd=initrd.img %[2]s baremetal.callback=http://%[1]s "+
			"baremetal.image=http://%[1]s/disk.img baremetal.image-digest=%[3]s\ninitrd http://%[1]s/initrd.img\nboot\n",
			r.Host, guest.CommandLine, s.a.Image.Digest)
	}
}

func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

func TestInstallOverUserNetwork(t *testing.T) {
	able.Need(t, qemu.Missing(qemu.BIOS))
	if testing.Short() {
		t.Skip("skipped: -short, and a virtual machine takes its time")
	}
	parallel(t)
	a := artifacts(t)
	s := &server{a: a, files: map[string]string{
		"/vmlinuz": a.Kernel.Path, "/initrd.img": a.Initrd.Path, "/disk.img": a.Image.Path,
	}}
	h := httptest.NewServer(s)
	defer h.Close()
	_, port, _ := net.SplitHostPort(h.Listener.Addr().String())
	m, err := qemu.New(qemu.Config{
		Name: "bios", MAC: net.HardwareAddr{0x52, 0x54, 0, 0x99, 0, 1}, Dir: t.TempDir(), Serial: "SIM1",
		Netdev: "user,bootfile=http://10.0.2.2:" + port + "/boot.ipxe",
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
	want := []string{
		"GET /boot.ipxe", "GET /vmlinuz", "GET /initrd.img", "POST /begin", "GET /disk.img", "POST /progress", "POST /installed",
	}
	if diff := cmp.Diff(want, s.requests()); diff != "" {
		t.Errorf("a disk-first machine that was told once to boot by PXE asks once: -want +got:\n%s", diff)
	}
	if got := diskDigest(t, m, a.Image.Size); got != a.Image.Digest {
		t.Errorf("the disk holds %s, the image is %s", got, a.Image.Digest)
	}
	if err := m.Restart(bmc.BootPxe); err != nil {
		t.Fatal(err)
	}
	if err := m.WaitSerial(ctx, "GUEST running from disk", 2); err != nil {
		t.Fatal(err)
	}
	if got := s.requests(); len(got) != len(want)+1 || got[len(want)] != "GET /boot.ipxe" {
		t.Errorf("a reset to PXE asks for the script again and is sent to the disk; requests: %v", got)
	}
	gracefully(ctx, t, m)
	if m.Starts() != 1 {
		t.Errorf("%d power-ons, want 1", m.Starts())
	}
}

// gracefully presses the power button until the guest hears it: its driver may not be loaded yet.
func gracefully(ctx context.Context, t *testing.T, m *qemu.Machine) {
	t.Helper()
	if err := m.Off(true); err != nil {
		t.Fatal(err)
	}
	for m.Powered() {
		select {
		case <-ctx.Done():
			t.Fatal("the guest did not obey the power button")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func diskDigest(t *testing.T, m *qemu.Machine, size int64) string {
	t.Helper()
	d, err := m.Disk()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	h := sha256.New()
	if _, err := io.CopyN(h, d, size); err != nil {
		t.Fatal(err)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
