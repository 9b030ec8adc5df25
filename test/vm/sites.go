package vm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/crossplane-contrib/provider-baremetal/test/guest"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
)

// edge is the example of a site that installs, and office that of one beside another DHCP server.
func edge() example   { return example{"edge.yaml", "node-1", "52:54:00:00:07:01", 11} }
func office() example { return example{"proxy.yaml", "desk-1", "52:54:00:00:08:01", 21} }

// NewSite makes a site in an empty folder, with machines by their MAC addresses, which are installed once each: what examples/bootd/edge.yaml
// describes, with this machine's files.
func NewSite(ctx context.Context, root, dir string, a guest.Artifacts, machines ...net.HardwareAddr) (*Site, error) {
	return newSite(ctx, root, dir, a, machines, &Site{example: edge()})
}

// NewProxySite makes a site beside another DHCP server, with machines that boot into memory each time: what examples/bootd/proxy.yaml describes.
func NewProxySite(ctx context.Context, root, dir string, a guest.Artifacts, machines ...net.HardwareAddr) (*Site, error) {
	return newSite(ctx, root, dir, a, machines, &Site{example: office(), flags: []string{"--peer=" + siteForeign}, beside: []beside{foreign}})
}

// NewShimSite makes a site of machines that load Debian's signed shim and grub: that of NewSite otherwise.
func NewShimSite(ctx context.Context, root, dir string, a guest.Artifacts, machines ...net.HardwareAddr) (*Site, error) {
	signed, err := Signed(guest.AMD64)
	if err != nil {
		return nil, err
	}
	return newSite(ctx, root, dir, a, machines, &Site{
		example: edge(), flags: []string{"--signed-dir=" + signed}, stage: "Shim",
	})
}

// NewNativeSite makes a site of machines whose UEFI loads iPXE with drivers of its own, whose bootd has no other iPXE: that of NewSite otherwise.
func NewNativeSite(ctx context.Context, root, dir string, a guest.Artifacts, machines ...net.HardwareAddr) (*Site, error) {
	const native = "ipxe.efi"
	alone := filepath.Join(dir, "native")
	if err := os.MkdirAll(alone, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make a folder of first stages: %w", err)
	}
	if err := os.Symlink(filepath.Join(firmwareDir, native), filepath.Join(alone, native)); err != nil {
		return nil, fmt.Errorf("cannot make a folder of first stages: %w", err)
	}
	return newSite(ctx, root, dir, a, machines, &Site{
		example: edge(), flags: []string{"--tftp-dir=" + alone}, stage: "NativeIPXE",
	})
}

// NewLocalBootSite makes a site of machines that are sent to their disks in a way of their own: that of NewSite otherwise.
func NewLocalBootSite(ctx context.Context, root, dir string, a guest.Artifacts, localBoot string, machines ...net.HardwareAddr) (*Site, error) {
	signed, err := Signed(guest.AMD64)
	if err != nil {
		return nil, err
	}
	return newSite(ctx, root, dir, a, machines, &Site{
		example: edge(), flags: []string{"--signed-dir=" + signed}, local: localBoot,
	})
}

// NewISOSite makes a site of machines that boot an ISO once each: what examples/bootd/iso.yaml describes.
func NewISOSite(ctx context.Context, root, dir string, machines ...net.HardwareAddr) (*Site, error) {
	path := filepath.Join(dir, "guest.iso")
	b, err := guest.Builder{Out: dir}.ISO(ctx)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return nil, fmt.Errorf("cannot write an ISO: %w", err)
	}
	sum := sha256.Sum256(b)
	iso := guest.File{Path: path, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(b))}
	return newSite(ctx, root, dir, guest.Artifacts{Kernel: iso, Initrd: iso, Image: iso}, machines, &Site{example: example{"iso.yaml", "board-1", "52:54:00:00:10:01", 31}})
}

// NewSixSite makes a site whose machines boot and are installed over IPv6 alone, on a link without a router: that of NewSite otherwise.
func NewSixSite(ctx context.Context, root, dir string, a guest.Artifacts, machines ...net.HardwareAddr) (*Site, error) {
	return newSite(ctx, root, dir, a, machines, &Site{example: edge(), apart: true, six: true, flags: []string{"--dhcp-interface=boot1"}})
}

// NewARM64Site makes a site of machines with ARM64, for which Debian has no iPXE: that of NewSite otherwise.
func NewARM64Site(ctx context.Context, root, dir string, a guest.Artifacts, machines ...net.HardwareAddr) (*Site, error) {
	signed, err := Signed(guest.ARM64)
	if err != nil {
		return nil, err
	}
	return newSite(ctx, root, dir, a, machines, &Site{
		example: edge(), flags: []string{"--signed-dir=" + signed}, arch: guest.ARM64,
	})
}

// NewBINLSite makes a site whose bootd has port 4011 alone, since port 67 of its host is dnsmasq's: that of NewProxySite otherwise.
func NewBINLSite(ctx context.Context, root, dir string, a guest.Artifacts, machines ...net.HardwareAddr) (*Site, error) {
	return newSite(ctx, root, dir, a, machines, &Site{
		example: office(), apart: true, first: []string{binl(dir)},
		flags: []string{"--dhcp-listen=", "--proxy-listen=:4011", "--peer=" + siteApart},
	})
}

// NewRelayedSite makes a site whose machines are on another segment, behind a router with the DHCP relay of ISC: that of NewSite otherwise.
func NewRelayedSite(ctx context.Context, root, dir string, a guest.Artifacts, machines ...net.HardwareAddr) (*Site, error) {
	far, err := qemu.NewSegment(farBridge, "")
	if err != nil {
		return nil, err
	}
	return newSite(ctx, root, dir, a, machines, &Site{
		example: edge(), mode: "RelayOnly", far: far, beside: []beside{relay},
	})
}

// NewPairSite makes a site with two bootds, whose machines boot into memory each time: that of NewProxySite otherwise, without another DHCP server.
func NewPairSite(ctx context.Context, root, dir string, a guest.Artifacts, machines ...net.HardwareAddr) (*Site, error) {
	return newSite(ctx, root, dir, a, machines, &Site{
		example: office(), mode: "Authoritative", flags: []string{"--peer=" + siteSecond}, beside: []beside{second},
	})
}
