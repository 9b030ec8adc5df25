package specdir

import (
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// tick is longer than any clock stands still by which file systems say when a file was written: FAT's stands for two seconds.
const tick = 3 * time.Second

// unwritten says whether a file of the same size and time as when it was read is still what was read. Another file may have those under the same name, as where a
// link is switched, and so has a file after a second write within one tick: its bytes are looked at where it's another inode or that was changed, once more
// when the tick is over, and before if somebody asks.
func (f *folder) unwritten(name string, now stamp) bool {
	c := f.files[name]
	same, over, since := c.stamp == now, time.Since(c.since) >= tick, time.Now()
	if same && (c.sure || !over && !f.asked) {
		return true
	}
	buf := make([]byte, min(chunk, max(512, now.size+1))) // There may be thousands of small ones.
	sum, err := digest(filepath.Join(f.dir, name), buf, &f.breath, func() error { return nil })
	if err != nil || sum != c.sum {
		return false
	}
	switch {
	case !same:
		c.stamp, c.since, c.sure = now, since, false
	case over:
		c.sure = true
	}
	f.files[name] = c
	return true
}

// seenAs is a file as it looks from outside.
func seenAs(path string) stamp {
	i, err := os.Stat(path)
	if err != nil {
		return stamp{size: -1}
	}
	s := stampIn(i)
	if x, ok := i.Sys().(*syscall.Stat_t); ok {
		s.changed = time.Unix(x.Ctim.Unix())
	}
	return s
}

// sameWrite says whether two stamps are of one write, as far as size and time tell. Inodes aren't part of that: some file systems give a file another one each
// time, and one that is linked meanwhile, or has other rights, is the same.
func (s stamp) sameWrite(x stamp) bool { return s.size == x.size && s.modified.Equal(x.modified) }
