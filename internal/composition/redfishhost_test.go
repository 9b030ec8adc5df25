package composition

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestRenderedHost: what others write to a host isn't rendered, whether it's set or not, and so never becomes the function's own.
func TestRenderedHost(t *testing.T) {
	full := aHost(bound, func(h *v1alpha1.RedfishHost) {
		p := &h.Spec.ForProvider
		p.BIOS, p.VirtualMedia = &v1alpha1.HostBIOS{Apply: v1alpha1.BIOSApplyNextReset}, []v1alpha1.VirtualMedium{{Type: v1alpha1.MediaCD}}
		p.SecureBoot, p.Indicator, p.AssetTag = "Enabled", "Lit", new(string)
		p.BMCResetGeneration, p.CredentialsRotation = 1, &v1alpha1.CredentialsRotation{Generation: 1}
	})
	for name, h := range map[string]*v1alpha1.RedfishHost{"Full": full, "Empty": {}} {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(&redfishHost{h})
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Spec map[string]any `json:"spec"`
			}
			if err := json.Unmarshal(raw, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]any{"address": h.Spec.ForProvider.Address}, got.Spec["forProvider"]); diff != "" || got.Spec["claimRef"] != nil {
				t.Errorf("claimRef %v; forProvider: -want, +got:\n%s", got.Spec["claimRef"], diff)
			}
		})
	}
}
