package bootd

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestCounted holds that a machine which was installed for an earlier entry isn't counted for ever as one that installs, or that is about to.
func TestCounted(t *testing.T) {
	type counted struct{ Unused, Installing bool }
	grant := &boot.Grant{ID: "g", EntryUID: "entry", Generation: 2}
	used := func(id, nonce string, generation int64) *boot.Consumption {
		return &boot.Consumption{GrantID: id, EntryUID: "entry", Generation: generation, Nonce: nonce}
	}
	cases := map[string]struct {
		reason string
		s      boot.Session
		want   counted
	}{
		"None":    {"nothing is granted", boot.Session{}, counted{}},
		"Granted": {"its next boot installs it", boot.Session{Grant: grant}, counted{Unused: true}},
		"Raised":  {"so does that of a raised one, whose install before wasn't told the end of", boot.Session{Grant: grant, Consumed: used("f", "n", 1)}, counted{Unused: true, Installing: true}},
		"Used":    {"it installs", boot.Session{Grant: grant, Consumed: used("g", "n", 2)}, counted{Installing: true}},
		"Ended":   {"it has", boot.Session{Grant: grant, Consumed: used("g", "n", 2), Installed: &boot.Result{GrantID: "g"}}, counted{}},
		"Before":  {"it was, for an earlier entry", boot.Session{Grant: grant, Consumed: used("f", "", 2)}, counted{}},
		"Above":   {"a generation above that one installs it", boot.Session{Grant: grant, Consumed: used("f", "", 1)}, counted{Unused: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, counted{unused(tc.s), installing(tc.s)}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
