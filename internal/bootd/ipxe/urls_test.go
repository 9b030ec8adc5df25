package ipxe

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// maxFileField is what fits into DHCP's file field with its NUL.
const maxFileField = 127

// TestHeld: a script that asks for its script says so, once.
func TestHeld(t *testing.T) {
	for uri, want := range map[string]string{"/s?arch=7": "/s?arch=7&held", "/s?arch=7&held": "/s?arch=7&held", "/s": "/s?held", "/s?heldup=1": "/s?heldup=1&held"} {
		got := Held(uri)
		u, err := url.Parse(got)
		if got != want || err != nil || !IsHeld(u.Query()) {
			t.Errorf("%q is %q, want %q", uri, got, want)
		}
	}
	if IsHeld(url.Values{"arch": {"7"}}) {
		t.Error("a machine that begins isn't held")
	}
}

func TestScriptURLFits(t *testing.T) {
	tok, err := boot.Mint([]byte("key"), boot.Claims{Kind: boot.TokenScript})
	if err != nil {
		t.Fatal(err)
	}
	if got := ScriptURL("http://255.255.255.255:65535", tok, 65535); len(got) > maxFileField {
		t.Errorf("%q is %d characters long: firmware that reads only the file field would lose its end", got, len(got))
	}
}

func TestFirmwareOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		query  string
		want   boot.Firmware
	}{
		"BIOS":      {"option 93 is 0", "arch=0", bios},
		"UEFI":      {"option 93 is 7", "arch=7", uefi},
		"ARM":       {"option 93 is 11", "arch=11", arm},
		"None":      {"somebody else's URL", "", boot.Firmware{}},
		"Garbage":   {"not a number", "arch=x86", boot.Firmware{}},
		"Overflow":  {"too large for option 93", "arch=65543", boot.Firmware{}},
		"NotBooted": {"a number that we have nothing for", "arch=27", boot.Firmware{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q, err := url.ParseQuery(tc.query)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, FirmwareOf(q)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestScriptURLIsRead(t *testing.T) {
	u, err := url.Parse(ScriptURL(base, token, 7))
	if err != nil {
		t.Fatal(err)
	}
	if want := PathBoot + token + "/" + ScriptName; u.Path != want {
		t.Errorf("path %q, want %q", u.Path, want)
	}
	if got := FirmwareOf(u.Query()); got != uefi {
		t.Errorf("firmware %v, want %v", got, uefi)
	}
}

func TestFileURLIsRead(t *testing.T) {
	for _, d := range []string{digest("a"), "sha512:" + strings.Repeat("b", 128)} {
		got := FileURL(base, token, d)
		last := got[strings.LastIndex(got, "/")+1:]
		if strings.Contains(last, ":") || DigestOf(last) != d {
			t.Errorf("%q reads as %q, want %q", last, DigestOf(last), d)
		}
	}
}

func TestLoaderPathIsRead(t *testing.T) {
	for _, arch := range []boot.Arch{boot.AMD64, boot.ARM64} {
		path := LoaderPath(token, arch, "shim.efi")
		for _, asked := range []string{path, strings.TrimPrefix(path, "/"), strings.Replace(path, "/shim", "//shim", 1)} {
			if tok, a, name, ok := LoaderOf(asked); !ok || tok != token || a != arch || name != "shim.efi" {
				t.Errorf("%q is read as %q, %q, %q, %t", asked, tok, a, name, ok)
			}
		}
		if len(path) > maxFileField {
			t.Errorf("%q is %d characters long", path, len(path))
		}
	}
	for _, d := range []string{digest("a"), "sha512:" + strings.Repeat("b", 128)} {
		if tok, got, ok := LoaderFileOf(LoaderFilePath(token, d)); !ok || tok != token || got != d {
			t.Errorf("%q is read as %q, %q, %t", LoaderFilePath(token, d), tok, got, ok)
		}
	}
	for _, other := range []string{"", "/", "undionly.kpxe", "grub/grub.cfg", token, token + "/x64", token + "/files", token + "/files/a/b", token + "/x64/a/b", "//x64/a/b"} {
		if _, _, _, ok := LoaderOf(other); ok {
			t.Errorf("%q is read as a loader's path", other)
		}
		if _, _, ok := LoaderFileOf(other); ok {
			t.Errorf("%q is read as a file's path", other)
		}
	}
}

// FuzzAskedBy: the short way to read a query reads what the long one does.
func FuzzAskedBy(f *testing.F) {
	for _, q := range []string{"arch=0", "arch=7&held", "arch=65536", "arch=+7", "arch=07", "arch=%37", "held", "arch=7&held=1", "arch=7&held&held", "arch=7;held", "", "arch=", "x=1&arch=9", "arch=11&arch=7"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, query string) {
		q := (&url.URL{RawQuery: query}).Query()
		if fw, held := AskedBy(query); fw != FirmwareOf(q) || held != IsHeld(q) {
			t.Errorf("AskedBy(%q) = %+v, %t; want %+v, %t", query, fw, held, FirmwareOf(q), IsHeld(q))
		}
	})
}
