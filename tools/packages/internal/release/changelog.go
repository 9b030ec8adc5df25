// Package release writes what a release consists of beside its images: manifests, sums, and what's new.
package release

import (
	"fmt"
	"strings"
)

const (
	heading    = "## "
	unreleased = heading + "Unreleased"
)

// Section gives a changelog whose part Unreleased has become a version's, and that part. A changelog that has the version already stays
// as it is: a release may be tried again.
func Section(changelog, version string) (whole, section string, err error) {
	if part := cut(changelog, heading+version); part != "" {
		return changelog, part, nil
	}
	part := cut(changelog, unreleased)
	if part == "" {
		return "", "", fmt.Errorf("the changelog says nothing under %q: write there what changes for users in %s", unreleased, version)
	}
	whole = strings.Replace(changelog, unreleased+"\n", unreleased+"\n\n"+heading+version+"\n", 1)
	return whole, part, nil
}

// cut gives what stands below a heading, up to the next one. Nothing where there's no such heading, or nothing below it.
func cut(changelog, title string) string {
	_, rest, ok := strings.Cut("\n"+changelog, "\n"+title+"\n")
	if !ok {
		return ""
	}
	part, _, _ := strings.Cut("\n"+rest, "\n"+heading) // The last one goes to the end.
	if part = strings.TrimSpace(part); part == "" {
		return ""
	}
	return part + "\n"
}
