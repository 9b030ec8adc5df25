package bootspec

import (
	"regexp"
	"sync"
)

// A form is a pattern that is compiled when it's first asked for: the counts in some take a megabyte and some milliseconds, and a bootd of a
// cluster, where the API server has checked everything, never asks.
type form func() *regexp.Regexp

func formOf(pattern string) form {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// MatchString says whether a text has the form.
func (f form) MatchString(s string) bool { return f().MatchString(s) }
