package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/debian"
)

// TestLicences makes an image with files that are under other licences than ours: its label and its bill of materials say so, and the
// texts are in it, once each.
func TestLicences(t *testing.T) {
	program, err := os.ReadFile(os.Args[0]) //nolint:gosec // This test itself.
	if err != nil {
		t.Fatal(err)
	}
	bare(t)
	b := builder{common: flags(t, "v0.1.0"), registry: nowhere, say: func(string) {}}
	s, err := b.system(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const said = "in /usr/share/common-licenses/GPL-2."
	certificates := map[string][]byte{
		"usr/share/ca-certificates/mozilla/a.crt": []byte("A"), "usr/share/doc/ca-certificates/copyright": []byte("Some of it is GPL-2+, " + said),
	}
	for _, p := range []struct {
		pin   debian.Pin
		files map[string][]byte
	}{
		{debian.Pin{Name: "ca-certificates", License: "MPL-2.0"}, certificates},
		{
			debian.Pin{Name: "ipxe", License: "BSD-2-Clause AND GPL-2.0-or-later", Files: map[string]string{"": ""}},
			map[string][]byte{"boot/ipxe.efi": nil, "usr/share/doc/ipxe/copyright": []byte(said)},
		},
		{
			debian.Pin{Name: "grub", License: "GPL-3.0-or-later", Files: map[string]string{"": ""}},
			map[string][]byte{"boot/grub.efi": nil, "usr/share/doc/grub/copyright": nil},
		},
	} {
		if err := s.add(p.pin, p.files); err != nil {
			t.Fatal(err)
		}
	}
	const common = "usr/share/common-licenses/"
	cases := map[string]struct {
		reason, licence string
		texts           []string
	}{
		functionName: {"the certificates are Mozilla's", "Apache-2.0 AND MPL-2.0", []string{common + "GPL-2"}},
		bootdName: {
			"it has firmware", "Apache-2.0 AND BSD-2-Clause AND GPL-2.0-or-later AND GPL-3.0-or-later AND MPL-2.0", []string{common + "GPL-2", common + "GPL-3"},
		},
	}
	for _, r := range runtimes() {
		tc, ok := cases[r.name]
		if !ok {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			for _, arch := range b.Arch {
				path := filepath.Join(b.bin(arch), filepath.Base(r.pkg))
				if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, program, 0o600); err != nil { //nolint:gosec // The test's own folder.
					t.Fatal(err)
				}
			}
			boms := map[string][]byte{}
			a, err := b.runtime(r, s, boms)
			if err != nil {
				t.Fatal(err)
			}
			m, err := a.Index.IndexManifest()
			if err != nil {
				t.Fatal(err)
			}
			img, err := a.Index.Image(m.Manifests[0].Digest)
			if err != nil {
				t.Fatal(err)
			}
			c, err := img.ConfigFile()
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Config.Labels["org.opencontainers.image.licenses"]; got != tc.licence {
				t.Errorf("%s: its label says %q, want %q", tc.reason, got, tc.licence)
			}
			texts := slices.DeleteFunc(regular(t, img), func(path string) bool { return !strings.HasPrefix(path, common) })
			if diff := cmp.Diff(tc.texts, texts); diff != "" {
				t.Errorf("%s: texts, -want +got:\n%s", tc.reason, diff)
			}
			checkDeclared(t, boms[r.name+"-amd64.spdx.json"], map[string]string{r.name: tc.licence, "ca-certificates": "MPL-2.0"})
		})
	}
}

// checkDeclared compares the licences of a bill of materials, by name.
func checkDeclared(t *testing.T, bom []byte, want map[string]string) {
	t.Helper()
	var d struct {
		Packages []struct {
			Name            string `json:"name"`
			LicenseDeclared string `json:"licenseDeclared"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(bom, &d); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range d.Packages {
		if want[p.Name] != "" {
			got[p.Name] = p.LicenseDeclared
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bill of materials, -want +got:\n%s", diff)
	}
}
