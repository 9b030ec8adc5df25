package stage

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
)

const (
	// Organisation is the path that packages have in the registry. What Crossplane installs has its name in front.
	Organisation = "crossplane-contrib"
	// Version of this checkout's packages.
	Version = "v0.1.0-e2e.1"
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

// buildTool builds the program behind "make packages".
func (s *Stage) buildTool(ctx context.Context) error {
	s.tool = filepath.Join(s.cache, "bin", "packages")
	build := exec.CommandContext(ctx, "go", "build", "-C", s.path("tools", "packages"), "-o", s.tool, ".") //nolint:gosec // Our own program.
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build tools/packages: %w\n%s", err, out)
	}
	return nil
}

// compile fills go's cache with what images are linked of, with the flags of tools/packages: a first time takes minutes, for which a
// starting cluster has no processors to spare.
func (s *Stage) compile(ctx context.Context) error {
	s.opts.Say("compiling provider, function and bootd as images have them")
	list := exec.CommandContext(ctx, "go", "list", "-export", "-trimpath", "-buildvcs=false", "-f", "{{.Name}}", "./cmd/...")
	list.Dir = s.root
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off", "GOFIPS140=off")
	if out, err := list.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot compile provider, function and bootd: %w\n%s", err, out)
	}
	return nil
}

// Push builds a checkout's packages for this machine's architecture and pushes them to the cluster's registry, as "make push" does.
func (s *Stage) Push(ctx context.Context, from Source) (Packages, error) {
	started := time.Now()
	p := Packages{Registry: node.Registry + "/" + Organisation, Version: from.Version}
	dist := s.in("dist", from.Version)
	p.Manifests = filepath.Join(dist, "install")
	via, err := s.Forward(node.Registry)
	if err != nil {
		return p, err
	}
	push := exec.CommandContext(ctx, s.tool, "push", "--root="+from.Root, "--dist="+dist, "--registry="+p.Registry, //nolint:gosec // Our own program.
		"--via="+via, "--version="+from.Version, "--arch="+runtime.GOARCH)
	if out, err := push.CombinedOutput(); err != nil {
		return p, fmt.Errorf("cannot push packages of %s: %w\n%s", from.Root, err, strings.TrimSpace(string(out)))
	}
	s.opts.Say(fmt.Sprintf("packages %s are in the registry after %.0f s", from.Version, time.Since(started).Seconds()))
	return p, nil
}
