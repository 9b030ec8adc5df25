package ipxe

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// located is the word by which each format's system is told where its answers are.
func located() map[string]string {
	return map[string]string{
		boot.UserDataTalos: "talos.config", boot.UserDataIgnition: "ignition.config.url", boot.UserDataKickstart: "inst.ks",
		boot.UserDataPreseed: "url", boot.UserDataAutoinstall: "ds",
	}
}

// told gives the kernel's words where a profile with a word is served at all.
func told(t *testing.T, format, word string) ([]string, bool) {
	t.Helper()
	p, prob := boot.Resolve(
		boot.Entry{Name: boot.Name{Namespace: "team-a", Name: "web-1"}, Addresses: []netip.Prefix{netip.MustParsePrefix("10.77.0.11/24")}, InstallGeneration: 1},
		boot.Profile{
			Mode: boot.ModeInstall, Method: boot.MethodInstaller, UserDataFormat: format, CommandLine: []string{word},
			Artifacts: []boot.Artifacts{{Arch: boot.AMD64, Kernel: boot.Artifact{Digest: digest("a")}}},
		},
		boot.SegmentConfig{Subnets: []boot.Subnet{{CIDR: netip.MustParsePrefix("10.77.0.0/24")}}},
		boot.Machine{HostUID: "host", MACs: []string{"52:54:00:00:00:01"}},
	)
	if prob != nil {
		return nil, false
	}
	text, err := Render(input(boot.AnswerInstall, boot.DecidedGranted, bios, p))
	if err != nil {
		return nil, false
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "kernel ") {
			return strings.Fields(line)[4 : len(strings.Fields(line))-3], true // Without the command itself and its "|| goto failed".
		}
	}
	t.Fatalf("there's no kernel:\n%s", text)
	return nil, false
}

// FuzzUserData: whatever a profile's words are, a system is told of its answers once, by us, and no token goes into the boot loader of what
// is installed.
func FuzzUserData(f *testing.F) {
	for _, w := range []string{
		"quiet", "--- console=ttyS0", "a -- b --- c", "talos.config=x", "inst.ks", "--- url=x", `"ds=x"`, "'ds=x'", "priority=low auto", "autoinstall --- ds", "ignition.config.url",
	} {
		f.Add(w)
	}
	f.Fuzz(func(t *testing.T, word string) {
		for format, name := range located() {
			words, ok := told(t, format, word)
			if !ok {
				continue
			}
			n, kept := 0, false
			for _, w := range words {
				if key, _, _ := strings.Cut(strings.Trim(w, `"'`), "="); key == name {
					n++
				}
				kept = kept || w == "---" || w == "--"
				if kept && strings.Contains(w, token) && (format == boot.UserDataPreseed || format == boot.UserDataAutoinstall) {
					t.Errorf("%s: the token of a boot is kept on the disk: %q", format, words)
				}
			}
			if n != 1 {
				t.Errorf("%s: it's told %d times: %q", format, n, words)
			}
		}
	})
}
