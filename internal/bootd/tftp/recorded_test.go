package tftp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestRecorded: each request for a file that firmware was heard to make is answered as told here, with undionly.kpxe and snponly.efi there and no
// machine known by its address.
func TestRecorded(t *testing.T) {
	const size = "69136"
	want := map[string]string{
		"arm64-uefi-pxe-arch11#1":      "ERROR 1",
		"arm64-uefi-pxe-arch11#2":      "ERROR 1",
		"bios-virtio-chain-undionly#1": "OACK tsize " + size + " blksize 1432",
		"uefi-native-pxe-arch7#1":      "OACK tsize " + size + " blksize 1468 windowsize 4",
		"uefi-native-pxe-arch7#2":      "OACK blksize 1468 windowsize 4",
	}
	for n := range 13 { // What shim and grub ask for is a machine's own.
		want[fmt.Sprint("secureboot-shim-grub#", n+1)] = "ERROR 1"
	}
	text, err := os.ReadFile("testdata/recordings.txt")
	if err != nil {
		t.Fatal(err)
	}
	to := served(t, func(c *Config) {
		c.Files, c.Timeout = Load(boxed(t, map[string][]byte{BIOS: content(), UEFIAMD64: content(), UEFIFull: content()})), time.Minute
	})
	heard := 0
	for line := range strings.Lines(string(text)) {
		name, digits, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		heard++
		data, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		answer, _ := exchange(t, client(t), to, string(data))
		if got := told(answer); got != want[name] {
			t.Errorf("%s is told %q, want %q", name, got, want[name])
		}
	}
	if heard != len(want) {
		t.Errorf("%d requests are answered, want %d", heard, len(want))
	}
}

// told is an answer in words.
func told(b []byte) string {
	switch binary.BigEndian.Uint16(b) {
	case opOACK:
		return "OACK " + string(bytes.ReplaceAll(bytes.TrimSuffix(b[2:], []byte{0}), []byte{0}, []byte{' '}))
	case opERROR:
		return fmt.Sprint("ERROR ", binary.BigEndian.Uint16(b[2:]))
	}
	return hex.EncodeToString(b[:min(4, len(b))])
}
