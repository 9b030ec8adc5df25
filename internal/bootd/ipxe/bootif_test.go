package ipxe

import (
	"slices"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestBootIF: Debian's installer is told once which NIC booted, in a form that its loader knows, unless its profile says it.
func TestBootIF(t *testing.T) {
	several := answered(boot.UserDataPreseed)
	several.MACs = append(several.MACs, "52:54:00:00:00:02")
	for name, tc := range map[string]struct {
		reason string
		plan   *boot.Plan
		ipxe   []string
		other  []string // loaders
	}{
		"One":     {"it's known", answered(boot.UserDataPreseed), []string{"BOOTIF=01-52-54-00-00-00-01"}, []string{"BOOTIF=01-52-54-00-00-00-01"}},
		"Several": {"iPXE says which", several, []string{"BOOTIF=01-${netX/mac:hexhyp}"}, nil},
		"Own":     {"the profile says it", answered(boot.UserDataPreseed, "BOOTIF=01-0"), []string{"BOOTIF=01-0"}, []string{"BOOTIF=01-0"}},
		"Named":   {"or names it", answered(boot.UserDataPreseed, "interface=eno2"), nil, nil},
		"Ubuntu":  {"others look at all", answered(boot.UserDataAutoinstall), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := Render(input(boot.AnswerInstall, boot.DecidedGranted, bios, tc.plan))
			if err != nil {
				t.Fatal(err)
			}
			its := func(words []string) []string {
				return slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, "BOOTIF") })
			}
			if got := its(strings.Fields(text)); !slices.Equal(got, tc.ipxe) {
				t.Errorf("%s: %q", tc.reason, got)
			}
			if got := its(KernelWords(Input{Plan: tc.plan, Base: base, Token: token}, tc.plan.Artifacts[0], tc.plan.CommandLine, "$mac")); !slices.Equal(got, tc.other) {
				t.Errorf("%s: by another loader: %q", tc.reason, got)
			}
		})
	}
}
