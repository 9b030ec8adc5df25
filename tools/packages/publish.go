package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/oci"
	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/release"
	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/xpkg"
)

type pushCmd struct {
	common

	Registry string `help:"Where to push to: HOST/PATH." required:""`
	From     string `help:"Build nothing: push what the folder of a release holds, byte for byte." type:"existingdir"`
	Via      string `help:"Reach the registry at HOST:PORT, since its name means something elsewhere: for tests." hidden:""`
}

// Run builds and pushes, or pushes what was built.
func (c *pushCmd) Run(ctx context.Context) error {
	var options []remote.Option
	if c.Via != "" {
		options = append(options, oci.Via(c.Via))
	}
	if c.From != "" {
		return mirror(ctx, c.From, c.Registry, options...)
	}
	b, err := c.build(ctx, c.Registry)
	if err != nil {
		return err
	}
	return b.push(ctx, options...)
}

// bundle is the file of a release with all that goes to a registry.
const bundle = "oci.tar"

// mirror pushes a release's bundle to a registry. Digests stay what they are, so does what packages name inside.
func mirror(ctx context.Context, from, registry string, options ...remote.Option) error {
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
	for _, a := range artifacts {
		released, err := xpkg.Released("v" + strings.TrimPrefix(a.Tag, "v")) // Charts have no v.
		if err != nil {
			return err //nolint:wrapcheck // It says which version.
		}
		if err := a.Push(ctx, released, options...); err != nil {
			return err //nolint:wrapcheck // It says which.
		}
		d, err := a.Digest()
		if err != nil {
			return err //nolint:wrapcheck // It says which.
		}
		say("pushed " + a.Reference() + "@" + d.String())
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
	if _, dirty := revision(ctx, c.Root); dirty != "" && !c.Dirty && c.Revision == "" {
		return fmt.Errorf("%q has changes that aren't committed, such as %s: nobody could make such a release again; commit them, or say --dirty (make: DIRTY=1)",
			c.Root, dirty)
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
		err = b.push(ctx)
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
	say("CHANGELOG.md has the section " + c.Version + " now: commit it, and tag the commit " + c.Version)
	return nil
}

// revision of a checkout, or nothing where it isn't one. Where it has changes that aren't committed the revision says so, and dirty is one
// of the files. The changelog doesn't count: it's in no package, and a release writes it.
func revision(ctx context.Context, root string) (commit, dirty string) {
	head, err := exec.CommandContext(ctx, "git", "-C", root, "rev-parse", "HEAD").Output() //nolint:gosec // The user's own folder.
	if err != nil {
		return "", ""
	}
	commit = strings.TrimSpace(string(head))
	changes, err := exec.CommandContext(ctx, "git", "-C", root, "status", "--porcelain", "--", ".", ":!CHANGELOG.md").Output() //nolint:gosec // The same.
	if err != nil {
		return commit + "-dirty", "what git status can't tell"
	}
	if first, _, _ := strings.Cut(string(changes), "\n"); len(first) > 3 {
		return commit + "-dirty", first[3:]
	}
	return commit, ""
}
