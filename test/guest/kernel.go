package guest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// kernel is an unpacked kernel package.
type kernel struct {
	version string
	vmlinuz string
	modules map[string]string // file name → path
}

const kernelPackage = "linux-image-cloud-amd64"

// kernel downloads Debian's cloud kernel once per version and unpacks it.
func (b Builder) kernel(ctx context.Context) (kernel, error) {
	version, err := kernelVersion(ctx)
	if err != nil {
		if have, ok := newest(b.Cache); ok { // no package lists: what a run before this one got is as good
			return unpacked(have)
		}
		return kernel{}, err
	}
	dir := filepath.Join(b.Cache, version)
	if _, err := os.Stat(dir); err == nil {
		return unpacked(dir)
	}
	work, err := os.MkdirTemp(mkdir(b.Cache), "download-")
	if err != nil {
		return kernel{}, fmt.Errorf("cannot make a directory for the kernel: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	get := exec.CommandContext(ctx, "apt-get", "download", version) //nolint:gosec // what apt says
	get.Dir = work
	if err := run(get); err != nil {
		return kernel{}, fmt.Errorf("cannot download Debian package %s: %w", version, err)
	}
	debs, err := filepath.Glob(filepath.Join(work, "*.deb"))
	if err != nil || len(debs) != 1 {
		return kernel{}, fmt.Errorf("downloading %s gave %d packages", version, len(debs))
	}
	root := filepath.Join(work, "root")
	unpack := exec.CommandContext(ctx, "dpkg-deb", "-x", debs[0], root) //nolint:gosec // what apt downloaded
	if err := run(unpack); err != nil {
		return kernel{}, fmt.Errorf("cannot unpack %s: %w", version, err)
	}
	err = os.Rename(root, dir)
	if _, there := os.Stat(dir); err != nil && there != nil { // not if somebody else was faster
		return kernel{}, fmt.Errorf("cannot keep the kernel: %w", err)
	}
	return unpacked(dir)
}

func mkdir(dir string) string {
	_ = os.MkdirAll(dir, 0o750) // whoever uses it says what is wrong
	return dir
}

// kernelVersion asks apt which package the meta package depends on; its name holds the version.
func kernelVersion(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "apt-cache", "depends", kernelPackage).Output()
	if err != nil {
		return "", fmt.Errorf("cannot ask apt for %s (has apt-get update run?): %w", kernelPackage, err)
	}
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "Depends: "); ok {
			return name, nil
		}
	}
	return "", fmt.Errorf("apt knows no package %s (has apt-get update run?)", kernelPackage)
}

// newest returns the last kernel in the cache.
func newest(cache string) (string, bool) {
	dirs, _ := filepath.Glob(filepath.Join(cache, "linux-image-*"))
	if len(dirs) == 0 {
		return "", false
	}
	return dirs[len(dirs)-1], true
}

func unpacked(dir string) (kernel, error) {
	k := kernel{version: filepath.Base(dir), modules: map[string]string{}}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch {
		case strings.HasPrefix(d.Name(), "vmlinuz-"):
			k.vmlinuz = path
		case strings.HasSuffix(d.Name(), ".ko"):
			k.modules[d.Name()] = path
		}
		return nil
	})
	if err != nil {
		return k, fmt.Errorf("cannot look through %s: %w", dir, err)
	}
	if k.vmlinuz == "" {
		return k, fmt.Errorf("there is no kernel in %s", dir)
	}
	return k, nil
}
