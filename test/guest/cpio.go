package guest

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

const (
	modeDir  = 0o040755
	modeFile = 0o100755
	modeChar = 0o020600
	cpioPad  = 4
)

// Archive writes a cpio archive in "newc" format, the one that Linux unpacks as its initramfs
// (Documentation/driver-api/early-userspace/buffer-format.rst). Equal input gives equal bytes.
type Archive struct {
	w    io.Writer
	ino  int
	dirs map[string]bool
	err  error
}

// NewArchive starts an archive on w with the directories and devices that an init needs before it has mounted anything.
func NewArchive(w io.Writer) *Archive {
	a := &Archive{w: w, dirs: map[string]bool{".": true, "/": true}}
	for _, d := range []string{"dev", "proc", "sys", "tmp"} {
		a.mkdir(d)
	}
	a.entry("dev/console", modeChar, 5, 1, nil) //nolint:mnd // its device numbers
	return a
}

// File adds a file and the directories above it; every file may be executed.
func (a *Archive) File(name string, data []byte) {
	name = strings.TrimPrefix(name, "/")
	a.mkdir(path.Dir(name))
	a.entry(name, modeFile, 0, 0, data)
}

// Close ends the archive and returns the first error there was. It doesn't close the writer below.
func (a *Archive) Close() error {
	a.entry("TRAILER!!!", 0, 0, 0, nil)
	if a.err != nil {
		return fmt.Errorf("cannot write the initramfs: %w", a.err)
	}
	return nil
}

func (a *Archive) mkdir(d string) {
	if a.dirs[d] {
		return
	}
	a.mkdir(path.Dir(d))
	a.dirs[d] = true
	a.entry(d, modeDir, 0, 0, nil)
}

func (a *Archive) entry(name string, mode, major, minor uint32, data []byte) {
	a.ino++
	header := fmt.Sprintf("070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X",
		a.ino, mode, 0, 0, 1, 0, len(data), 0, 0, major, minor, len(name)+1, 0)
	a.padded([]byte(header + name + "\x00"))
	a.padded(data)
}

func (a *Archive) padded(b []byte) {
	if a.err != nil {
		return
	}
	pad := make([]byte, (cpioPad-len(b)%cpioPad)%cpioPad)
	_, a.err = a.w.Write(append(slices.Clip(b), pad...))
}
