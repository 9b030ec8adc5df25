package guest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fakes puts shell scripts into an empty PATH.
func fakes(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil { //nolint:gosec // A program is executable.
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

func TestDebianApt(t *testing.T) {
	cases := map[string]struct {
		reason, arch string
		want         []string
	}{
		"Own":   {"this machine's lists are as they are", AMD64, nil},
		"Other": {"another architecture's lists lie apart", ARM64, []string{"APT::Architecture=arm64", "Dir::State::lists=/c/apt-arm64"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Debian{Arch: tc.arch, Cache: "/c"}.apt(t.Context(), "apt-get", "update").Args
			for _, want := range tc.want {
				if !strings.Contains(strings.Join(got, " "), want) {
					t.Errorf("%s: no %s in %v", tc.reason, want, got)
				}
			}
			if tc.want == nil && len(got) != 2 {
				t.Errorf("%s: %v", tc.reason, got)
			}
		})
	}
}

func TestDebianDependency(t *testing.T) {
	cases := map[string]struct{ reason, script, want, err string }{
		"Depends": {"the first one is the version's", "echo 'linux-image-cloud-arm64'; echo '  Depends: linux-image-6-arm64'; echo '  Depends: other'", "linux-image-6-arm64", ""},
		"Unknown": {"there may be no lists yet", "echo linux-image-cloud-arm64", "", "apt knows no package"},
		"Fails":   {"nor apt", "exit 1", "", "has apt-get update run?"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fakes(t, map[string]string{"apt-cache": tc.script})
			got, err := Debian{Arch: ARM64}.Dependency(t.Context(), "linux-image-cloud-arm64")
			if diff := cmp.Diff(tc.want, got); diff != "" || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: %v\n-want +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

func TestDebianUnpack(t *testing.T) {
	const download, unpack = ": >one_1_arm64.deb", `/bin/mkdir -p "$3" && : >"$3/file"`
	cases := map[string]struct{ reason, download, unpack, err string }{
		"Kept":       {"what was unpacked is kept", download, unpack, ""},
		"Refused":    {"a mirror may be away", "echo 'E: no mirror' >&2; exit 100", unpack, "no mirror"},
		"Incomplete": {"each package has to come", "exit 0", unpack, "it gave 0 packages"},
		"Broken":     {"and to be one", download, "echo 'not a package'; exit 2", "not a package"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fakes(t, map[string]string{"apt-get": tc.download, "dpkg-deb": tc.unpack})
			to := filepath.Join(t.TempDir(), "above", "to")
			err := Debian{Arch: ARM64, Cache: t.TempDir()}.Unpack(t.Context(), to, "one")
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if _, there := os.Stat(filepath.Join(to, "file")); (there == nil) != (tc.err == "") {
				t.Errorf("%s: %v", tc.reason, there)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(to), "download-*")); len(left) != 0 {
				t.Errorf("what it worked in stays: %v", left)
			}
		})
	}
}

func TestDebianLists(t *testing.T) {
	asked := filepath.Join(t.TempDir(), "asked")
	fakes(t, map[string]string{"apt-get": "echo asked >>" + asked})
	d := Debian{Arch: ARM64, Cache: t.TempDir()}
	for _, age := range []time.Duration{0, time.Hour, 2 * listsAge} {
		if at := time.Now().Add(-age); age > 0 {
			if err := os.Chtimes(filepath.Join(d.lists(), "fetched"), at, at); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Lists(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := (Debian{Arch: AMD64}).Lists(t.Context()); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(asked); err != nil || strings.Count(string(b), "asked") != 2 {
		t.Errorf("lists are fetched daily, and never this machine's own: %q, %v", b, err)
	}
}

func TestBootsByEFI(t *testing.T) {
	b := bootsByEFI(ISO(), make([]byte, 3*isoSector-1))
	catalog := b[isoCatalog*isoSector:]
	if len(b) != (isoFirst+isoReads+3)*isoSector || catalog[64] != 0x91 || catalog[65] != 0xef || catalog[104] != isoFirst+isoReads || b[isoPrimary*isoSector+80] != isoFirst+isoReads+3 {
		t.Errorf("%d bytes, catalog %x", len(b), catalog[:128])
	}
}
