package guest

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
)

// ISO 9660 (ECMA-119) as far as firmware and iPXE look at it, and its boot records (El Torito, 1.0).
const (
	isoSector  = 2048
	isoPrimary = 16
	isoRecord  = 17
	isoEnd     = 18
	isoCatalog = 19
	isoLoader  = 20
	isoFirst   = 32 // of those that the loader reads
	isoReads   = 200
)

// isoProgram reads each of those sectors by the BIOS, one at a time, holds that each begins with its number's low byte, says so by the serial port, and gives
// the machine back (INT 18h). It's loaded at 0x7c00, and told its disk in DL.
const isoProgram = "" +
	"\x31\xc0\x8e\xd8\x8e\xc0" + // No segments.
	"\x88\x16\x4b\x7c" + // The disk.
	"\x8a\x16\x4b\x7c\xbe\x4c\x7c\xb4\x42\xcd\x13\x72\x18" + // INT 13h, AH 42h: read what the packet says.
	"\xa0\x00\x90\x3a\x06\x54\x7c\x75\x0f" + // Its first byte is the sector's.
	"\xff\x06\x54\x7c\xff\x0e\x5c\x7c\x75\xe0" + // The next one.
	"\xbe\x5e\x7c\xeb\x03\xbe\x6b\x7c" + // What is said.
	"\xac\x84\xc0\x74\x12\x88\xc4\xba\xfd\x03\xec\xa8\x20\x74\xfb\xba\xf8\x03\x88\xe0\xee\xeb\xe9" + // By the port at 0x3f8.
	"\xcd\x18" +
	"\x00" + "\x10\x00\x01\x00\x00\x90\x00\x00\x20\x00\x00\x00\x00\x00\x00\x00" + // The disk, and the packet: one sector to 0:9000, from 32 on.
	"\xc8\x00" + // How many are left.
	"\r\nISO read\r\n\x00" + "\r\nISO wrong\r\n\x00"

// ISO is an image that a BIOS boots as from a CD. Its loader reads 200 sectors, says "ISO read" by the serial port where they're right, and ends.
func ISO() []byte {
	b := make([]byte, (isoFirst+isoReads)*isoSector)
	at := func(sector int) []byte { return b[sector*isoSector : (sector+1)*isoSector] }
	for i := range isoReads {
		at(isoFirst + i)[0] = byte(isoFirst + i) // Its low byte.
	}
	primary := at(isoPrimary)
	copy(primary, "\x01CD001\x01")
	copy(primary[40:], "GUEST")
	binary.LittleEndian.PutUint32(primary[80:], isoFirst+isoReads)
	binary.BigEndian.PutUint32(primary[84:], isoFirst+isoReads)
	record := at(isoRecord)
	copy(record, "\x00CD001\x01EL TORITO SPECIFICATION")
	binary.LittleEndian.PutUint32(record[71:], isoCatalog)
	copy(at(isoEnd), "\xffCD001\x01")
	catalog := at(isoCatalog)
	copy(catalog, "\x01\x00") // For x86.
	catalog[30], catalog[31] = 0x55, 0xaa
	var sum uint16
	for i := 0; i < 32; i += 2 {
		sum += binary.LittleEndian.Uint16(catalog[i:])
	}
	binary.LittleEndian.PutUint16(catalog[28:], -sum)
	entry := catalog[32:]
	entry[0] = 0x88                             // It boots, without emulation.
	binary.LittleEndian.PutUint16(entry[6:], 4) // Sectors of 512 bytes.
	binary.LittleEndian.PutUint32(entry[8:], isoLoader)
	copy(at(isoLoader), isoProgram)
	return b
}

// efiProgram is what grub does that UEFI started from an ISO.
const efiProgram = "echo ISO read\nexit\n"

// ISO is one that UEFI boots as well, by a loader that says the same.
func (b Builder) ISO(ctx context.Context) ([]byte, error) {
	if err := os.MkdirAll(b.Out, 0o750); err != nil {
		return nil, fmt.Errorf("cannot build into %q: %w", b.Out, err)
	}
	loader, err := b.grub(ctx, "x86_64-efi", efiProgram, "echo", "minicmd")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"EFI/BOOT/BOOTX64.EFI": loader}
	system, err := FAT16(SizeFAT16(files), "GUEST", files)
	if err != nil {
		return nil, err
	}
	return bootsByEFI(ISO(), system), nil
}

// bootsByEFI appends a file system to an ISO, and names it in the catalog for UEFI. Its length is said as 0: up to the end.
func bootsByEFI(iso, system []byte) []byte {
	first := len(iso) / isoSector
	iso = append(iso, padTo(system, (len(system)+isoSector-1)/isoSector*isoSector)...)
	primary, catalog := iso[isoPrimary*isoSector:], iso[isoCatalog*isoSector:]
	end := uint32(len(iso) / isoSector) //nolint:gosec // A few megabytes.
	binary.LittleEndian.PutUint32(primary[80:], end)
	binary.BigEndian.PutUint32(primary[84:], end)
	section, entry := catalog[64:], catalog[96:]
	section[0], section[1] = 0x91, 0xef // The last section, for UEFI,
	binary.LittleEndian.PutUint16(section[2:], 1)
	entry[0] = 0x88
	binary.LittleEndian.PutUint32(entry[8:], uint32(first)) //nolint:gosec // A few hundred.
	return iso
}
