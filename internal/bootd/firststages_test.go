package bootd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tftp"
)

// TestFirstStages: of the files that a folder has each stands for the firmware that it's for.
func TestFirstStages(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  []string
		want   dhcp.Files
	}{
		"Debian12": {
			reason: "nothing for arm64", files: []string{"undionly.kpxe", "snponly.efi", "ipxe.efi"},
			want: dhcp.Files{BIOS: "undionly.kpxe", UEFIAMD64: "snponly.efi", NativeAMD64: "ipxe.efi"},
		},
		"Debian13": {
			reason: "what has drivers of its own is all that there is for arm64", files: []string{"undionly.kpxe", "snponly.efi", "ipxe.efi", "ipxe-arm64.efi"},
			want: dhcp.Files{BIOS: "undionly.kpxe", UEFIAMD64: "snponly.efi", UEFIARM64: "ipxe-arm64.efi", NativeAMD64: "ipxe.efi", NativeARM64: "ipxe-arm64.efi"},
		},
		"Own": {
			reason: "an operator's goes first, but where the other is asked for", files: []string{"undionly.kpxe", "snponly.efi", "ipxe.efi", "ipxe-arm64.efi", "snponly-arm64.efi"},
			want: dhcp.Files{BIOS: "undionly.kpxe", UEFIAMD64: "snponly.efi", UEFIARM64: "snponly-arm64.efi", NativeAMD64: "ipxe.efi", NativeARM64: "ipxe-arm64.efi"},
		},
		"None": {
			reason: "stand-ins go by the same names", want: dhcp.Files{BIOS: "undionly.kpxe", UEFIAMD64: "snponly.efi", NativeAMD64: "ipxe.efi"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range tc.files {
				if err := os.WriteFile(filepath.Join(dir, f), []byte("iPXE"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tc.want, (&daemon{files: tftp.Load(dir)}).firstStages()); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
