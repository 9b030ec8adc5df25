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
