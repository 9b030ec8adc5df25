package specdir

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNamedAndWrong: whoever is told that something isn't there looks for a file that's missing.
func TestNamedAndWrong(t *testing.T) {
	change := func(old, by string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, by, 1) }
	}
	cases := map[string]struct {
		reason string
		change func(string) string
		want   string
	}{
		"NoNetwork": {
			reason: "it isn't there indeed", change: change("name: rack}\nspec", "name: rock}\nspec"),
			want: `NotFound: BootNetwork "lab/rack" isn't there; create it, or name another in networks[0].networkRef`,
		},
		"WrongNetwork": {
			reason: "a value that can't be", change: change("cidr: 10.77.0.0/24", "cidr: 10.77.0.0/99"),
			want: `Invalid: BootNetwork "lab/rack" is there, and is wrong: mend a.yaml:5`,
		},
		"FieldOfNobody": {
			reason: "a field that nobody knows", change: change("  subnets:", "  sidenets: 1\n  subnets:"),
			want: `Invalid: BootNetwork "lab/rack" is there, and is wrong: mend a.yaml:5`,
		},
		"WrongVersion": {
			reason: "a version that nobody knows", change: change("v1alpha1\nkind: BootNetwork", "v9\nkind: BootNetwork"),
			want: `Invalid: BootNetwork "lab/rack" is there, and is wrong: mend a.yaml:1`,
		},
		"NoYAML": {
			reason: "what can't be read may be it", change: change("spec:\n  subnets", "spec:\n\tsubnets"),
			want: `NotFound: BootNetwork "lab/rack" isn't there, unless it's what is wrong at a.yaml:5; mend that, create it, or name another in networks[0].networkRef`,
		},
		"NoProfile": {
			reason: "it isn't there indeed", change: change("name: debian}\nspec", "name: dabian}\nspec"),
			want: `NotFound: BootProfile "lab/debian" isn't there; create it, or name another in profileRef`,
		},
		"WrongProfile": {
			reason: "a value of a wrong type", change: change("mode: Install", "mode: [Install]"),
			want: `Invalid: BootProfile "lab/debian" is there, and is wrong: mend a.yaml:11`,
		},
		"WrongSecret": {
			reason: "no base64", change: change("stringData: {userData: \"#cloud-config\\n\"}", "data: {userData: \"#\"}"),
			want: `Invalid: Secret "m1" is there, and is wrong: mend a.yaml:22`,
		},
		"WrongOther": {
			reason: "another entry is wrong, which can be no network",
			change: func(s string) string {
				return change("name: rack}\nspec", "name: rock}\nspec")(s) + "---\n" + strings.Replace(entryYAML("m2", mac2, "10.77.0.12", 1), "generation: 1", "generation: one", 1)
			},
			want: `NotFound: BootNetwork "lab/rack" isn't there; create it, or name another in networks[0].networkRef`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(tc.change(all(1))), 0o600); err != nil {
				t.Fatal(err)
			}
			_, wrong, err := Preview(dir, "", "m1")
			if err != nil {
				t.Fatal(err)
			}
			for i := range wrong {
				wrong[i] = strings.ReplaceAll(wrong[i], dir+"/", "")
			}
			of := slices.DeleteFunc(slices.Clone(wrong), func(s string) bool { return !strings.Contains(s, " BootEntry lab/m1: ") })
			if len(of) != 1 || !strings.HasSuffix(of[0], ": BootEntry lab/m1: "+tc.want) {
				t.Errorf("%s: want %q, got\n%s", tc.reason, tc.want, strings.Join(wrong, "\n"))
			}
		})
	}
}
