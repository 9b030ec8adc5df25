package tftp

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Names of the first stages, as Debian's package ipxe has them. Those that are full have drivers of their own. For ARM64 Debian 12 has none, and Debian 13
// such a one; one that goes by the firmware's driver, as snponly.efi does, is taken where it lies in the same directory under our name for it.
const (
	BIOS      = "undionly.kpxe"
	UEFIAMD64 = "snponly.efi"
	UEFIFull  = "ipxe.efi"
	UEFIARM64 = "snponly-arm64.efi"
	ARM64Full = "ipxe-arm64.efi"
)

// DefaultDir is where Debian's package ipxe puts its files.
const DefaultDir = "/usr/lib/ipxe"

// maxFile bounds what is read into memory; the largest iPXE build is about 1 MiB.
const maxFile = 16 << 20

// A File is one first stage.
type File struct {
	Name string
	Data []byte
	// StandIn says that this isn't iPXE but bytes that send real firmware on to its next boot device.
	StandIn bool
}

// Files are all that is served, by name. They're read once: what a machine is given doesn't change under it.
type Files struct {
	byName map[string]File
	// Problems say why a file is a stand-in, by name.
	Problems map[string]error
	// Signed are Debian's signed loaders, by architecture: see WithSigned.
	Signed map[boot.Arch]Signed
}

// Load reads the first stages in a directory. A file that can't be read becomes a stand-in, so that simulated machines
// boot where no iPXE package is; the optional ARM64 builds are then left out.
func Load(dir string) Files {
	f := Files{byName: map[string]File{}, Problems: map[string]error{}}
	for _, name := range []string{BIOS, UEFIAMD64, UEFIFull, UEFIARM64, ARM64Full} {
		data, err := read(filepath.Join(dir, name))
		switch {
		case err == nil:
			f.byName[name] = File{Name: name, Data: data}
		case name != UEFIARM64 && name != ARM64Full:
			f.byName[name] = File{Name: name, Data: standIn(name), StandIn: true}
			f.Problems[name] = err
		}
	}
	return f
}

func read(path string) ([]byte, error) {
	f, size, err := open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b := make([]byte, size)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, fmt.Errorf("cannot read boot file: %w", err)
	}
	return b, nil
}

// open a boot file. Only regular ones are opened: a pipe would wait.
func open(path string) (f *os.File, size int64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, fmt.Errorf("cannot read boot file: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > maxFile {
		return nil, 0, fmt.Errorf("boot file %q isn't a file of 1 to %d bytes", path, maxFile)
	}
	if f, err = os.Open(path); err != nil {
		return nil, 0, fmt.Errorf("cannot read boot file: %w", err)
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(info, opened) {
		err = fmt.Errorf("%q was replaced just now", path)
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("cannot read boot file: %w", err), f.Close())
	}
	return f, opened.Size(), nil
}

// standIn is a boot file for where there is no iPXE. Firmware loads a BIOS one blindly: INT 18h tells it to go on with its
// next boot device, and the loop after it catches firmware that comes back. UEFI refuses what is no PE image by itself.
func standIn(name string) []byte {
	message := "This is a stand-in for iPXE's " + name + ": install Debian's package ipxe, or name its directory.\r\n"
	if name != BIOS {
		return []byte(message)
	}
	return append([]byte{0xcd, 0x18, 0xf4, 0xeb, 0xfd}, message...)
}

// Names of the files, sorted.
func (f Files) Names() []string { return slices.Sorted(maps.Keys(f.byName)) }

// Has gives the name itself where such a file is served, else "".
func (f Files) Has(name string) string {
	if _, ok := f.byName[name]; !ok {
		return ""
	}
	return name
}

// StandIns names the files that aren't iPXE, sorted.
func (f Files) StandIns() []string {
	var out []string
	for _, name := range f.Names() {
		if f.byName[name].StandIn {
			out = append(out, name)
		}
	}
	return out
}

// Find gives the file that a client means. Firmware writes paths with either slash, with one in front, and ends them with
// what its buffer held: NUL or 0xFF. There are no directories, so that nothing can be traversed.
func (f Files) Find(asked string) (File, bool) {
	file, ok := f.byName[cleanName(asked)]
	return file, ok
}
