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
			return errors.Join(builder(finder.Cache, "").Fetch(gctx), compile(gctx, finder.Source), fetchSigned(gctx, finder.Cache))
		})
	})
	return g.Wait()
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
	cache, err := programs.Cache()
	if err != nil {
		return guest.Artifacts{}, err
	}
	return builder(cache, out).Build(ctx)
}

func builder(cache, out string) guest.Builder {
	return guest.Builder{Cache: filepath.Join(cache, "guest"), Out: out}
}
