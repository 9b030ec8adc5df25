package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/oci"
	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/release"
)

type pushCmd struct {
	common

	Registry string `help:"Where to push to: HOST/PATH." required:""`
	From     string `help:"Build nothing: push what the folder of a release holds, byte for byte." type:"existingdir"`
	Via      string `help:"Reach the registry at HOST:PORT, since its name means something elsewhere: for tests." hidden:""`
}

// Run builds and pushes, or pushes what was built.
func (c *pushCmd) Run(ctx context.Context) error {
	var via http.RoundTripper
	if c.Via != "" {
		via = oci.Via(c.Via)
	}
	if c.From != "" {
		return mirror(ctx, c.From, c.Registry, via)
	}
	b, err := c.build(ctx, c.Registry)
	if err != nil {
		return err
	}
	return b.push(ctx, via)
}

// bundle is the file of a release with all that goes to a registry.
const bundle = "oci.tar"

// mirror pushes a release's bundle to a registry. Digests stay what they are, so does what packages name inside.
func mirror(ctx context.Context, from, registry string, via http.RoundTripper) error {
	if err := named(registry); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "packages-")
	if err != nil {
		return fmt.Errorf("cannot make a folder to unpack into: %w", err)
	}
	defer os.RemoveAll(dir) // What stays is in nobody's way.
	artifacts, err := oci.Load(filepath.Join(from, bundle), dir, registry)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%q isn't the folder of a release, as make release writes it: it has no %s", from, bundle)
	}
	if err != nil {
		return err //nolint:wrapcheck // It says which.
	}
	if err := upload(ctx, artifacts, via, say); err != nil {
		return err
	}
	return elsewhere(from, registry)
}

// elsewhere says so where the packages name another registry than the one that they're in now.
func elsewhere(from, registry string) error {
	digests, err := os.ReadFile(filepath.Join(from, "digests.txt"))
	if err != nil {
		return fmt.Errorf("cannot read which registry the release names: %w", err)
	}
	for line := range strings.Lines(string(digests)) {
		_, reference, _ := strings.Cut(strings.TrimSpace(line), "  ")
		built, _, ok := strings.Cut(reference, "/"+providerName+":")
		if ok && built != registry {
			say("these packages and manifests name " + built + ": give Crossplane the ImageConfig below, and bootd its image from " + registry +
				", or make a release with REGISTRY=" + registry)
			fmt.Print(rewriting(built, registry))
		}
	}
	return nil
}

// rewriting has Crossplane take what names one registry from another one, dependencies and what runs included.
func rewriting(named, from string) string {
	return `apiVersion: pkg.crossplane.io/v1beta1
kind: ImageConfig
metadata: {name: baremetal-mirror}
spec:
  matchImages: [{type: Prefix, prefix: ` + named + `/}]
  rewriteImage: {prefix: ` + from + `/}
`
}

type releaseCmd struct {
	common

	Registry  string `help:"Where to push to: HOST/PATH." required:""`
	Push      bool   `default:"true" help:"Whether to push. Without, there are files alone, for push --from." negatable:""`
	Dirty     bool   `help:"Go on where the checkout has changes that aren't committed."`
	Changelog string `default:"../../CHANGELOG.md" help:"The changelog, whose part Unreleased becomes this version's." type:"existingfile"`
}

// Run builds, pushes and writes.
func (c *releaseCmd) Run(ctx context.Context) error {
	if !c.Dirty && c.Revision == "" {
		if err := revisionOf(ctx, c.Root).releasable(c.Root); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(c.Changelog)
	if err != nil {
		return fmt.Errorf("cannot read the changelog: %w", err)
	}
	// Before anything is pushed: a release without a word on what's new isn't one.
	changelog, section, err := release.Section(string(text), c.Version)
	if err != nil {
		return err //nolint:wrapcheck // It says what's wrong.
	}
	b, err := c.build(ctx, c.Registry)
	if err != nil {
		return err
	}
	if c.Push {
		err = b.push(ctx, nil)
	} else {
		err = b.write()
	}
	if err != nil {
		return err
	}
	if err := b.release(ctx, section); err != nil {
		return err
	}
	if err := os.WriteFile(c.Changelog, []byte(changelog), 0o644); err != nil { //nolint:gosec // It's for all to read.
		return fmt.Errorf("cannot write the changelog: %w", err)
	}
	say("CHANGELOG.md has the section " + c.Version + ": unless that's done, commit it alone, since whatever else changes makes another release, and tag " +
		"the commit " + c.Version)
	return nil
}
