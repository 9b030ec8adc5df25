package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// stateDir is the state folder's absolute path where it can be one.
func stateDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil || dir == "" {
		return "", fmt.Errorf("cannot use %q as state folder: %w", dir, errors.Join(err, errors.New("it names none")))
	}
	if by := hidden(abs); by != "" {
		return "", fmt.Errorf("cannot use %q as state folder: the node has a %s of its own; choose one elsewhere", dir, by)
	}
	const longest = 107 // of a socket's path
	if l := (layout{state: abs}).socket(); len(l) > longest {
		return "", fmt.Errorf("cannot use %q as state folder: the path of the socket in it has more than %d bytes", dir, longest)
	}
	return abs, nil
}

// hidden says by which folder of the node's own a path of this machine is hidden from its programs; "" by none.
func hidden(path string) string {
	for _, own := range []string{"/run", "/var/cache", "/var/lib", "/var/log", "/var/run", "/proc"} {
		if strings.HasPrefix(path+"/", own+"/") {
			return own
		}
	}
	return ""
}

// lockTimeout is how long the one before may take to clean up.
const lockTimeout = 20 * time.Second

// lockState waits until no other cluster uses the state folder. The lock is beside it, because the folder is emptied.
func lockState(ctx context.Context, dir string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		return nil, fmt.Errorf("cannot make the state folder's parent: %w", err)
	}
	f, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open the lock of the state folder: %w", err)
	}
	for deadline := time.Now().Add(lockTimeout); ; time.Sleep(50 * time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Now().After(deadline) || ctx.Err() != nil {
			_ = f.Close() // Nothing was written.
			return nil, fmt.Errorf("cannot use state folder %q: another cluster does (%w); stop that one or choose another folder", dir, err)
		}
	}
}
