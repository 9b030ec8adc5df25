package edge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
)

const root = "../.."

// site is a folder of specs with its state folder, and the bootd that serves it.
type site struct {
	t                *testing.T
	bin, dir, state  string
	dhcp, tftp, http string
	machine          *machine.Machine

	stop func(os.Signal)
	mu   sync.Mutex
	said bytes.Buffer
}

// Write takes what bootd says.
func (s *site) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.Write(b)
}

func (s *site) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.String()
}

func newSite(t *testing.T) *site {
	t.Helper()
	tmp := t.TempDir()
	s := &site{
		t: t, bin: program(t), dir: filepath.Join(tmp, "specs"), state: filepath.Join(tmp, "state"),
		dhcp: port(t, "udp"), tftp: port(t, "udp"), http: port(t, "tcp"), stop: func(os.Signal) {},
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.specs(1)
	tftpPort := netip.MustParseAddrPort(s.tftp).Port()
	var err error
	s.machine, err = machine.New(machine.Config{
		MAC: net.HardwareAddr{0x52, 0x54, 0, 0, 7, 1}, BootOrder: []machine.Device{machine.Network, machine.LocalDisk},
		Relay:    machine.Relay{Servers: []netip.AddrPort{netip.MustParseAddrPort(s.dhcp)}, Link: netip.MustParseAddr("127.77.0.1")},
		TFTPPort: int(tftpPort), DHCPTimeout: 200 * time.Millisecond, BootRetry: 100 * time.Millisecond, TimeScale: 0.05,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.machine.Close()
		s.stop(syscall.SIGKILL)
		if t.Failed() {
			t.Log(s.log())
		}
	})
	return s
}

// specs writes examples/bootd/edge.yaml as this machine can serve it: its segment is a relay on loopback, its files are here.
func (s *site) specs(generation int) {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "examples", "bootd", "edge.yaml"))
	if err != nil {
		s.t.Fatal(err)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) })) //nolint:gosec // A file that is its own name.
	s.t.Cleanup(web.Close)
	text := string(b)
	for _, f := range []struct{ path, digest string }{
		{"/installer/amd64/vmlinuz", "a4052e51598b257621edc75bc019c759bc478338f99aa7e230bfc6e7862988e2"},
		{"/installer/amd64/initrd.img", "3e2c41a0b9c1d5f0f3c8f0e0a1f0dd2f6a5a7c0f4f3d2b1a09e8d7c6b5a49382"},
		{"/debian-12/amd64/disk.raw.zst", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
	} {
		sum := sha256.Sum256([]byte(f.path))
		text = strings.ReplaceAll(text, f.digest, hex.EncodeToString(sum[:]))
	}
	for old, now := range map[string]string{
		"https://images.example": web.URL, "10.77.0.": "127.77.0.", "mode: Authoritative": "mode: RelayOnly\n    relays: [127.0.0.1/32]",
		"generation: 1": "generation: " + strconv.Itoa(generation),
	} {
		if !strings.Contains(text, old) {
			s.t.Fatalf("the example has no %q", old)
		}
		text = strings.ReplaceAll(text, old, now)
	}
	path := filepath.Join(s.dir, "edge.yaml")
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil { //nolint:gosec // A test's own folder.
		s.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		s.t.Fatal(err)
	}
}

// start runs bootd until stop, or the end of the test.
func (s *site) start(flags ...string) {
	s.t.Helper()
	args := append([]string{
		"--source", "dir:" + s.dir, "--state-dir", s.state, "--dhcp-listen", s.dhcp, "--tftp-listen", s.tftp, "--http-listen", s.http,
		"--health-listen", "", "--advertise-address", "127.0.0.1", "--allow-loopback-artifacts", "--tftp-dir", s.t.TempDir(),
	}, flags...)
	cmd := exec.CommandContext(context.Background(), s.bin, args...) //nolint:gosec // Our own program.
	cmd.Stderr = s
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	s.stop = func(how os.Signal) {
		_ = cmd.Process.Signal(how)
		<-ended
		s.stop = func(os.Signal) {}
	}
	s.await("bootd", func() bool {
		resp, err := http.Get("http://" + s.http + "/readyz")
		if err != nil {
			return false
		}
		defer func() { _ = resp.Body.Close() }()
		return resp.StatusCode == http.StatusOK
	})
}

func (s *site) await(what string, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("waited in vain for %s; the machine: %+v", what, s.machine.Status())
		}
	}
}

// boots switches the machine on anew, and waits until its disk runs or it's held.
func (s *site) boots() machine.Status {
	s.t.Helper()
	before := s.machine.Status()
	if err := s.machine.Restart(bmc.BootNormal); err != nil {
		s.t.Fatal(err)
	}
	s.await("a boot", func() bool {
		now := s.machine.Status()
		return now.DiskBoots > before.DiskBoots || now.Script != before.Script
	})
	time.Sleep(time.Second) // For what must not happen.
	return s.machine.Status()
}

// granted says whether the machine's session knows of a generation.
func (s *site) granted(generation int) bool {
	files, err := filepath.Glob(filepath.Join(s.state, "sessions", "*.json"))
	if err != nil || len(files) != 1 {
		return false
	}
	b, err := os.ReadFile(files[0])
	return err == nil && bytes.Contains(b, []byte(`"Generation":`+strconv.Itoa(generation)))
}

// given are the ports that tests of this run were given: many run side by side, and not all listen already.
var given sync.Map

// port is one that nobody listens on, of those that no client is given by the system: a bootd that's started anew finds it free again.
func port(t *testing.T, network string) string {
	t.Helper()
	const from, many, tries = 20000, 12000, 100
	for range tries {
		at := net.JoinHostPort("127.0.0.1", strconv.Itoa(from+rand.IntN(many))) //nolint:gosec // It's no secret.
		if _, taken := given.LoadOrStore(at, true); taken {
			continue
		}
		var c io.Closer
		var err error
		if network == "udp" {
			c, err = net.ListenPacket("udp4", at)
		} else {
			c, err = net.Listen("tcp4", at)
		}
		if err == nil {
			_ = c.Close()
			return at
		}
	}
	t.Fatal("no port is free")
	return ""
}

// TestEdge is the life of a machine at a site without a cluster: it's installed once, and again only when a person raises its generation,
// whatever becomes of bootd and of what it remembers.
func TestEdge(t *testing.T) {
	s := newSite(t)
	s.start()
	if err := s.machine.On(bmc.BootNormal); err != nil {
		t.Fatal(err)
	}
	s.await("the install", func() bool { return s.machine.Status().Installs == 1 && s.machine.Status().DiskBoots == 1 })
	if d := s.machine.Status().Disk; !strings.Contains(d.UserData, "ssh_pwauth") {
		t.Errorf("user data %q", d.UserData)
	}
	erased := func(n int, when string) {
		t.Helper()
		if got := s.boots(); got.Erased != n {
			t.Fatalf("%s: the disk was erased %d times, want %d", when, got.Erased, n)
		}
	}
	erased(1, "at the next boot")
	s.stop(syscall.SIGKILL)
	s.start()
	erased(1, "after kill -9")
	s.stop(syscall.SIGTERM)
	if err := os.Rename(s.state, s.state+".lost"); err != nil {
		t.Fatal(err)
	}
	s.start()
	s.await("the question", func() bool { return strings.Contains(s.log(), "NeedsConfirmation") })
	erased(1, "after the state folder was lost")
	out, err := exec.CommandContext(t.Context(), s.bin, "confirm", "edge/node-1", "--mac", "52:54:00:00:07:01", "--state-dir", s.state).CombinedOutput() //nolint:gosec // Our own program.
	if err != nil || !strings.Contains(string(out), "is kept as it runs") {
		t.Fatalf("%v: %s", err, out)
	}
	erased(1, "after a person has confirmed the machine")
	s.specs(2)
	s.await("the next grant", func() bool { return s.granted(2) })
	if err := s.machine.Restart(bmc.BootNormal); err != nil { // Once: who switches it off in the middle of an install has used the grant.
		t.Fatal(err)
	}
	s.await("the next install", func() bool { return s.machine.Status().Installs == 2 })
	erased(2, "after the second install")
}

// TestSecondBootd: one that doesn't install serves the disk, and a third one that would install is refused.
func TestSecondBootd(t *testing.T) {
	s := newSite(t)
	s.start("--no-install")
	if err := s.machine.On(bmc.BootNormal); err != nil {
		t.Fatal(err)
	}
	s.await("a script", func() bool { return s.machine.Status().Script != "" })
	time.Sleep(4 * time.Second) // Longer than the folder must be still before anything is granted.
	if got := s.machine.Status(); got.Erased != 0 || got.Kernels != 0 {
		t.Errorf("%+v", got)
	}
	for name, tc := range map[string]struct {
		flags []string
		code  int
		says  string
	}{
		"NoFolder":   {[]string{"--source", "dir:/does/not/exist"}, 2, "/does/not/exist"},
		"NoSource":   {[]string{"--source", "etcd"}, 2, `not "etcd"`},
		"Kubernetes": {[]string{"--no-install"}, 2, "go with --source dir:PATH"},
	} {
		cmd := exec.CommandContext(t.Context(), s.bin, append(tc.flags, "--state-dir", t.TempDir())...) //nolint:gosec // Our own program.
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != tc.code || !strings.Contains(string(out), tc.says) {
			t.Errorf("%s: exit code %d: %s", name, cmd.ProcessState.ExitCode(), out)
		}
	}
}
