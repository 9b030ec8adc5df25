package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/debian"
	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/oci"
	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/sbom"
)

// ours is the licence of what this checkout has.
const ours = "Apache-2.0"

// system is what images carry of Debian.
type system struct {
	// base is in every image, firmware in that of bootd, and packages say where both are from.
	base, firmware         []oci.File
	basePkgs, firmwarePkgs []sbom.Package
	// texts are the licences that are in base or firmware already, by their paths.
	texts map[string]bool
}

func (b builder) system(ctx context.Context) (system, error) {
	s := system{texts: map[string]bool{}, base: []oci.File{
		{Path: "etc/passwd", Mode: 0o644, Data: []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")},
		{Path: "etc/group", Mode: 0o644, Data: []byte("root:x:0:\nnonroot:x:65532:\n")},
		{Path: "usr/share/doc/provider-baremetal/LICENSE", Mode: 0o644, Source: filepath.Join(b.Root, "LICENSE")},
	}}
	pins, err := debian.Pins()
	if err != nil {
		return s, err //nolint:wrapcheck // It says which.
	}
	store, inventory := debian.Store{Dir: filepath.Join(b.Cache, "debian")}, debian.Inventory{}
	for _, p := range pins {
		files, err := store.Files(ctx, p)
		if b.Bare && err != nil {
			b.say("without Debian's files, for tests alone: " + err.Error())
			return s, nil //nolint:nilerr // It was asked for.
		}
		if errors.Is(err, debian.ErrNoDebian) {
			return s, fmt.Errorf("%w, which iPXE, shim, grub and CA certificates come from: build on Debian 12, or in a container of it", err)
		}
		if err == nil {
			err = s.add(p, files)
		}
		if err != nil {
			return s, err //nolint:wrapcheck // It says which.
		}
		if p.Files != nil {
			inventory.Add(p, files)
		}
	}
	list, err := inventory.Write()
	if err != nil {
		return s, err //nolint:wrapcheck // It says what.
	}
	s.firmware = append(s.firmware, oci.File{Path: "usr/share/doc/provider-baremetal/firmware.json", Mode: 0o644, Data: list})
	return s, nil
}

// add what was taken of a package: files that were chosen are firmware, a whole package is that of the certificates. The licences that
// they're under go with them.
func (s *system) add(p debian.Pin, files map[string][]byte) error {
	to, packages := &s.firmware, &s.firmwarePkgs
	if p.Files == nil {
		bundle, err := debian.Bundle(files)
		if err != nil {
			return err //nolint:wrapcheck // It says what.
		}
		const licence = "usr/share/doc/ca-certificates/copyright"
		files = map[string][]byte{"etc/ssl/certs/ca-certificates.crt": bundle, licence: files[licence]}
		to, packages = &s.base, &s.basePkgs
	}
	texts, err := debian.Licences(p, files)
	if err != nil {
		return err //nolint:wrapcheck // It says which.
	}
	for path, data := range files {
		*to = append(*to, oci.File{Path: path, Mode: 0o644, Data: data})
	}
	for path, data := range texts {
		if !s.texts[path] {
			*to = append(*to, oci.File{Path: path, Mode: 0o644, Data: data})
		}
		s.texts[path] = true
	}
	*packages = append(*packages, sbom.Package{
		Name: p.Name, Version: p.Version, Arch: p.Arch, SHA256: p.SHA256, Source: p.Source, License: p.License,
	})
	return nil
}

// packages that an image has files of.
func (s *system) packages(r runtime) []sbom.Package {
	if !r.firmware {
		return s.basePkgs
	}
	return slices.Concat(s.basePkgs, s.firmwarePkgs)
}

// licence is an SPDX expression of our own program and what is beside it.
func licence(packages []sbom.Package) string {
	all := []string{ours}
	for _, p := range packages {
		// A choice that a package leaves stays one.
		if strings.Contains(p.License, " OR ") {
			all = append(all, "("+p.License+")")
			continue
		}
		all = append(all, debian.Names(p.License)...)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " AND ")
}
