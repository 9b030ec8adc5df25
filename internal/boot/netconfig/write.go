package netconfig

import (
	"slices"
	"strconv"
	"strings"
)

// A pair is one line of a map: a string, a number, a bool, a list of strings, a map or a list of maps. An empty string, list or map
// and a 0 aren't written, nor is a map that has nothing else.
type pair struct {
	key   string
	value any
}

// pairs are a map in the order in which it's written.
type pairs []pair

func (ps pairs) with(more ...pair) pairs { return append(ps, more...) }

// absent says whether there's nothing to write.
func absent(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case int:
		return v == 0
	case pairs:
		return !slices.ContainsFunc(v, func(p pair) bool { return !absent(p.value) })
	case []pairs:
		return len(v) == 0
	case []string:
		return len(v) == 0
	}
	return false
}

// written is a value in one line, of JSON, which is YAML as well. Strings are quoted: a MAC of digits alone is a number otherwise.
func written(v any) string {
	var b strings.Builder
	flow(&b, v)
	return b.String()
}

func flow(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		b.WriteString(strconv.Quote(v))
	case int:
		b.WriteString(strconv.Itoa(v))
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case []string:
		list(b, v)
	case []pairs:
		list(b, v)
	case pairs:
		b.WriteByte('{')
		first := true
		for _, p := range v {
			if absent(p.value) {
				continue
			}
			if !first {
				b.WriteString(", ")
			}
			first = false
			b.WriteString(strconv.Quote(p.key) + ": ")
			flow(b, p.value)
		}
		b.WriteByte('}')
	}
}

func list[T any](b *strings.Builder, vs []T) {
	b.WriteByte('[')
	for i, v := range vs {
		if i > 0 {
			b.WriteString(", ")
		}
		flow(b, v)
	}
	b.WriteByte(']')
}

// document is a map as a YAML document for people: a line for each pair, and maps and lists of maps below their keys.
func document(ps pairs) []byte {
	var b strings.Builder
	block(&b, ps, "", "")
	return []byte(b.String())
}

// key is a name as a key of YAML: a bond may have one that YAML 1.1 takes for a bool or for nothing.
func key(name string) string {
	if slices.Contains([]string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}, name) {
		return strconv.Quote(name)
	}
	return name
}

// block writes a map; first stands before its first line in the place of indent.
func block(b *strings.Builder, ps pairs, first, indent string) {
	for _, p := range ps {
		if absent(p.value) {
			continue
		}
		b.WriteString(first + key(p.key) + ":")
		first = indent
		switch v := p.value.(type) {
		case pairs:
			b.WriteByte('\n')
			block(b, v, indent+"  ", indent+"  ")
		case []pairs:
			b.WriteByte('\n')
			for _, one := range v {
				block(b, one, indent+"  - ", indent+"    ")
			}
		default:
			b.WriteByte(' ')
			flow(b, v)
			b.WriteByte('\n')
		}
	}
}

// routed are all addresses, and a route to everywhere by each gateway beside other routes: a format calls the two by names of its own.
func (c Config) routed(to, via string) (addresses []string, routes []pairs) {
	for _, a := range c.Addresses {
		addresses = append(addresses, a.String())
		if a.Gateway.IsValid() {
			routes = append(routes, pairs{{to, everywhere(a.Gateway)}, {via, a.Gateway.String()}})
		}
		for _, r := range a.Routes {
			routes = append(routes, pairs{{to, r.To.String()}, {via, r.Via.String()}})
		}
	}
	return addresses, routes
}
