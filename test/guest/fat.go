package guest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// FAT16 as Microsoft's "FAT: General Overview of On-Disk Format" 1.03 describes it: one sector of parameters, two tables,
// a root directory of fixed size, clusters from number 2.
const (
	sectorSize     = 512
	clusterSectors = 8
	clusterSize    = clusterSectors * sectorSize
	rootEntries    = 512
	dirEntrySize   = 32
	fatCopies      = 2
	fatMedia       = 0xf8
	fatEnd         = 0xffff
	firstCluster   = 2
	minClusters    = 4085  // fewer would be FAT12
	maxClusters    = 65524 // more would be FAT32
	attrDir        = 0x10
	attrArchive    = 0x20
)

// fatFS is a file system under construction: files are laid out one after the other, each in one piece.
type fatFS struct {
	clusters int
	fat      []uint16
	data     []byte
	root     *fatDir
}

type fatDir struct {
	names   []string // in order of creation
	dirs    map[string]*fatDir
	files   map[string][]byte
	cluster uint16 // 0 for the root
	entries []byte // what place made of the above
}

// SizeFAT16 is enough for files whose directories are few: what a machine downloads and hashes byte by byte holds no more air
// than it has to.
func SizeFAT16(files map[string][]byte) int {
	const spare = 1 << 20 // tables, directories
	var used int
	for _, data := range files {
		used += (len(data) + clusterSize - 1) / clusterSize
	}
	return max(minClusters, used)*clusterSize + spare
}

// FAT16 returns a file system of the given size that holds files, whose names are upper-case paths of 8.3 names. Equal
// input gives equal bytes.
func FAT16(size int, label string, files map[string][]byte) ([]byte, error) {
	rootSectors := rootEntries * dirEntrySize / sectorSize
	sectors := size / sectorSize
	clusters := (sectors - 1 - rootSectors) / clusterSectors
	fatSectors := ((clusters+firstCluster)*2 + sectorSize - 1) / sectorSize
	clusters = (sectors - 1 - rootSectors - fatCopies*fatSectors) / clusterSectors
	if clusters < minClusters || clusters > maxClusters {
		return nil, fmt.Errorf("cannot make a FAT16 of %d bytes: %d clusters are not between %d and %d",
			size, clusters, minClusters, maxClusters)
	}
	fs := &fatFS{clusters: clusters, fat: make([]uint16, firstCluster), root: newFATDir()}
	fs.fat[0], fs.fat[1] = 0xff00|fatMedia, fatEnd
	if err := fs.fill(files); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.Write(fatBootSector(sectors, fatSectors, label))
	table := make([]byte, fatSectors*sectorSize)
	for i, v := range fs.fat {
		binary.LittleEndian.PutUint16(table[2*i:], v)
	}
	for range fatCopies {
		out.Write(table)
	}
	out.Write(padTo(fs.root.encode(label), rootEntries*dirEntrySize))
	out.Write(fs.data)
	return padTo(out.Bytes(), sectors*sectorSize), nil
}

func newFATDir() *fatDir { return &fatDir{dirs: map[string]*fatDir{}, files: map[string][]byte{}} }

// fill puts the files into directories and gives everything its clusters.
func (fs *fatFS) fill(files map[string][]byte) error {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		parts := strings.Split(name, "/")
		d := fs.root
		for _, p := range parts {
			if _, err := shortName(p); err != nil {
				return fmt.Errorf("cannot store %q: %w", name, err)
			}
		}
		for _, p := range parts[:len(parts)-1] {
			d = d.sub(p)
		}
		last := parts[len(parts)-1]
		d.names = append(d.names, last)
		d.files[last] = files[name]
	}
	return fs.place(fs.root, 0)
}

func (d *fatDir) sub(name string) *fatDir {
	if d.dirs[name] == nil {
		d.dirs[name] = newFATDir()
		d.names = append(d.names, name)
	}
	return d.dirs[name]
}

// place gives d's directories one cluster each and fills them, then writes d's own entries.
func (fs *fatFS) place(d *fatDir, parent uint16) error {
	for _, name := range d.names {
		if err := fs.placeDir(d.dirs[name], d.cluster); err != nil {
			return err
		}
	}
	if err := fs.list(d, parent); err != nil || d == fs.root {
		return err
	}
	if len(d.entries) > clusterSize {
		return fmt.Errorf("a directory of %d bytes doesn't fit a cluster", len(d.entries))
	}
	copy(fs.data[int(d.cluster-firstCluster)*clusterSize:], d.entries)
	return nil
}

// placeDir places a directory; nil is a file's, which has none.
func (fs *fatFS) placeDir(d *fatDir, parent uint16) (err error) {
	if d == nil {
		return nil
	}
	if d.cluster, err = fs.store(make([]byte, clusterSize)); err != nil {
		return err
	}
	return fs.place(d, parent)
}

// list writes the entries of a directory whose directories are placed, and stores its files.
func (fs *fatFS) list(d *fatDir, parent uint16) error {
	var entries bytes.Buffer
	if d != fs.root {
		entries.Write(dirEntry(".          ", attrDir, d.cluster, 0))
		entries.Write(dirEntry("..         ", attrDir, parent, 0))
	}
	for _, name := range d.names {
		short, _ := shortName(name)
		if sub := d.dirs[name]; sub != nil {
			entries.Write(dirEntry(short, attrDir, sub.cluster, 0))
			continue
		}
		first, err := fs.store(d.files[name])
		if err != nil {
			return fmt.Errorf("cannot store %q: %w", name, err)
		}
		entries.Write(dirEntry(short, attrArchive, first, len(d.files[name])))
	}
	d.entries = entries.Bytes()
	return nil
}

// encode returns the root directory, the volume label first.
func (d *fatDir) encode(label string) []byte {
	const attrLabel = 0x08
	return append(dirEntry(fmt.Sprintf("%-11.11s", label), attrLabel, 0, 0), d.entries...)
}

// store appends data in clusters of its own and returns the first one; 0 for no data.
func (fs *fatFS) store(data []byte) (uint16, error) {
	n := (len(data) + clusterSize - 1) / clusterSize
	first := len(fs.fat)
	if first+n > fs.clusters+firstCluster {
		return 0, fmt.Errorf("%d bytes don't fit: %d of %d clusters are taken", len(data), first-firstCluster, fs.clusters)
	}
	if n == 0 {
		return 0, nil
	}
	for i := range n - 1 {
		fs.fat = append(fs.fat, uint16(first+i+1)) //nolint:gosec // bounded by maxClusters
	}
	fs.fat = append(fs.fat, fatEnd)
	fs.data = append(fs.data, padTo(data, n*clusterSize)...)
	return uint16(first), nil //nolint:gosec // bounded by maxClusters
}

// shortName returns name as the eleven characters of a directory entry.
func shortName(name string) (string, error) {
	base, ext, _ := strings.Cut(name, ".")
	if base == "" || len(base) > 8 || len(ext) > 3 || strings.ToUpper(name) != name || strings.ContainsAny(ext, ". ") {
		return "", fmt.Errorf("%q is no upper-case 8.3 name", name)
	}
	return fmt.Sprintf("%-8s%-3s", base, ext), nil
}

func dirEntry(short string, attr byte, cluster uint16, size int) []byte {
	const day = 1<<5 | 1 // 1980-01-01
	e := make([]byte, dirEntrySize)
	copy(e, short)
	e[11] = attr
	binary.LittleEndian.PutUint16(e[16:], day)
	binary.LittleEndian.PutUint16(e[24:], day)
	binary.LittleEndian.PutUint16(e[26:], cluster)
	binary.LittleEndian.PutUint32(e[28:], uint32(size)) //nolint:gosec // bounded by the file system's size
	return e
}

// fatBootSector is the BIOS parameter block.
func fatBootSector(sectors, fatSectors int, label string) []byte {
	b := make([]byte, sectorSize)
	copy(b, "\xeb\x3c\x90MSDOS5.0")
	le := binary.LittleEndian
	le.PutUint16(b[11:], sectorSize)
	b[13] = clusterSectors
	le.PutUint16(b[14:], 1) // reserved sectors
	b[16] = fatCopies
	le.PutUint16(b[17:], rootEntries)
	b[21] = fatMedia
	le.PutUint16(b[22:], uint16(fatSectors)) //nolint:gosec // at most 256
	le.PutUint16(b[24:], 63)                 // sectors per track
	le.PutUint16(b[26:], 255)                // heads
	le.PutUint32(b[32:], uint32(sectors))    //nolint:gosec // bounded by maxClusters
	b[36], b[38] = 0x80, 0x29                // drive, extended signature
	le.PutUint32(b[39:], 0x62617265)         // volume id
	copy(b[43:], fmt.Sprintf("%-11.11sFAT16   ", label))
	b[510], b[511] = 0x55, 0xaa
	return b
}

// padTo returns b with zeros behind it, n bytes in all.
func padTo(b []byte, n int) []byte {
	return append(slices.Clip(b), make([]byte, max(0, n-len(b)))...)
}
