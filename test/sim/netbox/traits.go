package netbox

import (
	"strconv"
	"strings"
)

// traits are what differs between versions, each from the transcripts.
type traits struct {
	version string // 4.7.0-beta1
	numbers [3]int
}

func traitsOf(version string) traits {
	t := traits{version: version}
	plain, _, _ := strings.Cut(version, "-")
	for i, p := range strings.SplitN(plain, ".", 3) {
		t.numbers[i], _ = strconv.Atoi(p)
	}
	return t
}

func (t traits) atLeast(n ...int) bool {
	for i, want := range n {
		if t.numbers[i] != want {
			return t.numbers[i] > want
		}
	}
	return true
}

// minor is the API-Version header: 4.6.
func (t traits) minor() string {
	return strconv.Itoa(t.numbers[0]) + "." + strconv.Itoa(t.numbers[1])
}

// etags: single objects have one, and If-Match is obeyed, from 4.6 on.
func (t traits) etags() bool { return t.atLeast(4, 6) }

// dropsUnknownFields: 4.4.10 to 4.5.7 silently forget a custom field that they don't have (346).
func (t traits) dropsUnknownFields() bool { return t.atLeast(4, 4, 10) && !t.atLeast(4, 5, 8) }

// bearer: before 4.5 that scheme is ignored (017).
func (t traits) bearer() bool { return t.atLeast(4, 5) }

// versionHeader: 4.2 sends API-Version only to requests with a JSON body.
func (t traits) versionHeader(json bool) bool { return json || t.atLeast(4, 4) }
