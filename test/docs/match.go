package docs

import (
	"fmt"
	"regexp"
	"strings"
)

// ellipsis in a page stands for whatever there may be: alone for words, within a word for letters.
const ellipsis = "…"

// age is how kubectl says for how long something is there.
var age = regexp.MustCompile(`^(\d+(\.\d+)?(ms|[smhdy]))+$`)

// Missing says, by an error, what of a page's output isn't in what was printed. Each line's words must be in one line, in their order,
// and the lines in theirs; there may be more of both. Ages are alike.
func Missing(want, got string) error {
	rest := strings.Split(got, "\n")
	for line := range strings.SplitSeq(want, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || len(words) == 1 && words[0] == ellipsis {
			continue
		}
		at := -1
		for i, l := range rest {
			if hasWords(words, strings.Fields(l)) {
				at = i
				break
			}
		}
		if at < 0 {
			return fmt.Errorf("nothing printed says %q", strings.Join(words, " "))
		}
		rest = rest[at+1:]
	}
	return nil
}

func hasWords(want, got []string) bool {
	for _, w := range want {
		if w == ellipsis {
			continue
		}
		for len(got) > 0 && !sameWord(w, got[0]) {
			got = got[1:]
		}
		if len(got) == 0 {
			return false
		}
		got = got[1:]
	}
	return true
}

func sameWord(want, got string) bool {
	if age.MatchString(want) {
		return age.MatchString(got)
	}
	parts := strings.Split(want, ellipsis)
	if len(parts) == 1 {
		return want == got
	}
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(got)
}
