package httpboot

import (
	"net/http"
	"strings"
)

const (
	// farthest is the largest number that net/http reads. No file has what lies beyond it, and what is malformed is refused.
	farthest  = "9223372036854775807"
	beyond    = farthest + "-"
	malformed = "-"
)

// plainRange writes the Range of a request as net/http understands it: that one takes neither a unit in capitals nor large numbers, refuses a unit that
// it doesn't know, and gives the last 0 bytes as a part that there can't be (RFC 9110 §14.1, §14.2).
func plainRange(r *http.Request) {
	asks := r.Header.Get("Range")
	if asks == "" {
		return
	}
	unit, set, _ := strings.Cut(asks, "=")
	if r.Method != http.MethodGet || !strings.EqualFold(unit, "bytes") {
		r.Header.Del("Range")
		return
	}
	var all []string
	for x := range strings.SplitSeq(set, ",") {
		if x = strings.Trim(x, " \t"); x != "" {
			all = append(all, plainSpec(x))
		}
	}
	r.Header.Set("Range", "bytes="+strings.Join(all, ","))
}

// plainSpec is one range of a set.
func plainSpec(x string) string {
	first, last, dash := strings.Cut(x, "-")
	if !dash || strings.Trim(first, "0123456789") != "" || strings.Trim(last, "0123456789") != "" {
		return malformed // Of a sign, too, which net/http takes.
	}
	first, last = readable(first), readable(last)
	if first == "" && last == "0" {
		return beyond
	}
	return first + "-" + last
}

// readable is a number without zeros before it, and the largest one where it would be more; "" of none.
func readable(digits string) string {
	n := strings.TrimLeft(digits, "0")
	switch {
	case n == "" && digits != "":
		return "0"
	case len(n) >= len(farthest):
		return farthest
	}
	return n
}
