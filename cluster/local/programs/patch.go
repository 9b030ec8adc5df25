package programs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A patch adds a file to a module that programs are built of: a module of the cache can't be changed, so it's a copy that is.
type patch struct {
	// module that is copied.
	module string
	// file is added to it, with this text.
	file, text string
}

// apply copies the module that source's go.mod requires into a folder and adds the file. It returns the path of a go.mod that is source's,
// but for the copy that it names.
func (p patch) apply(ctx context.Context, source, dir string) (string, error) {
	from, err := moduleDir(ctx, source, p.module)
	if err != nil {
		return "", err
	}
	return p.copy(source, from, dir)
}

// copy does so with a module that is in a folder.
func (p patch) copy(source, from, dir string) (string, error) {
	modfile, to := filepath.Join(dir, "patched.mod"), filepath.Join(dir, "patched")
	mod, modErr := os.ReadFile(filepath.Join(source, "go.mod"))
	sum, sumErr := os.ReadFile(filepath.Join(source, "go.sum"))
	if err := errors.Join(modErr, sumErr, os.RemoveAll(to), os.MkdirAll(dir, 0o750)); err != nil {
		return "", fmt.Errorf("cannot patch module %s: %w", p.module, err)
	}
	mod = append(mod, "\nreplace "+p.module+" => "+to+"\n"...)
	if err := errors.Join(
		os.CopyFS(to, os.DirFS(from)),
		os.WriteFile(filepath.Join(to, p.file), []byte(p.text), 0o600),
		os.WriteFile(modfile, mod, 0o600),                           //nolint:gosec // Into the cache, beside the program.
		os.WriteFile(filepath.Join(dir, "patched.sum"), sum, 0o600), //nolint:gosec // Likewise.
	); err != nil {
		return "", fmt.Errorf("cannot patch module %s: %w", p.module, err)
	}
	return modfile, nil
}
