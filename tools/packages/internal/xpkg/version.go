package xpkg

import (
	"fmt"
	"regexp"
	"strconv"
)

// semver is what all take for a version who meet one: Crossplane's dependency resolver and Helm (Masterminds/semver, which wants numbers
// without zeros in front, in a pre-release too; the resolver skips what is incomplete), and a registry for a tag, which can't have a "+".
var semver = regexp.MustCompile(`^v(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(-` + identifier + `(\.` + identifier + `)*)?$`)

// identifier is one part of a pre-release: a number, or a word.
const identifier = `(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)`

// longest is how many characters a tag may have (OCI distribution specification).
const longest = 128

type version struct {
	major, minor int
	// pre says that this isn't a release yet.
	pre bool
}

func parse(s string) (version, error) {
	m := semver.FindStringSubmatch(s)
	if m == nil {
		return version{}, fmt.Errorf("version %q isn't one like v0.1.0 or v0.1.0-rc.1, which Crossplane, Helm and registries ask for; "+
			"numbers have no zero in front (rc.1, not rc.01)", s)
	}
	if len(s) > longest {
		return version{}, fmt.Errorf("version %q has %d characters, and a tag in a registry may have %d", s, len(s), longest)
	}
	major, err := strconv.Atoi(m[1])
	if err != nil {
		return version{}, fmt.Errorf("version %q has no major number: %w", s, err)
	}
	minor, err := strconv.Atoi(m[2])
	if err != nil {
		return version{}, fmt.Errorf("version %q has no minor number: %w", s, err)
	}
	return version{major: major, minor: minor, pre: m[4] != ""}, nil
}

// Released says whether a version is a release, which never changes, not something before one. It's an error where it isn't a version.
func Released(s string) (bool, error) {
	v, err := parse(s)
	return err == nil && !v.pre, err
}
