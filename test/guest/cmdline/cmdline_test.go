package cmdline_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/test/guest/cmdline"
)

func TestParse(t *testing.T) {
	cases := map[string]struct {
		reason string
		line   string
		want   cmdline.Parameters
	}{
		"Empty": {reason: "a kernel without parameters has nothing to do"},
		"Installer": {
			reason: "addresses keep what stands behind their own equals sign",
			line: "console=ttyS0 baremetal.callback=http://10.0.0.1/v1/boot/t baremetal.image=http://10.0.0.1/i?a=b\n" +
				"baremetal.image-digest=sha256:00 quiet baremetal.user-data=http://10.0.0.1/u",
			want: cmdline.Parameters{
				Callback: "http://10.0.0.1/v1/boot/t", Image: "http://10.0.0.1/i?a=b", ImageDigest: "sha256:00",
				UserData: "http://10.0.0.1/u",
			},
		},
		"Network": {
			reason: "a static address comes with its router",
			line:   "baremetal.address=10.0.0.2/24 baremetal.gateway=10.0.0.1 baremetal.role=disk baremetal.token=x",
			want:   cmdline.Parameters{Address: "10.0.0.2/24", Gateway: "10.0.0.1", Role: "disk", Token: "x"},
		},
		"Repeated": {
			reason: "as with the kernel's own parameters the last one counts",
			line:   "baremetal.role=a baremetal.role=b", want: cmdline.Parameters{Role: "b"},
		},
		"Foreign": {reason: "words of others are left alone", line: "callback=x image=y baremetal.other=z role=w"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, cmdline.Parse(tc.line)); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
