package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fenced writes fences as ”' so that cases can be raw strings.
func fenced(s string) string { return strings.ReplaceAll(s, "'''", "```") }

func TestParse(t *testing.T) {
	cases := map[string]struct {
		reason, page string
		want         []string
		other        int
	}{
		"RunAndSee": {
			"Output belongs to the commands before it.",
			"# A\n'''sh\nls\n'''\nYou see:\n'''text\nx\n'''\n", []string{"run 2 A: ls -> x"}, 0,
		},
		"Console": {"Either language is output.", "'''sh\nls\n'''\n'''console\nx\n'''\n", []string{"run 1 : ls -> x"}, 0},
		"Two":     {"Commands need no output.", "'''sh\nls\n'''\n'''sh\npwd\n'''\n", []string{"run 1 : ls", "run 4 : pwd"}, 0},
		"NoRun": {
			"What isn't run says why, and what would be seen then isn't looked for.",
			"'''sh norun=\"it never ends\"\nls -w\n'''\n'''text\nx\n'''\n", nil, 2,
		},
		"OtherLanguage": {"YAML is shown, with a reason.", "'''yaml norun=\"shown\"\na: 1\n'''\n", nil, 1},
		"Act":           {"What happens beside the commands has its place among them.", "'''sh\nls\n'''\n<!-- act: the cable breaks -->\n", []string{"run 1 : ls", "act the cable breaks"}, 0},
		"ActElsewhere":  {"It may be another stage's.", "<!-- act on cluster: a node is gone -->\n", []string{"act a node is gone on cluster"}, 0},
		"Attributes": {
			"A block may be another stage's, and be refused.",
			"'''sh on=\"cluster\" fails=\"admission refuses it\"\nls\n'''\n", []string{"run 1 : ls on cluster, admission refuses it"}, 0,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := Parse("p.md", fenced(tc.page))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, story(p.Steps)); diff != "" || len(p.Other) != tc.other {
				t.Errorf("%s\nsteps: -want, +got:\n%s\nothers: %d", tc.reason, diff, len(p.Other))
			}
		})
	}
}

// story tells steps in a line each.
func story(steps []Step) (out []string) {
	for _, s := range steps {
		if s.Act != "" {
			line := "act " + s.Act
			if s.On != "" {
				line += " on " + s.On
			}
			out = append(out, line)
			continue
		}
		line := "run " + strings.TrimPrefix(s.Run.String(), "p.md:") + " " + s.Run.Section + ": " + strings.TrimSpace(s.Run.Text)
		if on := s.Run.Attrs["on"]; on != "" {
			line += " on " + on + ", " + s.Run.Fails()
		}
		if s.Want != nil {
			line += " -> " + strings.TrimSpace(s.Want.Text)
		}
		out = append(out, line)
	}
	return out
}

func TestParseRefuses(t *testing.T) {
	cases := map[string]struct{ reason, page, want string }{
		"Open":      {"A block that doesn't end hides the rest.", "'''sh\nls\n", "p.md:1: the block isn't closed"},
		"Language":  {"Nobody runs YAML.", "'''yaml\na: 1\n'''\n", `nobody runs a block of "yaml"`},
		"None":      {"A block without a language might be anything.", "'''\nls\n'''\n", `nobody runs a block of ""`},
		"Lonely":    {"Output needs commands.", "'''text\nx\n'''\n", "follows no commands"},
		"Section":   {"A heading parts output from commands.", "'''sh\nls\n'''\n## B\n'''text\nx\n'''\n", "follows no commands"},
		"Attribute": {"A misspelt attribute would run what it mustn't.", "'''sh no-run=\"x\"\nls\n'''\n", "isn't norun, on, fails or as"},
		"Why":       {"A reason has words.", "'''sh norun=\"\"\nls\n'''\n", "isn't norun, on, fails or as"},
		"Comment":   {"A misspelt act would never happen.", "<!-- acts: x -->\n", "neither an act nor a stage"},
		"Indented":  {"A block in a list would be overlooked.", "* '''sh\n", "a fence starts its line"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("p.md", fenced(tc.page))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nwant an error with %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

func TestFor(t *testing.T) {
	p, err := Parse("p.md", fenced("<!-- tried on: lab -->\n<!-- act: a -->\n<!-- act on cluster: b -->\n'''sh\nls\n'''\n'''sh on=\"cluster\"\npwd\n'''\n"))
	if err != nil {
		t.Fatal(err)
	}
	for stage, want := range map[string]int{"lab": 2, "cluster": 2, "": 0} {
		if got := len(p.For(stage)); got != want {
			t.Errorf("stage %q takes %d steps, want %d", stage, got, want)
		}
	}
}

func TestReadSection(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.md")
	text := fenced("# P\n'''\nanything\n'''\n## A\n<!-- tried on: lab -->\n'''sh\nls\n'''\n### More\n'''sh\npwd\n'''\n## B\n'''\nanything\n'''\n")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := ReadSection(file, "## A")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"run 7 A: ls", "run 11 More: pwd"}, story(p.Steps)); diff != "" || p.Stage != "lab" {
		t.Errorf("stage %q, steps: -want, +got:\n%s", p.Stage, diff)
	}
	for _, heading := range []string{"## C", "# Q"} {
		if _, err := ReadSection(file, heading); err == nil {
			t.Errorf("%q isn't a heading there, and would leave nothing to try", heading)
		}
	}
}
