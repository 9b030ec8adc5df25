package bootd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

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
