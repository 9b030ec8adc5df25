package artifacts

import (
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// A mark says which bytes were found right: a file that was written to since, or that another was put in the place of, has another.
type mark struct {
	size, modified, changed int64
	inode                   uint64
}

func markOf(i fs.FileInfo) mark {
	m := mark{size: i.Size(), modified: i.ModTime().UnixNano()}
	if s, ok := i.Sys().(*syscall.Stat_t); ok {
		m.changed, m.inode = s.Ctim.Nano(), s.Ino
	}
	return m
}

// tick is longer than what file systems tell times by: of two changes within one only the first changes a mark.
const tick = 20 * time.Millisecond

// settled gives the mark of a file that was just read or written, so late that whatever changes the file from now on changes its mark.
func settled(f *os.File) (mark, error) {
	i, err := f.Stat()
	if err != nil {
		return mark{}, err //nolint:wrapcheck // It says what failed.
	}
	m := markOf(i)
	if age := time.Since(time.Unix(0, m.changed)); age < tick { // Also where the clock went back.
		time.Sleep(tick)
	}
	return m, nil
}

// opened opens a file for reading, and waits for nobody: to open a named pipe would take until somebody writes to it.
func opened(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:wrapcheck // It says what failed.
}

// damage is what a file of the cache has that isn't what its name says.
const damage = ".damaged"

var (
	errDamaged = errors.New("its digest is another one")
	errMoved   = errors.New("it was changed while it was read")
	errRead    = errors.New("bootd can't read its cache")
)

// find says whether what lies on the disk is what its name says, by reading all of it: a disk forgets, and who may write to the folder
// may have written. What isn't is set aside and never served. A file is read by one at a time: what the next one finds set aside, a third
// may have fetched anew.
func (c *Cache) find(digest string) (bool, error) {
	leave, _ := c.checks.enter(digest, nil, nil)
	defer leave()
	if c.Has(digest) {
		return true, nil
	}
	f, err := opened(c.path(digest))
	if errors.Is(err, os.ErrNotExist) {
		c.mu.Lock()
		c.forget(fileOf(digest))
		c.mu.Unlock()
		return false, nil
	}
	if err != nil {
		return false, &Error{Reason: ReasonFetch, Digest: digest, err: errRead}
	}
	defer func() { _ = f.Close() }()
	m, err := right(f, digest)
	if errors.Is(err, errMoved) { // Its rights may have changed, and nothing else: the next one who asks reads it again.
		return false, &Error{Reason: ReasonFetch, Digest: digest, err: errRead}
	}
	if err != nil {
		c.setAside(digest, err)
		return false, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(fileOf(digest), &kept{size: m.size, used: c.lastUse(fileOf(digest)), good: m})
	return true, nil
}

// right gives the mark of a file that has its digest.
func right(f *os.File, digest string) (mark, error) {
	h, err := hasher(digest)
	if err != nil {
		return mark{}, err
	}
	i, err := f.Stat()
	if err != nil {
		return mark{}, err //nolint:wrapcheck // It says what failed.
	}
	if !i.Mode().IsRegular() {
		return mark{}, errDamaged
	}
	if _, err := io.Copy(h, f); err != nil {
		return mark{}, err //nolint:wrapcheck // It says what failed.
	}
	if sumOf(h, digest) != digest {
		return mark{}, errDamaged
	}
	m, err := settled(f)
	if err == nil && m != markOf(i) {
		err = errMoved
	}
	return m, err
}

// sumOf is what was hashed, in the words of a digest.
func sumOf(h hash.Hash, like string) string {
	algorithm, _, _ := strings.Cut(like, ":")
	return algorithm + ":" + hex.EncodeToString(h.Sum(nil))
}

// setAside renames a file that isn't what its name says. It's the first to go when room is needed; until then somebody can look at it.
func (c *Cache) setAside(digest string, why error) {
	from := c.path(digest)
	c.counts.damaged.Add(1)
	c.o.Logger.Error("a file of the artifact cache was damaged: it's set aside, and fetched anew when it's needed",
		"digest", digest, "file", from+damage, "error", why.Error())
	if err := os.Rename(from, from+damage); err != nil {
		c.o.Logger.Error("it can't be set aside; it isn't served", "digest", digest, "error", err.Error())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	name := fileOf(digest)
	c.forget(name)
	if i, err := os.Stat(from + damage); err == nil {
		c.keep(name+damage, &kept{size: i.Size(), used: c.o.Now()})
	}
}
