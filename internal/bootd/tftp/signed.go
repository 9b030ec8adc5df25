package tftp

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"

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
	Alone              string
	shimData, grubData []byte
}

// First says whether a name is that of what firmware loads first.
func (s Signed) First(name string) bool { return name != "" && (name == s.Shim || name == s.Alone) }

// Find gives one of the two.
func (s Signed) Find(name string) ([]byte, bool) {
	switch name {
	case "":
		return nil, false
	case s.Shim:
		return s.shimData, true
	case s.Grub, s.Alone:
		return s.grubData, true
	}
	return nil, false
}

// FindSigned gives a signed loader of any architecture: their names differ.
func (f Files) FindSigned(name string) ([]byte, bool) {
	for _, s := range f.Signed {
		if data, ok := s.Find(name); ok {
			return data, true
		}
	}
	return nil, false
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

// WithSigned reads Debian's signed loaders below a directory, and adds the one file that all of them ask for first. It gives what it
// couldn't read, by architecture, too; one whose files aren't there at all isn't served, and no problem.
func (f Files) WithSigned(dir, config string) (all Files, problems map[boot.Arch]error) {
	problems = map[boot.Arch]error{}
	f.byName = maps.Clone(f.byName)
	f.Signed = map[boot.Arch]Signed{}
	names := map[boot.Arch][3]string{
		boot.AMD64: {"shimx64.efi", "grubx64.efi", "grubx64-alone.efi"}, boot.ARM64: {"shimaa64.efi", "grubaa64.efi", "grubaa64-alone.efi"},
	}
	for arch, files := range signedIn() {
		s := Signed{Shim: names[arch][0], Grub: names[arch][1], Alone: names[arch][2]}
		var err error
		if s.shimData, err = read(filepath.Join(dir, files[0])); err == nil {
			s.grubData, err = read(filepath.Join(dir, files[1]))
		} else if _, other := os.Stat(filepath.Join(dir, files[1])); os.IsNotExist(other) {
			continue // Neither is installed.
		}
		if err != nil {
			problems[arch] = fmt.Errorf("shim and grub go together: %w", err)
			continue
		}
		f.Signed[arch] = s
		f.byName[GrubConfig] = File{Name: GrubConfig, Data: []byte(config)}
	}
	return f, problems
}
