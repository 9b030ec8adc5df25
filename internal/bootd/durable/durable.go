// Package durable replaces files so that after a kill, a full disk or a power cut there's the old one or the new one, whole.
package durable

import (
	"errors"
	"os"
	"path/filepath"
)

// Unfinished is the end of a file's name while it's written. What a kill has left under such a name is written over.
const Unfinished = ".new"

// Write puts b in the place of the file at path, readable by its owner alone. One at a time may write a path.
func Write(path string, b []byte) error {
	return Replace(path, func(f *os.File) error {
		_, err := f.Write(b)
		return err
	})
}

// Replace puts what write writes in the place of the file at path, readable by its owner alone. One at a time may write a path.
func Replace(path string, write func(*os.File) error) error {
	f, err := Open(path, write)
	if err != nil {
		return err
	}
	return f.Close()
}

// Open is Replace, and returns the new file, open behind what was written.
func Open(path string, write func(*os.File) error) (*os.File, error) {
	f, err := os.OpenFile(path+Unfinished, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = f.Chmod(0o600) // What a kill has left may have other rights.
	if err == nil {
		err = write(f)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(path+Unfinished, path)
	}
	if err != nil { // A disk that's full gets back what the attempt took.
		return nil, errors.Join(err, f.Close(), os.Remove(path+Unfinished))
	}
	if err := Sync(filepath.Dir(path)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Sync makes what was done to a file, or to the names in a folder, survive a power cut.
func Sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
