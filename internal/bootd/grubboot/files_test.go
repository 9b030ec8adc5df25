package grubboot

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// files is an Artifacts of a folder.
type files struct {
	dir  string
	err  error
	open int
}

func (f *files) Await(context.Context, boot.Artifact) error { return f.err }

// DigestOf gives rawDigest for an image that is unpacked, and Open the file of that name.
func (f *files) DigestOf(a boot.Artifact) string {
	if a.Unpack {
		return rawDigest
	}
	return a.Digest
}

func (f *files) Open(a boot.Artifact) (*os.File, func(), error) {
	file, err := os.Open(filepath.Join(f.dir, strings.ReplaceAll(f.DigestOf(a), ":", "-")))
	f.open++
	return file, func() { f.open-- }, err
}

// TestUnpackedImage: of an image of QEMU's the installer is told the digest of the disk that it's given.
func TestUnpackedImage(t *testing.T) {
	r := newRig(t, func(r *rig) { r.plan.Artifacts[0].Image.Format = boot.FormatQCOW2 })
	_, c, err := r.get(r.token(boot.TokenScript) + "/x64/grub.cfg")
	if text := string(c.Data); err != nil || !strings.Contains(text, "'baremetal.image-digest="+rawDigest+"' 'baremetal.image-format=Raw'") || strings.Contains(text, imageDigest) {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestSent: of what a boot loads its kernel and initrd are counted, where there's a session to say so.
func TestSent(t *testing.T) {
	live := func(r *rig) { r.plan.Mode, r.plan.Artifacts[0].Image = boot.ModeLive, nil }
	cases := map[string]struct {
		reason string
		change func(*rig)
		kind   boot.TokenKind
		name   string
		want   int64
	}{
		"Kernel":  {"what its grub loads", nil, boot.TokenBoot, "/files/sha256-aaaa", int64(len("kernel"))},
		"Initrd":  {"the same", nil, boot.TokenBoot, "/files/sha256-bbbb", int64(len("initrd"))},
		"Refused": {"nothing was sent", func(r *rig) { r.files.err = errBoom }, boot.TokenBoot, "/files/sha256-aaaa", 0},
		"Config":  {"words aren't counted", nil, boot.TokenScript, "/x64/grub.cfg", 0},
		"Loader":  {"nor is what firmware loads, as by iPXE", nil, boot.TokenScript, "/x64/shimx64.efi", 0},
		"Live":    {"what netboots each time has no session", live, boot.TokenBoot, "/files/sha256-aaaa", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.change)
			if _, _, err := r.get(r.token(tc.kind) + tc.name); (err != nil) != (r.files.err != nil) {
				t.Fatal(err)
			}
			if r.sessions.sent != tc.want {
				t.Errorf("%s: %d bytes, want %d", tc.reason, r.sessions.sent, tc.want)
			}
		})
	}
}
