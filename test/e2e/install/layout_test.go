package install_test

import (
	"archive/tar"
	"compress/gzip"
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
}

// checkLicences reads bootd's image in an OCI image layout: GRUB's, iPXE's and shim's own copyright files are there, and so is every text
// that one of them refers to; the image's label names their licences.
func checkLicences(t *testing.T, layout string) {
	t.Helper()
	image, files := contents(t, layout)
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

// contents of the first image of a layout's index.
func contents(t *testing.T, layout string) (image described, files map[string][]byte) {
	t.Helper()
	var top, index described
	b, err := os.ReadFile(filepath.Join(layout, "index.json"))
	must(t, err)
	must(t, json.Unmarshal(b, &top))
	must(t, json.Unmarshal(blob(t, layout, top.Manifests[0].Digest), &index))
	must(t, json.Unmarshal(blob(t, layout, index.Manifests[0].Digest), &image))
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
