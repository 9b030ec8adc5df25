package artifacts

import (
	"bytes"
	"errors"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/qcow2"
)

// same holds what an earlier life unpacked against the disk in the image, byte for byte, and gives what it takes; 0: it isn't there, or not any more, since it
// was another one. An error says that it can't be known: nothing was removed then.
func (c *Cache) same(a boot.Artifact, img *qcow2.Image, sum hash.Hash) (int64, error) {
	name := nameOf(a)
	path := filepath.Join(c.o.Dir, name)
	f, err := opened(path)
	if err != nil {
		return 0, nil // It's written anew.
	}
	defer func() { _ = f.Close() }()
	before, err := f.Stat()
	if err != nil {
		return 0, nil // It's written anew.
	}
	err = errDamaged
	if before.Size() == img.Size() {
		err = equals(img, f, sum)
	}
	if err == nil {
		m, err := settled(f)
		if err != nil || m != markOf(before) || !c.Has(a.Digest) {
			return 0, errMoved // The next one who asks has it read again.
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		n := taken(name, before)
		c.keep(name, &kept{size: n, used: c.lastUse(name), good: m, digest: sumOf(sum, a.Digest)})
		return max(n, 1), nil // Of nothing but holes, too.
	}
	if !errors.Is(err, errDamaged) || !c.Has(a.Digest) {
		return 0, err // It's the image that can't be read, or that was changed meanwhile: the disk may be right.
	}
	c.counts.damaged.Add(1)
	c.o.Logger.Error("an image that was unpacked before isn't what it was: it's unpacked anew", "digest", a.Digest, "file", path, "error", err.Error())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(name)
	_ = os.Remove(path)
	return 0, nil
}

// equals holds a disk against an image, and hashes what it reads: errDamaged where it's another one or can't be read, any other error of the image.
func equals(img *qcow2.Image, disk io.ReaderAt, sum hash.Hash) error {
	there := make([]byte, min(qcow2.Piece, img.Size()))
	return pieces(img, func(p []byte, at int64) error {
		if _, err := disk.ReadAt(there[:len(p)], at); err != nil || !bytes.Equal(p, there[:len(p)]) {
			return errDamaged
		}
		_, err := sum.Write(p)
		return err //nolint:wrapcheck // A hash never fails.
	})
}
