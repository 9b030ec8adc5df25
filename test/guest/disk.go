package guest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"unicode/utf16"

	"github.com/google/uuid"
)

// The layout of a disk image, in sectors: protective MBR with GRUB's first stage, GPT, 1 MiB for GRUB's core, then one
// EFI system partition that holds everything.
const (
	gptEntries    = 128
	gptEntrySize  = 128
	gptSectors    = 1 + gptEntries*gptEntrySize/sectorSize // header and table
	coreStart     = 2048
	espStart      = 4096
	gptHeaderSize = 92
	bootCodeSize  = 440
)

// DiskImage returns a raw disk that BIOS starts by GRUB's boot.img and core.img, and UEFI by EFI/BOOT/BOOTX64.EFI in esp.
func DiskImage(boot, core, esp []byte) ([]byte, error) {
	if len(boot) < bootCodeSize || len(core) < sectorSize {
		return nil, errors.New("cannot make a disk image: GRUB's boot.img or core.img is too short")
	}
	if len(core) > (espStart-coreStart)*sectorSize {
		return nil, fmt.Errorf("cannot make a disk image: GRUB's core.img of %d bytes doesn't fit", len(core))
	}
	espSectors := len(esp) / sectorSize
	total := (espStart + espSectors + gptSectors + coreStart - 1) / coreStart * coreStart
	table := bytes.Join([][]byte{
		gptEntry("21686148-6449-6e6f-744e-656564454649", coreStart, espStart-1, "bios"),
		gptEntry("c12a7328-f81f-11d2-ba4b-00a0c93ec93b", espStart, espStart+espSectors-1, "esp"),
	}, nil)
	table = padTo(table, gptEntries*gptEntrySize)
	disk := make([]byte, total*sectorSize)
	copy(disk, masterBootRecord(boot, total))
	copy(disk[sectorSize:], gptHeader(1, total-1, 2, total, table)) //nolint:mnd // header, then table
	copy(disk[2*sectorSize:], table)
	copy(disk[coreStart*sectorSize:], chained(core))
	copy(disk[espStart*sectorSize:], esp)
	copy(disk[(total-gptSectors)*sectorSize:], table)
	copy(disk[(total-1)*sectorSize:], gptHeader(total-1, 1, total-gptSectors, total, table))
	return disk, nil
}

// masterBootRecord is boot.img as grub-bios-setup patches it, and the one partition that protects the GPT.
func masterBootRecord(boot []byte, total int) []byte {
	b := padTo(boot[:bootCodeSize], sectorSize)
	binary.LittleEndian.PutUint64(b[0x5c:], coreStart) // where core.img begins
	b[0x66], b[0x67] = 0x90, 0x90                      // the jump that would trust the drive number of a floppy
	copy(b[446:], []byte{0, 0, 2, 0, 0xee, 0xff, 0xff, 0xff})
	binary.LittleEndian.PutUint32(b[454:], 1)
	binary.LittleEndian.PutUint32(b[458:], uint32(total-1)) //nolint:gosec // far below 2 TiB
	b[510], b[511] = 0x55, 0xaa
	return b
}

// chained is core.img with the list of its own blocks in its first sector: the rest follows it on the disk.
func chained(core []byte) []byte {
	const loadSegment = 0x820
	c := bytes.Clone(core)
	rest := (len(core)+sectorSize-1)/sectorSize - 1
	binary.LittleEndian.PutUint64(c[0x1f4:], coreStart+1)
	binary.LittleEndian.PutUint16(c[0x1fc:], uint16(rest)) //nolint:gosec // core.img fits in 2048 sectors
	binary.LittleEndian.PutUint16(c[0x1fe:], loadSegment)
	return c
}

func gptEntry(kind string, first, last int, name string) []byte {
	e := make([]byte, gptEntrySize)
	copy(e, guid(uuid.MustParse(kind)))
	copy(e[16:], guid(uuid.NewSHA1(uuid.NameSpaceDNS, []byte(name))))
	binary.LittleEndian.PutUint64(e[32:], uint64(first)) //nolint:gosec // sectors are never negative
	binary.LittleEndian.PutUint64(e[40:], uint64(last))  //nolint:gosec // as above
	for i, u := range utf16.Encode([]rune(name)) {
		binary.LittleEndian.PutUint16(e[56+2*i:], u)
	}
	return e
}

// gptHeader is one of the two headers (UEFI 2.10, 5.3.2).
func gptHeader(current, backup, tableAt, total int, table []byte) []byte {
	le := binary.LittleEndian
	h := make([]byte, gptHeaderSize)
	copy(h, "EFI PART")
	le.PutUint32(h[8:], 0x10000)
	le.PutUint32(h[12:], gptHeaderSize)
	le.PutUint64(h[24:], uint64(current))            //nolint:gosec // sectors are never negative
	le.PutUint64(h[32:], uint64(backup))             //nolint:gosec // as above
	le.PutUint64(h[40:], gptSectors+1)               // first usable
	le.PutUint64(h[48:], uint64(total-gptSectors-1)) //nolint:gosec // last usable
	copy(h[56:], guid(uuid.NewSHA1(uuid.NameSpaceDNS, []byte("disk"))))
	le.PutUint64(h[72:], uint64(tableAt)) //nolint:gosec // as above
	le.PutUint32(h[80:], gptEntries)
	le.PutUint32(h[84:], gptEntrySize)
	le.PutUint32(h[88:], crc32.ChecksumIEEE(table))
	le.PutUint32(h[16:], crc32.ChecksumIEEE(h))
	return h
}

// guid returns u in the mixed byte order of UEFI.
func guid(u uuid.UUID) []byte {
	b := bytes.Clone(u[:])
	b[0], b[1], b[2], b[3] = b[3], b[2], b[1], b[0]
	b[4], b[5] = b[5], b[4]
	b[6], b[7] = b[7], b[6]
	return b
}
