// Package qcow2 reads disk images as QEMU writes them, within bounds. github.com/lima-vm/go-qcow2reader decodes; but it believes what an
// image says, follows it to other files, and makes room for whatever it announces. So nothing of an image goes to it before header and
// tables were looked at here, and what only somebody with more than this one file could read is refused, each thing by a sentence.
package qcow2

import (
	"bufio"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/lima-vm/go-qcow2reader/image"
	"github.com/lima-vm/go-qcow2reader/image/qcow2"
	"github.com/lima-vm/go-qcow2reader/log"
)

// Piece is the size of the pieces that an image is read in: the largest cluster.
const Piece = 1 << maxClusterBits

// An Image is one whose header and tables are sound.
type Image struct {
	source *source
	disk   *qcow2.Qcow2
}

// Open looks at an image in a file of size bytes. Its disk may have limit bytes at most. What is wrong with the image is a *FaultError; other
// errors are the disk's that it's read from.
func Open(r io.ReaderAt, size, limit int64) (*Image, error) {
	s := &source{r: r, size: size, end: size}
	h, err := readHeader(s)
	if err == nil {
		err = h.refused()
	}
	if err != nil {
		return nil, err
	}
	if h.clusterBits <= maxClusterBits {
		cluster := int64(1) << h.clusterBits
		s.end = (size + cluster - 1) / cluster * cluster
	}
	if err = h.checked(s, limit); err == nil {
		err = h.checkTables(s)
	}
	if err != nil {
		return nil, s.told(err)
	}
	prepare()
	disk, err := qcow2.Open(s, nothingElse)
	if err == nil {
		err = disk.Readable()
	}
	if err != nil {
		return nil, s.told(err)
	}
	return &Image{s, disk}, nil
}

// Size of the disk, in bytes.
func (i *Image) Size() int64 { return i.disk.Size() }

// ReadPiece reads the disk from an offset, which is a multiple of Piece, as far as p goes: len(p) is Piece, or less at the disk's end.
func (i *Image) ReadPiece(p []byte, off int64) error {
	n, err := i.disk.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	return i.source.told(err)
}

// told says whose an error is: the disk's that the image lies on, or the image's. What the library says of it isn't for a tenant.
func (s *source) told(err error) error {
	if s.err != nil {
		return s.err
	}
	if _, ok := errors.AsType[*FaultError](err); ok {
		return err
	}
	return fault("it's damaged: a part of it can't be decoded; qemu-img check says more")
}

// nothingElse opens no other file: an image that needs one was refused before.
func nothingElse(io.ReaderAt, image.Type) (image.Image, error) {
	return nil, errors.New("an image of several files isn't read")
}

// prepare sets what the library has one of for all images: by what clusters are inflated, and that it writes nothing to the log.
//
//nolint:gochecknoglobals // As sync.OnceFunc gives it.
var prepare = sync.OnceFunc(func() {
	log.SetWarnFunc(nil)
	qcow2.SetDecompressor(qcow2.CompressionTypeZlib, inflate)
	qcow2.SetDecompressor(qcow2.CompressionTypeZstd, expand)
})

var inflaters = sync.Pool{New: func() any { //nolint:gochecknoglobals // A pool is one for all.
	return &inflater{from: bufio.NewReader(nil), flate: flate.NewReader(nil)}
}}

// inflater inflates one cluster. The library reads a cluster by one Read, and once more from its beginning for what that didn't give; so a
// Read gives all that was asked for, or it's an error.
type inflater struct {
	from  *bufio.Reader
	flate io.ReadCloser
}

func inflate(r io.Reader) (io.ReadCloser, error) {
	f := inflaters.Get().(*inflater) //nolint:forcetypeassert // It's what New makes.
	f.from.Reset(r)
	if err := f.flate.(flate.Resetter).Reset(f.from, nil); err != nil { //nolint:forcetypeassert // compress/flate says that it's one.
		return nil, fmt.Errorf("cannot inflate a cluster: %w", err)
	}
	return f, nil
}

// Read is an io.Reader's.
func (f *inflater) Read(p []byte) (int, error) {
	n, err := io.ReadFull(f.flate, p)
	if err != nil {
		return n, fmt.Errorf("a compressed cluster is shorter than a cluster: %w", err)
	}
	return n, nil
}

// Close gives it back.
func (f *inflater) Close() error {
	inflaters.Put(f)
	return nil
}
