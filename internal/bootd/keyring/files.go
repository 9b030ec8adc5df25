package keyring

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/durable"
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

// replaceFile puts a file of that time in the place of the one before.
func replaceFile(path string, b []byte, at time.Time) error {
	return durable.Replace(path, func(f *os.File) error {
		_, err := f.Write(b)
		return errors.Join(err, os.Chtimes(f.Name(), at, at))
	})
}

// dateFile gives a file another time.
func dateFile(path string, at time.Time) error {
	return errors.Join(os.Chtimes(path, at, at), durable.Sync(path))
}
