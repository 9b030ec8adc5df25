package vm

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	// siteApart is that of a bootd with a network of its own, and sixApart what it has of IPv6, where machines have those that begin with sixPrefix.
	siteApart = "10.88.0.3"
	sixApart  = "fd00:88::3"
	sixPrefix = "fd00:88::"
	// readyTimeout is how long its bootd may take to serve.
	readyTimeout = time.Minute
)

// A Site has no cluster: a bootd that serves a folder of specs on a bridge of its own. Stop ends it.
type Site struct {
	// Specs is the folder.
	Specs string

	example example
	flags   []string
	mode    string   // its dhcp.mode, where that isn't the example's
	stage   string   // the firstStage of its machines; "": none is said
	arch    string   // their architecture; "": amd64
	local   string   // their localBoot; "": none is said
	six     bool     // they boot over IPv6 alone
	apart   bool     // its bootd serves all addresses of a network of its own
	first   []string // what is started there before it
	beside  []beside
	segment *qemu.Segment
	far     *qemu.Segment // where its machines are; nil: on its segment
	mirror  *http.Server
	bootd   *proc.Process
	second  *proc.Process   // another bootd
	others  []*proc.Process // all but the first bootd
}

// A beside starts whoever else is on a site's segment.
type beside func(ctx context.Context, s *Site, dir, bootd string) error

// An example is one of examples/bootd, and the machine that it names.
type example struct {
	file, machine, mac string
	address            int
}

func newSite(ctx context.Context, root, dir string, a guest.Artifacts, machines []net.HardwareAddr, s *Site) (*Site, error) {
	s.Specs = filepath.Join(dir, "specs")
	if err := s.start(ctx, root, dir, a, machines); err != nil {
		s.Stop()
		return nil, err
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
	for _, f := range s.beside {
		if err := f(ctx, s, dir, program); err != nil {
			return err
		}
	}
	s.bootd, err = s.serve(ctx, dir, program)
	return err
}

// serve starts bootd, and waits until it's ready.
func (s *Site) serve(ctx context.Context, dir, program string) (*proc.Process, error) {
	args := append([]string{"--source=dir:" + s.Specs, "--state-dir=" + filepath.Join(dir, "state"), "--drain=4s", "--health-listen=", "--artifact-range=" + siteAddress + "/32"}, s.flags...)
	at, log := siteAddress, filepath.Join(dir, "bootd.log")
	var p *proc.Process
	var err error
	if s.apart {
		at = siteApart
		p, err = neighbour{
			name: "bootd", log: log, first: s.first, cables: []cable{{s.segment, "boot0", "boot1", []string{siteApart + "/24", sixApart + "/64"}}},
			program: append([]string{program}, args...),
		}.start(ctx)
	} else {
		p, err = proc.Start(proc.Command{Name: "bootd", Path: program, Log: log, Args: append(args,
			"--dhcp-interface="+siteBridge, "--advertise-address="+at, "--tftp-listen="+at+":69", "--http-listen="+at+":8480")})
	}
	if err != nil {
		return nil, err
	}
	return p, ready(ctx, p, at)
}

// ready waits until a bootd says that it's ready.
func ready(ctx context.Context, p *proc.Process, at string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	return p.Await(ctx, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+":8480/readyz", http.NoBody)
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
	text, err := s.entries(string(b), machines)
	if err != nil {
		return err
	}
	line := guest.CommandLine
	if s.arch == guest.ARM64 {
		line, text = guest.CommandLineARM64, strings.Replace(text, "arch: amd64", "arch: arm64", 1)
	}
	prefix := sitePrefix
	if s.far != nil {
		prefix = farPrefix
	}
	if s.mode != "" {
		text = regexp.MustCompile(`mode: (Authoritative|Proxy)\n`).ReplaceAllString(text, "mode: "+s.mode+"\n")
	}
	text = replaced(text, map[string]string{
		"10.77.0.": prefix, `["console=ttyS0,115200n8"]`: "[" + strings.Join(strings.Fields(line), ", ") + "]", "compression: Zstd": "compression: None",
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

// entries gives an example with an entry for each machine in the place of its own.
func (s *Site) entries(text string, machines []net.HardwareAddr) (string, error) {
	x := s.example
	const machine = "kind: BootEntry\n"
	at := strings.Index(text, machine)
	if at < 0 {
		return "", fmt.Errorf("the example of a site has no %q", machine)
	}
	at = strings.LastIndex(text[:at], "---\n")
	entry, _, _ := strings.Cut(text[at:], "\n---\n")
	entry += "\n"
	if s.stage != "" {
		entry = strings.Replace(entry, "    machine:\n", "    machine:\n      firstStage: "+s.stage+"\n", 1)
	}
	if s.local != "" {
		entry = strings.Replace(entry, "    machine:\n", "    machine:\n      localBoot: "+s.local+"\n", 1)
	}
	text = text[:at]
	planned := "10.77.0.%d/24"
	if s.six {
		text, planned = overSix(text), sixPrefix+"%d/64"
	}
	for i, mac := range machines {
		text += replaced(entry, map[string]string{
			"  name: " + x.machine + "\nspec:": fmt.Sprintf("  name: node-%d\nspec:", i+1), x.mac: mac.String(),
			fmt.Sprintf("10.77.0.%d/24", x.address): fmt.Sprintf(planned, x.address+i),
			"hostname: " + x.machine:                fmt.Sprintf("hostname: node-%d", i+1),
		})
	}
	return text, nil
}

// overSix has a network's subnet be of IPv6, without a router.
func overSix(text string) string {
	return replaced(text, map[string]string{
		"cidr: 10.77.0.0/24\n      gateway: 10.77.0.1\n      dns: [10.77.0.2]": "cidr: " + sixPrefix + "/64\n      dns: [\"" + sixPrefix + "53\"]",
		"ntp: [10.77.0.2]": "ntp: [\"" + sixPrefix + "123\"]", "mode: Authoritative": "mode: Authoritative\n    routerSolicitations: Answer",
	})
}

// replaced has each text in the place of another.
func replaced(text string, by map[string]string) string {
	for old, now := range by {
		text = strings.ReplaceAll(text, old, now)
	}
	return text
}

// Tap adds a port to the site's segment and returns the Netdev of the machine that it belongs to.
func (s *Site) Tap(name string) (string, error) {
	if s.far != nil {
		return s.far.Tap(name)
	}
	return s.segment.Tap(name)
}

// Log is what bootd has written.
func (s *Site) Log() string {
	b, err := os.ReadFile(s.bootd.Log())
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Stop ends bootd and takes the segment away.
func (s *Site) Stop() {
	for _, p := range append(s.others, s.bootd) {
		if p != nil {
			p.Stop()
		}
	}
	if s.mirror != nil {
		_ = s.mirror.Close()
	}
	for _, g := range []*qemu.Segment{s.segment, s.far} {
		if g != nil {
			_ = g.Close() // It goes with the namespace.
		}
	}
}
