package bootd

import (
	"os"
	"path/filepath"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/snapshot"
)

const (
	// crowd is from how many machines on bootd's memory lies in huge pages: of fewer most is in a cache of the processor's, and a small site's bootd stays small.
	crowd = 2000
	// specSize is how many bytes the least takes that's written of a machine in a file of specs, and rowSize what a snapshot has of one; both roughly.
	specSize = 512
	rowSize  = 128
)

// Crowded says whether there are thousands of machines, as far as the sizes of files tell: whoever learns of them from the API knows it as he starts again.
func (c Config) Crowded() bool {
	return snapshot.In(c.StateDir).Size() >= crowd*rowSize || c.SpecDir != "" && sizeOf(c.SpecDir) >= crowd*specSize
}

// sizeOf what lies in a folder, in bytes. What can't be looked at is told of where it's read.
func sizeOf(dir string) (n int64) {
	all, _ := os.ReadDir(dir)
	for _, e := range all {
		if i, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && i.Mode().IsRegular() {
			n += i.Size()
		}
	}
	return n
}
