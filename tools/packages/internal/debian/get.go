package debian

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// snapshot is Debian's archive of every file that it ever published, by SHA-1 (https://snapshot.debian.org, its machine-usable
	// interface). Without TLS, since what comes is compared with a SHA-256.
	snapshot = "http://snapshot.debian.org/file/"
	// helper is apt's program to download a URL as apt itself does: with its proxies, passwords and certificates.
	helper = "/usr/lib/apt/apt-helper"
)

// Sources are where a pinned version is looked for, in this order: what apt has by that version, the pool of the mirrors that apt is
// configured with, where a version stays for a while after apt lists the next one, and Snapshot. The mirrors' pools have packages of
// architectures, too, that this machine's apt doesn't list.
type Sources struct {
	// Snapshot is the URL that a SHA-1 is added to; "": Debian's own.
	Snapshot string
}

// Get downloads a package into a folder, checked. Its error says where it was looked for, and what to do.
func (s Sources) Get(ctx context.Context, p Pin, dir string) error {
	file := filepath.Join(dir, "got.deb")
	err := aptGet(ctx, p, dir)
	if err == nil {
		return nil
	}
	tried := []string{"apt-get: " + err.Error()}
	for _, url := range s.urls(ctx, p) {
		err := download(ctx, url, file, p)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("the download of Debian package %s was given up: %w", p.Name, ctx.Err())
		}
		tried = append(tried, url+": "+err.Error())
		_ = os.Remove(file) // It may not be there, and the next one replaces it.
	}
	return fmt.Errorf("cannot get Debian package %s %s (%s), which is pinned: %s. Run apt-get update where this machine's lists are old; "+
		"where Debian has replaced that version, pin the new one in tools/packages/internal/debian/pins.yaml",
		p.Name, p.Version, p.Arch, strings.Join(tried, "; "))
}

// urls of a package, beside apt's own lists.
func (s Sources) urls(ctx context.Context, p Pin) []string {
	var out []string
	cmd := exec.CommandContext(ctx, "apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages")
	mirrors, err := cmd.Output()
	if err != nil {
		mirrors = nil // There's the archive yet.
	}
	for mirror := range strings.FieldsSeq(string(mirrors)) {
		// As it stands in the pool's own lists: "~" and "+" are escaped, for web servers that take "+" for a space.
		url := strings.TrimSuffix(mirror, "/") + "/" + strings.NewReplacer("~", "%7e", "+", "%2b").Replace(p.Pool)
		if !slices.Contains(out, url) {
			out = append(out, url)
		}
	}
	from := s.Snapshot
	if from == "" {
		from = snapshot
	}
	return append(out, from+p.SHA1)
}

// download a URL to a file. What isn't the pinned package is an error.
func download(ctx context.Context, url, file string, p Pin) error {
	out, err := exec.CommandContext(ctx, helper, "download-file", url, file, "SHA256:"+p.SHA256).CombinedOutput() //nolint:gosec // The pins are ours.
	if err != nil {
		return fmt.Errorf("%s", strings.TrimPrefix(complaint(out, err), url+" "))
	}
	return check(file, p)
}

// aptGet checks signatures by itself. It takes a package of any architecture whose lists this machine has.
func aptGet(ctx context.Context, p Pin, dir string) error {
	name := p.Name
	if p.Arch != "all" {
		name += ":" + p.Arch
	}
	cmd := exec.CommandContext(ctx, "apt-get", "download", "-q", name+"="+p.Version) //nolint:gosec // The pins are ours.
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s%s", complaint(out, err), listed(ctx, name))
	}
	got, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(got) != 1 {
		return fmt.Errorf("it gave %d files", len(got))
	}
	if err := check(got[0], p); err != nil {
		_ = os.Remove(got[0]) // Another one takes its place, and is checked too.
		return err
	}
	return nil
}

// listed says which version apt has instead, if any.
func listed(ctx context.Context, name string) string {
	out, err := exec.CommandContext(ctx, "apt-get", "download", "--print-uris", name).Output() //nolint:gosec // The pins are ours.
	if fields := strings.Fields(string(out)); err == nil && len(fields) > 1 {
		return " (it has " + fields[1] + ")"
	}
	return ""
}

// complaint is the first error that apt names, without the address of the server that it asked, on one line.
func complaint(out []byte, err error) string {
	for line := range strings.SplitSeq(string(out), "\n") {
		if text, ok := strings.CutPrefix(line, "E: "); ok {
			text, _, _ = strings.Cut(text, " [IP:")
			text = strings.TrimPrefix(text, "Failed to fetch ")
			return strings.Join(strings.Fields(text), " ")
		}
	}
	return err.Error()
}
