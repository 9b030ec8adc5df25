package machine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseScript(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   [][]command
		labels map[string]int
		err    string
	}{
		"NoMagic": {reason: "an HTML page of some proxy is no script", text: "<html>", err: "#!ipxe"},
		"Commands": {
			reason: "comments and empty lines are nothing, quotes are letters",
			text:   "#!ipxe\n\n# a comment\necho \"a  b\" # rest\n",
			want:   [][]command{{{args: []string{"echo", `"a`, `b"`}}}}, labels: map[string]int{},
		},
		"Joined": {
			reason: "a line may say what happens otherwise",
			text:   "#!ipxe\niseq a b && goto x || goto y ; echo z\n",
			want: [][]command{{
				{args: []string{"iseq", "a", "b"}}, {join: "&&", args: []string{"goto", "x"}},
				{join: "||", args: []string{"goto", "y"}}, {join: ";", args: []string{"echo", "z"}},
			}}, labels: map[string]int{},
		},
		"Forgiving": {
			reason: "nothing after || forgets a failure",
			text:   "#!ipxe\nchain x ||\n:end\n:last\n",
			want:   [][]command{{{args: []string{"chain", "x"}}, {join: "||"}}}, labels: map[string]int{"end": 1, "last": 1},
		},
		"Continued": {
			reason: "a backslash joins lines", text: "#!ipxe\nkernel a \\\n  b\n",
			want: [][]command{{{args: []string{"kernel", "a", "b"}}}}, labels: map[string]int{},
		},
		"Nothing": {reason: "|| needs something before it", text: "#!ipxe\n|| goto x\n", err: "line 2"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parseScript(tc.text)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s: error %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.lines, cmp.AllowUnexported(command{})); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.labels, got.labels); diff != "" {
				t.Errorf("%s: labels -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestExpand(t *testing.T) {
	vars := map[string]string{"net0/mac": "52:54:00:00:00:01", "base": "http://b", "which": "base", "evil": "${base}"}
	cases := map[string]struct{ reason, in, want string }{
		"Plain":   {"words without variables stay", "boot.ipxe", "boot.ipxe"},
		"Twice":   {"every variable is replaced", "${base}/${net0/mac}", "http://b/52:54:00:00:00:01"},
		"Format":  {"a MAC can be written as file names have it", "${net0/mac:hexhyp}", "52-54-00-00-00-01"},
		"Raw":     {"or without separators", "${net0/mac:hexraw}", "525400000001"},
		"Unset":   {"what isn't set is nothing", "a${nothing}b", "ab"},
		"Nested":  {"the innermost is replaced first", "${${which}}", "http://b"},
		"Value":   {"a value isn't expanded again", "${evil}", "$ {base}"},
		"Open":    {"what never ends is no variable", "${base", "${base"},
		"Escaped": {"a parameter can be escaped", "${base:uristring}", "http%3A%2F%2Fb"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := expand(tc.in, lookup(vars)); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	flags, rest := options([]string{"--name", "vmlinuz", "--timeout=5", "--autofree", "-n", "x", "http://a", "--b"}, "name", "n")
	want := map[string]string{"name": "vmlinuz", "timeout": "5", "autofree": "", "n": "x"}
	if diff := cmp.Diff(want, flags); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"http://a", "--b"}, rest); diff != "" {
		t.Errorf("what follows the address is the kernel's: -want +got:\n%s", diff)
	}
}

func FuzzParseScript(f *testing.F) {
	for _, s := range []string{"#!ipxe\n:a\ngoto a\n", "#!ipxe\nkernel x || boot", "#!ipxe\n&&", "", "#!ipxe\\\n\n;;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseScript(text)
		if err != nil {
			return
		}
		for _, line := range s.lines {
			for _, c := range line {
				if len(c.args) == 0 {
					t.Error("a command without a name")
				}
			}
		}
		for label, at := range s.labels {
			if at > len(s.lines) {
				t.Errorf("label %q is behind the end", label)
			}
		}
		expand(text, lookup(map[string]string{"a": "${a}"}))
	})
}
