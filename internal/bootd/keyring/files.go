package keyring

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// mostRead is how much is read of a file that's taken for a key: enough to see that it's none.
const mostRead = 4 << 10

// readFile reads a file, and when it was last changed.
func readFile(path string) ([]byte, time.Time, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, time.Time{}, err
	}
	b, err := io.ReadAll(io.LimitReader(f, mostRead))
	return b, info.ModTime(), err
}

// replaceFile puts a file in its place, of that time, so that after a power cut it's the old one or the new one.
func replaceFile(path string, b []byte, at time.Time) error {
	made := path + ".new"
	f, err := os.OpenFile(made, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, wrote := f.Write(b)
	if err := errors.Join(wrote, os.Chtimes(made, at, at), f.Sync(), f.Close()); err != nil {
		return err
	}
	return errors.Join(os.Rename(made, path), syncFile(filepath.Dir(path)))
}

// dateFile gives a file another time.
func dateFile(path string, at time.Time) error {
	return errors.Join(os.Chtimes(path, at, at), syncFile(path))
}

// syncFile makes what was done to a file, or to the names in a folder, survive a power cut.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
