package grub

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestLoadersAreOfTheirDisk: Debian's grub tells a loader that it starts that it came from $root, whatever disk its file is named by.
func TestLoadersAreOfTheirDisk(t *testing.T) {
	cases := map[string]struct {
		reason string
		arch   boot.Arch
	}{
		"X64":   {"The disk's shim looks for its grub where it was told that it came from, and that for its grub.cfg.", boot.AMD64},
		"ARM64": {"The same.", boot.ARM64},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := input(boot.AnswerLocalDisk, boot.DecidedInstalled, plan())
			in.Arch = tc.arch
			text, err := Render(in)
			if err != nil {
				t.Fatal(err)
			}
			root, started, of := "", 0, map[string]int{}
			for line := range strings.Lines(text) {
				line = strings.TrimSpace(line)
				if to, ok := strings.CutPrefix(line, "set root="); ok {
					root = to
				}
				if strings.HasPrefix(line, `if chainloader "$disk$loader`) {
					started++
					of[root]++
				}
			}
			if diff := cmp.Diff(map[string]int{`"$disk"`: started}, of); diff != "" || started == 0 {
				t.Errorf("%s: a loader is started from (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(`"$net"`, root); diff != "" {
				t.Errorf("%s: once nothing starts, the network is where it was (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
