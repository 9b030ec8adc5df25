package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
)

const (
	// Organisation is the path that packages have in the registry. What Crossplane installs has its name in front.
	Organisation = "crossplane-contrib"
	// Version of this checkout's packages. Its minor isn't that of the older version that is gone back to, nor that of the next one: the
	// versions that packages ask for of one another begin with their own minor.
	Version = "v0.2.0-e2e.1"
)

// Names of the packages in the registry.
const (
	ProviderPackage        = "provider-baremetal"
	FunctionPackage        = "function-baremetal"
	ConfigurationPackage   = "configuration-baremetal"
	ConfigurationV2Package = "configuration-baremetal-v2"
)

// A Source is a checkout to build packages from.
type Source struct {
	// Root of the checkout.
	Root string
	// Version that the packages get.
	Version string
}

// Packages are in the cluster's registry.
type Packages struct {
	// Registry and Version are what "make push" was told.
	Registry, Version string
	// Manifests is the folder of what users apply: install.yaml, policies.yaml, bootd.yaml, network.yaml.
	Manifests string
}

// Ref of a package or an image, as users and pods name it.
func (p Packages) Ref(name string) string { return p.Registry + "/" + name + ":" + p.Version }

// Installed is the name that Crossplane gives a package.
func Installed(name string) string { return Organisation + "-" + name }

// Manifest is the path of one of the files that users apply.
func (p Packages) Manifest(name string) string { return filepath.Join(p.Manifests, name) }

// buildTool builds the program behind "make packages", where that has it: it pins what images of this checkout get, and no other's.
func (s *Stage) buildTool(ctx context.Context) error {
	s.tool = filepath.Join(s.root, "dist", "tools", "packages")
	return buildTool(ctx, s.root, s.tool)
}

func buildTool(ctx context.Context, root, to string, flags ...string) error {
	args := slices.Concat([]string{"build", "-C", filepath.Join(root, "tools", "packages"), "-o", to}, flags, []string{"."})
	build := exec.CommandContext(ctx, "go", args...) //nolint:gosec // Our own program.
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build tools/packages of %s: %w\n%s", root, err, out)
	}
	return nil
}

// compile fills go's caches with what the images of a checkout are linked of, with the flags of tools/packages: a first time takes minutes,
// for which a starting cluster has no processors to spare, and a network, which there's none inside of it.
func (s *Stage) compile(ctx context.Context, root string) error {
	s.opts.Say("compiling provider, function and bootd as images have them")
	list := exec.CommandContext(ctx, "go", "list", "-export", "-trimpath", "-buildvcs=false", "-f", "{{.Name}}", "./cmd/...")
	list.Dir = root
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off", "GOFIPS140=off")
	if out, err := list.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot compile provider, function and bootd: %w\n%s", err, out)
	}
	return nil
}

// Push builds a checkout's packages for this machine and pushes them to the cluster's registry, as "make push" does: by
// the checkout's own program.
func (s *Stage) Push(ctx context.Context, from Source) (Packages, error) {
	started := time.Now()
	p := Packages{Registry: node.Registry + "/" + Organisation, Version: from.Version}
	dist := s.in("dist", from.Version)
	p.Manifests = filepath.Join(dist, "install")
	args := []string{"push", "--root=" + from.Root, "--dist=" + dist, "--registry=" + p.Registry, "--version=" + from.Version, "--arch=" + architectures()}
	var out []byte
	var err error
	root, _ := os.Stat(s.root) // What isn't there isn't what the packages are of.
	own := root != nil && sameFile(root, from.Root)
	if own {
		out, err = s.pushOwn(ctx, args)
	} else {
		out, err = s.pushOther(ctx, from, args)
	}
	if err != nil {
		return p, fmt.Errorf("cannot push packages of %s: %w\n%s", from.Root, err, strings.TrimSpace(string(out)))
	}
	if own {
		for _, line := range figures(string(out)) {
			s.opts.Say(line)
		}
	}
	s.opts.Say(fmt.Sprintf("packages %s are in the registry after %.0f s", from.Version, time.Since(started).Seconds()))
	return p, nil
}

// architectures that are pushed: this machine's, and the one whose image Crossplane reads a package from on any machine.
func architectures() string {
	if runtime.GOARCH == "amd64" {
		return runtime.GOARCH
	}
	return "amd64," + runtime.GOARCH
}

// figures are the lines of a program's output that are ones.
func figures(out string) []string {
	var all []string
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, FigurePrefix) {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

func sameFile(a os.FileInfo, path string) bool {
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}

func (s *Stage) pushOwn(ctx context.Context, args []string) ([]byte, error) {
	via, err := s.Forward(node.Registry)
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, s.tool, append(args, "--via="+via)...).CombinedOutput() //nolint:gosec // Our own program.
}

// pushOther runs the program of another checkout, which may not know how to reach a registry that is elsewhere, where the registry is. There's
// nothing else there: what it takes of Debian must have been downloaded for this checkout (repin).
func (s *Stage) pushOther(ctx context.Context, from Source, args []string) (out []byte, err error) {
	tool := s.in("packages-" + from.Version)
	flags, err := s.overlay(from)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(buildTool(ctx, from.Root, tool, flags...), s.compile(ctx, from.Root)); err != nil {
		return nil, err
	}
	err = s.Inside(func() (err error) {
		out, err = exec.CommandContext(ctx, tool, args...).CombinedOutput() //nolint:gosec // Our own program.
		return err
	})
	return out, err
}
