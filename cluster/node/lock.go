package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

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
