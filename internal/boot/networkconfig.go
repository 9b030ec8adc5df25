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
// known is "". Of a machine with an address of each family the names are those of IPv4; those that end with 6 are of IPv6 in any case.
func (p *Plan) NetworkValues() map[string]string {
	n := p.Network
	values := map[string]string{"mtu": "", "domain": n.Domain, "hostname": p.Hostname}
	Place{n.Address, n.Gateway, n.DNS, n.NTP}.values(values, "")
	six, _ := n.InSix()
	six.values(values, suffixSix)
	if n.MTU > 0 {
		values["mtu"] = strconv.Itoa(n.MTU)
	}
	return values
}

// suffixSix ends the names of what is IPv6's.
const suffixSix = "6"

// values puts a place among others, by names that end with a suffix.
func (p Place) values(into map[string]string, suffix string) {
	for _, name := range []string{"address", "ip", "prefixLength", "gateway"} {
		into[name+suffix] = ""
	}
	into["dns"+suffix], into["ntp"+suffix] = commas(p.DNS), commas(p.NTP)
	if p.Address.IsValid() {
		into["address"+suffix], into["ip"+suffix] = p.Address.String(), p.Address.Addr().String()
		into["prefixLength"+suffix] = strconv.Itoa(p.Address.Bits())
	}
	if p.Gateway.IsValid() {
		into["gateway"+suffix] = p.Gateway.String()
	}
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
