package qcow2

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// pattern is a disk of n bytes: text, holes, and what can't be compressed.
func pattern(n int) []byte {
	out := make([]byte, n)
	x := uint32(2463534242)
	for at := 0; at < n; at += 1024 {
		block := out[at:min(at+1024, n)]
		switch at / 1024 % 8 {
		case 0, 5:
			for i := range block {
				x ^= x << 13
				x ^= x >> 17
				x ^= x << 5
				block[i] = byte(x) //nolint:gosec // Its lowest bits.
			}
		case 1, 2:
			copy(block, strings.Repeat(fmt.Sprintf("block %d of a disk\n", at/1024), 64))
		}
	}
	if n > 64<<10 {
		clear(out[n/2 : n/2+24<<10]) // A hole of whole clusters.
	}
	return out
}

func disk(t *testing.T, i *Image) []byte {
	t.Helper()
	out := make([]byte, i.Size())
	for at := int64(0); at < i.Size(); at += Piece {
		if err := i.ReadPiece(out[at:min(at+Piece, i.Size())], at); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestImagesOfQEMU: what qemu-img wrote (testdata/README.md says how) is the disk that it was given.
func TestImagesOfQEMU(t *testing.T) {
	names, err := filepath.Glob("testdata/*.qcow2")
	if err != nil || len(names) == 0 {
		t.Fatal("there are no images", err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			i, err := Open(bytes.NewReader(b), int64(len(b)), 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if got := disk(t, i); !bytes.Equal(got, pattern(len(got))) || len(got) != 96<<10 {
				t.Errorf("another disk, of %d bytes", len(got))
			}
		})
	}
}

// layout is where made puts an image's parts: clusters of 4 KiB, one L2 table.
const (
	size   = 4096
	l1At   = 1 * size
	l2At   = 2 * size
	dataAt = 3 * size
)

// made is an image with one cluster as it is, one compressed, one of zeros and one that isn't there; of version 3.
func made(tb testing.TB) []byte {
	tb.Helper()
	b := make([]byte, 5*size)
	copy(b, magic)
	put32, put64 := binary.BigEndian.PutUint32, binary.BigEndian.PutUint64
	put32(b[4:], 3)
	put32(b[20:], 12)
	put64(b[24:], 4*size)
	put32(b[36:], 1)
	put64(b[40:], l1At)
	put32(b[96:], 4)
	put32(b[100:], newLength)
	put64(b[l1At:], l2At|1<<63)
	put64(b[l2At:], dataAt|1<<63)
	put64(b[l2At+8:], compressed|dataAt+size) // No further sector: what is compressed fits into one.
	put64(b[l2At+16:], zero)
	copy(b[dataAt:dataAt+size], bytes.Repeat([]byte("as it is"), size/8))
	var z bytes.Buffer
	w, err := flate.NewWriter(&z, flate.BestCompression)
	if err == nil {
		_, err = w.Write(bytes.Repeat([]byte("smaller!"), size/8))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		tb.Fatal(err)
	}
	copy(b[dataAt+size:], z.Bytes())
	return b
}

func TestMade(t *testing.T) {
	b := made(t)
	want := slicesOf(bytes.Repeat([]byte("as it is"), size/8), bytes.Repeat([]byte("smaller!"), size/8), make([]byte, 2*size))
	for _, cut := range []int{len(b), dataAt + size + 100} { // The file may end within its last cluster.
		i, err := Open(bytes.NewReader(b[:cut]), int64(cut), 4*size)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, disk(t, i)); diff != "" {
			t.Error(diff)
		}
	}
}

// zstandard is made with its compressed cluster of zstd, which something else lies behind.
func zstandard(tb testing.TB, cluster []byte) []byte {
	tb.Helper()
	b := made(tb)
	b[104] = compressionZstd
	binary.BigEndian.PutUint32(b[100:], wholeLength)
	binary.BigEndian.PutUint64(b[72:], bitCompression)
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		tb.Fatal(err)
	}
	packed := w.EncodeAll(cluster, nil)
	if len(packed) > sector {
		tb.Fatalf("%d bytes", len(packed))
	}
	clear(b[dataAt+size:])
	copy(b[dataAt+size:], packed)
	copy(b[dataAt+size+len(packed):], "something else")
	return b
}

// TestZstd: clusters that are compressed by zstd are what they were, one after another.
func TestZstd(t *testing.T) {
	for range 3 {
		b := zstandard(t, bytes.Repeat([]byte("smaller!"), size/8))
		i, err := Open(bytes.NewReader(b), int64(len(b)), 4*size)
		if err != nil {
			t.Fatal(err)
		}
		want := slicesOf(bytes.Repeat([]byte("as it is"), size/8), bytes.Repeat([]byte("smaller!"), size/8), make([]byte, 2*size))
		if diff := cmp.Diff(want, disk(t, i)); diff != "" {
			t.Error(diff)
		}
		short := zstandard(t, []byte("less than a cluster"))
		err = whole(bytes.NewReader(short), int64(len(short)), 4*size)
		if f := (*FaultError)(nil); !errors.As(err, &f) || !strings.Contains(err.Error(), "can't be decoded") {
			t.Errorf("less than a cluster: %v", err)
		}
	}
}

func slicesOf(all ...[]byte) []byte { return bytes.Join(all, nil) }

// TestRefused: one sentence for each thing that isn't read, and nothing of a file is believed.
func TestRefused(t *testing.T) {
	u32 := func(at int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { binary.BigEndian.PutUint32(b[at:], v); return b }
	}
	u64 := func(at int, v uint64) func([]byte) []byte {
		return func(b []byte) []byte { binary.BigEndian.PutUint64(b[at:], v); return b }
	}
	cases := map[string]struct {
		reason string
		change func(b []byte) []byte
		says   string
	}{
		"Empty":         {"a download of nothing", func([]byte) []byte { return nil }, "isn't a qcow2 image"},
		"Short":         {"half a header", func(b []byte) []byte { return b[:60] }, "isn't a qcow2 image"},
		"Raw":           {"the format was said wrong", u32(0, 0xeb639000), "isn't a qcow2 image; correct its format in the BootProfile"},
		"Version1":      {"QEMU's first format has the same magic", u32(4, 1), "version 1"},
		"Version4":      {"nobody knows", u32(4, 4), "version 4"},
		"Backing":       {"/etc/shadow would be a fine one", u64(8, 0x200), "backing file; qemu-img convert"},
		"External":      {"so would it here", u64(72, bitExternal), "in another file; qemu-img convert"},
		"Encrypted":     {"LUKS", u32(32, 2), "encrypted"},
		"Snapshots":     {"which state?", u32(60, 2), "2 snapshots; delete them"},
		"Dirty":         {"it wasn't closed", u64(72, bitDirty), "qemu-img check"},
		"Corrupt":       {"QEMU said so", u64(72, bitCorrupt), "qemu-img check"},
		"Subclusters":   {"other tables", u64(72, bitSubclusters), "subclusters"},
		"Unknown":       {"of the future", u64(72, 1<<40), "features that aren't known here (0x10000000000)"},
		"Compression":   {"of the future", func(b []byte) []byte { b[104] = 2; return u32(100, wholeLength)(u64(72, bitCompression)(b)) }, "isn't known here (2); qemu-img convert -c -O qcow2 -o compression_type=zlib"},
		"SaysBoth":      {"zstd, and that it's nothing new", func(b []byte) []byte { b[104] = 1; return u32(100, wholeLength)(b) }, "says two things"},
		"SaysNeither":   {"and the other way round", u64(72, bitCompression), "says two things"},
		"NotZstd":       {"deflate, and it's said to be zstd", func(b []byte) []byte { b[104] = 1; return u32(100, wholeLength)(u64(72, bitCompression)(b)) }, "can't be decoded"},
		"TinyClusters":  {"smaller than a sector", u32(20, 8), "2^8 bytes"},
		"HugeClusters":  {"a table of 2 GiB", u32(20, 31), "2^31 bytes"},
		"ShiftedAway":   {"a shift by more than there is", u32(20, 1<<31), "2^2147483648 bytes"},
		"HeaderLength":  {"longer than its cluster", u32(100, 1<<20), "1048576 bytes long"},
		"NoDisk":        {"nothing to write", u64(24, 0), "0 bytes"},
		"HalfSector":    {"no disk has it", u64(24, 1000), "1000 bytes"},
		"Huge":          {"a lie of 2^60 bytes", u64(24, 1<<60), "1152921504606846976 bytes, and 16384 is the most"},
		"Negative":      {"or of 2^63", u64(24, 1<<63), "9223372036854775808 bytes"},
		"NoL1":          {"a disk without tables", u32(36, 0), "0 entries"},
		"LongL1":        {"room for 32 GiB of entries", u32(36, 1<<32-1), "4294967295 entries"},
		"L1Outside":     {"its table isn't there", u64(40, 1<<40), "L1 table isn't in the file"},
		"L1Half":        {"nor where one can be", u64(40, l1At+8), "L1 table isn't in the file"},
		"L1Header":      {"the header is no table", u64(40, 0), "L1 table isn't in the file"},
		"L2Outside":     {"beyond the end", u64(l1At, 1<<40), "a table of it isn't in the file"},
		"L2Half":        {"between two clusters", u64(l1At, l2At+512), "a table of it isn't in the file"},
		"Outside":       {"data beyond the end", u64(l2At, 1<<40), "a cluster of it isn't in the file"},
		"Between":       {"data between two clusters", u64(l2At, dataAt+512), "a cluster of it isn't in the file"},
		"PackedOutside": {"compressed data beyond the end", u64(l2At, compressed|1<<40), "a cluster of it isn't in the file"},
		"PackedHeader":  {"compressed data at 0", u64(l2At, compressed), "a cluster of it isn't in the file"},
		"OldZero":       {"version 2 has no clusters of zeros", u32(4, 2), "a cluster of it isn't in the file"},
		"NotDeflate":    {"what can't be inflated", func(b []byte) []byte { b[dataAt+size] = 0xff; return b }, "can't be decoded"},
		"ShortDeflate":  {"less than a cluster", func(b []byte) []byte { copy(b[dataAt+size:], []byte{3, 0}); return b }, "can't be decoded"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := tc.change(made(t))
			err := whole(bytes.NewReader(b), int64(len(b)), 4*size)
			if f := (*FaultError)(nil); !errors.As(err, &f) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.says)
			}
		})
	}
}

// whole reads all of an image.
func whole(r io.ReaderAt, length, limit int64) error {
	i, err := Open(r, length, limit)
	if err != nil {
		return err
	}
	p := make([]byte, min(Piece, i.Size()))
	for at := int64(0); at < i.Size(); at += Piece {
		if err := i.ReadPiece(p[:min(Piece, i.Size()-at)], at); err != nil {
			return err
		}
	}
	return nil
}

var errBroken = errors.New("input/output error")

// broken is a file on a disk that can't be read from some byte on.
type broken struct {
	io.ReaderAt

	from int64
}

func (b broken) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > b.from {
		return 0, errBroken
	}
	return b.ReaderAt.ReadAt(p, off)
}

// TestBrokenDisk: a disk that can't be read isn't the image's fault, which is remembered.
func TestBrokenDisk(t *testing.T) {
	b := made(t)
	for _, from := range []int64{0, l1At, l2At, dataAt} {
		err := whole(broken{bytes.NewReader(b), from}, int64(len(b)), 4*size)
		if f := (*FaultError)(nil); errors.As(err, &f) || !errors.Is(err, errBroken) {
			t.Errorf("from %d: %v", from, err)
		}
	}
}

// FuzzOpen: whatever a file says, it's refused by a fault, or is a disk within its limit.
func FuzzOpen(f *testing.F) {
	names, _ := filepath.Glob("testdata/*.qcow2")
	for _, name := range names {
		if b, err := os.ReadFile(name); err == nil && len(b) < 64<<10 {
			f.Add(b)
		}
	}
	f.Add(zstandard(f, bytes.Repeat([]byte("smaller!"), size/8)))
	f.Fuzz(func(t *testing.T, b []byte) {
		const limit = 1 << 20
		i, err := Open(bytes.NewReader(b), int64(len(b)), limit)
		if err == nil && (i.Size() <= 0 || i.Size() > limit) {
			t.Fatalf("a disk of %d bytes", i.Size())
		}
		err = whole(bytes.NewReader(b), int64(len(b)), limit)
		if fault := (*FaultError)(nil); err != nil && !errors.As(err, &fault) {
			t.Fatalf("%v isn't the image's fault", err)
		}
	})
}
