package tftp

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// DefaultSignedDir is where Debian's packages shim-signed and grub-efi-ARCH-signed put theirs.
const DefaultSignedDir = "/usr/lib"

// Signed are the two loaders of a machine whose firmware runs nothing unsigned (Secure Boot): Microsoft has signed the shim, which loads
// Debian's grub, which loads a kernel that Debian has signed.
type Signed struct {
	// Shim and Grub are their names. The shim asks for the second beside itself, by a name that's built in.
	Shim, Grub string
	// Alone is another name of the grub, for firmware that loads it without the shim.
	Alone string
	pair  *pair
}

// A pair of loaders that are made for each other. They are read when the first machine asks for one of them, both at once: ten megabytes of two
// architectures, which most sites have no machine for. From then on they stay as they are, unless one was written just then: it may have been half of it.
type pair struct {
	shim, grub string // Paths.

	// sizes are asked for between two packets, which wait for no disk.
	sizes [2]atomic.Int64

	mu   sync.Mutex
	data [2][]byte
}

// look finds out whether both can be read, and how long they are.
func (p *pair) look() (err error) {
	for i, path := range []string{p.shim, p.grub} {
		f, size, err := open(path)
		if err != nil {
			return err
		}
		_ = f.Close()
		p.sizes[i].Store(size)
	}
	return nil
}

func (p *pair) read() (data [2][]byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.data[0] != nil {
		return p.data, nil
	}
	before := p.settled() // Whoever wrote it may set its time back once it's whole.
	if data[0], err = read(p.shim); err != nil {
		return data, err
	}
	if data[1], err = read(p.grub); err != nil {
		return data, err
	}
	for i := range data {
		p.sizes[i].Store(int64(len(data[i])))
	}
	if before && p.settled() {
		p.data = data
	}
	return data, nil
}

// settled says whether both have been as they are for long enough not to be in writing. A time in the future is a clock's mistake.
func (p *pair) settled() bool {
	for _, path := range []string{p.shim, p.grub} {
		if info, err := os.Stat(path); err != nil || time.Since(info.ModTime()).Abs() <= time.Minute {
			return false
		}
	}
	return true
}

// First says whether a name is that of what firmware loads first.
func (s Signed) First(name string) bool { return name != "" && (name == s.Shim || name == s.Alone) }

// number of a name: of the shim, or of the grub.
func (s Signed) number(name string) (n int, ok bool) {
	switch name {
	case "":
		return 0, false
	case s.Shim:
		return 0, true
	case s.Grub, s.Alone:
		return 1, true
	}
	return 0, false
}

// Has says whether a name is that of one of the two, and how many bytes that has.
func (s Signed) Has(name string) (size int, ok bool) {
	n, ok := s.number(name)
	if !ok {
		return 0, false
	}
	return int(s.pair.sizes[n].Load()), true
}

// Read gives one of the two.
func (s Signed) Read(name string) ([]byte, error) {
	n, ok := s.number(name)
	if !ok {
		return nil, ErrNotFound
	}
	data, err := s.pair.read()
	return data[n], err
}

// HasSigned says whether a name is that of a signed loader of any architecture, and how many bytes that has: their names differ.
func (f Files) HasSigned(name string) (size int, ok bool) {
	for _, s := range f.Signed {
		if size, ok := s.Has(name); ok {
			return size, true
		}
	}
	return 0, false
}

// signedIn says where below DefaultSignedDir an architecture's are. The grub is that for networks: its prefix is /grub, always.
func signedIn() map[boot.Arch][2]string {
	return map[boot.Arch][2]string{
		boot.AMD64: {"shim/shimx64.efi.signed", "grub/x86_64-efi-signed/grubnetx64.efi.signed"},
		boot.ARM64: {"shim/shimaa64.efi.signed", "grub/arm64-efi-signed/grubnetaa64.efi.signed"},
	}
}

// GrubConfig is what every grub of Debian asks for first, whatever the machine: it's built in.
const GrubConfig = "grub/grub.cfg"

// WithSigned looks for Debian's signed loaders below a directory, and adds the one file that all of them ask for first. It gives what
// can't be read, by architecture, too; one whose files aren't there at all isn't served, and no problem.
func (f Files) WithSigned(dir, config string) (all Files, problems map[boot.Arch]error) {
	problems = map[boot.Arch]error{}
	f.byName = maps.Clone(f.byName)
	f.Signed = map[boot.Arch]Signed{}
	names := map[boot.Arch][3]string{
		boot.AMD64: {"shimx64.efi", "grubx64.efi", "grubx64-alone.efi"}, boot.ARM64: {"shimaa64.efi", "grubaa64.efi", "grubaa64-alone.efi"},
	}
	for arch, files := range signedIn() {
		s := Signed{
			Shim: names[arch][0], Grub: names[arch][1], Alone: names[arch][2],
			pair: &pair{shim: filepath.Join(dir, files[0]), grub: filepath.Join(dir, files[1])},
		}
		if missing(s.pair.shim) && missing(s.pair.grub) {
			continue // Neither is installed.
		}
		if err := s.pair.look(); err != nil {
			problems[arch] = fmt.Errorf("shim and grub go together: %w", err)
			continue
		}
		f.Signed[arch] = s
		f.byName[GrubConfig] = File{Name: GrubConfig, Data: []byte(config)}
	}
	return f, problems
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return os.IsNotExist(err)
}
