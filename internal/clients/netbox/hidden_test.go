package netbox_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestHidden: a record that was just seen with the marker, and isn't shown when it's read again, may be hidden by a copy of NetBox's database that is
// behind: to take it for gone would leave it behind. The write tells. What wasn't seen to be ours isn't written to.
func TestHidden(t *testing.T) {
	all := transcripts(t, "4.6.8")
	released := one(`"claim_id":null,"released":"`+ourNote+`"`, `,"status":{"value":"deprecated"}`)
	remove := func(c *netbox.Client, seen netbox.IPAddress) error { return c.Delete(t.Context(), seen, ourMarker) }
	retire := func(c *netbox.Client, seen netbox.IPAddress) error {
		return c.Release(t.Context(), seen, netbox.Release{Marker: ourMarker, Note: ourNote, Retire: true})
	}
	cases := map[string]struct {
		reason  string
		marker  string
		do      func(*netbox.Client, netbox.IPAddress) error
		answers []transcript
		methods []string
	}{
		"Deleted":  {"it was there", ourMarker, remove, []transcript{all["584"], {Status: 204}}, []string{"GET", "DELETE"}},
		"Gone":     {"it was gone", ourMarker, remove, []transcript{all["584"], all["585"], all["584"]}, []string{"GET", "DELETE", "GET"}},
		"Released": {"it was there", ourMarker, retire, []transcript{all["584"], released}, []string{"GET", "PATCH"}},
		"Unseen":   {"nobody knows whose it was", "", remove, []transcript{all["584"]}, []string{"GET"}},
		"Other's":  {"it was another's", "c1/team-a/web-2/u2", remove, []transcript{all["584"]}, []string{"GET"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, s := releasing(t, tc.answers...)
			seen := netbox.IPAddress{ID: 7, LastUpdated: "t", CustomFields: map[string]any{"claim_id": tc.marker}}
			seen.Address = prefix("10.77.0.11/24").Prefix
			if err := tc.do(c, seen); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.methods, s.methods()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
