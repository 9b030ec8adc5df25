// Package xpkg makes Crossplane packages, as crossplane/crossplane's contributing/specifications/xpkg.md describes them and
// "crossplane xpkg build" writes them: a layer with package.yaml, and one with the examples.
package xpkg

import (
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// InstalledName is what Crossplane calls the Provider, Function or Configuration that it installs from a repository because another
// package depends on it: the path in the registry, as a DNS label (internal/controller/pkg/resolver, NewPackage). It's also what
// "crossplane xpkg install" calls it unless it's told a name.
func InstalledName(repository string) (string, error) {
	r, err := name.NewRepository(repository, name.StrictValidation)
	if err != nil {
		return "", fmt.Errorf("%q isn't a repository with its registry in front: %w", repository, err)
	}
	return dnsLabel(r.RepositoryStr()), nil
}

// Longest is that of a DNS label (RFC 1123).
const Longest = 63

// dnsLabel does what Crossplane's xpkg.ToDNSLabel does, to the letter: what isn't a small letter or a digit is dropped, separators become
// hyphens, and it's cut at 63.
func dnsLabel(s string) string {
	var out strings.Builder
	for i := range min(len(s), Longest) {
		b := s[i]
		switch {
		case b >= 'a' && b <= 'z' || b >= '0' && b <= '9':
			out.WriteByte(b)
		case strings.IndexByte("./:-", b) >= 0 && i != 0 && i != Longest-1 && i != len(s)-1:
			out.WriteByte('-')
		}
	}
	return strings.Trim(out.String(), "-")
}

// Range is which versions of our other packages one of ours works with: those of its own minor version and of all later ones, up to the next
// major version. So people may upgrade one package after the other. A release doesn't pull what isn't one; what comes before a release works
// with others of its kind too. Neither bound of a release has a -0: one bound that has lets pre-releases in at the other as well, as Crossplane
// compares (Masterminds/semver since v3.4).
func Range(version string) (string, error) {
	v, err := parse(version)
	if err != nil {
		return "", err
	}
	if !v.pre {
		return fmt.Sprintf(">=v%d.%d.0 <v%d.0.0", v.major, v.minor, v.major+1), nil
	}
	return fmt.Sprintf(">=v%d.%d.0-0 <v%d.0.0-0", v.major, v.minor, v.major+1), nil
}
