package node

import (
	"context"
	"crypto/sha256"
	_ "embed" // The list of packages.
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed debian-packages.txt
var debianPackages string

// debian is a folder with unpacked Debian packages. Nothing is installed.
type debian struct{ root string }

// unpackDebian downloads and unpacks the packages, once for each set of versions.
func unpackDebian(ctx context.Context, cache string, say func(string)) (debian, error) {
	key, err := debianKey(ctx)
	if err != nil {
		if have, ok := newest(cache); ok { // No package lists: what a run before this one got is as good.
			return debian{root: have}, nil
		}
		return debian{}, err
	}
	root := filepath.Join(cache, "debian-"+key)
	if _, err := os.Stat(root); err == nil {
		return debian{root: root}, nil
	}
	say("downloading Debian packages (once)")
	if err := os.MkdirAll(cache, 0o750); err != nil {
		return debian{}, fmt.Errorf("cannot make the cache folder: %w", err)
	}
	work, err := os.MkdirTemp(cache, "download-")
	if err != nil {
		return debian{}, fmt.Errorf("cannot make a folder for Debian packages: %w", err)
	}
	defer os.RemoveAll(work) // What is left there is in nobody's way.
	d := debian{root: filepath.Join(work, "root")}
	if err := download(ctx, work, d.root); err != nil {
		return debian{}, err
	}
	if err := d.linkIPTables(); err != nil {
		return debian{}, err
	}
	err = os.Rename(d.root, root)
	if _, there := os.Stat(root); err != nil && there != nil { // Not if somebody else was faster.
		return debian{}, fmt.Errorf("cannot keep Debian packages: %w", err)
	}
	return debian{root: root}, nil
}

// debianKey stands for the packages' versions: their files' names and digests, as apt knows them.
func debianKey(ctx context.Context) (string, error) {
	args := append([]string{"download", "--print-uris"}, strings.Fields(debianPackages)...)
	out, err := exec.CommandContext(ctx, "apt-get", args...).Output() //nolint:gosec // Our own list.
	if err != nil {
		return "", fmt.Errorf("apt doesn't know all of containerd, runc and what they need (has apt-get update run?): %w", err)
	}
	h := sha256.New()
	for line := range strings.Lines(string(out)) {
		_, versioned, _ := strings.Cut(line, " ") // The mirror in front of it doesn't matter.
		_, _ = h.Write([]byte(versioned))         // A hash takes everything.
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// newest returns what was unpacked last.
func newest(cache string) (string, bool) {
	dirs, _ := filepath.Glob(filepath.Join(cache, "debian-*")) // The pattern is right.
	var last string
	var when int64
	for _, d := range dirs {
		if i, err := os.Stat(d); err == nil && i.ModTime().UnixNano() > when {
			last, when = d, i.ModTime().UnixNano()
		}
	}
	return last, last != ""
}

func download(ctx context.Context, dir, root string) error {
	get := exec.CommandContext(ctx, "apt-get", append([]string{"download", "-q"}, strings.Fields(debianPackages)...)...) //nolint:gosec // Our own list.
	get.Dir = dir
	if out, err := get.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot download Debian packages: %w\n%s", err, out)
	}
	debs, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(debs) == 0 {
		return fmt.Errorf("downloading Debian packages gave none in %s", dir)
	}
	for _, deb := range debs {
		if out, err := exec.CommandContext(ctx, "dpkg-deb", "-x", deb, root).CombinedOutput(); err != nil { //nolint:gosec // What apt downloaded.
			return fmt.Errorf("cannot unpack %s: %w\n%s", filepath.Base(deb), err, out)
		}
	}
	return nil
}

// linkIPTables does what Debian's alternatives do when the package is installed.
func (d debian) linkIPTables() error {
	bin := filepath.Join(d.root, "usr", "local", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil { //nolint:gosec // As every bin folder.
		return fmt.Errorf("cannot make a folder for iptables: %w", err)
	}
	for _, name := range []string{
		"iptables", "iptables-save", "iptables-restore", "ip6tables", "ip6tables-save", "ip6tables-restore",
	} {
		if err := os.Symlink("../../sbin/xtables-nft-multi", filepath.Join(bin, name)); err != nil {
			return fmt.Errorf("cannot choose iptables: %w", err)
		}
	}
	return nil
}

func (d debian) cni() string        { return filepath.Join(d.root, "usr", "lib", "cni") }
func (d debian) containerd() string { return filepath.Join(d.root, "usr", "bin", "containerd") }
func (d debian) runc() string       { return filepath.Join(d.root, "usr", "sbin", "runc") }

// env lets programs find these packages' programs and libraries.
func (d debian) env() []string {
	path := []string{
		filepath.Join(d.root, "usr", "local", "bin"), filepath.Join(d.root, "usr", "sbin"), filepath.Join(d.root, "usr", "bin"),
		"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
	}
	env := []string{"PATH=" + strings.Join(path, ":")}
	libs, _ := filepath.Glob(filepath.Join(d.root, "usr", "lib", "*-linux-gnu*")) // The pattern is right.
	if len(libs) == 0 {
		return env
	}
	return append(env,
		"LD_LIBRARY_PATH="+strings.Join(libs, ":"),
		"XTABLES_LIBDIR="+filepath.Join(libs[0], "xtables"),
	)
}
