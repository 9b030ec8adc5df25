// Package sbom writes a bill of materials, as SPDX 2.3, from what a Go program says of itself and from the Debian packages beside it.
package sbom

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// A Package that an image holds beside its program.
type Package struct {
	Name, Version string
	// Arch is Debian's word for the architecture, such as all.
	Arch string
	// SHA256 of the package's file, in hexadecimal.
	SHA256 string
	// Source is the source package, with its version, and License an SPDX expression of what was taken.
	Source, License string
}

// An Image to be described.
type Image struct {
	// Name and Version of the image, and Arch as Go calls it.
	Name, Version, Arch string
	// License is an SPDX expression of all that's in it.
	License string
	// Program is the path of its only program, on this machine.
	Program string
	// Debian packages that files were taken from.
	Debian []Package
	// Created is the time of the document, which is no part of what's described.
	Created time.Time
}

// Write gives the document.
func Write(i Image) ([]byte, error) {
	binary, err := os.ReadFile(i.Program)
	if err != nil {
		return nil, fmt.Errorf("cannot read program %q: %w", i.Program, err)
	}
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return nil, fmt.Errorf("program %q doesn't say what it's made of: %w", i.Program, err)
	}
	sum := sha256.Sum256(binary)
	d := i.document(hex.EncodeToString(sum[:]))
	d.program(info, hex.EncodeToString(sum[:]), i)
	for _, p := range i.Debian {
		d.debian(p)
	}
	d.sort()
	b, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return nil, fmt.Errorf("cannot write a bill of materials: %w", err)
	}
	return append(b, '\n'), nil
}

const (
	imageID   = "SPDXRef-Image"
	programID = "SPDXRef-Program"
	unknown   = "NOASSERTION"
)

func (i Image) document(digest string) *document {
	return &document{
		ID: "SPDXRef-DOCUMENT", Version: "SPDX-2.3", DataLicense: "CC0-1.0",
		Name:      i.Name + "-" + i.Version + "-" + i.Arch,
		Namespace: "https://github.com/crossplane-contrib/provider-baremetal/sbom/" + i.Name + "/" + i.Arch + "/" + digest,
		CreationInfo: creationInfo{
			Created:  i.Created.UTC().Format(time.RFC3339),
			Creators: []string{"Organization: Crossplane Contributors", "Tool: provider-baremetal-packages"},
		},
		Packages: []component{{
			ID: imageID, Name: i.Name, Version: i.Version, Purpose: "CONTAINER",
			Download: unknown, Concluded: unknown, Declared: cmp.Or(i.License, unknown), Copyright: unknown,
		}},
		Relations: []relation{{Of: "SPDXRef-DOCUMENT", Type: "DESCRIBES", To: imageID}},
	}
}

// program adds the program, the standard library that it's made with, and its modules.
func (d *document) program(info *buildinfo.BuildInfo, digest string, i Image) {
	d.add(imageID, "CONTAINS", component{
		ID: programID, Name: info.Path, Version: i.Version, Purpose: "APPLICATION", Declared: "Apache-2.0",
		Checksums:  []checksum{{Algorithm: "SHA256", Value: digest}},
		References: []reference{purl("pkg:golang/" + info.Path + "@" + url.QueryEscape(i.Version))},
	})
	d.add(programID, "DEPENDS_ON", component{
		ID: id("stdlib"), Name: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go"), Purpose: "LIBRARY", Declared: "BSD-3-Clause",
		References: []reference{purl("pkg:golang/stdlib@" + strings.TrimPrefix(info.GoVersion, "go"))},
	})
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		d.add(programID, "DEPENDS_ON", component{
			ID: id(m.Path), Name: m.Path, Version: m.Version, Purpose: "LIBRARY",
			Source:     "Go module with go.sum hash " + m.Sum,
			References: []reference{purl("pkg:golang/" + m.Path + "@" + url.QueryEscape(m.Version))},
		})
	}
}

func (d *document) debian(p Package) {
	d.add(imageID, "CONTAINS", component{
		ID: id("debian-" + p.Name + "-" + p.Arch), Name: p.Name, Version: p.Version, Purpose: "LIBRARY",
		Source: "some files of this Debian package; its source package is " + p.Source, Supplier: "Organization: Debian",
		Declared:   p.License,
		Checksums:  []checksum{{Algorithm: "SHA256", Value: p.SHA256}},
		References: []reference{purl("pkg:deb/debian/" + p.Name + "@" + url.QueryEscape(p.Version) + "?arch=" + p.Arch)},
	})
}

func (d *document) add(of, kind string, c component) {
	c.Download, c.Concluded, c.Copyright = unknown, unknown, unknown
	c.Declared = cmp.Or(c.Declared, unknown)
	d.Packages = append(d.Packages, c)
	d.Relations = append(d.Relations, relation{Of: of, Type: kind, To: c.ID})
}

func (d *document) sort() {
	slices.SortFunc(d.Packages, func(a, b component) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(d.Relations, func(a, b relation) int { return cmp.Or(cmp.Compare(a.Of, b.Of), cmp.Compare(a.To, b.To)) })
}

// id makes SPDX's kind of identifier, of letters, digits, dots and hyphens. What was lost is told apart by a hash.
func id(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, name)
	if clean != name {
		sum := sha256.Sum256([]byte(name))
		clean += "-" + hex.EncodeToString(sum[:4])
	}
	return "SPDXRef-" + clean
}

func purl(locator string) reference {
	return reference{Category: "PACKAGE-MANAGER", Type: "purl", Locator: locator}
}
