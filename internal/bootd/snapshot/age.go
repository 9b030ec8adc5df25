package snapshot

import (
	"os"
	"path/filepath"
	"time"
)

// Saved is when the snapshot was last written, by this bootd or an earlier one; zero where there's none.
func (s *Snapshot) Saved() time.Time {
	i, err := os.Stat(filepath.Join(s.dir, fileName))
	if err != nil {
		return time.Time{}
	}
	return i.ModTime()
}

// Size in bytes, of an earlier program's where there's no other; 0 where there's none.
func (s *Snapshot) Size() int64 {
	for _, name := range []string{fileName, earlierName} {
		if i, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
			return i.Size()
		}
	}
	return 0
}
