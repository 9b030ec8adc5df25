package inside

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

const cgroupRoot = "/sys/fs/cgroup"

// hierarchies are the folders in which a control group is made: one with version 2, one for each controller with version 1.
func hierarchies(root string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil {
		return []string{root}, nil
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("cannot list control groups: %w", err)
	}
	var out []string
	for _, e := range entries {
		dir := filepath.Join(root, e.Name())
		// Links are other names of the same hierarchy.
		if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err == nil && e.IsDir() {
			out = append(out, dir)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("there are no control groups in %s", root)
	}
	return out, nil
}

// makeCgroup makes the group in every hierarchy. A cpuset of version 1 starts without any processor, and takes no process
// until it has one.
func makeCgroup(name string) error {
	roots, err := hierarchies(cgroupRoot)
	if err != nil {
		return err
	}
	for _, root := range roots {
		dir := filepath.Join(root, name)
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) { //nolint:gosec // As all of them are.
			return fmt.Errorf("cannot make a control group: %w", err)
		}
		for _, f := range []string{"cpuset.cpus", "cpuset.mems"} {
			if err := inherit(root, dir, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// inherit copies a setting from the root to the group where it's the root's to give: the root has it with version 1 alone.
func inherit(root, dir, file string) error {
	b, err := os.ReadFile(filepath.Join(root, file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot read a control group's processors: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, file), bytes.TrimSpace(b), 0o600); err != nil { //nolint:gosec // The plan names the folder.
		return fmt.Errorf("cannot give a control group its processors: %w", err)
	}
	return nil
}

// removeCgroup removes the group with all that are in it from every hierarchy. A group with processes stays, as an error.
func removeCgroup(name string) error {
	roots, err := hierarchies(cgroupRoot)
	if err != nil {
		return err
	}
	var errs []error
	for _, root := range roots {
		var dirs []string
		err := filepath.WalkDir(filepath.Join(root, name), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				dirs = append(dirs, path)
			}
			return nil // What isn't there need not be removed; what can't be read says so when it's removed.
		})
		errs = append(errs, err)
		for _, dir := range slices.Backward(dirs) {
			if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, fmt.Errorf("cannot remove a control group: %w", err))
			}
		}
	}
	return errors.Join(errs...)
}
