package vm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/guest"
)

// signedPackages of Debian have the loaders of machines with Secure Boot, and what makes a disk that one without a BIOS starts. They're unpacked, not
// installed: they'd make the machine that they're installed on boot by them.
func signedPackages(arch string) []string {
	if arch == guest.ARM64 {
		return []string{"shim-signed", "grub-efi-arm64-signed", "grub-efi-arm64-bin"}
	}
	return []string{"shim-signed", "grub-efi-amd64-signed"}
}

// signedIn is where they're unpacked.
func signedIn(cache, arch string) string {
	if arch == guest.AMD64 {
		return filepath.Join(cache, "signed")
	}
	return filepath.Join(cache, "signed-"+arch)
}

// Signed is the folder that an architecture's have their files below; an error where Prepare hasn't fetched them.
func Signed(arch string) (string, error) {
	cache, err := programs.Cache()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(signedIn(cache, arch), "usr", "lib")
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("there are no signed loaders: %w", err)
	}
	return dir, nil
}

// fetchSigned downloads and unpacks the loaders, unless they're there.
func fetchSigned(ctx context.Context, cache, arch string) error {
	dir := signedIn(cache, arch)
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	return guest.Debian{Arch: arch, Cache: filepath.Join(cache, "guest")}.Unpack(ctx, dir, signedPackages(arch)...)
}
