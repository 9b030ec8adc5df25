package release

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSection(t *testing.T) {
	const (
		top  = "# Changelog\n\nWords.\n\n"
		news = "* One.\n* Two.\n"
	)
	cases := map[string]struct {
		reason, changelog, whole, section string
		fails                             bool
	}{
		"First":  {reason: "what's unreleased becomes the version's", changelog: top + "## Unreleased\n\n" + news, whole: top + "## Unreleased\n\n## v0.1.0\n\n" + news, section: news},
		"Second": {reason: "an older version's isn't taken", changelog: top + "## Unreleased\n\n" + news + "\n## v0.0.9\n\n* Old.\n", whole: top + "## Unreleased\n\n## v0.1.0\n\n" + news + "\n## v0.0.9\n\n* Old.\n", section: news},
		"Again":  {reason: "a release that's tried again", changelog: top + "## Unreleased\n\n## v0.1.0\n\n" + news, whole: top + "## Unreleased\n\n## v0.1.0\n\n" + news, section: news},
		"Prefix": {reason: "v0.1.0 isn't v0.1.0-rc.1", changelog: top + "## Unreleased\n\n" + news + "\n## v0.1.0-rc.1\n\n* Old.\n", whole: top + "## Unreleased\n\n## v0.1.0\n\n" + news + "\n## v0.1.0-rc.1\n\n* Old.\n", section: news},
		"Empty":  {reason: "nobody said what's new", changelog: top + "## Unreleased\n\n## v0.0.9\n\n* Old.\n", fails: true},
		"None":   {reason: "no such part", changelog: top, fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			whole, section, err := Section(tc.changelog, "v0.1.0")
			if diff := cmp.Diff([]string{tc.whole, tc.section}, []string{whole, section}); diff != "" || (err != nil) != tc.fails {
				t.Errorf("%s: %v, -want +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

func TestFill(t *testing.T) {
	of := func(name string) (Fact, error) {
		if name == "nobody" {
			return Fact{}, errors.New("there's no nobody")
		}
		return Fact{Reference: "r.example/p/" + name + ":v1.0.0", Pinned: "r.example/p/" + name + "@sha256:1", Installed: "p-" + name}, nil
	}
	cases := map[string]struct {
		reason, text, want string
		installed          string
		fails              bool
	}{
		"Reference": {reason: "a package by its tag: people read it", text: "package: REGISTRY/function-baremetal:VERSION\n", want: "package: r.example/p/function-baremetal:v1.0.0\n"},
		"Name":      {reason: "the name it's installed with", text: "name: crossplane-contrib-configuration-baremetal-v2\n", want: "name: p-configuration-baremetal-v2\n"},
		"Account":   {reason: "and so its account", text: "system:serviceaccount:crossplane-system:crossplane-contrib-provider-baremetal\n", want: "system:serviceaccount:crossplane-system:p-provider-baremetal\n"},
		"LongAccount": {
			reason: "of a long name its account has the first 50 bytes", text: "system:serviceaccount:crossplane-system:crossplane-contrib-provider-baremetal\n",
			installed: strings.Repeat("a", 63), want: "system:serviceaccount:crossplane-system:" + strings.Repeat("a", 50) + "\n",
		},
		"Image":    {reason: "an image by its digest: nodes read it", text: "  image: baremetal-bootd:v0.0.0-dev\n", want: "  image: r.example/p/baremetal-bootd@sha256:1\n"},
		"Unknown":  {reason: "nothing that isn't published", text: "package: REGISTRY/nobody:VERSION\n", fails: true},
		"Unfilled": {reason: "nothing stays unfilled", text: "package: REGISTRY/function-baremetal\n", fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := fill(tc.text, func(name string) (Fact, error) {
				f, err := of(name)
				if tc.installed != "" {
					f.Installed = tc.installed
				}
				return f, err
			})
			if (err != nil) != tc.fails || err == nil && got != tc.want {
				t.Errorf("%s: got %q, %v; want %q, an error: %t", tc.reason, got, err, tc.want, tc.fails)
			}
		})
	}
}

// TestManifests makes those of this checkout.
func TestManifests(t *testing.T) {
	got, err := Manifests("../../../..", func(name string) (Fact, error) {
		return Fact{Reference: "r.example/p/" + name + ":v1.0.0", Pinned: "r.example/p/" + name + "@sha256:1", Installed: "p-" + name}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"install.yaml": {"package: r.example/p/function-baremetal:v1.0.0", "name: p-function-baremetal", "kind: DeploymentRuntimeConfig"},
		"bootd.yaml":   {"image: r.example/p/baremetal-bootd@sha256:1", "kind: ServiceAccount", "kind: DaemonSet"},
		"policies.yaml": {
			"name: p-provider-baremetal", "name: p-function-baremetal", "name: p-configuration-baremetal", // What isn't deleted by mistake.
			"system:serviceaccount:crossplane-system:p-provider-baremetal", "kind: ValidatingAdmissionPolicy",
		},
		// Crossplane labels pods with the name that it installed a package by.
		"network.yaml":   {"kind: NetworkPolicy", "pkg.crossplane.io/provider: p-provider-baremetal\n", "pkg.crossplane.io/function: p-function-baremetal\n"},
		"usages-v2.yaml": {"kind: ClusterUsage", "name: p-configuration-baremetal-v2"},
		"podmonitor.yaml": {
			"kind: PodMonitor", "pkg.crossplane.io/provider: p-provider-baremetal\n", "pkg.crossplane.io/function: p-function-baremetal\n",
			"namespace: baremetal-boot",
		},
		"netbox-webhook.yaml": {"kind: Service", "kind: NetworkPolicy", "pkg.crossplane.io/provider: p-provider-baremetal\n"},
		"redfish-events.yaml": {"kind: Service", "kind: NetworkPolicy", "pkg.crossplane.io/provider: p-provider-baremetal\n"},
	} {
		for _, w := range want {
			if !strings.Contains(string(got[name]), w) {
				t.Errorf("%s has no %q", name, w)
			}
		}
		if strings.Contains(string(got[name]), "v0.0.0-dev") {
			t.Errorf("%s still names the checkout's version", name)
		}
	}
	const provider, inThree = "system:serviceaccount:crossplane-system:p-provider-baremetal'", 3
	if n := strings.Count(string(got["policies.yaml"]), provider); n != inThree || strings.Contains(string(got["policies.yaml"]), "crossplane-contrib-") {
		t.Errorf("the policies that ask for the provider have its name %d times, want %d, and no other", n, inThree)
	}
	files, err := filepath.Glob("../../../../examples/install/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no files to be installed: %v", err)
	}
	for _, f := range files {
		in := false
		for _, sources := range manifests() {
			in = in || slices.Contains(sources, "examples/install/"+filepath.Base(f))
		}
		if !in {
			t.Errorf("examples/install/%s is in no manifest that users get", filepath.Base(f))
		}
	}
}

func TestSums(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, map[string][]byte{"b": []byte("b"), "a": []byte("a")}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // A second time the sums aren't summed.
		if err := Sums(dir); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a\n" +
		"3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d  b\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
