package artifacts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/durable"
)

// A Level says how much a file is needed.
type Level int

// Levels, in the order that files go in when there's no room.
const (
	// Unneeded is what nothing names any more.
	Unneeded Level = iota
	// ByProfile is what a profile names that may be booted here.
	ByProfile
	// ByPlan is what a machine's plan names, though the machine needn't ask for it: it's installed.
	ByPlan
	// Soon is what a machine may ask for at any moment. It never goes for others.
	Soon
)

// aside is the level of what was set aside: below everything.
const aside Level = -1

// kept is a file in the cache's folder.
type kept struct {
	size int64
	used time.Time
	// good is the mark of what was found right; zero: it wasn't read yet. A partial never has one.
	good mark
	// digest of a disk that was unpacked; "" of what has it in its name.
	digest string
	// senders are those that send it now.
	senders int
}

// usedFile says when files were last used, over restarts.
const usedFile = "used.json"

// scan finds out what lies in the folder, and removes what is of no use.
func (c *Cache) scan() error {
	list, err := os.ReadDir(c.o.Dir)
	if err != nil {
		return fmt.Errorf("cannot look into the artifact cache: %w", err)
	}
	used := c.recall()
	now := c.o.Now()
	for _, e := range list {
		name := e.Name()
		if e.IsDir() || name == usedFile {
			continue
		}
		i, err := e.Info()
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cannot look into the artifact cache: %w", err)
		}
		if c.useless(name) {
			if err := os.Remove(filepath.Join(c.o.Dir, name)); err != nil {
				return fmt.Errorf("cannot clean the artifact cache: %w", err)
			}
			continue
		}
		if digestOf(name) == "" || strings.HasSuffix(name, remnants) {
			continue
		}
		at := used[name]
		if at.IsZero() || at.After(now) { // A clock may have been put back.
			at = i.ModTime()
		}
		c.keep(name, &kept{size: taken(name, i), used: at})
	}
	return nil
}

// useless says whether a file is half a download that can't go on, or what goes with one that is gone.
func (c *Cache) useless(name string) bool {
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(c.o.Dir, name))
		return err == nil
	}
	switch {
	case strings.HasSuffix(name, partial):
		return digestOf(name) == "" || !hasSource(name) || !there(strings.TrimSuffix(name, partial)+remnants)
	case strings.HasSuffix(name, remnants):
		return digestOf(name) == "" || !hasSource(name) || !there(strings.TrimSuffix(name, remnants)+partial)
	}
	return strings.HasSuffix(name, fresh)
}

// keep counts a file in, in the place of what was known under its name. It and what follows need mu.
func (c *Cache) keep(name string, k *kept) {
	if old := c.kept[name]; old != nil {
		c.bytes -= old.size
	}
	c.kept[name] = k
	c.bytes += k.size
	c.stale = true
}

// forget counts a file out.
func (c *Cache) forget(name string) {
	if k := c.kept[name]; k != nil {
		c.bytes -= k.size
		delete(c.kept, name)
	}
}

// lastUse of a file; now where it's new.
func (c *Cache) lastUse(name string) time.Time {
	if k := c.kept[name]; k != nil {
		return k.used
	}
	return c.o.Now()
}

// level that a file is needed at. Half of one that nobody names by its URL any more isn't.
func (c *Cache) level(name string) Level {
	switch {
	case strings.HasSuffix(name, damage):
		return aside
	case strings.HasSuffix(name, partial) && c.halves != nil && !c.halves[name]:
		return Unneeded
	}
	return c.needed[digestOf(name)]
}

// isFlying says whether a file is on its way, or half of it is being written.
func (c *Cache) isFlying(name string) bool {
	all := c.flying[digestOf(name)]
	if !strings.HasSuffix(name, partial) {
		return len(all) > 0
	}
	for _, f := range all {
		if f.half == name {
			return true
		}
	}
	return false
}

// stays says whether a file may not go for a download: it's needed as much, it's being sent, or it's on its way itself. What another URL
// gave of the same file, and doesn't go on with, goes.
func (c *Cache) stays(name string, k *kept, f *flight) bool {
	l := c.level(name)
	switch {
	case l == aside:
		return false
	case c.isFlying(name), k.senders > 0:
		return true
	case strings.HasSuffix(name, partial) && digestOf(name) == digestOf(f.half):
		return false
	}
	return c.needed == nil || l >= f.level // Before anything is known of plans nothing goes.
}

// victim is what goes first for a download: what is needed least, and of that what wasn't used for longest. "": nothing may.
func (c *Cache) victim(f *flight) string {
	first := ""
	for name, k := range c.kept {
		if c.stays(name, k, f) {
			continue
		}
		if c.kept[name+raw] != nil { // The disk in it goes first: it's made again of its image, which is its proof, and without which it waits for a download.
			continue
		}
		if first == "" || c.before(name, first) {
			first = name
		}
	}
	return first
}

func (c *Cache) before(a, b string) bool {
	switch x, y := c.level(a), c.level(b); {
	case x != y:
		return x < y
	case !c.kept[a].used.Equal(c.kept[b].used):
		return c.kept[a].used.Before(c.kept[b].used)
	}
	return a < b
}

// send notes that a file which is what was found right is being sent. The function notes that it's over.
func (c *Cache) send(name string, m mark) (sent func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.kept[name]
	if k == nil || k.good != m {
		return nil, false
	}
	k.senders++
	k.used, c.stale = c.o.Now(), true
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		k.senders--
		k.used, c.stale = c.o.Now(), true
	}), true
}

// recall reads when files were last used. Where that's lost, their own times stand for it.
func (c *Cache) recall() map[string]time.Time {
	used := map[string]time.Time{}
	b, err := os.ReadFile(filepath.Join(c.o.Dir, usedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return used
	}
	if err == nil {
		err = json.Unmarshal(b, &used)
	}
	if err != nil {
		c.o.Logger.Warn("when artifacts were last used isn't known any more; which go first when there's no room is told by when they were fetched", "error", err.Error())
		return map[string]time.Time{}
	}
	return used
}

// fresh is the end of a file's name while it's written.
const fresh = durable.Unfinished

// note writes down when files were last used, where that changed.
func (c *Cache) note() {
	c.mu.Lock()
	if !c.stale {
		c.mu.Unlock()
		return
	}
	used := make(map[string]time.Time, len(c.kept))
	for name, k := range c.kept {
		used[name] = k.used
	}
	c.stale = false
	c.mu.Unlock()
	b, err := json.Marshal(used)
	if err == nil {
		err = durable.Write(filepath.Join(c.o.Dir, usedFile), b)
	}
	if err != nil { // It's tried again at the next use.
		c.o.Logger.Warn("cannot write down when artifacts were last used; after a restart others may go first when there's no room", "error", err.Error())
	}
}
