package bmc_test

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// TestTreesRotate gives the account of every kind of BMC another password, and none where it has no accounts.
func TestTreesRotate(t *testing.T) {
	for name, dir := range captured(t) {
		t.Run(name, func(t *testing.T) {
			tree := load(t, dir)
			ours := ""
			for _, path := range tree.Paths() {
				if user, _ := bodyOf(tree, path)["UserName"].(string); strings.Contains(path, "/AccountService/Accounts/") && user != "" && ours == "" {
					ours = path
				}
			}
			if ours != "" {
				tree = tree.With(ours, func(b map[string]any) { b["UserName"], b["Enabled"] = bmc.DefaultUsername, true })
			}
			r := serveTree(t, tree)
			c := connect(t, settings(r.Server))
			s, err := c.SystemAt(t.Context(), r.SystemURI(r.Systems()[0]))
			if err != nil {
				t.Fatal(err)
			}
			a, err := c.Account(t.Context())
			if ours == "" {
				if !redfish.IsUnsupported(err) || len(r.FullWrites()) != 0 {
					t.Errorf("no account is captured: %v, written %v", err, r.FullWrites())
				}

				return
			}
			if err != nil {
				t.Fatal(err)
			}
			next := "aB3-" + strings.Repeat("xY7_", 4)
			if a.MaxLength > 0 {
				next = next[:min(len(next), a.MaxLength)]
			}
			if _, err := c.SetPassword(t.Context(), s, a, next); err != nil || r.Password() != next {
				t.Fatalf("SetPassword(...): %v", err)
			}
			for password, want := range map[string]bool{next: true, bmc.DefaultPassword: false} {
				if got, err := c.TryPassword(t.Context(), password); err != nil || got != want {
					t.Errorf("TryPassword(...): %t, %v; want %t", got, err, want)
				}
			}
			if w := r.FullWrites(); len(w) != 1 || w[0].Path != ours {
				t.Errorf("written: %v, want %s alone", w, ours)
			}
		})
	}
}
