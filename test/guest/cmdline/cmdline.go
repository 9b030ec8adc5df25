// Package cmdline reads what a kernel command line tells the installer that the project's tests and demo boot.
package cmdline

import "strings"

// Parameters are the words that bootd adds for an installer. Words that aren't listed here are the kernel's business.
type Parameters struct {
	Callback    string // baremetal.callback: base address of the callbacks; empty: there is nobody to report to
	Token       string // baremetal.token: bearer of the callbacks, where the base doesn't hold it already
	Image       string // baremetal.image: what to write to the disk; empty: this is no installation
	ImageDigest string // baremetal.image-digest: "sha256:…" or "sha512:…" of that
	Compression string // baremetal.image-compression: None or empty for an image that is written as it comes
	UserData    string // baremetal.user-data: where user data is fetched; empty: there is none
	Address     string // baremetal.address: CIDR address of the NIC; empty: DHCP
	Gateway     string // baremetal.gateway: default router that goes with Address
	MAC         string // baremetal.mac: the NIC that booted; empty: the first one
	Role        string // baremetal.role: see the constants
}

// What baremetal.role can say. bootd never does: RoleDisk is written into the image of the installed system, RoleInstaller
// into the command line of a BootProfile whose kernel alone is the installer (mode Install, method Kernel).
const (
	RoleDisk      = "disk"
	RoleInstaller = "installer"
)

// Parse reads the parameters of a kernel command line; of a repeated one the last counts.
func Parse(line string) Parameters {
	var p Parameters
	known := map[string]*string{
		"callback": &p.Callback, "token": &p.Token, "image": &p.Image, "image-digest": &p.ImageDigest,
		"image-compression": &p.Compression, "user-data": &p.UserData, "address": &p.Address, "gateway": &p.Gateway,
		"mac": &p.MAC, "role": &p.Role,
	}
	for word := range strings.FieldsSeq(line) {
		name, value, _ := strings.Cut(word, "=")
		name, ours := strings.CutPrefix(name, "baremetal.")
		if to, ok := known[name]; ours && ok {
			*to = value
		}
	}
	return p
}
