package programs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// Find returns the local control plane's programs, and those of more modules, and builds what is missing. A lock lets only one
// process build.
func (f Finder) Find(ctx context.Context, more ...Module) (Set, error) {
	set := Set{Path: map[string]string{}}
	var missing []build
	for _, m := range slices.Concat(modules(), more) {
		dir, err := f.folder(m)
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
	set.CrossplaneModule, err = moduleDir(ctx, filepath.Join(f.Source, controlPlane), "github.com/crossplane/crossplane/v2")
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

// folder is where a module's programs are. Where they are of the module itself it's keyed by their source and patches too.
func (f Finder) folder(m Module) (string, error) {
	dir, err := f.cacheDir(m.name)
	if err != nil || !m.own {
		return dir, err
	}
	files, err := filepath.Glob(filepath.Join(f.Source, m.name, "*", "*.go"))
	if err != nil {
		return "", fmt.Errorf("cannot list the source of %s: %w", m.name, err)
	}
	h := sha256.New()
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("cannot read the source of %s: %w", m.name, err)
		}
		_, _ = h.Write(b) // A hash takes everything.
	}
	for _, p := range m.programs {
		if p.patch != nil {
			_, _ = h.Write([]byte(p.patch.text))
		}
	}
	return dir + "-" + hex.EncodeToString(h.Sum(nil))[:16], nil
}

// cacheDir is keyed by the module's go.sum: other versions are other folders.
func (f Finder) cacheDir(module string) (string, error) {
	sum, err := os.ReadFile(filepath.Join(f.Source, module, "go.sum"))
	if err != nil {
		return "", fmt.Errorf("cannot read what pins the programs of %s: %w", module, err)
	}
	h := sha256.Sum256(sum)
	return filepath.Join(f.Cache, filepath.Base(module)+"-"+hex.EncodeToString(h[:])[:16]), nil
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
