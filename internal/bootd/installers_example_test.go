package bootd

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// installersSite writes examples/bootd/installers.yaml as loopback can serve it: all kernels are one, and so are all initrds.
func installersSite(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "examples", "bootd", "installers.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	content := func(path string) string {
		if strings.Contains(path, "init") || strings.Contains(path, "cpio") {
			return "an initrd"
		}
		return "a kernel"
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, content(r.URL.Path)) }))
	t.Cleanup(web.Close)
	text := strings.NewReplacer("https://images.example", web.URL, "10.78.0.", "127.78.0.", "  dhcp:\n", "  dhcp:\n    relays: [127.0.0.1/32]\n").Replace(string(b))
	for digest, what := range map[string]string{
		"a4052e51598b257621edc75bc019c759bc478338f99aa7e230bfc6e7862988e2": "a kernel",
		"3e2c41a0b9c1d5f0f3c8f0e0a1f0dd2f6a5a7c0f4f3d2b1a09e8d7c6b5a49382": "an initrd",
	} {
		sum := sha256.Sum256([]byte(what))
		text = strings.ReplaceAll(text, digest, hex.EncodeToString(sum[:]))
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "installers.yaml"), []byte(text), 0o600); err != nil { //nolint:gosec // A test's own file.
		t.Fatal(err)
	}
	return dir
}

// scriptURL asks for an address as a machine's iPXE does, by a relay, and gives the URL of its script.
func scriptURL(t *testing.T, server, mac string) string {
	t.Helper()
	var offer *dhcpv4.DHCPv4
	eventually(t, "an offer to "+mac, func() bool {
		offer = dhcpAsk(t, "127.0.0.1", server, firmwareOf(t, mac, true, dhcpv4.WithRelay(net.IPv4(127, 0, 0, 1)), dhcpv4.WithOption(dhcpv4.OptRelayAgentInfo(
			dhcpv4.OptGeneric(dhcpv4.GenericOptionCode(19), nil), dhcpv4.OptGeneric(dhcpv4.GenericOptionCode(5), []byte{127, 78, 0, 1})))), time.Second)
		return offer != nil && offer.BootFileNameOption() != ""
	})
	return offer.BootFileNameOption()
}

// TestInstallersExample boots the machines of examples/bootd/installers.yaml as far as their installers would: each finds its answers where
// its own word says, alone, and until it has said that it's done.
func TestInstallersExample(t *testing.T) {
	log := &lines{}
	c := config(t)
	c.SpecDir, c.DHCPListen, c.Logger, c.Advertise = installersSite(t), freeUDP(t), slogTo(log), netip.MustParseAddr("127.0.0.1")
	running(t, c)
	cases := map[string]struct {
		mac, told, word, answers string
	}{
		"Talos":       {"52:54:00:00:09:01", "install: Granted", " talos.config=", "controlPlane:"},
		"Kickstart":   {"52:54:00:00:09:02", "install: Granted", " inst.ks=", "clearpart --all"},
		"Preseed":     {"52:54:00:00:09:03", "install: Granted", " url=", "partman/confirm"},
		"Autoinstall": {"52:54:00:00:09:04", "install: Granted", " ds=nocloud;s=", "late-commands"},
		"Ignition":    {"52:54:00:00:09:05", "live: Live", " ignition.config.url=", "sshAuthorizedKeys"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			at, script := scriptURL(t, c.DHCPListen, tc.mac), ""
			eventually(t, "the script", func() bool {
				_, script = get(t, at)
				return strings.Contains(script, tc.told)
			})
			_, rest, _ := strings.Cut(script, tc.word)
			url, _, _ := strings.Cut(rest, " ")
			if strings.HasSuffix(url, "/") { // cloud-init adds what it looks for.
				if _, meta := get(t, url+"meta-data"); !strings.Contains(meta, "instance-id") {
					t.Errorf("there's no metadata: %q", meta)
				}
				url += "user-data"
			}
			if status, got := get(t, url); status != http.StatusOK || !strings.Contains(got, tc.answers) {
				t.Fatalf("%s: %d\n%s\n%s", url, status, got, script)
			}
			if strings.Contains(log.String(), tc.answers) {
				t.Error("the log tells the answers")
			}
			if tc.told == "live: Live" {
				return
			}
			if _, next := get(t, scriptURL(t, c.DHCPListen, tc.mac)); !strings.Contains(next, "local disk: GrantConsumed") {
				t.Errorf("a machine that was reset while it's installed is told:\n%s", next)
			}
			resp, err := http.Post(strings.TrimSuffix(url, "user-data")+"installed", "", nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusNoContent {
				t.Fatalf("installed: %d, %v", resp.StatusCode, err)
			}
			eventually(t, "nobody has the answers any more", func() bool {
				status, _ := get(t, url)
				return status == http.StatusForbidden
			})
			eventually(t, "the machine boots its disk", func() bool {
				_, next := get(t, scriptURL(t, c.DHCPListen, tc.mac))
				return strings.Contains(next, "local disk: Installed")
			})
		})
	}
}
