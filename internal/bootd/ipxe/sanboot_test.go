package ipxe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestNoSanbootOnUEFI: an iPXE of 2023 or later, such as Debian 13's, has a sanboot of UEFI's disks, which starts /EFI/BOOT/BOOTX64.EFI of the first.
func TestNoSanbootOnUEFI(t *testing.T) {
	cases := map[string]struct {
		reason string
		how    boot.LocalBoot
	}{
		"Auto":     {reason: "UEFI goes on to its next boot option", how: boot.LocalBootAuto},
		"Exit":     {reason: "the same", how: boot.LocalBootExit},
		"Sanboot":  {reason: "that's for a BIOS", how: boot.LocalBootSanboot},
		"NotFound": {reason: "where it was held", how: boot.LocalBootNotFound},
		"Grub":     {reason: "where there's no grub", how: boot.LocalBootGrub},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text, err := Render(Input{Plan: &boot.Plan{LocalBoot: tc.how}, Decision: boot.Decision{Answer: boot.AnswerLocalDisk}})
			if err != nil {
				t.Fatal(err)
			}
			first := ""
			for line := range strings.Lines(text) {
				if strings.Contains(line, "efi") || strings.Contains(line, "sanboot") {
					first, _, _ = strings.Cut(strings.TrimSpace(line), " ||")
					break
				}
			}
			if diff := cmp.Diff("iseq ${platform} efi && goto next", first); diff != "" {
				t.Errorf("%s: before anything is booted (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
