package bootd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// lock takes a state folder for this process alone, until it's unlocked or the process ends in whatever way. Of two bootds that
// share one, each would write over what the other has logged as consumed.
func lock(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot lock the state folder: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, errors.Join(fmt.Errorf("the state folder %q is another running bootd's; give each a --state-dir of its own", dir), f.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("cannot lock the state folder %q: %w", dir, err), f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// advised says what to do where a state folder can't be written. Another one is no advice: it knows of no grant that was used.
func advised(dir string, err error) error {
	var at *fs.PathError
	if !errors.As(err, &at) {
		return err
	}
	if !isIn(dir, at.Path) && !isIn(at.Path, dir) {
		return err
	}
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return fmt.Errorf("%w; make room on the disk of the state folder", err)
	case errors.Is(err, unix.EROFS):
		return fmt.Errorf("%w; mount it so that it can be written (Linux makes one read-only after an error of its disk)", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; let the user that bootd runs as write to the state folder", err)
	}
	return err
}

// isIn says whether a file is in a folder, or that folder.
func isIn(dir, file string) bool {
	to, err := filepath.Rel(dir, file)
	return err == nil && to != ".." && !strings.HasPrefix(to, "../")
}
