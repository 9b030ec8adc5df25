package tftp

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// boxed is a directory with some first stages in it.
func boxed(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoad(t *testing.T) {
	all := map[string][]byte{BIOS: []byte("bios"), UEFIAMD64: []byte("efi"), UEFIFull: []byte("full")}
	without := func(name string) map[string][]byte {
		files := maps.Clone(all)
		delete(files, name)
		return files
	}
	with := func(name string, data []byte) map[string][]byte {
		files := maps.Clone(all)
		files[name] = data
		return files
	}
	cases := map[string]struct {
		reason   string
		files    map[string][]byte
		names    []string
		standIns []string
	}{
		"Package": {
			reason: "Debian's package has no ARM64 build: that is no fault, and nothing stands in for it",
			files:  all, names: []string{UEFIFull, UEFIAMD64, BIOS},
		},
		"NoPackage": {
			reason: "without the package everything is a stand-in, and says so",
			names:  []string{UEFIFull, UEFIAMD64, BIOS}, standIns: []string{UEFIFull, UEFIAMD64, BIOS},
		},
		"OneMissing": {
			reason: "one that is missing is one stand-in",
			files:  without(UEFIFull), names: []string{UEFIFull, UEFIAMD64, BIOS}, standIns: []string{UEFIFull},
		},
		"EmptyFile": {
			reason: "an empty file would end firmware's patience, not its boot",
			files:  with(BIOS, nil), names: []string{UEFIFull, UEFIAMD64, BIOS}, standIns: []string{BIOS},
		},
		"ARM64": {
			reason: "an ARM64 build beside the others is served",
			files:  with(UEFIARM64, []byte("arm")), names: []string{UEFIFull, UEFIARM64, UEFIAMD64, BIOS},
		},
		"ARM64Full": {
			reason: "so is the one that Debian 13 has",
			files:  with(ARM64Full, []byte("arm")), names: []string{ARM64Full, UEFIFull, UEFIAMD64, BIOS},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := Load(boxed(t, tc.files))
			if diff := cmp.Diff(tc.names, f.Names()); diff != "" {
				t.Errorf("%s: names (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.standIns, f.StandIns()); diff != "" {
				t.Errorf("%s: stand-ins (-want +got):\n%s", tc.reason, diff)
			}
			if len(f.Problems) != len(tc.standIns) {
				t.Errorf("%s: %d problems for %d stand-ins", tc.reason, len(f.Problems), len(tc.standIns))
			}
		})
	}
}

func TestStandInGoesOn(t *testing.T) {
	if b := standIn(BIOS); !bytes.HasPrefix(b, []byte{0xcd, 0x18}) {
		t.Errorf("a BIOS jumps to the first byte: it must be INT 18h, not %x", b[:2])
	}
	if b := standIn(UEFIAMD64); bytes.HasPrefix(b, []byte("MZ")) {
		t.Error("UEFI must not take the stand-in for an image")
	}
}

func TestFind(t *testing.T) {
	f := Load(boxed(t, map[string][]byte{BIOS: []byte("bios")}))
	cases := map[string]struct {
		reason string
		asked  string
		want   string
	}{
		"Plain":         {"as DHCP named it", "undionly.kpxe", BIOS},
		"Slash":         {"some firmware asks for an absolute path", "/undionly.kpxe", BIOS},
		"Backslash":     {"some ROMs use the other slash", `\undionly.kpxe`, BIOS},
		"Dot":           {"a relative path", "./undionly.kpxe", BIOS},
		"TrailingFF":    {"what the ROM's buffer held", "undionly.kpxe\xff", BIOS},
		"TrailingNUL":   {"what the ROM's buffer held", "undionly.kpxe\x00\x00", BIOS},
		"Unknown":       {"iPXE asks for this first and must hear no at once", "autoexec.ipxe", ""},
		"Empty":         {"nothing", "", ""},
		"Traversal":     {"no way out", "../../etc/passwd", ""},
		"TraversalTo":   {"not even back to a file of ours", "x/../undionly.kpxe", ""},
		"BackTraversal": {"nor with the other slash", `..\..\etc\passwd`, ""},
		"Directory":     {"there are no directories", "boot/undionly.kpxe", ""},
		"Case":          {"names are exact", "UNDIONLY.KPXE", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := f.Find(tc.asked)
			if ok != (tc.want != "") || got.Name != tc.want {
				t.Errorf("Find(%q): got %q, want %q: %s", tc.asked, got.Name, tc.want, tc.reason)
			}
		})
	}
}

func FuzzFind(f *testing.F) {
	files := Load("/does/not/exist")
	for _, s := range []string{"undionly.kpxe", "/undionly.kpxe\xff", "../x", `\\`, "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if file, ok := files.Find(name); ok && files.Has(file.Name) == "" {
			t.Errorf("Find(%q) gave %q, which isn't on the list", name, file.Name)
		}
	})
}

func TestLimits(t *testing.T) {
	l := newLimits(1, 4)
	a, b := addr("10.0.0.1"), addr("10.0.0.2")
	for range 2 {
		if !l.acquire(a) {
			t.Fatal("while there's room enough a client has no share: a rack may boot through one address")
		}
	}
	if l.acquire(a) {
		t.Error("once half of all places are taken a client has its share")
	}
	if !l.acquire(b) {
		t.Error("and so has another")
	}
	if !l.acquire(addr("10.0.0.3")) || l.acquire(addr("10.0.0.4")) {
		t.Error("all together run four")
	}
	l.release(a)
	if !l.acquire(addr("10.0.0.4")) {
		t.Error("a place that was given back can be taken")
	}
	l.release(a)
	if got := len(l.clients); got != 3 {
		t.Errorf("%d clients are known, want 3", got)
	}
}
