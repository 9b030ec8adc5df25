package debian

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPins(t *testing.T) {
	pins, err := Pins()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pins {
		if p.Name == "" || p.Arch == "" || p.Version == "" || len(p.SHA256) != 64 || len(p.SHA1) != 40 || p.Source == "" || p.License == "" {
			t.Errorf("%+v lacks something", p)
		}
		if want := p.Name + "_" + p.Version + "_" + p.Arch + ".deb"; filepath.Base(p.Pool) != want || !strings.HasPrefix(p.Pool, "pool/") {
			t.Errorf("%s: its path in the pool is %q, which isn't one of %s", p.Name, p.Pool, want)
		}
		hasLicence := p.Files == nil
		for to := range p.Files {
			hasLicence = hasLicence || filepath.Base(to) == "copyright"
		}
		if !hasLicence {
			t.Errorf("%s comes without its licence", p.Name)
		}
	}
}

// deb makes a package with a file, and its pin.
func deb(t *testing.T) (path string, p Pin) {
	t.Helper()
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("there's no dpkg-deb here")
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		t.Skip("there's no apt-get here")
	}
	dir := t.TempDir()
	for name, data := range map[string]string{
		"DEBIAN/control":    "Package: thing\nVersion: 1\nArchitecture: all\nMaintainer: Nobody <nobody@example.org>\nDescription: a thing\n",
		"usr/lib/thing/one": "1", "usr/lib/thing/two": "2",
	} {
		f := filepath.Join(dir, "root", name)
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil { //nolint:gosec // dpkg-deb asks for that.
			t.Fatal(err)
		}
		if err := os.WriteFile(f, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path = filepath.Join(dir, "thing.deb")
	if out, err := exec.Command("dpkg-deb", "--root-owner-group", "-b", filepath.Join(dir, "root"), path).CombinedOutput(); err != nil { //nolint:gosec // Our own arguments.
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	return path, Pin{Name: "thing", Arch: "all", Version: "1", SHA256: hex.EncodeToString(sum[:]), Source: "thing 1", License: "MIT"}
}

func TestFiles(t *testing.T) {
	path, pin := deb(t)
	chosen, wrong, other := pin, pin, pin
	chosen.Files = map[string]string{"boot/one": "usr/lib/thing/one"}
	wrong.Files = map[string]string{"boot/three": "usr/lib/thing/three"}
	other.SHA256 = strings.Repeat("0", 64)
	cases := map[string]struct {
		reason string
		pin    Pin
		want   map[string][]byte
		err    string
	}{
		"All":    {reason: "no choice is all of them", pin: pin, want: map[string][]byte{"usr/lib/thing/one": []byte("1"), "usr/lib/thing/two": []byte("2")}},
		"Chosen": {reason: "those chosen, where they go", pin: chosen, want: map[string][]byte{"boot/one": []byte("1")}},
		"Wrong":  {reason: "a file that isn't there", pin: wrong, err: "has no file /usr/lib/thing/three"},
		"Other":  {reason: "not what was reviewed", pin: other, err: "is pinned"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			downloads := 0
			s := Store{Dir: t.TempDir(), Get: func(_ context.Context, _ Pin, dir string) error {
				downloads++
				b, err := os.ReadFile(path)
				return errors.Join(err, os.WriteFile(filepath.Join(dir, "thing.deb"), b, 0o600)) //nolint:gosec // A folder of the test.
			}}
			for range 2 {
				got, err := s.Files(t.Context(), tc.pin)
				if diff := cmp.Diff(tc.want, got); diff != "" || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s: %v, -want +got:\n%s", tc.reason, err, diff)
				}
			}
			if tc.err == "" && downloads != 1 {
				t.Errorf("%s: it was downloaded %d times", tc.reason, downloads)
			}
		})
	}
}

func TestNoDebian(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := (Store{Dir: t.TempDir()}).Files(t.Context(), Pin{}); !errors.Is(err, ErrNoDebian) {
		t.Errorf("want ErrNoDebian, got %v", err)
	}
}

func TestBundle(t *testing.T) {
	got, err := Bundle(map[string][]byte{
		certificates + "b.crt": []byte("B"), certificates + "a.crt": []byte("A\n\n"), "usr/share/doc/ca-certificates/copyright": []byte("C"),
	})
	if err != nil || string(got) != "A\nB\n" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := Bundle(nil); err == nil {
		t.Error("no certificates at all are an error")
	}
}

func TestInventory(t *testing.T) {
	i := Inventory{}
	p := Pin{Name: "thing", Version: "1", Source: "thing 1", License: "MIT"}
	i.Add(p, map[string][]byte{"b": []byte("b")})
	i.Add(p, map[string][]byte{"a": []byte("a")})
	got, err := i.Write()
	if err != nil {
		t.Fatal(err)
	}
	const want = `[
 {
  "path": "/a",
  "sha256": "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
  "package": "thing",
  "version": "1",
  "source": "thing 1",
  "license": "MIT"
 },
 {
  "path": "/b",
  "sha256": "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d",
  "package": "thing",
  "version": "1",
  "source": "thing 1",
  "license": "MIT"
 }
]
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
