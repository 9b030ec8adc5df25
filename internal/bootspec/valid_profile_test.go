package bootspec

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestImageFormat: a folder's profile is told of its image's format what an API server tells another one.
func TestImageFormat(t *testing.T) {
	cases := map[string]struct {
		reason, format string
		want           []Fault
	}{
		"Absent": {"it's Raw", "", nil},
		"Raw":    {"as it's written to the disk", "Raw", nil},
		"QCOW2":  {"bootd unpacks it", "QCOW2", nil},
		"OCI": {"that's where it lies, and not what it is", "OCI", []Fault{
			{"spec.artifacts[0].image.format", "format says what is in the file: Raw or QCOW2; name the registry by an oci:// URL"},
		}},
		"VMDK": {"nobody unpacks it", "VMDK", []Fault{{"spec.artifacts[0].image.format", `format must be Raw or QCOW2, and is "VMDK"`}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			file := v1alpha1.Artifact{URL: "oci://registry.example/boot/debian", Digest: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}
			p := &v1alpha1.BootProfile{Spec: v1alpha1.BootProfileSpec{
				Mode: v1alpha1.BootModeInstall, Method: v1alpha1.BootMethodDiskImage,
				Artifacts: []v1alpha1.ProfileArtifacts{{Arch: v1alpha1.AMD64, Kernel: &file, Image: &v1alpha1.ImageArtifact{Artifact: file, Format: tc.format}}},
			}}
			p.Namespace, p.Name = "infra", "debian"
			if diff := cmp.Diff(tc.want, ValidProfile(p)); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
