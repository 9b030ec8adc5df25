// Package regular reads files that people and other programs put there, and waits for none of them.
package regular

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

var (
	// ErrIrregular says that something is no regular file.
	ErrIrregular = errors.New("it's no regular file")
	// ErrLarge says that a file is larger than it may be.
	ErrLarge = errors.New("it's too large")
)

// Open opens a file of so many bytes at most. A pipe, on which a read would wait for ever, a folder or a device is none.
func Open(path string, most int64) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err //nolint:wrapcheck // It says which file.
	}
	i, err := f.Stat()
	switch {
	case err != nil:
	case !i.Mode().IsRegular():
		err = ErrIrregular
	case i.Size() > most:
		err = fmt.Errorf("%w: it has %d bytes, and at most %d are read", ErrLarge, i.Size(), most)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Read reads a file that Open opens.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path, most)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, most)) //nolint:wrapcheck // It says which file.
}
