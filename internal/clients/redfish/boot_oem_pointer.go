package redfish

import (
	"maps"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

// oemPointers are those of the properties, in their order.
func oemPointers(vendor quirk.OEMBoot) []string {
	return append([]string{vendor.Target}, slices.Sorted(maps.Keys(vendor.With))...)
}

// oemValues are what the properties are to be.
func oemValues(vendor quirk.OEMBoot, word string) []string {
	out := []string{word}
	for _, p := range slices.Sorted(maps.Keys(vendor.With)) {
		out = append(out, vendor.With[p])
	}

	return out
}

// unescaped is a reference token of a JSON pointer.
var unescaped = strings.NewReplacer("~1", "/", "~0", "~") //nolint:gochecknoglobals // A table.

func tokens(pointer string) []string {
	out := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i := range out {
		out[i] = unescaped.Replace(out[i])
	}

	return out
}

// fieldOf is a pointer for people.
func fieldOf(pointer string) string { return bounded(strings.TrimPrefix(pointer, "/"), maxURI) }

// pointed is the value at a pointer; nil where there's none.
func pointed(body map[string]any, pointer string) any {
	var v any = body
	for _, name := range tokens(pointer) {
		o, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = o[name]
	}

	return v
}

// point puts a value at a pointer.
func point(body map[string]any, pointer string, v any) {
	names := tokens(pointer)
	last := len(names) - 1
	for _, name := range names[:last] {
		next, ok := body[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			body[name] = next
		}
		body = next
	}
	body[names[last]] = v
}
