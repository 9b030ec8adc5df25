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

// prefixLengths: the mask of an allocated address can be asked for (342, 345); before, the wish is ignored.
func (t traits) prefixLengths() bool { return t.atLeast(4, 5, 1) }

// populated: a range can be declared full of what NetBox doesn't hold (411, 417, 423).
func (t traits) populated() bool { return t.atLeast(4, 3) }

// tagDeltas: add_tags and remove_tags are known (543 to 546); before, they are ignored.
func (t traits) tagDeltas() bool { return t.atLeast(4, 6) }

// seesBySlug: who names a tag, tenant or VRF by its slug or name must be allowed to see it (814, 828).
func (t traits) seesBySlug() bool { return t.atLeast(4, 6, 6) }

// guardsOOB: an out-of-band address can't leave its device while it is that (579).
func (t traits) guardsOOB() bool { return t.atLeast(4, 5, 1) }

// bulkReports: from 4.7 on, lists to a collection are refused with {"detail", "errors"} (701 to 712).
func (t traits) bulkReports() bool { return t.atLeast(4, 7) }

// wholeRecord is the key under which complaints about a body stand that isn't an object.
func (t traits) wholeRecord() string {
	if t.atLeast(4, 7) {
		return "__all__"
	}
	return "non_field_errors"
}

// canonical: the filter for an address reads an IPv6 address in any of its forms (606, 607).
func (t traits) canonical() bool { return t.atLeast(4, 6) }

// interfaceType is the number of the content type dcim.interface in the recorded NetBoxes.
func (t traits) interfaceType() int {
	switch {
	case t.atLeast(4, 7):
		return 8
	case t.atLeast(4, 6):
		return 7
	}
	return 9
}
