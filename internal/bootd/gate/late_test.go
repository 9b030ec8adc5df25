package gate

import (
	"errors"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestLate: a boot that used its grant isn't told to begin, nor heard, once a boot of a newer grant has its script; until then, and beside an older grant, it is.
func TestLate(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		grant  *boot.Grant
		opened string
		late   bool
	}{
		"Newer":    {"the machine began anew", &boot.Grant{ID: "two", Generation: 2}, "two", true},
		"Unopened": {"it hasn't yet", &boot.Grant{ID: "two", Generation: 2}, "one", false},
		"Older":    {"a backup put an older grant back", &boot.Grant{ID: "zero"}, "zero", false},
		"Own":      {"its own grant is still there", &boot.Grant{ID: "one", Generation: 1}, "one", false},
		"None":     {"its grant was cleared", nil, "one", false},
	} {
		t.Run(name, func(t *testing.T) {
			c := Caller{
				Claims: boot.Claims{Kind: boot.TokenBoot, GrantID: "one", Nonce: "n1"}, Plan: &boot.Plan{Mode: boot.ModeInstall, InstallGeneration: 2},
				Session: &boot.Session{Grant: tc.grant, OpenedGrantID: tc.opened, Consumed: &boot.Consumption{GrantID: "one", Generation: 1, Nonce: "n1"}},
			}
			g := New(Options{})
			for what, err := range map[string]error{"begin": g.Begin(t.Context(), c), "progress": g.Progress(t.Context(), c)} {
				if errors.Is(err, boot.ErrNoGrant) != tc.late || !tc.late && err != nil {
					t.Errorf("%s: %s: %v", tc.reason, what, err)
				}
			}
			if c.Late() != tc.late {
				t.Errorf("%s: late: %t", tc.reason, c.Late())
			}
		})
	}
}
