// Command packages builds what users install: Crossplane packages, bootd's image and its chart, without Docker. It pushes them to any
// registry, and writes a release.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/xpkg"
)

// nowhere is the registry of packages that are only looked at: a name that nobody can ever own (RFC 2606). Its path is that of the
// published packages, which gives what Crossplane installs its names.
const nowhere = "registry.invalid/crossplane-contrib"

type cli struct {
	Build    buildCmd    `cmd:"" help:"Build everything into a folder."`
	Push     pushCmd     `cmd:"" help:"Build everything and push it to a registry."`
	Release  releaseCmd  `cmd:"" help:"Build everything, push it, and write what a release consists of."`
	Registry registryCmd `cmd:"" help:"Serve a registry that forgets everything when it ends: for tests." hidden:""`
}

// common flags.
type common struct {
	Root     string   `default:"../.." help:"The checkout." type:"existingdir"`
	Dist     string   `default:"../../dist" help:"Folder to write to." type:"path"`
	Cache    string   `default:"${cache}" help:"Folder of what was downloaded and built before." type:"path"`
	Version  string   `default:"v0.0.0-dev" help:"Version of everything, such as v0.1.0."`
	Arch     []string `default:"amd64,arm64" help:"Architectures of the images." enum:"amd64,arm64"`
	Revision string   `help:"Commit that the labels name; default: the checkout's."`
	Bare     bool     `help:"Go on without Debian's firmware and certificates. For tests: machines can't boot from that."`
}

func (c common) build(ctx context.Context, registry string) (*built, error) {
	if err := named(registry); err != nil {
		return nil, err
	}
	if w := undotted(registry); w != "" {
		say(w)
	}
	if _, err := xpkg.Released(c.Version); err != nil {
		return nil, err //nolint:wrapcheck // It says which version.
	}
	if c.Revision == "" {
		r := revisionOf(ctx, c.Root)
		if c.Revision = r.label(); r.warning() != "" {
			say(r.warning())
		}
	}
	return builder{common: c, registry: registry, say: say}.run(ctx)
}

// named says whether a registry is named as it must be.
func named(registry string) error {
	if _, err := xpkg.InstalledName(registry + "/x"); err != nil || strings.Contains(registry+"/", "//") {
		return fmt.Errorf("registry %q is no place to push to: give your own as HOST/PATH or HOST:PORT/PATH, in small letters", registry)
	}
	for _, n := range packageNames() {
		_, path, _ := strings.Cut(registry+"/"+n, "/")
		if more := len(path) - xpkg.Longest; more > 0 {
			return fmt.Errorf("registry %q makes the path %s, %d characters too long: Crossplane names what it installs by its path and cuts that at %d, "+
				"so that two of our packages could have one name; give a shorter PATH", registry, path, more, xpkg.Longest)
		}
	}
	return nil
}

// undotted warns of a registry that packages can be pushed to and that Crossplane takes none from: its API wants a host whose name has a dot.
func undotted(registry string) string {
	host, _, _ := strings.Cut(registry, "/")
	if name, _, _ := strings.Cut(host, ":"); strings.Contains(name, ".") || strings.HasPrefix(host, "[") {
		return ""
	}
	return fmt.Sprintf("Crossplane installs nothing from %q: a package's host has a dot in its name, as registry.example or 192.0.2.10:5000 has", host)
}

type buildCmd struct {
	common

	Registry string `default:"${nowhere}" help:"Where the packages would be: HOST/PATH. Those that depend on others name it."`
}

// Run builds.
func (c *buildCmd) Run(ctx context.Context) error {
	b, err := c.build(ctx, c.Registry)
	if err != nil {
		return err
	}
	if err := b.write(); err != nil {
		return err
	}
	if c.Registry == nowhere {
		say("no manifests: they name the registry that clusters pull from; say which, as in make packages REGISTRY=HOST/PATH")
		return nil
	}
	return b.install()
}

func say(line string) { fmt.Println("packages: " + line) }

func main() {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	k := kong.Parse(&cli{}, kong.Name("packages"),
		kong.Description("Crossplane packages, bootd's image and its chart, from this checkout."),
		kong.Vars{"cache": filepath.Join(cache, "provider-baremetal", "packages"), "nowhere": nowhere},
		kong.BindTo(ctx, (*context.Context)(nil)))
	err = k.Run()
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	k.FatalIfErrorf(err)
}
