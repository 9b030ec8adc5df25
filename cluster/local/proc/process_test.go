package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var errNotYet = errors.New("not yet")

// sh runs a shell script as a process.
func sh(t *testing.T, script string) *Process {
	t.Helper()
	p, err := Start(Command{Name: "script", Path: "/bin/sh", Args: []string{"-c", script}, Log: filepath.Join(t.TempDir(), "log")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// logged waits until the log has that line.
func logged(t *testing.T, p *Process, line string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err := p.Await(ctx, func(context.Context) error {
		if strings.Contains(Tail(p.Log(), 100), "  "+line+"\n") || strings.HasSuffix(Tail(p.Log(), 100), "  "+line) {
			return nil
		}
		return errNotYet
	})
	if err != nil {
		t.Fatal(err)
	}
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func TestStopEndsTheGroup(t *testing.T) {
	p := sh(t, "sleep 1000 & echo child $!; wait")
	var child int
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err := p.Await(ctx, func(context.Context) error {
		_, err := fmt.Sscanf(strings.TrimSpace(Tail(p.Log(), 1)), "child %d", &child)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Stop()
	for !gone(child) {
		if ctx.Err() != nil {
			t.Fatal("the process's own child is still there")
		}
		time.Sleep(time.Millisecond)
	}
	if p.PID() != 0 {
		t.Errorf("PID: want 0, got %d", p.PID())
	}
	if err := p.Failed(); err != nil {
		t.Errorf("Failed: a process that was stopped hasn't failed: %v", err)
	}
}

func TestRestartAppendsToTheLog(t *testing.T) {
	p := sh(t, "echo up; exec sleep 1000")
	logged(t, p, "up")
	first := p.PID()
	p.Kill()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	logged(t, p, "up\n  up") //nolint:dupword // It was started twice.
	if p.PID() == first {
		t.Error("the PID is the one of before")
	}
	second := p.PID()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if p.PID() != second {
		t.Error("Start of a running process started another")
	}
}

func TestAwaitAndFailed(t *testing.T) {
	cases := map[string]struct {
		reason  string
		script  string
		timeout time.Duration
		await   error
		failed  error
		success bool
	}{
		"Exited": {
			reason: "Whoever waits for a process that ends is told, with its last words.",
			script: "echo no luck >&2; exit 3", timeout: 10 * time.Second,
			await: ErrExited, failed: ErrExited,
		},
		"ExitedWell": {
			reason: "A server that ends with code 0 has failed too, but a step that ends so has succeeded.",
			script: "echo no luck", timeout: 10 * time.Second,
			await: ErrExited, failed: ErrExited, success: true,
		},
		"Slow": {
			reason: "Whoever waits too long is told what it waited for.",
			script: "echo no luck; exec sleep 1000", timeout: 100 * time.Millisecond,
			await: errNotYet,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := sh(t, tc.script)
			ctx, cancel := context.WithTimeout(t.Context(), tc.timeout)
			defer cancel()
			err := p.Await(ctx, func(context.Context) error { return errNotYet })
			if diff := cmp.Diff(tc.await, err, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nAwait: -want, +got:\n%s", tc.reason, diff)
			}
			if !strings.Contains(err.Error(), "no luck") {
				t.Errorf("%s\nAwait: %q doesn't show the log", tc.reason, err)
			}
			if diff := cmp.Diff(tc.failed, p.Failed(), cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nFailed: -want, +got:\n%s", tc.reason, diff)
			}
			if got := p.Succeeded(); got != tc.success {
				t.Errorf("%s\nSucceeded: want %t, got %t", tc.reason, tc.success, got)
			}
		})
	}
}

func TestStartFails(t *testing.T) {
	p, err := Start(Command{Name: "nothing", Path: "/does/not/exist", Log: filepath.Join(t.TempDir(), "log")})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("Start: want an error that names the process, got %v", err)
	}
	p.Kill() // Must not hang.
}

func TestPauseAndResume(t *testing.T) {
	p := sh(t, "exec sleep 1000")
	p.Pause()
	state := func() string {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID()) + "/stat")
		if err != nil {
			t.Skip("skipped: no /proc on this machine")
		}
		return strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))[0]
	}
	for deadline := time.Now().Add(10 * time.Second); state() != "T"; {
		if time.Now().After(deadline) {
			t.Fatalf("state: want T, got %s", state())
		}
	}
	p.Resume()
	for deadline := time.Now().Add(10 * time.Second); state() == "T"; {
		if time.Now().After(deadline) {
			t.Fatal("the process is still paused")
		}
	}
}

// TestDiesWithParent runs this test binary again as a parent that is killed.
func TestDiesWithParent(t *testing.T) {
	if log := os.Getenv("PROC_TEST_PARENT"); log != "" {
		if _, err := Start(Command{Name: "orphan", Path: "/bin/sh", Args: []string{"-c", "echo $$; exec sleep 1000"}, Log: log}); err != nil {
			t.Fatal(err)
		}
		select {}
	}
	if childAttributes().Pdeathsig == 0 {
		t.Skip("skipped: this system can't tie a child's life to its parent's")
	}
	log := filepath.Join(t.TempDir(), "log")
	parent := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDiesWithParent$") //nolint:gosec // This test binary.
	parent.Env = append(os.Environ(), "PROC_TEST_PARENT="+log)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	for deadline := time.Now().Add(10 * time.Second); pid == 0; {
		b, _ := os.ReadFile(log) // Not there yet.
		pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
		if time.Now().After(deadline) {
			t.Fatal("the child doesn't start")
		}
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // It was killed.
	for deadline := time.Now().Add(10 * time.Second); !gone(pid); {
		if time.Now().After(deadline) {
			t.Fatal("the child outlives its parent")
		}
	}
}

func TestTail(t *testing.T) {
	long := filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(long, []byte(strings.Repeat("x\n", tailWindow)+"a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		path   string
		n      int
		want   string
	}{
		"Last":    {reason: "Only the end of a long log is read.", path: long, n: 2, want: "  a\n  b"},
		"Missing": {reason: "A log that isn't there is said so.", path: "/does/not/exist", n: 2, want: "  (no log: open /does/not/exist: no such file or directory)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Tail(tc.path, tc.n)); diff != "" {
				t.Errorf("%s\nTail: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
