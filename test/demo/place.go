package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// endTimeout is how long a kept demo may take to end by itself.
const endTimeout = 20 * time.Second

// A place is where the demo keeps its state, and how a second one, or "make demo-down", finds the first.
type place struct {
	// state is emptied by each demo.
	state string
	// lockFile is locked by a running demo, and holds its PID.
	lockFile string
}

// newPlace is the user's state folder (XDG_STATE_HOME/provider-baremetal).
func newPlace() (place, error) {
	base := os.Getenv("XDG_STATE_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return place{}, fmt.Errorf("cannot tell the home folder: %w", err)
		}
		base = filepath.Join(home, ".local", "state")
	}
	dir := filepath.Join(base, "provider-baremetal")
	if err := os.MkdirAll(dir, 0o750); err != nil { //nolint:gosec // A folder of the user's own choice.
		return place{}, fmt.Errorf("cannot make the state folder: %w", err)
	}
	return place{state: filepath.Join(dir, "demo"), lockFile: filepath.Join(dir, "demo.lock")}, nil
}

// lock makes this the only demo of the user.
func (p place) lock() (unlock func(), err error) {
	f, err := p.tryLock()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.New("a demo is running already: \"make demo-down\" ends it")
	}
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(0); err != nil {
		return nil, fmt.Errorf("cannot write %q: %w", p.lockFile, err)
	}
	if _, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0); err != nil {
		return nil, fmt.Errorf("cannot write %q: %w", p.lockFile, err)
	}
	return func() { _ = f.Close() }, nil
}

func (p place) tryLock() (*os.File, error) {
	f, err := os.OpenFile(p.lockFile, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open the demo's lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("cannot lock %q: %w", p.lockFile, err)
	}
	return f, nil
}

// end asks the running demo to end and waits until it has. Its children end with it.
func (p place) end(ctx context.Context) error {
	asked, deadline := false, time.Now().Add(endTimeout)
	for {
		f, err := p.tryLock()
		if err == nil {
			_ = f.Close()
			fmt.Println(endWords(asked))
			return nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		if err := p.signal(asked, time.Now().After(deadline)); err != nil {
			return err
		}
		asked = true
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// signal asks once, and kills when that hasn't helped. The holder of the lock is alive, so its PID is its own.
func (p place) signal(asked, late bool) error {
	if asked && !late {
		return nil
	}
	b, err := os.ReadFile(p.lockFile)
	if err != nil {
		return fmt.Errorf("cannot read the demo's PID: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid <= 1 {
		return fmt.Errorf("%q holds no PID: %q", p.lockFile, b)
	}
	sig := syscall.SIGTERM
	if late {
		sig = syscall.SIGKILL
	}
	if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("cannot end the demo, process %d: %w", pid, err)
	}
	return nil
}

func endWords(asked bool) string {
	if asked {
		return "demo: ended"
	}
	return "demo: nothing is running"
}
