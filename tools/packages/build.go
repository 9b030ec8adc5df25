package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/chart"
	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/oci"
	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/program"
	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/sbom"
	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/xpkg"
)

// Names of what is published.
const (
	providerName = "provider-baremetal"
	functionName = "function-baremetal"
	bootdName    = "baremetal-bootd"
	// chartName ends in another word than the image's name: Helm calls a chart's repository like the chart, a repository of images and charts
	// is what few tools expect, and one level down, such as charts/, is more than some registries have.
	chartName = "baremetal-bootd-chart"
)

// packageNames are those that Crossplane installs.
func packageNames() []string {
	return []string{providerName, functionName, "configuration-baremetal", "configuration-baremetal-v2"}
}

// A builder builds everything once.
type builder struct {
	common

	registry string
	say      func(string)
}

// built is everything.
type built struct {
	builder

	artifacts []oci.Artifact
	// boms are the bills of materials, by file name.
	boms map[string][]byte
	// chart as a file.
	chart *chart.Chart
}

// runtimes are the images with a program in them.
func runtimes() []runtime {
	return []runtime{
		{
			name: providerName, pkg: "./cmd/provider", user: "65532:65532", source: "provider",
			description: "Crossplane provider for bare-metal machines: addresses from NetBox, power and boot by Redfish.",
			// One of two revisions works while a new one takes over.
			env: []string{"LEADER_ELECTION=true"},
		},
		{
			name: functionName, pkg: "./cmd/function", user: "65532:65532", source: "function",
			description: "Crossplane composition function of BareMetalNode and RackPool.",
		},
		{
			name: bootdName, pkg: "./cmd/bootd", user: "0:0", firmware: true,
			description: "Boot daemon of provider-baremetal: DHCP, TFTP and HTTP for machines that boot from the network.",
		},
	}
}

// A runtime is an image with a program, for each architecture.
type runtime struct {
	name, pkg, user, description string
	env                          []string
	// source is the folder of the Crossplane package that the image carries, if any.
	source string
	// firmware says that machines are given files of it.
	firmware bool
}

// program is its path in the image.
func (r runtime) program() string { return "usr/local/bin/" + filepath.Base(r.pkg) }

func (b builder) run(ctx context.Context) (*built, error) {
	out := &built{builder: b, boms: map[string][]byte{}}
	system, err := b.system(ctx)
	if err != nil {
		return nil, err
	}
	for _, arch := range b.Arch {
		b.say("building provider, function and bootd for " + arch)
		p := program.Builder{Root: b.Root, Version: b.Version}
		err := p.Build(ctx, arch, b.bin(arch), "./cmd/provider", "./cmd/function")
		if err == nil {
			p.Tags = "bootd" // Without what the provider alone has to do with the kinds (docs/adr/0047).
			err = p.Build(ctx, arch, b.bin(arch), "./cmd/bootd")
		}
		if err != nil {
			return nil, err //nolint:wrapcheck // It says which.
		}
	}
	for _, r := range runtimes() {
		a, err := b.runtime(r, system, out.boms)
		if err != nil {
			return nil, fmt.Errorf("image %s: %w", r.name, err)
		}
		out.artifacts = append(out.artifacts, a)
	}
	for _, dir := range []string{"configuration", "configuration-v2"} {
		a, err := b.configuration(dir)
		if err != nil {
			return nil, err
		}
		out.artifacts = append(out.artifacts, a)
	}
	a, err := out.packChart()
	if err != nil {
		return nil, err
	}
	out.artifacts = append(out.artifacts, a)
	return out, nil
}

func (b builder) bin(arch string) string { return filepath.Join(b.Dist, "bin", arch) }

// runtime makes the image of a program for every architecture, with its package on top and its bills of materials beside it.
func (b builder) runtime(r runtime, s system, boms map[string][]byte) (oci.Artifact, error) {
	a := oci.Artifact{Repository: b.registry + "/" + r.name, Tag: b.Version}
	var top []oci.Files
	if r.source != "" {
		p, err := b.read(r.source)
		if err != nil {
			return a, err
		}
		top = p.Layers()
	}
	labels := b.labels(r.name, r.description, licence(s.packages(r)))
	var images []v1.Image
	for _, arch := range b.Arch {
		img, bom, err := b.image(r, s, arch, labels, top)
		if err != nil {
			return a, err
		}
		at, err := oci.Attachment(img, oci.SPDX, bom)
		if err != nil {
			return a, err //nolint:wrapcheck // It says what.
		}
		images, a.Attachments = append(images, img), append(a.Attachments, at)
		boms[fmt.Sprintf("%s-%s.spdx.json", r.name, arch)] = bom
	}
	var err error
	a.Index, err = oci.Index(labels, images...)
	return a, err //nolint:wrapcheck // It says what.
}

func (b builder) image(r runtime, s system, arch string, labels map[string]string, top []oci.Files) (v1.Image, []byte, error) {
	path := filepath.Join(b.bin(arch), filepath.Base(r.pkg))
	img := oci.Image{
		Arch: arch, Entrypoint: []string{"/" + r.program()}, User: r.user, Env: r.env, Labels: labels,
		Layers: []oci.Files{{Files: s.base}},
	}
	if r.firmware && len(s.firmware) > 0 {
		img.Layers = append(img.Layers, oci.Files{Files: s.firmware})
	}
	img.Layers = append(img.Layers, oci.Files{Files: []oci.File{{Path: r.program(), Mode: 0o755, Source: path}}})
	img.Layers = append(img.Layers, top...)
	out, err := img.Build()
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // It says what.
	}
	bom, err := sbom.Write(sbom.Image{
		Name: r.name, Version: b.Version, Arch: arch, License: licence(s.packages(r)), Program: path, Debian: s.packages(r), Created: time.Unix(0, 0),
	})
	return out, bom, err //nolint:wrapcheck // It says what.
}

// labels by the OCI's names. licences is an SPDX expression.
func (b builder) labels(title, description, licences string) map[string]string {
	const prefix = "org.opencontainers.image."
	out := map[string]string{
		prefix + "title": title, prefix + "description": description, prefix + "version": b.Version, prefix + "licenses": licences,
		prefix + "vendor": "Crossplane Contributors", prefix + "source": "https://github.com/crossplane-contrib/provider-baremetal",
	}
	if b.Revision != "" {
		maps.Copy(out, map[string]string{prefix + "revision": b.Revision})
	}
	return out
}

// read makes a Crossplane package of its folder.
func (b builder) read(dir string) (*xpkg.Package, error) {
	examples, err := b.examples(dir)
	if err != nil {
		return nil, err
	}
	p, err := xpkg.Release{Registry: b.registry, Version: b.Version}.Read(xpkg.Source{
		Dir: filepath.Join(b.Root, "package", dir), Icon: filepath.Join(b.Root, "package", "icon.svg"), Examples: examples,
	})
	return p, err //nolint:wrapcheck // It says which.
}

// configuration makes a package that has nothing that runs: the same for all architectures.
func (b builder) configuration(dir string) (oci.Artifact, error) {
	p, err := b.read(dir)
	if err != nil {
		return oci.Artifact{}, err
	}
	a := oci.Artifact{Repository: b.registry + "/" + p.Name, Tag: b.Version}
	labels := b.labels(p.Name, "Crossplane configuration of provider-baremetal: BareMetalNode and RackPool.", ours)
	a.Image, err = oci.Image{Arch: "amd64", Labels: labels, Layers: p.Layers()}.Build()
	return a, err //nolint:wrapcheck // It says what.
}

// packChart packs the chart of bootd with the image that was just built.
func (b *built) packChart() (oci.Artifact, error) {
	var image oci.Artifact
	for _, a := range b.artifacts {
		if a.Repository == b.registry+"/"+bootdName {
			image = a
		}
	}
	digest, err := image.Digest()
	if err != nil {
		return image, err //nolint:wrapcheck // It says which.
	}
	b.chart, err = chart.Source{
		Dir: filepath.Join(b.Root, "package", "charts", chartName), Version: b.Version, Image: image.Repository, Digest: digest.String(),
	}.Pack()
	if err != nil {
		return image, err //nolint:wrapcheck // It says which.
	}
	a := oci.Artifact{Repository: b.registry + "/" + b.chart.Name, Tag: b.chart.Version}
	a.Image, err = b.chart.Image()
	return a, err //nolint:wrapcheck // It says which.
}
