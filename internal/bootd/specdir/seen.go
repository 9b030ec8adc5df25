package specdir

import (
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// tick is longer than any clock stands still by which file systems say when a file was written: FAT's stands for two seconds.
const tick = 3 * time.Second

// stands says whether a file whose stamp is as it was is still what was read. A write that came within the same tick has the same stamp, so that its bytes are
// looked at once more when that's over, and before if somebody asks.
func (f *folder) stands(name string) bool {
	c := f.files[name]
	over := time.Since(c.since) >= tick
	if c.sure || !over && !f.asked {
		return true
	}
	buf := make([]byte, min(chunk, max(512, c.stamp.size+1))) // There may be thousands of small ones.
	if sum, err := digest(filepath.Join(f.dir, name), buf, &f.breath, func() error { return nil }); err != nil || sum != c.sum {
		return false
	}
	if c.sure = over; over {
		f.files[name] = c
	}
	return true
}

// seenAs is a file by what its contents change, and when its inode was: a link may be switched to another file of the same size and time. Which inode it
// is isn't part of that: some file systems give another one each time.
func seenAs(path string) stamp {
	i, err := os.Stat(path)
	if err != nil {
		return stamp{size: -1}
	}
	s := stampIn(i)
	s.device, s.inode = 0, 0
	if x, ok := i.Sys().(*syscall.Stat_t); ok {
		s.changed = time.Unix(x.Ctim.Unix())
	}
	return s
}

// written says whether a file was written to no more than another one. One that is linked or has other rights meanwhile is the same.
func (s stamp) written(as stamp) bool {
	s.changed = as.changed
	return s == as
}
