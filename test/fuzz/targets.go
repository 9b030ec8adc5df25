package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A target is a fuzz test: its folder in the module, with slashes, and its name.
type target struct{ folder, name string }

// String is folder.name.
func (t target) String() string { return t.folder + "." + t.name }

var declared = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\) \{`)

// targets finds all fuzz tests of a module, and none of those below it that are modules of their own.
func targets(root string) (all []target, err error) {
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			return skipped(root, path, e)
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		b, err := os.ReadFile(path) //nolint:gosec // A checkout that somebody works in.
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, m := range declared.FindAllSubmatch(b, -1) {
			all = append(all, target{filepath.ToSlash(folder), string(m[1])})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cannot look for fuzz targets: %w", err)
	}
	slices.SortFunc(all, func(a, b target) int { return cmp.Or(cmp.Compare(a.folder, b.folder), cmp.Compare(a.name, b.name)) })
	return all, nil
}

// skipped says which folders go leaves out, too.
func skipped(root, path string, e fs.DirEntry) error {
	if path == root {
		return nil
	}
	if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
		return fs.SkipDir
	}
	if n := e.Name(); n == "testdata" || n == "vendor" || n[0] == '.' || n[0] == '_' {
		return fs.SkipDir
	}
	return nil
}
