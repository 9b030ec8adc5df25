package uptest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLookAgain holds what the hook makes of a provider that finds something else than before, with a kubectl that says so.
func TestLookAgain(t *testing.T) {
	// It answers "get" for the second time with what stands in AFTER.
	const kubectl = `#!/bin/sh
echo "$*" >>"$DIR/calls"
case "$*" in
*"get managed"*) echo "$FOUND" ;;
*"get redfishhosts -A"*) ;;
*" get "*) if [ -e "$DIR/asked" ]; then echo "$AFTER"; else touch "$DIR/asked"; echo before; fi ;;
esac
`
	cases := map[string]struct {
		reason       string
		args         []string
		after, found string
		want         string
		fails        bool
	}{
		"Same":     {reason: "The same was found.", args: []string{"team-a", "x/y"}, after: "before", want: "found again, unchanged:\nbefore"},
		"Other":    {reason: "Another address is a failure that says both.", args: []string{"team-a", "x/y"}, after: "after", want: "Before:\nbefore\nAfter:\nafter", fails: true},
		"Composed": {reason: "A claim's resources are found by their label.", args: []string{"team-a", "c.io/a=b"}, after: "before", found: "x/y", want: "unchanged"},
		"Several":  {reason: "The provider is started once for all.", args: []string{"team-a", "x/y", "x/z", "c.io/a=b"}, after: "before", found: "x/w", want: "unchanged"},
		"Nothing":  {reason: "A claim of nothing isn't one that was looked at.", args: []string{"team-a", "c.io/a=b"}, want: "no managed resource with c.io/a=b in team-a", fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fake := filepath.Join(dir, "kubectl")
			if err := os.WriteFile(fake, []byte(kubectl), 0o700); err != nil { //nolint:gosec // It's run.
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), filepath.Join("hooks", "look-again.sh"), tc.args...) //nolint:gosec // Our own script.
			cmd.Env = append(os.Environ(), "DIR="+dir, "FOUND="+tc.found, "AFTER="+tc.after, "KUBECTL="+fake, "CROSSPLANE_NAMESPACE=c", "PROVIDER=p=q", "LOCK="+filepath.Join(dir, "lock"))
			out, err := cmd.CombinedOutput()
			if (err != nil) != tc.fails || !strings.Contains(string(out), tc.want) {
				t.Errorf("%s\nwant a failure %t and %q, got %v:\n%s", tc.reason, tc.fails, tc.want, err, out)
			}
			calls, _ := os.ReadFile(filepath.Join(dir, "calls")) // What isn't there lacks the call.
			if restart := "-n c delete pod -l p=q"; tc.after != "" && strings.Count(string(calls), restart) != 1 {
				t.Errorf("%s\nthe provider wasn't started anew once: want one %q among\n%s", tc.reason, restart, calls)
			}
		})
	}
}
