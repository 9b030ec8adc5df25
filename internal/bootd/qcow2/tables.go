package qcow2

import (
	"encoding/binary"
	"errors"
	"io"
)

const (
	// offsets are the bits of an entry that say where in the file its table or cluster is.
	offsets = 0x00fffffffffffe00
	// compressed says that a cluster is; zero that it's all zeros, wherever it is.
	compressed = 1 << 62
	zero       = 1
)

// checkTables looks at every offset of an image before one of them is followed to its data: QEMU calls an image corrupt that has a table
// or a cluster elsewhere than at a multiple of a cluster, and inside of the file.
func (h header) checkTables(s *source) error {
	l1 := make([]byte, h.tables()*entry)
	if err := s.whole(l1, h.l1Offset); err != nil {
		return err
	}
	l2 := make([]byte, h.cluster())
	for ; len(l1) > 0; l1 = l1[entry:] {
		at := binary.BigEndian.Uint64(l1) & offsets
		if at == 0 {
			continue
		}
		if !s.holds(at, h.cluster(), h.cluster()) {
			return fault("it's damaged: a table of it isn't in the file, or not where one can be; qemu-img check says more")
		}
		if err := s.whole(l2, at); err != nil {
			return err
		}
		for rest := l2; len(rest) > 0; rest = rest[entry:] {
			if !h.sound(s, binary.BigEndian.Uint64(rest)) {
				return fault("it's damaged: a cluster of it isn't in the file, or not where one can be; qemu-img check says more")
			}
		}
	}
	return nil
}

// sound says whether an entry of an L2 table names a cluster that can be.
func (h header) sound(s *source, e uint64) bool {
	if e&compressed != 0 {
		at := e & (1<<(62-(h.clusterBits-8)) - 1) //nolint:mnd // As the format says it.
		return at > 0 && at < uint64(s.size)      //nolint:gosec // It isn't negative.
	}
	if e&zero != 0 {
		return h.version > 2 //nolint:mnd // Version 2 has no such clusters.
	}
	at := e & offsets
	return at == 0 || s.holds(at, h.cluster(), h.cluster())
}

// source is an image's file as what decodes it sees it: nothing is read outside of it. Where the file ends within its last cluster the rest
// of that is zeros, as QEMU has it. A disk that can't be read is told apart from a file that is wrong.
type source struct {
	r    io.ReaderAt
	size int64 // of the file
	end  int64 // of its last cluster
	err  error // of the disk
}

var errOutside = errors.New("it would be read outside of the file")

// ReadAt is an io.ReaderAt's.
func (s *source) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= s.end {
		return 0, errOutside
	}
	want := int(min(int64(len(p)), s.end-off))
	there := int(min(int64(want), max(0, s.size-off)))
	if there > 0 {
		if n, err := s.r.ReadAt(p[:there], off); n < there {
			s.err = err
			return n, err //nolint:wrapcheck // The disk's own words.
		}
	}
	clear(p[there:want])
	if want < len(p) {
		return want, io.EOF
	}
	return want, nil
}

// holds says whether something is in the file, at a multiple of a cluster that isn't the first one's: that's the header's.
func (s *source) holds(at, length, cluster uint64) bool {
	end := uint64(s.end) //nolint:gosec // It isn't negative.
	return at > 0 && at%cluster == 0 && length <= end && at <= end-length
}

// whole reads all of p.
func (s *source) whole(p []byte, at uint64) error {
	_, err := s.ReadAt(p, int64(at)) //nolint:gosec // It's within the file.
	return err
}
