package docs

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// silence is how a package of bootd names a reason for which nobody gets an answer.
var silence = regexp.MustCompile(`\b(?:Silent|Limited)[A-Za-z]+ +(?:dhcp\.)?Reason *= "([A-Za-z]+)"`)

// TestReasonsTold holds that whoever reads in a log why a machine got no answer finds what to look at.
func TestReasonsTold(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "boot.md"))
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for name := range strings.SplitSeq(cells[1], ",") {
				told[strings.TrimSpace(name)] = true
			}
		}
	}
	reasons := map[string]string{}
	for _, dir := range []string{"dhcp", "dhcp6"} {
		files, err := filepath.Glob(filepath.Join(root, "internal", "bootd", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range silence.FindAllStringSubmatch(string(b), -1) {
				reasons[m[1]] = f
			}
		}
	}
	if len(reasons) < 20 {
		t.Errorf("only %d reasons are found: are they still constants that begin with Silent?", len(reasons))
	}
	for _, r := range slices.Sorted(maps.Keys(reasons)) {
		if !told[r] {
			t.Errorf("docs/boot.md doesn't say what to look at where a request is ignored with reason %s (%s)", r, reasons[r])
		}
	}
}
