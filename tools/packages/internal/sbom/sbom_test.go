package sbom

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestWrite describes this very test program.
func TestWrite(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	i := Image{
		Name: "thing", Version: "v0.1.0", Arch: "amd64", License: "Apache-2.0 AND GPL-2.0-or-later", Program: program, Created: time.Unix(0, 0),
		Debian: []Package{{
			Name: "ipxe", Version: "1.0.0+git-1", Arch: "all", SHA256: strings.Repeat("0", 64), Source: "ipxe 1.0.0+git-1", License: "GPL-2.0-or-later",
		}},
	}
	got, err := Write(i)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Write(i)
	if err != nil || string(again) != string(got) {
		t.Errorf("the same image is described in two ways (%v)", err)
	}
	var d document
	if err := json.Unmarshal(got, &d); err != nil {
		t.Fatal(err)
	}
	if d.CreationInfo.Created != "1970-01-01T00:00:00Z" || d.Version != "SPDX-2.3" || !strings.HasPrefix(d.Namespace, "https://") {
		t.Errorf("got %+v", d)
	}
	ids, purls, licences := map[string]bool{"SPDXRef-DOCUMENT": true}, map[string]bool{}, map[string]string{}
	valid := regexp.MustCompile(`^SPDXRef-[A-Za-z0-9.-]+$`)
	for _, p := range d.Packages {
		if ids[p.ID] || !valid.MatchString(p.ID) {
			t.Errorf("identifier %q is there twice, or isn't one", p.ID)
		}
		ids[p.ID], licences[p.Name] = true, p.Declared
		for _, r := range p.References {
			purls[r.Locator] = true
		}
	}
	for _, r := range d.Relations {
		if !ids[r.Of] || !ids[r.To] {
			t.Errorf("relation %+v is of something unknown", r)
		}
	}
	if want := "pkg:deb/debian/ipxe@1.0.0%2Bgit-1?arch=all"; !purls[want] {
		t.Errorf("want %s among %v", want, purls)
	}
	if licences["thing"] != "Apache-2.0 AND GPL-2.0-or-later" || licences["ipxe"] != "GPL-2.0-or-later" {
		t.Errorf("its licences are %v", licences)
	}
	if len(d.Packages) < 4 {
		t.Errorf("want image, program, standard library and Debian's package at least, got %+v", d.Packages)
	}
}

func TestID(t *testing.T) {
	cases := map[string]struct{ reason, a, b string }{
		"Slash": {"paths that differ in what's lost are told apart", "a/b", "a-b"},
		"Under": {"and so is an underscore", "a_b", "a/b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if id(tc.a) == id(tc.b) {
				t.Errorf("%s: both are %s", tc.reason, id(tc.a))
			}
		})
	}
}

func TestWriteRefuses(t *testing.T) {
	if _, err := Write(Image{Program: "/etc/passwd"}); err == nil {
		t.Error("what isn't a Go program can't be described")
	}
}
