package composition

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// An object can be rendered.
type object = client.Object

// A redfishHost renders without what belongs to the lifecycle controllers or to operators: a host's power, boot, reset and claimRef,
// its BIOS and the like. A field that this function rendered would be its own by server-side apply, and a released host would be
// switched on again.
type redfishHost struct {
	*v1alpha1.RedfishHost
}

// MarshalJSON leaves out what isn't ours, whatever its value: some of it has no "absent".
func (h *redfishHost) MarshalJSON() ([]byte, error) {
	raw, err := json.Marshal(h.RedfishHost)
	if err != nil {
		return nil, fmt.Errorf("cannot encode host %q: %w", h.GetName(), err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("cannot decode host %q: %w", h.GetName(), err)
	}
	if spec, ok := out["spec"].(map[string]any); ok {
		delete(spec, "claimRef")
		if p, ok := spec["forProvider"].(map[string]any); ok {
			for _, theirs := range []string{
				"power", "powerOff", "boot", "resetGeneration",
				"bios", "virtualMedia", "secureBoot", "indicator", "assetTag", "bmcResetGeneration", "credentialsRotation",
			} {
				delete(p, theirs)
			}
		}
	}
	return json.Marshal(out) //nolint:wrapcheck // A map of JSON values always encodes.
}
