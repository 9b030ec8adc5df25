package bios

import (
	"cmp"
	"slices"
	"strings"
)

// nearest returns the names that somebody may have meant, 3 at most, the
// nearest first. A BIOS may add a suffix to a name (Supermicro), and people
// take the names from menus.
func (r Registry) nearest(name string, current map[string]Value) []string {
	const most = 3
	type near struct {
		name  string
		steps int
	}
	wanted := plain(name)
	var found []near
	for known := range current {
		steps := distance(wanted, plain(known))
		if display := r.entries[known].display; display != "" && plain(display) == wanted || strings.HasPrefix(plain(known), wanted) && wanted != "" {
			steps = 0
		}
		if steps <= max(2, len(wanted)/3) { //nolint:mnd // A third of the letters, two at least: what typing errors change.
			found = append(found, near{name: known, steps: steps})
		}
	}
	slices.SortFunc(found, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.steps, b.steps), strings.Compare(a.name, b.name))
	})
	var names []string
	for _, n := range found[:min(most, len(found))] {
		names = append(names, n.name)
	}

	return names
}

// plain leaves the letters and digits of a name, in lower case.
func plain(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case 'A' <= c && c <= 'Z':
			return c + 'a' - 'A'
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			return c
		}

		return -1
	}, s)
}

// distance is Levenshtein's, of the first 64 bytes of each.
func distance(a, b string) int {
	const longest = 64
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j]+1, before+1)
		}
	}

	return row[len(b)]
}
