package qcow2

import (
	"encoding/binary"
	"fmt"
)

// header is what is said before an image's tables (https://www.qemu.org/docs/master/interop/qcow2.html), as far as it's looked at.
type header struct {
	version, clusterBits, crypt, l1Entries, snapshots uint32
	backing, size, l1Offset, incompatible             uint64
	length                                            uint32
	compression                                       byte
}

const (
	magic = "QFI\xfb"
	// oldLength of a header of version 2, newLength of one of version 3 without what came later, and wholeLength with it.
	oldLength, newLength, wholeLength = 72, 104, 112
	// Clusters of 512 bytes to 2 MiB are what QEMU makes and reads.
	minClusterBits, maxClusterBits = 9, 21
	// maxL1 is QEMU's limit of an L1 table, in bytes.
	maxL1  = 32 << 20
	sector = 512
	// compressionZstd is the way beside zlib's, which is 0.
	compressionZstd = 1
	entry           = 8
)

// Bits of a header's incompatible features.
const (
	bitDirty = 1 << iota
	bitCorrupt
	bitExternal
	bitCompression
	bitSubclusters
	bitsKnown = 1<<iota - 1
)

func readHeader(s *source) (header, error) {
	b := make([]byte, wholeLength)
	n, _ := s.ReadAt(b, 0)
	if s.err != nil {
		return header{}, s.err
	}
	if n < oldLength || string(b[:4]) != magic {
		return header{}, fault("it isn't a qcow2 image; correct its format in the BootProfile")
	}
	u32, u64 := binary.BigEndian.Uint32, binary.BigEndian.Uint64
	h := header{
		version: u32(b[4:]), backing: u64(b[8:]), clusterBits: u32(b[20:]), size: u64(b[24:]), crypt: u32(b[32:]),
		l1Entries: u32(b[36:]), l1Offset: u64(b[40:]), snapshots: u32(b[60:]), length: oldLength,
	}
	if h.version == 2 { //nolint:mnd // The version that it is.
		return h, nil
	}
	h.incompatible, h.length = u64(b[72:]), u32(b[100:])
	if h.length > newLength {
		h.compression = b[104]
	}
	return h, nil
}

// refused says which feature of an image isn't read, and what to do about it. What it would take to read them is another file, a key, or
// somebody's decision; none of these is a machine's that is to be installed.
func (h header) refused() error {
	const flatten = "; qemu-img convert -O qcow2 makes one of its own"
	switch {
	case h.version != 2 && h.version != 3:
		return fault("it's qcow2 of version %d, and versions 2 and 3 are read", h.version)
	case h.backing != 0:
		return fault("it says only what differs from another image, its backing file" + flatten)
	case h.incompatible&bitExternal != 0:
		return fault("its data is in another file" + flatten)
	case h.crypt != 0:
		return fault("it's encrypted; bootd has no key" + flatten)
	case h.snapshots != 0:
		return fault("it has %d snapshots; delete them (qemu-img snapshot -d), so that there's one state that can be meant", h.snapshots)
	case h.incompatible&(bitDirty|bitCorrupt) != 0:
		return fault("it's marked as damaged, or wasn't closed after it was written; qemu-img check says more")
	case h.incompatible&bitSubclusters != 0:
		return fault("it has subclusters (extended_l2), which aren't read" + flatten)
	case h.incompatible&^bitsKnown != 0:
		return fault("it needs features that aren't known here (%#x)"+flatten, h.incompatible&^bitsKnown)
	case h.compression > compressionZstd:
		return fault("its clusters are compressed in a way that isn't known here (%d); qemu-img convert -c -O qcow2 -o compression_type=zlib makes one that is read", h.compression)
	case (h.compression != 0) != (h.incompatible&bitCompression != 0):
		return fault("its header says two things of how its clusters are compressed; qemu-img check says more")
	}
	return nil
}

// checked holds a header's sizes against those of its file and against a limit.
func (h header) checked(s *source, limit int64) error {
	switch cluster := uint64(1) << (h.clusterBits & 63); {
	case h.clusterBits < minClusterBits || h.clusterBits > maxClusterBits:
		return fault("its clusters are of 2^%d bytes, and 2^%d to 2^%d are read", h.clusterBits, minClusterBits, maxClusterBits)
	case h.version == 3 && (h.length < newLength || uint64(h.length) > cluster || h.length%entry != 0):
		return fault("its header says that it's %d bytes long", h.length)
	case h.size == 0 || h.size%sector != 0:
		return fault("its disk has %d bytes, which isn't a disk of sectors of %d", h.size, sector)
	case h.size > uint64(max(limit, 0)):
		return fault("its disk has %d bytes, and %d is the most: raise bootd's --cache-bytes, or --max-artifact-bytes, where it's meant", h.size, limit)
	case uint64(h.l1Entries) < h.tables() || uint64(h.l1Entries)*entry > maxL1:
		return fault("its L1 table has %d entries, and its disk needs %d", h.l1Entries, h.tables())
	case !s.holds(h.l1Offset, uint64(h.l1Entries)*entry, cluster):
		return fault("its L1 table isn't in the file")
	}
	return nil
}

func (h header) cluster() uint64 { return 1 << h.clusterBits }

// tables is how many L2 tables a disk of that size has.
func (h header) tables() uint64 {
	covers := h.cluster() * h.cluster() / entry
	return (h.size + covers - 1) / covers
}

// A FaultError is what is wrong with an image: a sentence for whoever named it, without its subject. It's the same however often the image is read.
type FaultError struct{ text string }

// Error is one sentence.
func (f *FaultError) Error() string { return f.text }

func fault(format string, args ...any) error {
	return &FaultError{fmt.Sprintf(format, args...)}
}
