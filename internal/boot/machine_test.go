package boot

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMAC(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		want   MAC
		err    string
	}{
		"Colons":    {reason: "The usual form is kept.", in: "52:54:00:00:00:01", want: "52:54:00:00:00:01"},
		"UpperCase": {reason: "BMCs differ in case.", in: "52:54:00:AB:cD:0F", want: "52:54:00:ab:cd:0f"},
		"Dashes":    {reason: "Windows and some labels use dashes.", in: "52-54-00-00-00-01", want: "52:54:00:00:00:01"},
		"Bare":      {reason: "BlueField's BaseMAC has no separators.", in: "525400000001", want: "52:54:00:00:00:01"},
		"Cisco":     {reason: "Switches print three groups.", in: "5254.0000.0001", want: "52:54:00:00:00:01"},
		"Multicast": {reason: "No NIC has a multicast address.", in: "01:00:5e:00:00:01", err: "multicast"},
		"Broadcast": {reason: "Broadcast is multicast too.", in: "ff:ff:ff:ff:ff:ff", err: "multicast"},
		"Zero":      {reason: "BMCs list zeros for empty slots.", in: "00:00:00:00:00:00", err: "all zero"},
		"Short":     {reason: "Five octets are none.", in: "52:54:00:00:00", err: "malformed"},
		"Words":     {reason: "A Cray says this for some ports.", in: "Not Available", err: "malformed"},
		"Empty":     {reason: "Nothing isn't a MAC.", in: "", err: "malformed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseMAC(tc.in)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("%s\nParseMAC(%q): error %v, want one with %q", tc.reason, tc.in, err, tc.err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nParseMAC(%q): -want, +got:\n%s", tc.reason, tc.in, diff)
			}
		})
	}
}

func FuzzParseMAC(f *testing.F) {
	f.Add("52:54:00:00:00:01")
	f.Add("5254.0000.0001")
	f.Fuzz(func(t *testing.T, s string) {
		m, err := ParseMAC(s)
		if err != nil {
			return
		}
		again, err := ParseMAC(string(m))
		if err != nil || again != m {
			t.Errorf("ParseMAC(%q) = %q, which reads back as %q, %v", s, m, again, err)
		}
	})
}

func TestFirmwareOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		arch   uint16
		want   Firmware
	}{
		"BIOS":       {reason: "0 is a BIOS; a Raspberry Pi says so too, and isn't told apart here.", arch: 0, want: Firmware{FirmwareBIOS, AMD64}},
		"UEFIx64":    {reason: "7 is what most x64 UEFIs say.", arch: 7, want: Firmware{FirmwareUEFI, AMD64}},
		"UEFIBC":     {reason: "9 (EBC) is said by x64 firmware as well.", arch: 9, want: Firmware{FirmwareUEFI, AMD64}},
		"UEFIarm64":  {reason: "11 is ARM64.", arch: 11, want: Firmware{FirmwareUEFI, ARM64}},
		"HTTPx64":    {reason: "16 is x64 UEFI HTTP Boot.", arch: 16, want: Firmware{FirmwareUEFIHTTP, AMD64}},
		"HTTParm64":  {reason: "19 is ARM64 UEFI HTTP Boot.", arch: 19, want: Firmware{FirmwareUEFIHTTP, ARM64}},
		"UEFIia32":   {reason: "6 isn't booted.", arch: 6, want: Firmware{}},
		"RISCV":      {reason: "27 isn't booted.", arch: 27, want: Firmware{}},
		"Unassigned": {reason: "Unknown values are unknown.", arch: 4711, want: Firmware{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, FirmwareOf(tc.arch)); diff != "" {
				t.Errorf("%s\nFirmwareOf(%d): -want, +got:\n%s", tc.reason, tc.arch, diff)
			}
		})
	}
}
