package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLeftover types what upgrade.md says of a ConfigMap that earlier versions had, as a person's shell does, which goes on after what fails: where
// a policy reads it, or nobody knows, it stays, since who takes it away then has every status refused.
func TestLeftover(t *testing.T) {
	steps := pages(t)["upgrade.md"].Steps
	at := slices.IndexFunc(steps, func(s Step) bool {
		return s.Run != nil && strings.Contains(s.Run.Text, "delete configmap baremetal-writers")
	})
	if at < 0 {
		t.Fatal("upgrade.md says nothing of it any more")
	}
	cases := map[string]struct {
		reason  string
		kubectl string // what it does when it's asked for bindings
		deleted bool
		says    string
	}{
		"Unread":  {"nothing refers to it", "true", true, ""},
		"Read":    {"older policies are still there", "printf 'baremetal-status\\nbaremetal-records\\n'", false, "read by baremetal-status baremetal-records\n"},
		"Unknown": {"the API server isn't reached", "echo refused >&2; exit 1", false, "refused\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			script := "#!/bin/bash\ncase \"$*\" in\n'get validatingadmissionpolicybindings '*) " + tc.kubectl + " ;;\n*) echo \"$*\" >>asked ;;\nesac\n"
			must(t, os.WriteFile(filepath.Join(dir, "kubectl"), []byte(script), 0o700)) //nolint:gosec // A program is to be run.
			cmd := exec.CommandContext(t.Context(), "bash", "-c", steps[at].Run.Text)   //nolint:gosec // That is what the page is for.
			cmd.Dir, cmd.Env = dir, []string{"PATH=" + dir + ":/usr/bin:/bin", "LANG=C"}
			out, _ := cmd.CombinedOutput() // What counts is what was asked.
			asked, _ := os.ReadFile(filepath.Join(dir, "asked"))
			want := ""
			if tc.deleted {
				want = "-n crossplane-system delete configmap baremetal-writers --ignore-not-found\n"
			}
			if string(asked) != want || string(out) != tc.says {
				t.Errorf("%s: it asks for %q and prints %q, want %q and %q", tc.reason, asked, out, want, tc.says)
			}
		})
	}
}
