package bios

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Digest names a declared map, by what is declared alone: it's the same with
// and without the registry, and for 4, 4.0 and "4", so that other YAML of the
// same wish isn't another wish (and another reset).
func Digest(declared map[string]Value) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		v := declared[name]
		text := strings.TrimSpace(v.Text)
		if n := number(text); n.Kind == Number {
			text = n.Text
		} else if t := truth(text); t.Kind == Flag {
			text = t.Text
		}
		fmt.Fprintf(h, "%q=%d%q\n", name, min(v.Kind, Text), text)
	}

	return hex.EncodeToString(h.Sum(nil))
}
