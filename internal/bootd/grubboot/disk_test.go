package grubboot

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tftp"
)

// TestNotFound: where localBoot says so, a machine that is to boot from its disk isn't found its shim, which is noted as a configuration is; no
// grant is opened for the question.
func TestNotFound(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*rig)
		gone   bool
		sights []session.Kind
	}{
		"Disk":    {"it's installed, or nobody wants it", func(r *rig) { r.plan.InstallGeneration = 0 }, true, []session.Kind{session.SawScript}},
		"Install": {"a grant is its grub's to open", nil, false, nil},
		"Held":    {"it waits in grub", func(r *rig) { r.session.Revocation = "r" }, false, nil},
	}
	for name, tc := range cases {
		for way, gone := range map[boot.LocalBoot]bool{boot.LocalBootNotFound: tc.gone, boot.LocalBootAuto: false} {
			for _, loader := range []string{"shimx64.efi", "grubx64-alone.efi"} {
				t.Run(name+string(way)+loader, func(t *testing.T) {
					r := newRig(t, tc.change)
					r.plan.LocalBoot = way
					_, _, err := r.get("/" + r.token(boot.TokenScript) + "/x64/" + loader)
					if errors.Is(err, tftp.ErrNotFound) != gone || !gone && err != nil || len(r.sessions.calls) > 0 {
						t.Errorf("%s: %v, asked %v", tc.reason, err, r.sessions.calls)
					}
					if want := tc.sights; gone {
						if diff := cmp.Diff(want, r.sessions.sights); diff != "" {
							t.Errorf("-want +got:\n%s", diff)
						}
					}
				})
			}
		}
	}
}
