package release

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Fact is how one of our artifacts is called once it's published.
type Fact struct {
	// Reference is REGISTRY/NAME:VERSION, and Pinned REGISTRY/NAME@DIGEST.
	Reference, Pinned string
	// Installed is the name that Crossplane gives it.
	Installed string
}

// manifests are made of files of the checkout.
func manifests() map[string][]string {
	return map[string][]string{
		"install.yaml":  {"examples/install/runtime.yaml", "examples/install/packages.yaml"},
		"policies.yaml": {"package/manifests/rbac.yaml", "package/manifests/policies.yaml", "examples/install/usages.yaml"},
		"network.yaml":  {"examples/install/network.yaml"},
		"bootd.yaml":    {"package/manifests/bootd.yaml", "package/bootd/bootd.yaml"},
		// For those who have what they're about: the other configuration, the Prometheus operator, a NetBox that sends webhooks, and BMCs
		// that send events.
		"usages-v2.yaml":  {"examples/install/usages-v2.yaml"},
		"podmonitor.yaml": {"examples/install/podmonitor.yaml"},

		"netbox-webhook.yaml": {"examples/install/netbox-webhook.yaml"},
		"redfish-events.yaml": {"examples/install/redfish-events.yaml"},
	}
}

var (
	// reference is how the checkout writes one of our packages, as it can't know where it'll be.
	reference = regexp.MustCompile(`REGISTRY/([a-z0-9-]+):VERSION`)
	// installed is what a package is called that was installed from where it's published.
	installed = regexp.MustCompile(`crossplane-contrib-((?:provider|function|configuration)-baremetal(?:-v2)?)\b`)
	// account is what a provider runs as: of a longer name Crossplane takes 50 bytes before it adds a hash (crossplane-runtime,
	// xpkg.FriendlyID).
	account = regexp.MustCompile(`(system:serviceaccount:crossplane-system:[a-z0-9-]{50})[a-z0-9-]+`)
	// image is how the checkout writes the image of a plain manifest.
	image = regexp.MustCompile(`(?m)(^\s+image: )([a-z0-9-]+):v0\.0\.0-dev$`)
)

// Manifests are the YAML files that a cluster is given, with the names that are known now.
func Manifests(root string, of func(name string) (Fact, error)) (map[string][]byte, error) {
	out := map[string][]byte{}
	for name, sources := range manifests() {
		var all bytes.Buffer
		for i, s := range sources {
			b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(s)))
			if err != nil {
				return nil, fmt.Errorf("cannot make %s: %w", name, err)
			}
			if i > 0 && !bytes.HasPrefix(b, []byte("---")) {
				all.WriteString("---\n")
			}
			all.Write(b)
		}
		text, err := fill(all.String(), of)
		if err != nil {
			return nil, fmt.Errorf("cannot make %s: %w", name, err)
		}
		out[name] = []byte(text)
	}
	return out, nil
}

func fill(text string, of func(name string) (Fact, error)) (string, error) {
	var errs []error
	with := func(re *regexp.Regexp, group int, say func(m []string, f Fact) string) {
		text = re.ReplaceAllStringFunc(text, func(s string) string {
			m := re.FindStringSubmatch(s)
			f, err := of(m[group])
			errs = append(errs, err)
			return say(m, f)
		})
	}
	with(reference, 1, func(_ []string, f Fact) string { return f.Reference })
	with(installed, 1, func(_ []string, f Fact) string { return f.Installed })
	text = account.ReplaceAllString(text, "$1")
	with(image, 2, func(m []string, f Fact) string { return m[1] + f.Pinned })
	if strings.Contains(text, "REGISTRY/") {
		errs = append(errs, errors.New("it names a package in a way that isn't understood: write REGISTRY/NAME:VERSION"))
	}
	return text, errors.Join(errs...)
}

// Write puts files into a folder.
func Write(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // For all to read.
		return fmt.Errorf("cannot make %q: %w", dir, err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil { //nolint:gosec // For all to read.
			return fmt.Errorf("cannot write %s: %w", name, err)
		}
	}
	return nil
}

// SumsFile has the sums of a release.
const SumsFile = "SHA256SUMS"

// Sums writes those of all files in a folder.
func Sums(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return fmt.Errorf("cannot list %q: %w", dir, err)
	}
	slices.Sort(files)
	var out strings.Builder
	for _, f := range files {
		if filepath.Base(f) == SumsFile {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			return fmt.Errorf("cannot sum: %w", err)
		}
		out.WriteString(sum(b, filepath.Base(f)))
	}
	return Write(dir, map[string][]byte{SumsFile: []byte(out.String())})
}
