package netconfig

import (
	"bytes"
	"regexp"
)

// Names of what user data may say of a network, as {{ .name }}.
const (
	// PlaceTalos is machine.network of a Talos machine config, in one line.
	PlaceTalos = "talosNetwork"
	// PlaceNMState is the URL of the nmstate of this boot.
	PlaceNMState = "nmstateURL"
)

// maxPlaces in one machine's user data: each is some kilobytes at most.
const maxPlaces = 16

var place = regexp.MustCompile(`\{\{[ \t]*\.(` + PlaceTalos + `|` + PlaceNMState + `)[ \t]*\}\}`)

// Says tells whether user data has a place of that name.
func Says(userData []byte, name string) bool {
	for _, m := range place.FindAllSubmatch(userData, maxPlaces) {
		if string(m[1]) == name {
			return true
		}
	}
	return false
}

// Fill puts the network into the first places of user data that are for it. It's no template: all else is left as it is, braces too, since
// user data is in languages that have their own.
func (c Config) Fill(userData []byte, nmstateURL string) []byte {
	var out bytes.Buffer
	done := 0
	for _, m := range place.FindAllSubmatchIndex(userData, maxPlaces) {
		out.Write(userData[done:m[0]])
		if string(userData[m[2]:m[3]]) == PlaceTalos {
			out.WriteString(c.TalosNetwork())
		} else {
			out.WriteString(nmstateURL)
		}
		done = m[1]
	}
	out.Write(userData[done:])
	return out.Bytes()
}
