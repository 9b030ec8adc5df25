package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// www is the harness' folder of public files, and what lies in it.
const (
	www     = "www"
	bigFile = "big64m"
	mega    = 1 << 20
	big     = 64 << 20
)

// prepare copies the harness, makes the files that are served, and unpacks the peers if that wasn't done before.
func (o options) prepare(ctx context.Context) error {
	if err := os.MkdirAll(o.scratch, 0o750); err != nil {
		return fmt.Errorf("cannot make the scratch folder: %w", err)
	}
	// What's there may be older, and of the harness nothing may be written to.
	if err := command(ctx, o.scratch, nil, "cp", "-r", "--no-preserve=mode", o.harness+"/.", "."); err != nil {
		return err
	}
	for name, size := range map[string]int{"boot1m.efi": mega, "snponly.efi": mega, bigFile: big} {
		if err := fill(filepath.Join(o.scratch, www, name), size); err != nil {
			return err
		}
	}
	for _, of := range []string{o.results(), o.own()} {
		if err := os.RemoveAll(of); err != nil {
			return fmt.Errorf("cannot forget the run before: %w", err)
		}
	}
	if _, err := os.Stat(filepath.Join(o.scratch, "root", "usr")); err == nil {
		return nil
	}
	return o.script(ctx, "./get-tools.sh")
}

// fill makes a file that doesn't compress.
func fill(name string, size int) error {
	if s, err := os.Stat(name); err == nil && s.Size() == int64(size) {
		return nil
	}
	b := make([]byte, size)
	x := uint32(1)
	for i := range b { // xorshift32
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x & 0xff)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		return fmt.Errorf("cannot make the folder of %s: %w", name, err)
	}
	if err := os.WriteFile(name, b, 0o644); err != nil { //nolint:gosec // It's public.
		return fmt.Errorf("cannot make %s: %w", name, err)
	}
	return nil
}

func (o options) results() string { return filepath.Join(o.scratch, "out", "results.jsonl") }

// own are the results that aren't the harness' own: its report asks for more of its rows than these have.
func (o options) own() string { return filepath.Join(o.scratch, "out", "own.jsonl") }

// script runs one of the harness' own.
func (o options) script(ctx context.Context, name string, args ...string) error {
	env := append(os.Environ(), "SERVERS="+o.servers, "PROGRAMS="+o.programs, "REPS="+strconv.Itoa(o.reps), "DUR="+o.duration, "SIZES="+o.sizes, "OUT="+o.results())
	return command(ctx, o.scratch, env, "bash", append([]string{name}, args...)...)
}

func command(ctx context.Context, dir string, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // The programs are ours.
	cmd.Dir, cmd.Env = dir, env
	// Figures alone go to standard output.
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %v: %w", name, args, err)
	}
	return nil
}
