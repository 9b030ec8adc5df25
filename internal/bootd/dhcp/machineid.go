package dhcp

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
)

// machineIDSize is that of a UUID, without the type that option 97 puts before it.
const machineIDSize = 16

// machineID gives the UUID of option 97; nil where there is none to speak of.
func machineID(b []byte) []byte {
	if len(b) != 1+machineIDSize || b[0] != 0 {
		return nil
	}
	id := b[1:]
	if bytes.Count(id, []byte{0}) == machineIDSize || bytes.Count(id, []byte{0xff}) == machineIDSize {
		return nil
	}
	return id
}

// contradicts says whether option 97 names another machine than the plan does. It's a note for people, never a refusal:
// what firmware sends there may be a serial number, and BMCs have been seen to lie about theirs.
func (f Facts) contradicts(uuid string) bool {
	want, err := hex.DecodeString(strings.ReplaceAll(uuid, "-", ""))
	if err != nil || len(want) != machineIDSize || f.MachineID == nil || placeholder(f.MachineID, string(f.MAC)) {
		return false
	}
	return !bytes.Equal(f.MachineID, want) && !bytes.Equal(f.MachineID, swapped(want))
}

// swapped is a UUID as SMBIOS 2.6 stores it and firmware sends it: its first three fields in little-endian order.
func swapped(b []byte) []byte {
	out := slices.Clone(b)
	slices.Reverse(out[0:4])
	slices.Reverse(out[4:6])
	slices.Reverse(out[6:8])
	return out
}

// placeholder knows what stands where a board's maker has set no UUID: AMI's default, the MAC behind zeros, and the serial
// number of a Raspberry Pi four times, or what a later one has there.
func placeholder(id []byte, mac string) bool {
	ami := []byte{0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 9}
	const fields = 4
	return bytes.HasPrefix(id, []byte(piMachineID)) || bytes.Equal(id, ami) || bytes.Equal(id, swapped(ami)) ||
		strings.HasSuffix(hex.EncodeToString(id), strings.ReplaceAll(mac, ":", "")) ||
		bytes.Equal(id, bytes.Repeat(id[:machineIDSize/fields], fields))
}
