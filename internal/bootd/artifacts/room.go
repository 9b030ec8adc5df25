package artifacts

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	// DefaultReserve is what downloads leave free on the disk: the log of consumed grants is on it too, and without it
	// nothing can be installed at all.
	DefaultReserve = 128 << 20
	// lookEvery is after how many bytes of a download the disk is looked at again.
	lookEvery = 4 << 20
)

// errFull says that a download would take what is reserved.
var errFull = errors.New("bootd's disk is nearly full")

// freeIn gives how many bytes an ordinary process may still write to the disk of a folder.
func freeIn(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("cannot look at the disk of %q: %w", dir, err)
	}
	return int64(s.Bavail) * s.Bsize, nil //nolint:gosec // No disk is that large.
}

// Need says which files plans name now. Only others are removed, oldest first, and only where the disk gets full.
func (c *Cache) Need(digests map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.needed = digests
}

// room makes sure that the reserve is free, by removing files that nothing needs.
func (c *Cache) room() error {
	c.clearing.Lock()
	defer c.clearing.Unlock()
	for {
		free, err := c.o.Free()
		if err != nil || free >= c.o.Reserve {
			return nil // A disk that can't be looked at says so when it's written to.
		}
		oldest := c.oldestUnneeded()
		if oldest == "" {
			return errFull
		}
		if err := os.Remove(filepath.Join(c.o.Dir, oldest)); err != nil {
			return errFull
		}
		c.o.Logger.Info("artifact removed: nothing needs it, and the disk is nearly full", "file", oldest)
	}
}

func (c *Cache) oldestUnneeded() string {
	c.mu.Lock()
	needed := c.needed
	c.mu.Unlock()
	list, err := os.ReadDir(c.o.Dir)
	if err != nil || needed == nil {
		return ""
	}
	var unneeded []fs.FileInfo
	for _, e := range list {
		d := strings.Replace(e.Name(), "-", ":", 1)
		if i, err := e.Info(); err == nil && digestPattern.MatchString(d) && !needed[d] {
			unneeded = append(unneeded, i)
		}
	}
	if len(unneeded) == 0 {
		return ""
	}
	return slices.MinFunc(unneeded, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) }).Name()
}

// sparing is a file that looks for room on its disk while it's written.
type sparing struct {
	io.Writer

	c     *Cache
	since int64
}

func (s *sparing) Write(b []byte) (int, error) {
	if s.since += int64(len(b)); s.since >= lookEvery {
		s.since = 0
		if err := s.c.room(); err != nil {
			return 0, err
		}
	}
	return s.Writer.Write(b) //nolint:wrapcheck // The file's own words.
}

// hosts bound the downloads from each server, so that slow ones of a tenant leave room for others.
type hosts struct {
	mu   sync.Mutex
	busy map[string]*host
}

type host struct {
	slots chan struct{}
	users int
}

// enter waits for a place at a host and gives the function that gives it back.
func (h *hosts) enter(name string) (leave func()) {
	h.mu.Lock()
	x := h.busy[name]
	if x == nil {
		x = &host{slots: make(chan struct{}, perHost)}
		h.busy[name] = x
	}
	x.users++
	h.mu.Unlock()
	x.slots <- struct{}{}
	return func() {
		<-x.slots
		h.mu.Lock()
		defer h.mu.Unlock()
		x.users--
		if x.users == 0 {
			delete(h.busy, name)
		}
	}
}
