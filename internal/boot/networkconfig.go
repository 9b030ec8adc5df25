package boot

import (
	"bytes"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxQuoted is the longest word of a Secret that is quoted: a name that was mistyped, and nothing that stood between two braces.
const maxQuoted = 32

var networkPlace = regexp.MustCompile(`\{\{\s*\.([A-Za-z0-9]+)\s*\}\}`)

// NetworkValues are what a network config may say as {{ .name }}: the machine's place on its segment, as DHCP would say it. What isn't
// known is "".
func (p Plan) NetworkValues() map[string]string {
	n := p.Network
	values := map[string]string{
		"address": "", "ip": "", "prefixLength": "", "gateway": "", "mtu": "",
		"dns": commas(n.DNS), "ntp": commas(n.NTP), "domain": n.Domain, "hostname": p.Hostname,
	}
	if n.Address.IsValid() {
		values["address"], values["ip"], values["prefixLength"] = n.Address.String(), n.Address.Addr().String(), strconv.Itoa(n.Address.Bits())
	}
	if n.Gateway.IsValid() {
		values["gateway"] = n.Gateway.String()
	}
	if n.MTU > 0 {
		values["mtu"] = strconv.Itoa(n.MTU)
	}
	return values
}

func commas(as []netip.Addr) string {
	texts := make([]string, 0, len(as))
	for _, a := range as {
		texts = append(texts, a.String())
	}
	return strings.Join(texts, ", ")
}

// FillNetworkConfig puts a machine's place into a network config. It's no template engine: the names of the values can be said and nothing
// else. wrong is what is wrong with it, with line and column, and for a value that's "" why; "": nothing.
func FillNetworkConfig(b []byte, values map[string]string, unsaid string) (config []byte, wrong string) {
	var out bytes.Buffer
	done := 0
	for _, m := range networkPlace.FindAllSubmatchIndex(b, -1) {
		name := string(b[m[2]:m[3]])
		v, known := values[name]
		said := "this name"
		if len(name) <= maxQuoted {
			said = "{{ ." + name + " }}"
		}
		switch {
		case !known:
			return nil, fmt.Sprintf("%s: %s is none of %s", placeIn(b, m[0]), said, strings.Join(slices.Sorted(maps.Keys(values)), ", "))
		case v == "":
			return nil, fmt.Sprintf("%s: %s isn't known: %s", placeIn(b, m[0]), said, unsaid)
		}
		out.Write(b[done:m[0]])
		out.WriteString(v)
		done = m[1]
	}
	out.Write(b[done:])
	if i := bytes.Index(out.Bytes(), []byte("{{")); i >= 0 {
		dots := networkPlace.ReplaceAllFunc(b, func(m []byte) []byte { return bytes.Repeat([]byte("."), len(m)) })
		return nil, placeIn(b, max(0, bytes.Index(dots, []byte("{{")))) + ": it's no plain {{ .name }}"
	}
	return out.Bytes(), ""
}

// placeIn says where an octet is, for people.
func placeIn(b []byte, at int) string {
	line := bytes.Count(b[:at], []byte("\n"))
	return fmt.Sprintf("line %d, column %d", line+1, at-bytes.LastIndexByte(b[:at], '\n'))
}
