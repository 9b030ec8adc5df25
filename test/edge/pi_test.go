package edge

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/pi"
)

// piImage is what a kernel doesn't have that destroys by itself.
const piImage = `      image:
        url: https://images.example/debian-13/arm64-rpi/disk.raw.zst
        digest: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
        compression: Zstd
`

// piFile is a file of examples/bootd/raspberry-pi.yaml.
var piFile = regexp.MustCompile(`url: https://images\.example(\S+)\n(\s+)digest: sha256:[0-9a-f]{64}`)

// pis has the site be examples/bootd/raspberry-pi.yaml as this machine can serve it, changed.
func (s *site) pis(change ...string) {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "examples", "bootd", "raspberry-pi.yaml"))
	if err != nil {
		s.t.Fatal(err)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) })) //nolint:gosec // A file that is its own name.
	s.t.Cleanup(web.Close)
	text := string(b)
	for i, pair := 0, append([]string{"10.84.0.", "127.84.0.", "mode: Authoritative", "mode: RelayOnly\n    relays: [127.0.0.1/32]"}, change...); i < len(pair); i += 2 {
		if !strings.Contains(text, pair[i]) {
			s.t.Fatalf("the example has no %q", pair[i])
		}
		text = strings.ReplaceAll(text, pair[i], pair[i+1])
	}
	text = piFile.ReplaceAllStringFunc(text, func(m string) string {
		p := piFile.FindStringSubmatch(m)
		return fmt.Sprintf("url: %s%s\n%sdigest: sha256:%x", web.URL, p[1], p[2], sha256.Sum256([]byte(p[1])))
	})
	if err := os.Remove(filepath.Join(s.dir, "edge.yaml")); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "raspberry-pi.yaml"), []byte(text), 0o600); err != nil { //nolint:gosec // A test's own folder.
		s.t.Fatal(err)
	}
}

// board is the one of the example, as a model.
func (s *site) board(model pi.Model, prefix *string) pi.Config {
	return pi.Config{
		Model: model, MAC: net.HardwareAddr{0xdc, 0xa6, 0x32, 0xec, 0xfc, 0x3c}, Serial: [4]byte{0xe0, 0xff, 0x06, 0xda}, Prefix: prefix,
		Server: netip.MustParseAddrPort(s.dhcp), Link: netip.MustParseAddr("127.84.0.1"), TFTPPort: netip.MustParseAddrPort(s.tftp).Port(), Patience: 10 * time.Second,
	}
}

// power switches a board on.
func (s *site) power(c pi.Config) *pi.Boot {
	s.t.Helper()
	b, err := pi.Power(c)
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

// TestRaspberryPi is the life of one: its firmware gets its files while an install is granted, the kernel that it starts is told where bootd
// is, and once it's installed each file that it asks for isn't found, so that it goes on to its disk.
func TestRaspberryPi(t *testing.T) {
	mac, folder := "dc-a6-32-ec-fc-3c/", "site/debian/"
	for name, tc := range map[string]struct {
		model  pi.Model
		prefix *string
		needs  []string
	}{
		"Three":      {pi.Three, nil, []string{"bootcode.bin", "start.elf", "fixup.dat", "bcm2710-rpi-3-b-plus.dtb"}},
		"Four":       {pi.Four, nil, []string{"start4.elf", "fixup4.dat", "bcm2711-rpi-4-b.dtb", "overlays/disable-wifi.dtbo"}},
		"FourFolder": {pi.Four, &folder, []string{"start4.elf"}},
		"FiveMAC":    {pi.Five, &mac, []string{"bcm2712-rpi-5-b.dtb"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.pis()
			s.start()
			s.await("the grant", func() bool { return s.granted(1) })
			board := s.board(tc.model, tc.prefix)
			var b *pi.Boot
			var words string
			s.await("a kernel", func() bool {
				b = s.power(board)
				var started bool
				words, started = b.Kernel()
				return started
			})
			for _, f := range append(tc.needs, "config.txt", "initrd0", "kernel8.img") {
				if b.Files[f] == "" {
					t.Errorf("it hasn't got %s; it asked for %v", f, b.Asked)
				}
			}
			if got := b.Files["kernel8.img"]; got != "/installer/arm64-rpi/vmlinuz" || b.Silent {
				t.Errorf("its kernel is %q; silence: %t, of %v", got, b.Silent, b.Asked)
			}
			s.installs(words)
			s.await("its disk's turn", func() bool {
				b = s.power(board)
				if b.Files["kernel8.img"] != "" || b.Files["cmdline.txt"] != "" {
					t.Errorf("an installed one is given %v", b.Files)
				}
				return len(b.Files) == 0
			})
			if b = s.power(board); len(b.Files) > 0 || b.Silent {
				t.Errorf("an installed one is given %v, silence %t: it asked for %v", b.Files, b.Silent, b.Asked)
			}
			if !slices.ContainsFunc(b.Asked, func(a string) bool { return strings.HasSuffix(a, ": not found") }) || b.Address != netip.MustParseAddr("127.84.0.11") {
				t.Errorf("%s asked for %v", b.Address, b.Asked)
			}
			if logged := s.log(); strings.Contains(logged, callback(words)) {
				t.Error("a token is in bootd's log")
			}
		})
	}
}

// TestRaspberryPiKernelDestroys: one whose kernel writes without asking again has it by one boot alone, though it's switched on again at once.
func TestRaspberryPiKernelDestroys(t *testing.T) {
	for _, model := range []pi.Model{pi.Three, pi.Four} {
		t.Run(fmt.Sprint(model), func(t *testing.T) {
			s := newSite(t)
			s.pis("method: DiskImage", "method: Kernel", piImage, "")
			s.start()
			s.await("the grant", func() bool { return s.granted(1) })
			s.await("a kernel", func() bool {
				_, started := s.power(s.board(model, nil)).Kernel()
				return started
			})
			for range 3 {
				if b := s.power(s.board(model, nil)); b.Files["kernel8.img"] != "" || b.Files["cmdline.txt"] != "" || b.Silent {
					t.Errorf("its grant is used, and it asked for %v", b.Asked)
				}
			}
		})
	}
}

// TestRaspberryPiStranger: another's address, a neighbour that names this one, and one that no entry names, get nothing while an install is granted.
func TestRaspberryPiStranger(t *testing.T) {
	s := newSite(t)
	s.pis()
	s.start()
	s.await("the grant", func() bool { return s.granted(1) })
	board := s.board(pi.Four, nil)
	s.await("a kernel", func() bool {
		_, started := s.power(board).Kernel()
		return started
	})
	for name, client := range map[string]string{"Neighbour": "127.84.0.12", "Elsewhere": "127.0.0.1"} {
		if text, err := pi.Fetch(netip.MustParseAddr(client), netip.MustParseAddrPort(s.tftp), "e0ff06da/cmdline.txt", 2*time.Second); err == nil {
			t.Errorf("%s is given %q", name, text)
		}
	}
	board.MAC = net.HardwareAddr{0xdc, 0xa6, 0x32, 0, 0, 1}
	board.Patience = time.Second
	if b, err := pi.Power(board); err != nil || b.Address.IsValid() || len(b.Asked) > 0 {
		t.Errorf("nobody's board: %v, %+v", err, b)
	}
}

// callback is where a kernel calls bootd.
func callback(words string) string {
	for w := range strings.FieldsSeq(words) {
		if url, ok := strings.CutPrefix(w, "baremetal.callback="); ok {
			return url
		}
	}
	return "no callback"
}

// installs does what an installer does.
func (s *site) installs(words string) {
	s.t.Helper()
	base := callback(words)
	post := func(what string) {
		s.t.Helper()
		resp, err := http.Post(base+"/"+what, "text/plain", nil)
		if err != nil {
			s.t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode >= http.StatusBadRequest {
			s.t.Fatalf("%s: %s", what, resp.Status)
		}
	}
	post("begin")
	resp, err := http.Get(base + "/user-data")
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if data, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(data), "ssh_pwauth") {
		s.t.Errorf("%v: user data %q", err, data)
	}
	post("installed")
}
