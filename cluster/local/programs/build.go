package programs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// every is how often a running build says that it runs.
const every = 5 * time.Second

// A build makes one program.
type build struct {
	program

	source, out string
}

func (f Finder) buildAll(ctx context.Context, missing []build) error {
	if len(missing) == 0 {
		return nil
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	start := time.Now()
	for i, b := range missing {
		if isProgram(b.out) {
			continue // Whoever held the lock before has built it.
		}
		line := func(d time.Duration) string { return progress(missing, i, d, time.Since(start)) }
		f.Say(line(0))
		if err := f.await(ctx, b, line); err != nil {
			return err
		}
	}
	return nil
}

// await builds one program and says every few seconds that it does.
func (f Finder) await(ctx context.Context, b build, line func(time.Duration) string) error {
	done := make(chan error, 1)
	start := time.Now()
	go func() { done <- b.run(ctx) }()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			f.Say(line(time.Since(start)))
		}
	}
}

// progress says what is built, since when, and how long the rest takes, judging by first builds on two cores.
func progress(all []build, i int, current, total time.Duration) string {
	var passed time.Duration
	for _, b := range all[:i] {
		passed += b.cold
	}
	passed += min(current, all[i].cold)
	left := max(all[i].cold-current, every)
	for _, b := range all[i+1:] {
		left += b.cold
	}
	// A machine that was slower so far stays so.
	if passed > 0 && total > passed {
		left = time.Duration(float64(left) * float64(total) / float64(passed))
	}
	return fmt.Sprintf("building %s (%d of %d, once): %s so far, about %s to go",
		all[i].name, i+1, len(all), total.Round(time.Second), left.Round(5*time.Second))
}

// run builds beside the final name and renames, so that a program is whole or absent. It builds as the Makefile does, without cgo
// and with -trimpath, so that what the modules have in common, the standard library first of all, is compiled once.
func (b build) run(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(b.out), 0o750); err != nil {
		return fmt.Errorf("cannot make the cache folder of %s: %w", b.name, err)
	}
	if b.patch == nil {
		return b.with(ctx)
	}
	modfile, err := b.patch.apply(ctx, b.source, filepath.Dir(b.out))
	if err != nil {
		return err
	}
	return b.with(ctx, "-modfile="+modfile)
}

// with builds with more flags.
func (b build) with(ctx context.Context, flags ...string) error {
	tmp := b.out + ".new"
	args := append([]string{"build", "-buildvcs=false", "-trimpath", "-ldflags", b.ldflags, "-o", tmp}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, b.pkg)...) //nolint:gosec // Our own constants.
	cmd.Dir = b.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build %s in %s: %w\n%s", b.name, b.source, err, strings.TrimSpace(string(out)))
	}
	if err := os.Rename(tmp, b.out); err != nil {
		return fmt.Errorf("cannot put %s into the cache: %w", b.name, err)
	}
	return nil
}

// lock waits until no other process builds into the cache.
func (f Finder) lock(ctx context.Context) (func(), error) {
	if err := os.MkdirAll(f.Cache, 0o750); err != nil {
		return nil, fmt.Errorf("cannot make the cache folder: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(f.Cache, "build.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open the lock of the cache: %w", err)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil // Closing is what unlocks; nothing was written.
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("cannot lock the cache folder: %w", err)
		}
		f.Say("waiting for another process that is building the same programs")
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

// moduleDir is where the Go module cache holds a module that dir's go.mod requires; it's downloaded where it's missing.
func moduleDir(ctx context.Context, dir, path string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", path) //nolint:gosec // Our own constants.
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("cannot get module %s: %w", path, err)
	}
	return parseDir(out, path)
}

func parseDir(out []byte, path string) (string, error) {
	var m struct {
		Dir string `json:"Dir"` //nolint:tagliatelle // Go's own output.
	}
	if err := json.Unmarshal(out, &m); err != nil {
		return "", fmt.Errorf("cannot understand what go says of module %s: %w", path, err)
	}
	if m.Dir == "" {
		return "", fmt.Errorf("go doesn't say where module %s is", path)
	}
	return m.Dir, nil
}
