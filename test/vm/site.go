package vm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
	"github.com/crossplane-contrib/provider-baremetal/test/guest"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
)

// The segment of a site: an address for bootd and a mirror, and the bridge that has it.
const (
	siteBridge  = "br1"
	siteAddress = "10.88.0.1"
	sitePrefix  = "10.88.0."
	// readyTimeout is how long its bootd may take to serve.
	readyTimeout = time.Minute
)

// A Site has no cluster: a bootd that serves a folder of specs on a bridge of its own. Stop ends it.
type Site struct {
	// Specs is the folder.
	Specs string

	example example
	flags   []string
	stage   string // the firstStage of its machines; "": none is said
	local   string // their localBoot; "": none is said
	log     string
	segment *qemu.Segment
	other   *proc.Process // another DHCP server; nil: there's none
	mirror  *http.Server
	bootd   *proc.Process
}

// An example is one of examples/bootd, and the machine that it names.
type example struct {
	file, machine, mac string
	address            int
}

// NewSite makes a site in an empty folder, with machines by their MAC addresses, which are installed once each: what examples/bootd/edge.yaml
// describes, with this machine's files.
func NewSite(ctx context.Context, root, dir string, a guest.Artifacts, machines ...net.HardwareAddr) (*Site, error) {
	return newSite(ctx, root, dir, a, machines, &Site{example: example{"edge.yaml", "node-1", "52:54:00:00:07:01", 11}})
}

// NewProxySite makes a site beside another DHCP server, with machines that boot into memory each time: what examples/bootd/proxy.yaml describes.
func NewProxySite(ctx context.Context, root, dir string, a guest.Artifacts, machines ...net.HardwareAddr) (*Site, error) {
	return newSite(ctx, root, dir, a, machines, &Site{example: example{"proxy.yaml", "desk-1", "52:54:00:00:08:01", 21}, flags: []string{"--peer=" + siteForeign}})
}

// NewShimSite makes a site of machines that load Debian's signed shim and grub: that of NewSite otherwise.
func NewShimSite(ctx context.Context, root, dir string, a guest.Artifacts, machines ...net.HardwareAddr) (*Site, error) {
	signed, err := Signed()
	if err != nil {
		return nil, err
	}
	return newSite(ctx, root, dir, a, machines, &Site{
		example: example{"edge.yaml", "node-1", "52:54:00:00:07:01", 11}, flags: []string{"--signed-dir=" + signed}, stage: "Shim",
	})
}

// NewLocalBootSite makes a site of machines that are sent to their disks in a way of their own: that of NewSite otherwise.
func NewLocalBootSite(ctx context.Context, root, dir string, a guest.Artifacts, localBoot string, machines ...net.HardwareAddr) (*Site, error) {
	signed, err := Signed()
	if err != nil {
		return nil, err
	}
	return newSite(ctx, root, dir, a, machines, &Site{
		example: example{"edge.yaml", "node-1", "52:54:00:00:07:01", 11}, flags: []string{"--signed-dir=" + signed}, local: localBoot,
	})
}

// NewISOSite makes a site of machines that boot an ISO once each: what examples/bootd/iso.yaml describes.
func NewISOSite(ctx context.Context, root, dir string, machines ...net.HardwareAddr) (*Site, error) {
	b, path := guest.ISO(), filepath.Join(dir, "guest.iso")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return nil, fmt.Errorf("cannot write an ISO: %w", err)
	}
	sum := sha256.Sum256(b)
	iso := guest.File{Path: path, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(b))}
	return newSite(ctx, root, dir, guest.Artifacts{Kernel: iso, Initrd: iso, Image: iso}, machines, &Site{example: example{"iso.yaml", "board-1", "52:54:00:00:10:01", 31}})
}

func newSite(ctx context.Context, root, dir string, a guest.Artifacts, machines []net.HardwareAddr, s *Site) (*Site, error) {
	s.Specs, s.log = filepath.Join(dir, "specs"), filepath.Join(dir, "bootd.log")
	if err := s.start(ctx, root, dir, a, machines); err != nil {
		s.Stop()
		return nil, err
	}
	if s.example.file == "proxy.yaml" {
		if err := s.foreign(ctx, dir); err != nil {
			s.Stop()
			return nil, err
		}
	}
	return s, nil
}

func (s *Site) start(ctx context.Context, root, dir string, a guest.Artifacts, machines []net.HardwareAddr) error {
	var err error
	if s.segment, err = qemu.NewSegment(siteBridge, siteAddress+"/24"); err != nil {
		return err
	}
	if err := s.mirrors(ctx, a); err != nil {
		return err
	}
	if err := s.describe(root, a, machines); err != nil {
		return err
	}
	program := filepath.Join(dir, "bootd")
	cmd := exec.CommandContext(ctx, "go", "build", "-C", root, "-tags=bootd", "-o", program, "./cmd/bootd") //nolint:gosec // Our own program.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build bootd: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	s.bootd, err = proc.Start(proc.Command{
		Name: "bootd", Path: program, Log: s.log, Args: append([]string{
			"--source=dir:" + s.Specs, "--state-dir=" + filepath.Join(dir, "state"), "--dhcp-interface=" + siteBridge, "--advertise-address=" + siteAddress,
			"--tftp-listen=" + siteAddress + ":69", "--http-listen=" + siteAddress + ":8480", "--health-listen=", "--artifact-range=" + siteAddress + "/32",
		}, s.flags...),
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	return s.bootd.Await(ctx, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+siteAddress+":8480/readyz", http.NoBody)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("bootd isn't ready: %s", resp.Status)
		}
		return nil
	})
}

// mirrors serves what machines boot and install.
func (s *Site) mirrors(ctx context.Context, a guest.Artifacts) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", siteAddress+":80")
	if err != nil {
		return fmt.Errorf("cannot listen for those that fetch files: %w", err)
	}
	mux := http.NewServeMux()
	for name, f := range map[string]guest.File{"/vmlinuz": a.Kernel, "/initrd.img": a.Initrd, "/disk.img": a.Image} {
		mux.HandleFunc(name, func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, f.Path) })
	}
	s.mirror = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.mirror.Serve(l) }()
	return nil
}

// describe writes the specs.
func (s *Site) describe(root string, a guest.Artifacts, machines []net.HardwareAddr) error {
	b, err := os.ReadFile(filepath.Join(root, "examples", "bootd", s.example.file))
	if err != nil {
		return fmt.Errorf("cannot read the example of a site: %w", err)
	}
	text, x := string(b), s.example
	const machine = "kind: BootEntry\n"
	at := strings.Index(text, machine)
	if at < 0 {
		return fmt.Errorf("the example of a site has no %q", machine)
	}
	at = strings.LastIndex(text[:at], "---\n")
	entry := text[at:]
	if s.stage != "" {
		entry = strings.Replace(entry, "    machine:\n", "    machine:\n      firstStage: "+s.stage+"\n", 1)
	}
	if s.local != "" {
		entry = strings.Replace(entry, "    machine:\n", "    machine:\n      localBoot: "+s.local+"\n", 1)
	}
	text = text[:at]
	for i, mac := range machines {
		text += replaced(entry, map[string]string{
			"  name: " + x.machine + "\nspec:": fmt.Sprintf("  name: node-%d\nspec:", i+1), x.mac: mac.String(),
			fmt.Sprintf("10.77.0.%d/", x.address): fmt.Sprintf("10.77.0.%d/", x.address+i),
			"hostname: " + x.machine:              fmt.Sprintf("hostname: node-%d", i+1),
		})
	}
	text = replaced(text, map[string]string{
		"10.77.0.": sitePrefix, `["console=ttyS0,115200n8"]`: "[" + strings.Join(strings.Fields(guest.CommandLine), ", ") + "]", "compression: Zstd": "compression: None",
		"https://images.example/installer/amd64/vmlinuz": "http://" + siteAddress + "/vmlinuz", "https://images.example/installer/amd64/initrd.img": "http://" + siteAddress + "/initrd.img",
		"https://images.example/rescue/amd64/vmlinuz": "http://" + siteAddress + "/vmlinuz", "https://images.example/rescue/amd64/initrd.img": "http://" + siteAddress + "/initrd.img",
		"https://images.example/firmware/flash-2.14.iso": "http://" + siteAddress + "/vmlinuz", "https://images.example/memtest86plus/7.20/mt86plus.iso": "http://" + siteAddress + "/vmlinuz",
		"https://images.example/debian-12/amd64/disk.raw.zst":                     "http://" + siteAddress + "/disk.img",
		"sha256:a4052e51598b257621edc75bc019c759bc478338f99aa7e230bfc6e7862988e2": a.Kernel.Digest,
		"sha256:3e2c41a0b9c1d5f0f3c8f0e0a1f0dd2f6a5a7c0f4f3d2b1a09e8d7c6b5a49382": a.Initrd.Digest,
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08": a.Image.Digest,
	})
	if err := os.MkdirAll(s.Specs, 0o700); err != nil {
		return fmt.Errorf("cannot make the folder of specs: %w", err)
	}
	if err := os.WriteFile(filepath.Join(s.Specs, "site.yaml"), []byte(text), 0o600); err != nil { //nolint:gosec // A test's own folder.
		return fmt.Errorf("cannot write specs: %w", err)
	}
	return nil
}

// replaced has each text in the place of another.
func replaced(text string, by map[string]string) string {
	for old, now := range by {
		text = strings.ReplaceAll(text, old, now)
	}
	return text
}

// Tap adds a port to the site's segment and returns the Netdev of the machine that it belongs to.
func (s *Site) Tap(name string) (string, error) { return s.segment.Tap(name) }

// Log is what bootd has written.
func (s *Site) Log() string {
	b, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Stop ends bootd and takes the segment away.
func (s *Site) Stop() {
	for _, p := range []*proc.Process{s.bootd, s.other} {
		if p != nil {
			p.Stop()
		}
	}
	if s.mirror != nil {
		_ = s.mirror.Close()
	}
	if s.segment != nil {
		_ = s.segment.Close() // It goes with the namespace.
	}
}
