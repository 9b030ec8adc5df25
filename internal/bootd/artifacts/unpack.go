package artifacts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/qcow2"
)

// raw is the end of the name of the disk that is in a qcow2 image. It lies beside the image, by the image's digest: what it must be follows
// from the image alone. So nothing has to be believed about it after a restart, when it's held against the image, nor written down.
const raw = ".raw"

// block is what holes are looked for by. File systems keep them by as much, or less.
const block = 4096

// nameOf is the file of what is given for an artifact.
func nameOf(a boot.Artifact) string {
	if a.Unpack {
		return fileOf(a.Digest) + raw
	}
	return fileOf(a.Digest)
}

// flightKey tells downloads of one digest apart, and these from what unpacks it.
func flightKey(a boot.Artifact) string {
	if a.Unpack {
		return sourceKey(a) + "\n" + raw
	}
	return sourceKey(a)
}

// taken is what a file takes on the disk. One that was unpacked has holes.
func taken(name string, i fs.FileInfo) int64 {
	if s, ok := i.Sys().(*syscall.Stat_t); ok && strings.HasSuffix(name, raw) {
		const unit = 512 // Of Blocks, whatever the file system's is.
		return min(i.Size(), s.Blocks*unit)
	}
	return i.Size()
}

// DigestOf is the digest of what is given for an artifact: its own, but that of the disk for an image that is unpacked. "" where that isn't
// known, since it isn't there.
func (c *Cache) DigestOf(a boot.Artifact) string {
	if !a.Unpack {
		return a.Digest
	}
	if !c.has(a) {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.kept[nameOf(a)]; k != nil {
		return k.digest
	}
	return ""
}

// unpacked makes sure that the disk in an image is there: as it lies on ours, where that's what the image says, else unpacked.
func (c *Cache) unpacked(_ context.Context, a boot.Artifact, f *flight) (int64, error) {
	if err := c.packed(a, f); err != nil { //nolint:contextcheck // A download outlives whoever asked for it.
		return 0, err
	}
	c.mu.Lock()
	fault := c.faults[a.Digest]
	c.mu.Unlock()
	if fault != nil {
		return 0, fault
	}
	leave, ok := c.unpacksAhead.enter(a.Digest, f.hurry, nil)
	if !ok {
		leave, _ = c.unpacks.enter(a.Digest, nil, nil)
	}
	defer leave()
	written, _ := c.disks.enter(a.Digest, nil, nil)
	defer written()
	if c.has(a) {
		return overtaken, nil
	}
	n, err := c.unpack(a, f)
	if err == nil {
		return n, nil
	}
	return 0, c.unfit(a, f, err)
}

// unfit says why an image can't be unpacked. What is wrong with the image itself is remembered: a machine asks every few seconds, and finding
// it out again may take minutes of a core.
func (c *Cache) unfit(a boot.Artifact, f *flight, err error) error {
	why := &Error{Reason: ReasonFetch, Digest: a.Digest, err: err}
	if wrong, ok := errors.AsType[*qcow2.FaultError](err); ok && c.Has(a.Digest) {
		why.err = fmt.Errorf("it can't be unpacked: %w", wrong)
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.faults) >= maxFailed {
			clear(c.faults)
		}
		c.faults[a.Digest] = why
		return why
	}
	switch {
	case errors.Is(err, ErrFetching):
		why.Reason = ReasonFetching
	case errors.Is(err, errAhead), errors.Is(err, errBusy) && !c.awaited(f):
		why.Reason, why.err = ReasonLater, errAhead
	case errors.Is(err, errFull), errors.Is(err, errBusy), errors.Is(err, errWrite), errors.Is(err, errMoved):
	default:
		why.err = errRead
	}
	return why
}

// packed waits until the image itself is there. It's as urgent as the disk in it.
func (c *Cache) packed(a boot.Artifact, f *flight) error {
	a.Unpack = false
	c.mu.Lock()
	level := f.level
	c.mu.Unlock()
	hurry := f.hurry
	for {
		g := c.begin(a, level)
		if g == nil {
			return c.lastFailure(a)
		}
		if level == Soon {
			hurry = nil
		}
		select {
		case <-g.done:
			return g.err
		case <-hurry:
			level = Soon
		}
	}
}

// unpack reads an image that is there, and gives the size of what it takes unpacked.
func (c *Cache) unpack(a boot.Artifact, f *flight) (int64, error) {
	packed := a
	packed.Unpack = false
	file, read, err := c.Open(packed)
	if err != nil {
		return 0, err
	}
	defer read()
	defer func() { _ = file.Close() }()
	i, err := file.Stat()
	if err != nil {
		return 0, err //nolint:wrapcheck // It's told as errRead.
	}
	img, err := qcow2.Open(file, i.Size(), min(c.o.MaxBytes, c.o.CacheBytes))
	if err != nil {
		return 0, err //nolint:wrapcheck // A fault says what is wrong.
	}
	sum, err := hasher(a.Digest)
	if err != nil {
		return 0, err
	}
	if n, err := c.same(a, img, sum); n > 0 || err != nil {
		return n, err
	}
	sum.Reset()
	return c.write(a, f, img, sum)
}

// pieces gives a disk piece by piece. The slice is the next one's, too.
func pieces(img *qcow2.Image, give func(p []byte, at int64) error) error {
	buf := make([]byte, min(qcow2.Piece, img.Size()))
	for at := int64(0); at < img.Size(); at += qcow2.Piece {
		p := buf[:min(qcow2.Piece, img.Size()-at)]
		if err := img.ReadPiece(p, at); err != nil {
			return err //nolint:wrapcheck // A fault says what is wrong.
		}
		if err := give(p, at); err != nil {
			return err
		}
	}
	return nil
}

// write unpacks an image into its place.
func (c *Cache) write(a boot.Artifact, f *flight, img *qcow2.Image, sum hash.Hash) (int64, error) {
	if err := c.again(f, a.Digest); err != nil {
		return 0, err
	}
	half := filepath.Join(c.o.Dir, f.half)
	file, err := os.OpenFile(half, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return 0, errWrite
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(half) // Where it isn't in its place.
		c.mu.Lock()
		defer c.mu.Unlock()
		c.forget(f.half)
	}()
	if err := c.room(f, f.half, 0); err != nil {
		return 0, err
	}
	to := &sparing{Writer: io.Discard, c: c, f: f, name: f.half}
	err = pieces(img, func(p []byte, at int64) error {
		_, _ = sum.Write(p)
		return to.blocks(file, p, at)
	})
	if err != nil {
		c.short(a.Digest, to.refused)
		return 0, err
	}
	if !c.Has(a.Digest) { // Nobody else would find out: the disk's digest is that of what was read.
		return 0, errMoved
	}
	if file.Truncate(img.Size()) != nil || file.Sync() != nil || os.Rename(half, filepath.Join(c.o.Dir, nameOf(a))) != nil {
		return 0, errWrite
	}
	m, err := settled(file)
	if err != nil {
		return 0, errWrite
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(f.half)
	delete(c.needs, a.Digest)
	c.keep(nameOf(a), &kept{size: to.at, used: c.o.Now(), good: m, digest: sumOf(sum, a.Digest)})
	return to.at, nil
}

// short notes how much there was no room for; 0: that wasn't it.
func (c *Cache) short(digest string, need int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.needs) >= maxFailed {
		clear(c.needs)
	}
	if need > 0 {
		c.needs[digest] = need
	}
}

// blocks writes what isn't zeros of a piece, and leaves holes for the rest.
func (s *sparing) blocks(file *os.File, p []byte, at int64) error {
	var hole [block]byte
	for len(p) > 0 {
		n := 0 // As many as can be written at once.
		for n < len(p) && !bytes.Equal(p[n:min(n+block, len(p))], hole[:min(block, len(p)-n)]) {
			n = min(n+block, len(p))
		}
		if n == 0 {
			n = min(block, len(p))
			p, at = p[n:], at+int64(n)
			continue
		}
		if err := s.spare(s.at + int64(n)); err != nil {
			return err
		}
		if _, err := file.WriteAt(p[:n], at); err != nil {
			return errWrite
		}
		s.at += int64(n)
		p, at = p[n:], at+int64(n)
	}
	return nil
}
