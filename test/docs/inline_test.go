package docs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInline(t *testing.T) {
	cases := map[string]struct {
		reason, page string
		want         []string
	}{
		"Sentence": {"Nobody tries it.", "# A\n\nDo\n`kubectl delete pod x`, then go.\n", []string{"3: kubectl delete pod x"}},
		"Wrapped":  {"A line's end doesn't hide it.", "By `helm install x\n--wait` it's there.\n", []string{"1: helm install x --wait"}},
		"Table":    {"Nor does a table.", "| a |\n|---|\n| `crossplane xpkg push x` |\n", []string{"1: crossplane xpkg push x"}},
		"Name":     {"A verb alone is a name.", "`kubectl delete` and `crossplane xpkg push` do that.\n", nil},
		"Field":    {"So is what isn't a command.", "`installGeneration: 1`, `make push A B`\n", nil},
		"Block":    {"A block has its own rules.", "'''sh\nkubectl delete pod `x` `kubectl get pod x`\n'''\n", nil},
		"Excused":  {"A reason excuses its paragraph.", "<!-- not typed: it never ends -->\nWatch `kubectl get pods -w`.\n", nil},
		"Next":     {"And no other.", "<!-- not typed: it never ends -->\nWatch.\n\nBy `kubectl get pods -w`.\n", []string{"4: kubectl get pods -w"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Inline(fenced(tc.page))); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if _, err := Parse("p.md", fenced(tc.page)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNoInlineCommands holds that what a reader may type stands in a block, which is tried, or has a reason.
func TestNoInlineCommands(t *testing.T) {
	for name, p := range tried(t) {
		for _, c := range Inline(p.Text) {
			t.Errorf("%s:%s: nobody tries this: put it into a block, or say above the paragraph why not: <!-- not typed: WHY -->", name, c)
		}
	}
}
