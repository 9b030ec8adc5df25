package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// row is one of a table whose second column is how a message begins, once its first is a reason.
	row = regexp.MustCompile("^\\| `[A-Z][^|]*\\| ([^|]*) \\|")
	// filled in a message is what it's told each time: what stands for anything, names in quotes, numbers and what's counted.
	filled = regexp.MustCompile(`…|"[^"]*"|\b\d+\b|\bN \w+|[()]`)
	quoted = regexp.MustCompile("`([^`]+)`")
)

// TestMessagesAreSaid holds that a message which a page of docs/operations begins with is one that somebody says, word for word: that's what a
// reader looks for. Its words stand in the code, or in the test that holds what is said.
func TestMessagesAreSaid(t *testing.T) {
	said, seen := sentences(t), 0
	for name, p := range pages(t) {
		table := false
		for i, line := range strings.Split(p.Text, "\n") {
			switch m := row.FindStringSubmatch(line); {
			case strings.HasPrefix(line, "| reason | message begins |"):
				table = true
			case !strings.HasPrefix(line, "|"):
				table = false
			case table && m != nil:
				for _, message := range quoted.FindAllStringSubmatch(m[1], -1) {
					seen++
					for _, words := range filled.Split(message[1], -1) {
						if words = strings.TrimSpace(words); strings.Contains(words, " ") && !strings.Contains(said, words) {
							t.Errorf("%s:%d: nobody says %q any more, of: %s", name, i+1, words, message[1])
						}
					}
				}
			}
		}
	}
	if seen < 35 {
		t.Errorf("only %d messages were found: are the tables still written the same?", seen)
	}
}

// sentences are all Go files of the product and of its tests, with texts that are written in several parts put together.
func sentences(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	internal := os.DirFS(filepath.Join(root, "internal"))
	err := fs.WalkDir(internal, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		b, err := fs.ReadFile(internal, path)
		out.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(out.String(), "\" +\n")
	for i, p := range parts[1:] {
		parts[i+1] = strings.TrimPrefix(strings.TrimLeft(p, "\t"), `"`)
	}
	return strings.ReplaceAll(strings.Join(parts, ""), `\"`, `"`)
}
