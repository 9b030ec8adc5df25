package docs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// texts are all pages of a folder of docs, by their paths below docs.
func texts(t *testing.T, pattern string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "docs", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	out := map[string]string{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[f] = string(b)
	}
	return out
}

// linked is a link to a file: its text, the file, and perhaps a heading.
var linked = regexp.MustCompile(`\[([^\]]+)\]\(([^)#:\s]*)(?:#([^)\s]+))?\)`)

// TestLinksOfPages holds, of the pages above docs/operations, what TestLinks does of those: what they link to is there, down to the heading,
// and a test that is named is one of the file that it's said to be in.
func TestLinksOfPages(t *testing.T) {
	pages, tests := texts(t, "*.md"), 0
	for page, text := range pages {
		for _, m := range linked.FindAllStringSubmatch(text, -1) {
			to := page
			if m[2] != "" {
				to = filepath.Join(filepath.Dir(page), m[2])
			}
			b, err := os.ReadFile(to)
			if info, serr := os.Stat(to); err != nil && (serr != nil || !info.IsDir()) {
				t.Errorf("%s links to %q, which isn't there", page, m[2])
				continue
			}
			if m[3] != "" && !slices.Contains(anchors(string(b)), m[3]) {
				t.Errorf("%s links to %s#%s, and there's no such heading", page, m[2], m[3])
			}
			if strings.HasPrefix(m[1], "Test") {
				tests++
				if !strings.Contains(string(b), "\nfunc "+m[1]+"(t *testing.T) {") {
					t.Errorf("%s names %s, which isn't in %s", page, m[1], m[2])
				}
			}
		}
	}
	if tests < 40 {
		t.Errorf("only %d tests are named: are they still written as links?", tests)
	}
}

// TestNetBoxPage holds that each example of a NetBoxIPAddress is told of, and that whatever is to be posted is JSON.
func TestNetBoxPage(t *testing.T) {
	text := texts(t, "netbox.md")[filepath.Join(root, "docs", "netbox.md")]
	files, err := filepath.Glob(filepath.Join(root, "examples", "netbox", "*.yaml"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, f := range files {
		if !strings.Contains(text, "](../examples/netbox/"+filepath.Base(f)+")") {
			t.Errorf("docs/netbox.md doesn't link to examples/netbox/%s: say what it's an example of", filepath.Base(f))
		}
	}
	blocks := regexp.MustCompile("(?s)\n *```json\n(.*?\n) *```\n").FindAllStringSubmatch(text, -1)
	for _, b := range blocks {
		body := b[1]
		if first, rest, _ := strings.Cut(body, "\n"); strings.HasPrefix(first, "POST /api/") {
			body = rest
		}
		if !json.Valid([]byte(body)) {
			t.Errorf("this isn't JSON:\n%s", b[1])
		}
	}
	if len(blocks) < 4 {
		t.Errorf("only %d blocks of JSON", len(blocks))
	}
}
