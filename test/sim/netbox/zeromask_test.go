package netbox_test

import (
	"testing"

	client "github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestZeroMask: NetBox looks at custom fields before it refuses the mask /0 (515), and makes nothing of either. That is what tells a marker that is taken
// by a record which isn't shown.
func TestZeroMask(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			s, c, p := start(t, v, "10.77.0.0/24")
			ip, err := c.Allocate(t.Context(), p, client.Request{Marker: "c/ns/a/1"})
			if err != nil {
				t.Fatal(err)
			}
			before := s.Addresses()
			for marker, want := range map[string]bool{"c/ns/a/1": true, "c/ns/a/2": false} {
				if hides, err := c.Hides(t.Context(), marker, "c/ns/a/3", nil); err != nil || hides != want {
					t.Errorf("%s: %v, %v", marker, hides, err)
				}
			}
			if all := s.Addresses(); len(all) != 1 || all[0].ID != ip.ID || !all[0].LastUpdated.Equal(before[0].LastUpdated) {
				t.Errorf("%+v", all)
			}
		})
	}
}
