package guest_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/test/guest"
)

func TestArchive(t *testing.T) {
	var out bytes.Buffer
	a := guest.NewArchive(&out)
	a.File("/init", []byte("program"))
	a.File("lib/modules/x.ko", []byte("module!!"))
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	got := readArchive(t, out.Bytes())
	want := []string{
		"dev 40755 ", "proc 40755 ", "sys 40755 ", "tmp 40755 ", "dev/console 20600 ", "init 100755 program",
		"lib 40755 ", "lib/modules 40755 ", "lib/modules/x.ko 100755 module!!", "TRAILER!!! 0 ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a directory stands before what is in it: -want +got:\n%s", diff)
	}
}

// readArchive lists name, mode and content.
func readArchive(t *testing.T, b []byte) []string {
	t.Helper()
	var out []string
	for len(b) > 0 {
		field := func(i int) int {
			n, err := strconv.ParseUint(string(b[6+8*i:14+8*i]), 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			return int(n)
		}
		if string(b[:6]) != "070701" {
			t.Fatalf("magic %q", b[:6])
		}
		mode, size, name := field(1), field(6), field(11)
		at := (110 + name + 3) / 4 * 4
		out = append(out, fmt.Sprintf("%s %o %s", b[110:110+name-1], mode, b[at:at+size]))
		b = b[(at+size+3)/4*4:]
	}
	return out
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, fmt.Errorf("full") }

func TestArchiveError(t *testing.T) {
	if err := guest.NewArchive(failing{}).Close(); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("error %v", err)
	}
}

const fatSize = 32 << 20

func TestFAT16(t *testing.T) {
	files := map[string][]byte{
		"EFI/BOOT/BOOTX64.EFI": bytes.Repeat([]byte("efi "), 5000), "VMLINUZ": []byte("kernel"), "EMPTY.TXT": {},
		"EFI/BOOT/A": []byte("a"),
	}
	image, err := guest.FAT16(fatSize, "LABEL", files)
	if err != nil {
		t.Fatal(err)
	}
	if len(image) != fatSize {
		t.Errorf("%d bytes", len(image))
	}
	got := map[string][]byte{}
	newFAT(image).walk("", 0, got)
	if diff := cmp.Diff(files, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	again, err := guest.FAT16(fatSize, "LABEL", files)
	if err != nil || !bytes.Equal(image, again) {
		t.Errorf("equal input gives equal bytes: %v", err)
	}
}

func TestSizeFAT16(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  map[string][]byte
	}{
		"Nothing": {"there are never fewer clusters than a FAT16 has", nil},
		"Small":   {"small files need no more", map[string][]byte{"A": []byte("a")}},
		"Large":   {"large ones fit, each with its last cluster", map[string][]byte{"A": make([]byte, 20<<20+1), "B/C": make([]byte, 5<<20+1), "D": {1}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := guest.FAT16(guest.SizeFAT16(tc.files), "L", tc.files); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

func TestFAT16Refuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		size   int
		files  map[string][]byte
		want   string
	}{
		"Small":     {"fewer clusters would be FAT12", 4 << 20, nil, "clusters"},
		"Large":     {"more clusters would be FAT32", 512 << 20, nil, "clusters"},
		"LongName":  {"there are no long names", fatSize, map[string][]byte{"INITRAMFS.IMG": nil}, "8.3"},
		"LowerCase": {"nor small letters", fatSize, map[string][]byte{"efi/A": nil}, "8.3"},
		"Full":      {"what doesn't fit is said", fatSize, map[string][]byte{"A": make([]byte, fatSize)}, "don't fit"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := guest.FAT16(tc.size, "L", tc.files); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: error %v", tc.reason, err)
			}
		})
	}
}

// fat reads a FAT16 by its own parameters, not by what the writer knows.
type fat struct {
	image             []byte
	cluster           int // bytes
	table, root, data int // offsets
	rootEntries       int
}

func newFAT(image []byte) fat {
	u16 := func(at int) int { return int(binary.LittleEndian.Uint16(image[at:])) }
	sector := u16(11)
	f := fat{image: image, cluster: sector * int(image[13]), table: sector * u16(14), rootEntries: u16(17)}
	f.root = f.table + int(image[16])*u16(22)*sector
	f.data = f.root + f.rootEntries*32
	return f
}

// read follows a chain of clusters.
func (f fat) read(first int) []byte {
	var out []byte
	for c := first; c >= 2 && c < 0xfff8; c = int(binary.LittleEndian.Uint16(f.image[f.table+2*c:])) {
		at := f.data + (c-2)*f.cluster
		out = append(out, f.image[at:at+f.cluster]...)
	}
	return out
}

func (f fat) walk(prefix string, first int, into map[string][]byte) {
	dir := f.image[f.root : f.root+32*f.rootEntries]
	if first != 0 {
		dir = f.read(first)
	}
	for ; len(dir) >= 32 && dir[0] != 0; dir = dir[32:] {
		name := strings.TrimSpace(string(dir[:8]))
		if ext := strings.TrimSpace(string(dir[8:11])); ext != "" {
			name += "." + ext
		}
		cluster, size := int(binary.LittleEndian.Uint16(dir[26:])), int(binary.LittleEndian.Uint32(dir[28:]))
		switch attr := dir[11]; {
		case attr&0x08 != 0, name == ".", name == "..":
		case attr&0x10 != 0:
			f.walk(prefix+name+"/", cluster, into)
		default:
			into[prefix+name] = append([]byte{}, f.read(cluster)[:size]...)
		}
	}
}

func TestDiskImage(t *testing.T) {
	boot, core := bytes.Repeat([]byte{1}, 512), bytes.Repeat([]byte{2}, 3*512+7)
	esp := bytes.Repeat([]byte{3}, 1<<20)
	disk, err := guest.DiskImage(boot, core, esp)
	if err != nil {
		t.Fatal(err)
	}
	if disk[510] != 0x55 || disk[511] != 0xaa || disk[450] != 0xee {
		t.Error("no protective MBR")
	}
	last := len(disk)/512 - 1
	for _, at := range []int{1, last} {
		checkGPT(t, disk, at)
	}
	if got := binary.LittleEndian.Uint64(disk[0x5c:]); got != 2048 {
		t.Errorf("the MBR loads core.img from sector %d", got)
	}
	if got := binary.LittleEndian.Uint16(disk[2048*512+0x1fc:]); got != 3 {
		t.Errorf("core.img's first sector loads %d more, want 3", got)
	}
	if !bytes.Equal(disk[4096*512:4096*512+len(esp)], esp) {
		t.Error("the system partition isn't where its entry says")
	}
}

func checkGPT(t *testing.T, disk []byte, at int) {
	t.Helper()
	h := bytes.Clone(disk[at*512 : at*512+92])
	sum := binary.LittleEndian.Uint32(h[16:])
	copy(h[16:20], make([]byte, 4))
	if string(h[:8]) != "EFI PART" || crc32.ChecksumIEEE(h) != sum {
		t.Errorf("the header in sector %d is broken", at)
	}
	if got := binary.LittleEndian.Uint64(h[24:]); got != uint64(at) { //nolint:gosec // a sector
		t.Errorf("the header in sector %d says it is in %d", at, got)
	}
	table := int(binary.LittleEndian.Uint64(h[72:])) * 512 //nolint:gosec // a small image's
	if crc32.ChecksumIEEE(disk[table:table+128*128]) != binary.LittleEndian.Uint32(h[88:]) {
		t.Errorf("the table of the header in sector %d is broken", at)
	}
}

func TestDiskImageRefuses(t *testing.T) {
	if _, err := guest.DiskImage(nil, nil, nil); err == nil {
		t.Error("a disk without a boot loader was made")
	}
	if _, err := guest.DiskImage(make([]byte, 512), make([]byte, 2<<20), nil); err == nil {
		t.Error("a core.img that overlaps the partition was stored")
	}
}
