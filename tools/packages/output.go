package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/oci"
	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/program"
	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/release"
	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/xpkg"
)

// largest is how many bytes an image may have, compressed: nodes pull it while machines wait.
const largest = 40_000_000

// write puts all that was built into the folder, each artifact as an OCI image layout, and says the digests. What people edit it leaves alone.
func (b *built) write() error {
	var digests strings.Builder
	for _, a := range b.artifacts {
		if err := a.Write(filepath.Join(b.Dist, "oci", path.Base(a.Repository))); err != nil {
			return err //nolint:wrapcheck // It says which.
		}
		d, err := a.Digest()
		if err != nil {
			return err //nolint:wrapcheck // It says which.
		}
		fmt.Fprintf(&digests, "%s  %s\n", d, a.Reference())
		say(a.Reference() + "@" + d.String())
		if err := b.figures(a); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(b.Dist, "digests.txt"), []byte(digests.String()), 0o644); err != nil { //nolint:gosec // For all to read.
		return fmt.Errorf("cannot write digests: %w", err)
	}
	return nil
}

// install writes what clusters are given. People set their own ranges and segments there and apply it from there, so that's done once all of it
// is true, and what they set is kept.
func (b *built) install() error {
	manifests, err := release.Manifests(b.Root, b.facts)
	if err != nil {
		return err //nolint:wrapcheck // It says which.
	}
	dir := filepath.Join(b.Dist, "install")
	kept, err := release.Replace(dir, manifests)
	if err != nil {
		return err //nolint:wrapcheck // It says which.
	}
	if kept != "" {
		b.say("wrote " + dir + " anew; what you had set there is in " + kept + ", as it was: carry it over")
	}
	return nil
}

// figures says how large images are, and refuses one that is too large.
func (b *built) figures(a oci.Artifact) error {
	if a.Index == nil {
		return nil
	}
	m, err := a.Index.IndexManifest()
	if err != nil {
		return fmt.Errorf("cannot read the index of %s: %w", a.Reference(), err)
	}
	for _, d := range m.Manifests {
		img, err := a.Index.Image(d.Digest)
		if err != nil {
			return fmt.Errorf("cannot read an image of %s: %w", a.Reference(), err)
		}
		size, err := compressed(img)
		if err != nil {
			return err
		}
		fmt.Printf("figure image_mb_%s_%s %.1f MB\n", strings.ReplaceAll(path.Base(a.Repository), "-", "_"), d.Platform.Architecture, float64(size)/1e6)
		if size > largest {
			return fmt.Errorf("image %s for %s has %d bytes, and may have %d", a.Reference(), d.Platform.Architecture, size, largest)
		}
	}
	return nil
}

// compressed is what a node pulls.
func compressed(img v1.Image) (int64, error) {
	m, err := img.Manifest()
	if err != nil {
		return 0, fmt.Errorf("cannot read a manifest: %w", err)
	}
	size := m.Config.Size
	for _, l := range m.Layers {
		size += l.Size
	}
	return size, nil
}

// push uploads everything. What others depend on comes first.
func (b *built) push(ctx context.Context, via http.RoundTripper) error {
	if err := b.write(); err != nil {
		return err
	}
	if err := upload(ctx, b.artifacts, via, b.say); err != nil {
		return err
	}
	return b.install()
}

// upload artifacts of one version.
func upload(ctx context.Context, artifacts []oci.Artifact, via http.RoundTripper, say func(string)) error {
	moved := false
	for _, a := range artifacts {
		released, err := xpkg.Released("v" + strings.TrimPrefix(a.Tag, "v")) // Charts have no v.
		if err != nil {
			return err //nolint:wrapcheck // It says which version.
		}
		before, err := a.Push(ctx, released, via)
		if err != nil {
			return err //nolint:wrapcheck // It says which.
		}
		d, err := a.Digest()
		if err != nil {
			return err //nolint:wrapcheck // It says which.
		}
		say("pushed " + a.Reference() + "@" + d.String())
		if before != (v1.Hash{}) {
			say(a.Reference() + " was " + before.String() + " until now")
			moved = true
		}
	}
	if moved {
		say("clusters that have what was there until now keep that, since Crossplane pulls a tag once: count the version up for each push that differs, " +
			"as from v0.1.0-mine.1 to v0.1.0-mine.2")
	}
	return nil
}

// release writes what people download beside the registry.
func (b *built) release(ctx context.Context, notes string) error {
	dir := filepath.Join(b.Dist, "release", b.Version)
	files, err := release.Manifests(b.Root, b.facts)
	if err != nil {
		return err //nolint:wrapcheck // It says which.
	}
	kept, err := release.Keep(dir, filepath.Join(dir, release.SumsFile), files)
	if err == nil && kept != "" {
		b.say(dir + " had manifests that somebody edited: they're in " + kept)
	}
	if err == nil {
		err = os.RemoveAll(dir)
	}
	if err != nil {
		return fmt.Errorf("cannot empty %q: %w", dir, err)
	}
	maps.Copy(files, b.boms)
	if files["NOTES.md"], err = b.notes(notes); err != nil {
		return err
	}
	files[fmt.Sprintf("%s-%s.tgz", b.chart.Name, b.chart.Version)] = b.chart.Archive
	if files["digests.txt"], err = os.ReadFile(filepath.Join(b.Dist, "digests.txt")); err != nil {
		return fmt.Errorf("cannot read digests: %w", err)
	}
	if err := release.Write(dir, files); err != nil {
		return err //nolint:wrapcheck // It says which.
	}
	if err := b.archives(dir); err != nil {
		return err
	}
	if err := oci.Archive(filepath.Join(dir, bundle), b.registry, b.artifacts); err != nil {
		return err //nolint:wrapcheck // It says what.
	}
	if err := b.tools(ctx, dir); err != nil {
		return err
	}
	if err := release.Sums(dir); err != nil {
		return err //nolint:wrapcheck // It says which.
	}
	say("wrote " + dir)
	return nil
}

// notes are the changelog's, and by which Go the programs were built: another one's do the same, and have other digests.
func (b *built) notes(changelog string) ([]byte, error) {
	p := filepath.Join(b.bin(b.Arch[0]), "provider")
	info, err := buildinfo.ReadFile(p)
	if err != nil {
		return nil, fmt.Errorf("program %q doesn't say what it was built by: %w", p, err)
	}
	from := ""
	if b.Revision != "" {
		from = " from commit " + b.Revision
	}
	return fmt.Appendf(nil, "%s\nBuilt by %s%s. Another Go gives other digests. In a clone, at the tag %s or at that commit, these are made by:\n\n"+
		"    GOTOOLCHAIN=%[2]s make release VERSION=%[4]s REGISTRY=%[5]s PUSH=no\n", changelog, info.GoVersion, from, b.Version, b.registry), nil
}

// tools writes this very program for each architecture: what pushes the release where nothing can be built.
func (b *built) tools(ctx context.Context, dir string) error {
	p := program.Builder{Root: filepath.Join(b.Root, "tools", "packages"), Version: b.Version}
	for _, arch := range b.Arch {
		bin := filepath.Join(b.Dist, "tools", arch)
		if err := p.Build(ctx, arch, bin, "."); err != nil {
			return err //nolint:wrapcheck // It says which.
		}
		if err := os.Rename(filepath.Join(bin, "packages"), filepath.Join(dir, "packages-linux-"+arch)); err != nil {
			return fmt.Errorf("cannot put the program that pushes into the release: %w", err)
		}
	}
	return nil
}

// facts are what manifests are told of one of our artifacts, by its name.
func (b *built) facts(name string) (release.Fact, error) {
	for _, a := range b.artifacts {
		if a.Repository != b.registry+"/"+name {
			continue
		}
		d, err := a.Digest()
		if err != nil {
			return release.Fact{}, err //nolint:wrapcheck // It says which.
		}
		installed, err := xpkg.InstalledName(a.Repository)
		return release.Fact{Reference: a.Reference(), Pinned: a.Repository + "@" + d.String(), Installed: installed}, err //nolint:wrapcheck // It says which.
	}
	return release.Fact{}, fmt.Errorf("there's no %q to be installed", name)
}

// archives writes packages as "crossplane xpkg push" takes them, for registries without a way to this one.
func (b *built) archives(dir string) error {
	for _, a := range b.artifacts {
		name := path.Base(a.Repository)
		switch {
		case a.Index == nil && name != chartName:
			if err := archive(filepath.Join(dir, name+".xpkg"), a.Image); err != nil {
				return err
			}
		case a.Index != nil && name != bootdName:
			m, err := a.Index.IndexManifest()
			if err != nil {
				return fmt.Errorf("cannot read the index of %s: %w", a.Reference(), err)
			}
			for _, d := range m.Manifests {
				img, err := a.Index.Image(d.Digest)
				if err != nil {
					return fmt.Errorf("cannot read an image of %s: %w", a.Reference(), err)
				}
				if err := archive(filepath.Join(dir, name+"-"+d.Platform.Architecture+".xpkg"), img); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func archive(file string, img v1.Image) error {
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("cannot write a package: %w", err)
	}
	if err := errors.Join(tarball.Write(nil, img, f), f.Close()); err != nil {
		return fmt.Errorf("cannot write package %q: %w", file, err)
	}
	return nil
}
