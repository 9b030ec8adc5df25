package grub

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestLoadersOfDistributions: what is started of a disk, by what lies in its EFI system partition as a distribution lays it out. /EFI/BOOT has a
// shim beside a fallback, which resets the machine, or writes the disk before the network in its boot order.
func TestLoadersOfDistributions(t *testing.T) {
	cases := map[string]struct {
		reason string
		arch   boot.Arch
		disk   []string
		want   string
	}{
		"Debian": {
			reason: "its shim, which starts its grub", arch: boot.AMD64,
			disk: []string{"/EFI/debian/grubx64.efi", "/EFI/debian/shimx64.efi"}, want: "/EFI/debian/shimx64.efi",
		},
		"SUSEWithSecureBoot": {
			reason: "SUSE's names have no suffix", arch: boot.AMD64,
			disk: []string{"/EFI/opensuse/grub.efi", "/EFI/opensuse/shim.efi"}, want: "/EFI/opensuse/shim.efi",
		},
		"SUSEWithBoth": {
			reason: "what grub2-install has left there is under no signature", arch: boot.AMD64,
			disk: []string{"/EFI/sles/grub.efi", "/EFI/sles/grubx64.efi", "/EFI/sles/shim.efi"}, want: "/EFI/sles/shim.efi",
		},
		"SUSEWithoutSecureBoot": {
			reason: "it has no shim then", arch: boot.AMD64, disk: []string{"/EFI/opensuse/grubx64.efi"}, want: "/EFI/opensuse/grubx64.efi",
		},
		"SUSEOnARM64": {
			reason: "nor have they one there", arch: boot.ARM64, disk: []string{"/EFI/opensuse/grub.efi", "/EFI/opensuse/shim.efi"}, want: "/EFI/opensuse/shim.efi",
		},
		"Micro": {
			reason: "SLE Micro has a folder of its own", arch: boot.AMD64, disk: []string{"/EFI/sle/grub.efi", "/EFI/sle/shim.efi"}, want: "/EFI/sle/shim.efi",
		},
		"Unknown": {
			reason: "the removable disk's own then", arch: boot.AMD64, disk: []string{"/EFI/other/shimx64.efi"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			suffix := map[boot.Arch]string{boot.AMD64: "x64", boot.ARM64: "aa64"}[tc.arch]
			got := ""
			for _, loader := range loadersOf(suffix) {
				if slices.Contains(tc.disk, loader) {
					got = loader
					break
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
