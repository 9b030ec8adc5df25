package edge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/storm"
)

const (
	// boots go on while both bootds are replaced, one after the other; each loads a kernel of rollingKernel octets.
	boots         = 100
	rollingKernel = 8 << 20
	firstStage    = 300 << 10
	// every is how long after the one before a machine is switched on.
	every = 120 * time.Millisecond
)

// roller is a bootd of two that can be replaced.
type roller struct {
	t     *testing.T
	args  []string
	bin   string
	addr  netip.Addr
	ports [3]uint16 // DHCP, TFTP, HTTP: both have the same, at addresses of their own.

	cmd   *exec.Cmd
	ended chan struct{}
}

func (r *roller) start() {
	r.t.Helper()
	at := func(i int) string { return netip.AddrPortFrom(r.addr, r.ports[i]).String() }
	args := append([]string{
		"--dhcp-listen=" + at(0), "--tftp-listen=" + at(1), "--http-listen=" + at(2), "--health-listen=", "--allow-loopback-artifacts", "--drain=2s",
		"--log-level=warn", "--name=" + r.addr.String(),
	}, r.args...)
	r.cmd = exec.CommandContext(context.Background(), r.bin, args...) //nolint:gosec // Our own program.
	r.cmd.Stderr = os.Stderr
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.ended = make(chan struct{})
	go func() {
		defer close(r.ended)
		_ = r.cmd.Wait()
	}()
	for end := time.Now().Add(30 * time.Second); !r.ready(at(2)); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("bootd %s doesn't get ready", r.addr)
		}
	}
}

func (r *roller) ready(address string) bool {
	resp, err := http.Get("http://" + address + "/readyz")
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode == http.StatusOK
}

// replace ends a bootd as a rolling update does, and starts the next one once it's gone.
func (r *roller) replace() {
	r.t.Helper()
	r.stop(syscall.SIGTERM)
	r.start()
}

func (r *roller) stop(how syscall.Signal) {
	_ = r.cmd.Process.Signal(how)
	<-r.ended
}

// rolling are two bootds of one folder, the first of which installs, and what their machines load. Change makes other specs of the site's; nil: it's
// served as it is.
func rolling(t *testing.T, change func(specs string, s storm.Site) string, flags ...string) (a, b *roller, site storm.Site) {
	t.Helper()
	tmp := t.TempDir()
	kernel := make([]byte, rollingKernel)
	_, _ = rand.NewChaCha8([32]byte{}).Read(kernel)
	sum := sha256.Sum256(kernel)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(kernel) }))
	t.Cleanup(origin.Close)
	site = storm.Site{Machines: boots, URL: origin.URL + "/vmlinuz", Digest: "sha256:" + hex.EncodeToString(sum[:])}
	specs, stages, text := filepath.Join(tmp, "specs"), filepath.Join(tmp, "stages"), site.Specs()
	if change != nil {
		text = change(text, site)
	}
	for path, data := range map[string][]byte{filepath.Join(specs, "hall.yaml"): []byte(text), filepath.Join(stages, "undionly.kpxe"): kernel[:firstStage]} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ports := [3]uint16{netip.MustParseAddrPort(port(t, "udp")).Port(), netip.MustParseAddrPort(port(t, "udp")).Port(), netip.MustParseAddrPort(port(t, "tcp")).Port()}
	one := func(last byte, own ...string) *roller {
		addr := netip.AddrFrom4([4]byte{127, 0, 0, last})
		fixed := []string{"--source=dir:" + specs, "--state-dir=" + filepath.Join(tmp, addr.String()), "--tftp-dir=" + stages, "--peer=127.0.0.2", "--peer=127.0.0.3"}
		r := &roller{t: t, bin: program(t), addr: addr, ports: ports, args: append(append(fixed, own...), flags...)}
		r.start()
		t.Cleanup(func() { r.stop(syscall.SIGKILL) })
		return r
	}
	return one(2), one(3, "--no-install"), site
}

// crowd are the first machines of a site, switched off.
func crowd(t *testing.T, a, b *roller, n int, order ...machine.Device) []*machine.Machine {
	t.Helper()
	var all []*machine.Machine
	for i := range n {
		mac := storm.MAC(i)
		m, err := machine.New(machine.Config{
			Name: storm.Role(i), MAC: net.HardwareAddr(mac[:]), BootOrder: order, TFTPPort: int(a.ports[1]),
			Relay:     machine.Relay{Servers: []netip.AddrPort{netip.AddrPortFrom(a.addr, a.ports[0]), netip.AddrPortFrom(b.addr, b.ports[0])}, Link: storm.Link()},
			TimeScale: 0.1,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Close)
		all = append(all, m)
	}
	return all
}

// got says what is wrong with what a machine runs.
func got(m *machine.Machine, i int, site storm.Site) error {
	s := m.Status()
	switch {
	case s.Lease.Address != storm.Address(i):
		return fmt.Errorf("it has %s, want %s", s.Lease.Address, storm.Address(i))
	case !strings.Contains(" "+s.Command+" ", " role="+storm.Role(i)+" "):
		return fmt.Errorf("its command line is %q", s.Command)
	case s.Kernels != 1:
		return fmt.Errorf("it has started %d kernels", s.Kernels)
	}
	for _, e := range m.Events() {
		if e.Stage == machine.StageKernel && !strings.Contains(e.Detail, site.Digest) {
			return fmt.Errorf("its kernel is another: %s", e.Detail)
		}
	}
	return nil
}

// TestRollingUpdate: both bootds of a segment are replaced, one after the other, while a hundred machines boot: by DHCP, TFTP, script and a
// kernel. Each of them ends with what is its own, by the tries that firmware makes anyway.
func TestRollingUpdate(t *testing.T) {
	a, b, site := rolling(t, nil)
	all := crowd(t, a, b, boots, machine.Network)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var power sync.WaitGroup
	power.Go(func() {
		for _, m := range all {
			if err := m.On(bmc.BootNormal); err != nil {
				t.Error(err)
			}
			time.Sleep(every)
		}
	})
	running := func() (n int) {
		for _, m := range all {
			if m.Status().Stage == machine.StageRunning {
				n++
			}
		}
		return n
	}
	for _, r := range []*roller{a, b} {
		time.Sleep(10 * every)
		before := running()
		r.replace()
		if before == boots {
			t.Errorf("all machines had booted before bootd %s was replaced", r.addr)
		}
	}
	power.Wait()
	errors, tries := 0, 0
	for i, m := range all {
		s, err := m.Wait(ctx, "its system to run", func(s machine.Status) bool { return s.Stage == machine.StageRunning })
		if err == nil {
			err = got(m, i, site)
		}
		if err != nil {
			t.Errorf("machine %d: %v", i, err)
		}
		errors, tries = errors+s.Errors, tries+max(s.Boots, s.DHCP["pxe"])
	}
	t.Logf("%d machines booted by %d tries, with %d failed steps on the way", boots, tries, errors)
	t.Logf("\n| bootd: both bootds are replaced while machines boot | %d | %d |", boots, running())
}

// installs makes all machines of a site ask for an install.
func installs(specs string, s storm.Site) string {
	return strings.NewReplacer(
		"mode: Live", "mode: Install", "method: Kernel", "method: DiskImage", `"install":{"generation":0}`, `"install":{"generation":1}`,
		"artifacts: [{arch: amd64, ", fmt.Sprintf("artifacts: [{arch: amd64, image: {url: %q, digest: %q, format: Raw, compression: None}, ", s.URL, s.Digest),
	).Replace(specs)
}

// TestRollingUpdateOfInstalls: the same while machines are installed. Each is installed once, by its own grant, whichever of the two bootds it has heard.
func TestRollingUpdateOfInstalls(t *testing.T) {
	const machines = 20
	a, b, site := rolling(t, installs)
	all := crowd(t, a, b, machines, machine.Network, machine.LocalDisk)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var power sync.WaitGroup
	power.Go(func() {
		time.Sleep(2 * time.Second) // Most have their grant by then.
		for _, m := range all {
			if err := m.On(bmc.BootNormal); err != nil {
				t.Error(err)
			}
			time.Sleep(every)
		}
	})
	time.Sleep(3 * time.Second)
	a.replace()
	b.replace()
	power.Wait()
	done := 0
	for i, m := range all {
		s, err := m.Wait(ctx, "its disk to run", func(s machine.Status) bool { return s.Installs > 0 && s.DiskBoots > 0 })
		switch {
		case err != nil:
			t.Errorf("machine %d: %v", i, err)
		case s.Erased != 1 || s.Installs != 1 || s.Disk.Image != site.Digest || s.Lease.Address != storm.Address(i):
			t.Errorf("machine %d was erased %d times and installed %d times, with %s, and has %s", i, s.Erased, s.Installs, s.Disk.Image, s.Lease.Address)
		default:
			done++
		}
	}
	t.Logf("\n| bootd: both bootds are replaced while machines are installed | %d | %d |", machines, done)
}
