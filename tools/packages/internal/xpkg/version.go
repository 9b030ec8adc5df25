package xpkg

import (
	"fmt"
	"regexp"
	"strconv"
)

// semver is what both Crossplane's dependency resolver takes for a version, which skips all incomplete ones, and a registry for a tag,
// which can't have a "+".
var semver = regexp.MustCompile(`^v(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

type version struct {
	major, minor int
	// pre says that this isn't a release yet.
	pre bool
}

func parse(s string) (version, error) {
	m := semver.FindStringSubmatch(s)
	if m == nil {
		return version{}, fmt.Errorf("version %q isn't one like v0.1.0 or v0.1.0-rc.1, which Crossplane and registries ask for", s)
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
