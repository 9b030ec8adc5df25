package quirk

import (
	"maps"
	"strings"
)

// For merges the facts of all rows that match a machine, in their order: where
// several tell the same, the last one counts. names are those of the rows.
func For(rows []Row, m Machine) (facts Facts, names []string) {
	for _, r := range rows {
		if r.Match.fits(m) {
			facts = facts.with(r.Facts)
			names = append(names, r.Name)
		}
	}

	return facts, names
}

func (m Match) fits(is Machine) bool {
	if m == (Match{}) {
		return false
	}
	for _, field := range [][2]string{
		{m.Vendor, is.Vendor}, {m.Product, is.Product}, {m.Manufacturer, is.Manufacturer},
		{m.Model, is.Model}, {m.Firmware, is.Firmware}, {m.BIOS, is.BIOS},
	} {
		if field[0] != "" && !like(strings.ToLower(field[0]), strings.ToLower(strings.TrimSpace(field[1]))) {
			return false
		}
	}

	return true
}

// like compares a pattern with a text, from both ends inwards.
func like(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		_, rest, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = rest
	}

	return true
}

// with is f where more doesn't say otherwise.
func (f Facts) with(more Facts) Facts {
	set := func(field *string, value string) {
		if value != "" {
			*field = value
		}
	}
	set(&f.OverrideOn, more.OverrideOn)
	set(&f.Mode, more.Mode)
	set(&f.IfMatch, more.IfMatch)
	set(&f.Continuous, more.Continuous)
	if len(more.Rungs) > 0 {
		f.Rungs = more.Rungs
	}
	f.StoredAs = merged(f.StoredAs, more.StoredAs)
	f.OEM = f.OEM.with(more.OEM)

	return f
}

// with is o where more doesn't say otherwise. Words and what makes it a boot for once
// are those of one property: another one has its own.
func (o OEMBoot) with(more OEMBoot) OEMBoot {
	if more.Target != "" {
		o.Target, o.Words, o.With = more.Target, nil, nil
	}
	if len(more.Resources) > 0 {
		o.Resources = more.Resources
	}
	if len(more.With) > 0 {
		o.With = more.With
	}
	o.Words = merged(o.Words, more.Words)

	return o
}

// merged is a where b doesn't say otherwise, in a map of its own.
func merged(a, b map[string]string) map[string]string {
	if len(b) == 0 {
		return a
	}
	out := map[string]string{}
	maps.Copy(out, a)
	maps.Copy(out, b)

	return out
}
