package inventory

import (
	"slices"
	"strings"
	"unicode"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// Bounds of what is shown to people, in bytes.
const (
	maxWord    = 64
	maxPort    = 40
	maxMessage = 128
)

// nothing are the words by which firmware says that it doesn't know.
var nothing = []string{ //nolint:gochecknoglobals // A table.
	"n/a", "na", "nil", "none", "null", "unknown", "empty", "not available", "not specified", "not present", "no dimm",
	"default string", "to be filled by o.e.m.", "0x0000", "unspecified",
}

// word is a text as it is shown: one line, bounded, and "" for what only says
// that there is nothing.
func word(t lenient.Text) string { return bounded(string(t), maxWord) }

func bounded(s string, limit int) string {
	s = line(s, limit)
	if slices.Contains(nothing, strings.ToLower(s)) {
		return ""
	}

	return s
}

// plainer are characters that take several bytes in JSON, and what is as good.
var plainer = strings.NewReplacer(`"`, "'", `\`, "/", "<", "(", ">", ")", "&", "+") //nolint:gochecknoglobals // A table.

// line is a text on one line, without what can't be printed.
func line(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}

		return r
	}, s)
	s = plainer.Replace(strings.Join(strings.Fields(s), " "))
	if len(s) > limit {
		s = strings.TrimSpace(strings.ToValidUTF8(s[:limit], ""))
	}

	return s
}

// whole is a number that counts something; nonsense is 0.
func whole(n lenient.Number) int64 {
	const most = 1 << 62
	if !n.Known || n.Value < 0 || n.Value > most {
		return 0
	}

	return int64(n.Value)
}

// first is the first text that says something.
func first(texts ...lenient.Text) string {
	for _, t := range texts {
		if w := word(t); w != "" {
			return w
		}
	}

	return ""
}

// oneOf is the one of words that a text is, whatever its case, or "".
func oneOf(t lenient.Text, words ...string) string {
	for _, w := range words {
		if strings.EqualFold(strings.TrimSpace(string(t)), w) {
			return w
		}
	}

	return ""
}
