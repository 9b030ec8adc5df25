package artifacts

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	// DefaultReserve is what downloads leave free on the disk: the log of consumed grants is on it too, and without it
	// nothing can be installed at all.
	DefaultReserve = 128 << 20
	// lookEvery is after how many bytes of a download the disk is looked at again.
	lookEvery = 4 << 20
	// aheadShare of the cache is the most that profiles' files may take which no plan names: one half.
	aheadShare = 2
)

var (
	// errFull says that a download would take what is reserved.
	errFull = errors.New("bootd's disk is nearly full")
	// errBusy says that the cache is full of what can't go.
	errBusy = errors.New("bootd's cache is full of files that machines need now: raise its --cache-bytes, on a disk that has room")
	// errAhead says that a file must wait until a plan names it.
	errAhead = errors.New("it's fetched when a machine is to boot it, not before: bootd's cache has no room for more that profiles alone name, half of it at most")
)

// freeIn gives how many bytes an ordinary process may still write to the disk of a folder.
func freeIn(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("cannot look at the disk of %q: %w", dir, err)
	}
	return int64(s.Bavail) * s.Bsize, nil //nolint:gosec // No disk is that large.
}

// halfOf the disk of a folder, in bytes. A disk that can't be looked at bounds by its reserve alone.
func halfOf(dir string) int64 {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Blocks == 0 {
		return math.MaxInt64
	}
	return int64(s.Blocks) * s.Bsize / 2 //nolint:gosec // No disk is that large.
}

// Need says of files, by digest, how much they're needed now. Others go first when there's no room, and what's needed Soon never does.
func (c *Cache) Need(digests map[string]Level) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.needed = digests
}

// Want says all that plans and profiles name, and fetches what no machine should have to wait for.
func (c *Cache) Want(all map[boot.Artifact]Level) {
	needed, halves := make(map[string]Level, len(all)), make(map[string]bool, len(all))
	for a, l := range all {
		needed[a.Digest] = max(needed[a.Digest], l)
		a.Unpack = false // What is half unpacked is begun anew.
		halves[halfName(a)] = true
	}
	c.mu.Lock()
	c.needed, c.wanted, c.halves = needed, all, halves
	c.mu.Unlock()
	c.start(aheadAgain) // A source tells what it knows again and again: what failed isn't fetched anew each time.
}

// start fetches what is wanted and not there. What a machine may ask for comes first, and of that what is read soonest, where it lies on
// the disk and is only to be read. A profile's file that lies there is read when somebody asks for it: others may be waiting for the disk.
// What failed less than patience ago waits for a machine that asks.
func (c *Cache) start(patience time.Duration) {
	var soon, ahead []boot.Artifact
	size := map[boot.Artifact]int64{}
	c.mu.Lock()
	for a, l := range c.wanted {
		k := c.kept[nameOf(a)]
		switch {
		case l == Soon:
			soon = append(soon, a)
			if k != nil {
				size[a] = k.size
			}
		case l == ByProfile && k == nil:
			ahead = append(ahead, a)
		}
	}
	c.mu.Unlock()
	slices.SortFunc(soon, func(a, b boot.Artifact) int { return cmp.Compare(size[a], size[b]) })
	for _, a := range soon {
		_ = c.beginAfter(a, Soon, patience)
	}
	for _, a := range ahead {
		_ = c.begin(a, ByProfile)
	}
}

// room makes sure that a download may grow to a size: that the disk's reserve stays free, and that all files together take no more than
// the cache may. What is needed less goes for it.
func (c *Cache) room(f *flight, name string, size int64) error {
	c.clearing.Lock()
	defer c.clearing.Unlock()
	for {
		free, err := c.o.Free()
		c.mu.Lock()
		if err == nil && free < c.o.Reserve {
			err = errFull
		} else { // A disk that can't be looked at says so when it's written to.
			err = c.grow(f, name, size)
		}
		gone := ""
		if errors.Is(err, errFull) || errors.Is(err, errBusy) {
			if gone = c.victim(f); gone != "" {
				c.forget(gone)
			}
		}
		c.mu.Unlock()
		if gone == "" {
			return err
		}
		if rerr := c.remove(gone); rerr != nil {
			return err
		}
		c.counts.evictions.Add(1)
		c.o.Logger.Info("artifact removed: others are needed more, and there's no room for all", "file", gone, "why", err.Error())
	}
}

// grow counts a download's partial as of a size. It needs mu.
func (c *Cache) grow(f *flight, name string, size int64) error {
	before := int64(0)
	if k := c.kept[name]; k != nil {
		before = k.size
	}
	switch {
	case size > c.o.CacheBytes:
		return errLarge(c.o.CacheBytes)
	case c.bytes-before+size > c.o.CacheBytes:
		return errBusy
	case f.level == ByProfile && c.aheadOf(name)+size > c.o.CacheBytes/aheadShare:
		return errAhead
	}
	c.keep(name, &kept{size: size, used: c.o.Now()})
	return nil
}

// errLarge says that a file can never be kept.
func errLarge(limit int64) error {
	return fmt.Errorf("it's larger than all of bootd's cache, %d bytes: raise its --cache-bytes, on a disk that has room", limit)
}

// aheadOf is what profiles' files take besides one of them.
func (c *Cache) aheadOf(name string) (bytes int64) {
	for n, k := range c.kept {
		if n != name && c.level(n) == ByProfile {
			bytes += k.size
		}
	}
	return bytes
}

// fits says of a file whose size its server told whether there could be room for it, before a byte of it is taken and others go for it.
func (c *Cache) fits(f *flight, name string, size int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	stay := int64(0)
	for n, k := range c.kept {
		if n != name && c.stays(n, k, f) {
			stay += k.size
		}
	}
	switch {
	case size > c.o.CacheBytes:
		return errLarge(c.o.CacheBytes)
	case stay+size > c.o.CacheBytes:
		return errBusy
	case f.level == ByProfile && c.aheadOf(name)+size > c.o.CacheBytes/aheadShare:
		return errAhead
	}
	return nil
}

// remove deletes a file, and what goes with it.
func (c *Cache) remove(name string) error {
	if half, ok := strings.CutSuffix(name, partial); ok {
		_ = os.Remove(filepath.Join(c.o.Dir, half+remnants))
	}
	if err := os.Remove(filepath.Join(c.o.Dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cannot remove a file of the artifact cache: %w", err)
	}
	return nil
}

// sparing is a partial that looks for room while it's written.
type sparing struct {
	io.Writer

	c    *Cache
	f    *flight
	name string
	// at is its size, looked that at which the disk was last looked at.
	at, looked int64
	// err says why there's no room, and refused for how much.
	err     error
	refused int64
}

func (s *sparing) Write(b []byte) (int, error) {
	size := s.at + int64(len(b))
	if s.err = s.spare(size); s.err != nil {
		return 0, s.err
	}
	n, err := s.Writer.Write(b)
	s.at += int64(n)
	return n, err //nolint:wrapcheck // The file's own words.
}

func (s *sparing) spare(size int64) error {
	if size-s.looked < lookEvery {
		s.c.mu.Lock()
		err := s.c.grow(s.f, s.name, size)
		s.c.mu.Unlock()
		if err == nil {
			return nil
		}
	}
	s.looked = size
	err := s.c.room(s.f, s.name, size)
	if err != nil {
		s.refused = size
	}
	return err
}

// again says of what there was no room for before whether there is now, before it's begun anew and others go for it: a machine asks every few
// seconds, and a profile's file is tried every minute.
func (c *Cache) again(f *flight, digest string) error {
	c.mu.Lock()
	need := c.needs[digest]
	gone := int64(0)
	for n, k := range c.kept {
		if n != f.half && !c.stays(n, k, f) {
			gone += k.size
		}
	}
	c.mu.Unlock()
	if need == 0 {
		return nil
	}
	if free, err := c.o.Free(); err == nil && free+gone < need+c.o.Reserve {
		return errFull
	}
	return c.fits(f, f.half, need)
}
