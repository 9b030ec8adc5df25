package install_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// described is what an index or a manifest refers to.
type described struct {
	Digest    string      `json:"digest"`
	Manifests []described `json:"manifests"`
	Layers    []described `json:"layers"`
	Config    *described  `json:"config"`
	Platform  struct {
		Architecture string `json:"architecture"`
	} `json:"platform"`
}

// checkLicences reads bootd's image in an OCI image layout: GRUB's, iPXE's and shim's own copyright files are there, and so is every text
// that one of them refers to; the image's label names their licences.
func checkLicences(t *testing.T, layout string) {
	t.Helper()
	image, files := contents(t, layout, images(t, layout)[0])
	for _, name := range []string{"ipxe", "grub-common", "shim-unsigned", "ca-certificates"} {
		if len(files["usr/share/doc/"+name+"/copyright"]) == 0 {
			t.Errorf("the copyright file of %s isn't in the image", name)
		}
	}
	if got := string(files["usr/share/doc/grub-common/copyright"]); !strings.Contains(got, "Upstream-Name: GNU GRUB") {
		t.Errorf("what is called GRUB's copyright file isn't: %.200s", got)
	}
	for path, data := range files {
		if filepath.Base(path) != "copyright" {
			continue
		}
		for _, text := range regexp.MustCompile(`usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]`).FindAllString(string(data), -1) {
			if len(files[text]) == 0 {
				t.Errorf("%s refers to /%s, which isn't in the image", path, text)
			}
		}
	}
	var c struct {
		Config struct {
			Labels map[string]string `json:"Labels"` //nolint:tagliatelle // As the OCI image specification spells it.
		} `json:"config"`
	}
	must(t, json.Unmarshal(blob(t, layout, image.Config.Digest), &c))
	for _, want := range []string{"Apache-2.0", "GPL-2.0-or-later", "GPL-3.0-or-later", "BSD-2-Clause", "MPL-2.0"} {
		if got := c.Config.Labels["org.opencontainers.image.licenses"]; !strings.Contains(got, want) {
			t.Errorf("the label says %q, and nothing of %s", got, want)
		}
	}
}

// checkArchitectures reads an image in an OCI image layout: it's there for both, and its program is of the one that the index says.
func checkArchitectures(t *testing.T, layout, program string) {
	t.Helper()
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	for _, i := range images(t, layout) {
		_, files := contents(t, layout, i)
		f, err := elf.NewFile(bytes.NewReader(files[program]))
		must(t, err)
		if want, ok := machines[i.Platform.Architecture]; !ok || f.Machine != want {
			t.Errorf("%s for %s has a program for %s", layout, i.Platform.Architecture, f.Machine)
		}
		delete(machines, i.Platform.Architecture)
	}
	if len(machines) > 0 {
		t.Errorf("%s has no images for %v", layout, machines)
	}
}

// images of a layout's index.
func images(t *testing.T, layout string) []described {
	t.Helper()
	var top, index described
	b, err := os.ReadFile(filepath.Join(layout, "index.json"))
	must(t, err)
	must(t, json.Unmarshal(b, &top))
	must(t, json.Unmarshal(blob(t, layout, top.Manifests[0].Digest), &index))
	return index.Manifests
}

// contents of an image of a layout.
func contents(t *testing.T, layout string, of described) (image described, files map[string][]byte) {
	t.Helper()
	must(t, json.Unmarshal(blob(t, layout, of.Digest), &image))
	files = map[string][]byte{}
	for _, l := range image.Layers {
		z, err := gzip.NewReader(strings.NewReader(string(blob(t, layout, l.Digest))))
		must(t, err)
		for tr := tar.NewReader(z); ; {
			h, err := tr.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			must(t, err)
			if h.Typeflag != tar.TypeReg {
				continue
			}
			data, err := io.ReadAll(tr)
			must(t, err)
			files[h.Name] = data
		}
	}
	return image, files
}

func blob(t *testing.T, layout, digest string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(layout, "blobs", "sha256", strings.TrimPrefix(digest, "sha256:")))
	must(t, err)
	return b
}
