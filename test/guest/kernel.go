package guest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// kernel is an unpacked kernel package.
type kernel struct {
	version string
	vmlinuz string
	modules map[string]string // file name → path
}

// kernel downloads Debian's cloud kernel once per version and unpacks it.
func (b Builder) kernel(ctx context.Context) (kernel, error) {
	version, err := b.debian().Dependency(ctx, "linux-image-cloud-"+b.arch())
	if err != nil {
		if have, ok := newest(b.kernels()); ok { // no package lists: what a run before this one got is as good
			return unpacked(have)
		}
		return kernel{}, err
	}
	dir := filepath.Join(b.kernels(), version)
	if _, err := os.Stat(dir); err == nil {
		return unpacked(dir)
	}
	if err := b.debian().Unpack(ctx, dir, version); err != nil {
		return kernel{}, err
	}
	return unpacked(dir)
}

// kernels is where they're kept.
func (b Builder) kernels() string {
	if b.arch() == AMD64 {
		return b.Cache
	}
	return filepath.Join(b.Cache, b.arch())
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
