package specdir

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
)

const (
	// programFile is the file that runs, whatever stands in its place by now.
	programFile = "/proc/self/exe"
	// buildNote is where Go notes what the whole of a program is made of.
	buildNote = ".note.go.buildid"
	// noteHead is how long a note without anything in it is: three numbers, and "Go" in four bytes.
	noteHead = 16
)

// by says what makes a folder's plans, beside its files: which program, with which settings. "": it isn't known.
func (s *Source) by() string {
	program := s.o.Program
	if program == "" {
		program = runs()
	}
	if program == "" {
		return ""
	}
	var labels strings.Builder
	for _, k := range slices.Sorted(maps.Keys(s.o.Node)) {
		fmt.Fprintf(&labels, " %q=%q", k, s.o.Node[k])
	}
	return fmt.Sprintf("program %s folder %q installs %t labels%s", program, s.o.Dir, !s.o.NoInstall, labels.String())
}

// runs tells the program that runs from any other; "" where that isn't known.
var runs = sync.OnceValue(func() string { return programIn(programFile) }) //nolint:gochecknoglobals // It's the same for as long as it runs.

// programIn tells a program from any other, by the note of what it's made of. One that was built without is known by all its bytes.
func programIn(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	if x, err := elf.NewFile(f); err == nil {
		if note := x.Section(buildNote); note != nil {
			if b, err := note.Data(); err == nil && len(b) > noteHead {
				return hex.EncodeToString(b[noteHead:])
			}
		}
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, 1<<62)); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
