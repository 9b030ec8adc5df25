package programs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Versions that the modules beside this package pin. A test holds them against the go.mod files.
const (
	KubernetesVersion = "v1.35.4"
	CrossplaneVersion = "v2.4.0"
)

// Names of the programs.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Kubectl           = "kubectl"
	Crossplane        = "crossplane"
)

// A Set is where each program is, by name, and what else the Crossplane module brings.
type Set struct {
	// Path of each program by its name.
	Path map[string]string
	// CrossplaneModule is the folder of Crossplane's source, which holds its CRDs and webhook configurations.
	CrossplaneModule string
}

// A Finder says where to look and where to build.
type Finder struct {
	// Source is the folder cluster/local of a checkout, which holds the modules that pin the programs.
	Source string
	// Cache is the folder that programs are built into, outside the tree.
	Cache string
	// Assets is a folder whose programs are used instead where they exist: KUBEBUILDER_ASSETS.
	Assets string
	// Say is called with one line of progress at a time, at least every five seconds while something is built.
	Say func(string)
}

// A program of one of the pinned modules.
type program struct {
	name, pkg, ldflags string
	// cold is how long a first build took on two cores, for the estimate.
	cold time.Duration
}

// A module that pins programs.
type module struct {
	name     string
	programs []program
}

func modules() []module {
	kube := "-s -w -X k8s.io/component-base/version.gitVersion=" + KubernetesVersion +
		" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=35" +
		" -X k8s.io/component-base/version.gitTreeState=clean -X k8s.io/client-go/pkg/version.gitVersion=" + KubernetesVersion
	xp := "-s -w -X github.com/crossplane/crossplane-runtime/v2/pkg/version.version=" + CrossplaneVersion +
		" -X github.com/crossplane/crossplane/v2/internal/version.version=" + CrossplaneVersion
	return []module{
		{name: "kubernetes", programs: []program{
			{name: Etcd, pkg: "go.etcd.io/etcd/server/v3", ldflags: kube, cold: 40 * time.Second},
			{name: APIServer, pkg: "k8s.io/kubernetes/cmd/kube-apiserver", ldflags: kube, cold: 155 * time.Second},
			{name: Kubectl, pkg: "k8s.io/kubernetes/cmd/kubectl", ldflags: kube, cold: 20 * time.Second},
			{name: ControllerManager, pkg: "k8s.io/kubernetes/cmd/kube-controller-manager", ldflags: kube, cold: 50 * time.Second},
		}},
		{name: "crossplane", programs: []program{
			{name: Crossplane, pkg: "github.com/crossplane/crossplane/v2/cmd/crossplane", ldflags: xp, cold: 105 * time.Second},
		}},
	}
}

// Find returns every program and builds those that are missing. A lock lets only one process build.
func (f Finder) Find(ctx context.Context) (Set, error) {
	set := Set{Path: map[string]string{}}
	var missing []build
	for _, m := range modules() {
		dir, err := f.cacheDir(m.name)
		if err != nil {
			return Set{}, err
		}
		for _, p := range m.programs {
			path, found := f.look(dir, p.name)
			set.Path[p.name] = path
			if !found {
				missing = append(missing, build{program: p, source: filepath.Join(f.Source, m.name), out: path})
			}
		}
	}
	if err := f.buildAll(ctx, missing); err != nil {
		return Set{}, err
	}
	var err error
	set.CrossplaneModule, err = moduleDir(ctx, filepath.Join(f.Source, "crossplane"), "github.com/crossplane/crossplane/v2")
	return set, err
}

// look says where a program is or, if it isn't found, where it shall be built.
func (f Finder) look(cached, name string) (string, bool) {
	if f.Assets != "" {
		if path := filepath.Join(f.Assets, name); isProgram(path) {
			return path, true
		}
	}
	path := filepath.Join(cached, name)
	return path, isProgram(path)
}

func isProgram(path string) bool {
	i, err := os.Stat(path)
	return err == nil && i.Mode().IsRegular() && i.Mode()&0o100 != 0
}

// cacheDir is keyed by the module's go.sum: other versions are other folders.
func (f Finder) cacheDir(module string) (string, error) {
	sum, err := os.ReadFile(filepath.Join(f.Source, module, "go.sum"))
	if err != nil {
		return "", fmt.Errorf("cannot read what pins the programs of %s: %w", module, err)
	}
	h := sha256.Sum256(sum)
	return filepath.Join(f.Cache, module+"-"+hex.EncodeToString(h[:])[:16]), nil
}

// Root is the top folder of the checkout that dir is in: the one with this module's go.mod.
func Root(dir string) (string, error) {
	for d := dir; ; d = filepath.Dir(d) {
		b, err := os.ReadFile(filepath.Join(d, "go.mod"))
		if err == nil && strings.HasPrefix(string(b), "module github.com/crossplane-contrib/provider-baremetal\n") {
			return d, nil
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("%q isn't inside a checkout of provider-baremetal", dir)
		}
	}
}

// Default finds programs for the checkout that the working directory is in: the cache is the user's own
// (XDG_CACHE_HOME/provider-baremetal), and KUBEBUILDER_ASSETS is looked at.
func Default(say func(string)) (Finder, error) {
	wd, err := os.Getwd()
	if err != nil {
		return Finder{}, fmt.Errorf("cannot tell the working directory: %w", err)
	}
	root, rootErr := Root(wd)
	cache, cacheErr := Cache()
	return Finder{
		Source: filepath.Join(root, "cluster", "local"),
		Cache:  cache,
		Assets: os.Getenv("KUBEBUILDER_ASSETS"),
		Say:    say,
	}, errors.Join(rootErr, cacheErr)
}

// Cache is this project's folder in the user's cache.
func Cache() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cannot tell the user's cache folder: %w", err)
	}
	return filepath.Join(dir, "provider-baremetal"), nil
}
