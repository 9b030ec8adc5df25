package vm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/guest"
)

// Prepare fills the caches with whatever a rack takes from the network, where it has none: Debian's kernel, the control plane's
// programs, and the modules of ours.
func Prepare(ctx context.Context, say func(string)) error {
	finder, err := programs.Default(say)
	if err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		_, err := finder.Find(gctx) // It says what it does.
		return err
	})
	g.Go(func() error {
		return beating(gctx, say, "fetching a kernel, and building what runs beside it", func() error {
			return errors.Join(fetch(gctx, finder.Cache, guest.AMD64), compile(gctx, finder.Source))
		})
	})
	return g.Wait()
}

// fetch gets what machines of one architecture boot.
func fetch(ctx context.Context, cache, arch string) error {
	b := builder(cache, "", arch)
	listed := guest.Debian{Arch: arch, Cache: b.Cache}.Lists(ctx)
	if err := errors.Join(b.Fetch(ctx), fetchSigned(ctx, cache, arch)); err != nil { // What a run before this one got is as good.
		return errors.Join(listed, err)
	}
	return nil
}

// PrepareTests fetches what the tests have beside a rack: machines of the other architecture, and a relay.
func PrepareTests(ctx context.Context) error {
	cache, err := programs.Cache()
	if err != nil {
		return err
	}
	return errors.Join(fetch(ctx, cache, guest.ARM64), fetchRelay(ctx, cache))
}

// compile builds all packages of our programs into go's cache.
func compile(ctx context.Context, dir string) error {
	const cmds = "github.com/crossplane-contrib/provider-baremetal/cmd/"
	for _, args := range [][]string{{cmds + "provider", cmds + "function"}, {"-tags=bootd", cmds + "bootd"}} {
		cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-export"}, args...)...) //nolint:gosec // Our own programs.
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("cannot build provider, function and bootd: %w\n%s", err, bytes.TrimSpace(out))
		}
	}
	return nil
}

// Artifacts builds what machines boot and install, into a folder of its own.
func Artifacts(ctx context.Context, out string) (guest.Artifacts, error) {
	return artifacts(ctx, out, guest.AMD64)
}

// ArtifactsARM64 does so for the other architecture.
func ArtifactsARM64(ctx context.Context, out string) (guest.Artifacts, error) {
	return artifacts(ctx, out, guest.ARM64)
}

func artifacts(ctx context.Context, out, arch string) (guest.Artifacts, error) {
	cache, err := programs.Cache()
	if err != nil {
		return guest.Artifacts{}, err
	}
	b := builder(cache, out, arch)
	if b.Signed, err = Signed(arch); err != nil {
		return guest.Artifacts{}, err
	}
	return b.Build(ctx)
}

func builder(cache, out, arch string) guest.Builder {
	b := guest.Builder{Cache: filepath.Join(cache, "guest"), Out: out, Arch: arch}
	if arch != guest.AMD64 {
		b.GRUB = filepath.Join(signedIn(cache, arch), "usr", "lib", "grub")
	}
	return b
}
