package docs

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	// inlineCode is a command in a sentence: a program, a verb, and something that the verb is for. Less than that is a name.
	inlineCode = regexp.MustCompile("`((?:kubectl|helm) [^ `]+ [^`]+|crossplane [^ `]+ [^ `]+ [^`]+)`")
	// untypedComment, above a paragraph, says why nobody types the commands in its sentences.
	untypedComment = regexp.MustCompile(`^<!-- not typed: (.+) -->$`)
)

// Inline are the commands in the sentences of a page, as "LINE: COMMAND" with the line of their paragraph, which nobody tries: a reader
// types them all the same. Those of a paragraph with a reason above it are left out.
func Inline(text string) []string {
	var out, paragraph []string
	began, fenced, excused := 0, false, false
	end := func() {
		if !excused {
			for _, m := range inlineCode.FindAllStringSubmatch(strings.Join(paragraph, " "), -1) {
				out = append(out, fmt.Sprintf("%d: %s", began, m[1]))
			}
		}
		paragraph, excused = nil, false
	}
	for i, line := range append(strings.Split(text, "\n"), "") {
		switch {
		case strings.HasPrefix(line, "```"):
			end()
			fenced = !fenced
		case fenced:
		case strings.TrimSpace(line) == "":
			end()
		case untypedComment.MatchString(line):
			end()
			excused = true
		default:
			if paragraph == nil {
				began = i + 1
			}
			paragraph = append(paragraph, strings.TrimSpace(line))
		}
	}
	return out
}
