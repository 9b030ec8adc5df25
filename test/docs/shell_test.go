package docs

import (
	"strings"
	"testing"
	"time"
)

func TestTry(t *testing.T) {
	cases := map[string]struct {
		reason, page, want string
	}{
		"Seen":    {"What is to be seen is seen, with what there is here in place of what the page makes up.", "'''sh\necho NODE\n'''\n'''text\nNODE\n'''\n", ""},
		"Unseen":  {"What isn't printed is missed, and what was printed is shown.", "'''sh\necho here\n'''\n'''text\nthere\n'''\n", `nothing printed says "there"`},
		"Failed":  {"A command that fails ends the block.", "'''sh\nfalse\necho on\n'''\n", "exit status 1"},
		"Pipe":    {"A pipe's first half counts.", "'''sh\nfalse | cat\n'''\n", "exit status 1"},
		"Unset":   {"A placeholder that nobody filled in is an error.", "'''sh\necho $NOBODY\n'''\n", "NOBODY: unbound variable"},
		"Refused": {"What must fail fails.", "'''sh fails=\"it's refused\"\necho no; false\n'''\n'''text\nno\n'''\n", ""},
		"Allowed": {"What must fail mustn't succeed.", "'''sh fails=\"it's refused\"\ntrue\n'''\n", "it succeeds, and it's refused"},
		"Endless": {"Nothing runs for ever.", "'''sh\nsleep 30\n'''\n", "didn't end within"},
	}
	s := Shell{Dir: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"}, Table: []string{"NODE", "node-1"}, Limit: 2 * time.Second}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := Parse("p.md", fenced(tc.page))
			if err != nil {
				t.Fatal(err)
			}
			err = s.Try(t.Context(), p.Steps[0])
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nwant an error with %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
