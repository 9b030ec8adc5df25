package debian

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mirror serves files, and is what the fake apt-get of this test has as its only source. That apt-get has the versions of other, and
// says of any further one what the real one does.
func mirror(t *testing.T, files map[string][]byte) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data) // apt says so where it didn't get it.
	}))
	t.Cleanup(s.Close)
	bin := t.TempDir()
	script := `#!/bin/sh
case "$1 $2" in
"indextargets "*) echo ` + s.URL + `/debian/; echo ` + s.URL + `/debian/ ;;
"download --print-uris") echo "'` + s.URL + `/debian/pool/main/t/thing/thing_2_all.deb' thing_2_all.deb 9 SHA256:0" ;;
*) echo "E: Version '1' for 'thing' was not found" >&2; exit 100 ;;
esac
`
	if err := os.WriteFile(filepath.Join(bin, "apt-get"), []byte(script), 0o755); err != nil { //nolint:gosec // It's a program.
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return s.URL
}

// TestSources looks for a version that apt lists no more, as any version is after Debian's next point release.
func TestSources(t *testing.T) {
	path, pin := deb(t)
	if _, err := os.Stat(helper); err != nil {
		t.Skip("there's no apt-helper here")
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pin.Version = "1~a+b"
	pin.Pool, pin.SHA1 = "pool/main/t/thing/thing_1~a+b_all.deb", "da39a3ee"
	const (
		pool    = "/debian/pool/main/t/thing/thing_1~a+b_all.deb"
		archive = "/file/da39a3ee"
	)
	cases := map[string]struct {
		reason string
		files  map[string][]byte
		// want are words of the error; none: it's found.
		want []string
	}{
		"Pool":    {reason: "the mirror has it yet", files: map[string][]byte{pool: good}},
		"Archive": {reason: "the archive of old versions has it", files: map[string][]byte{archive: good}},
		"Spoilt":  {reason: "what isn't the pinned package is passed over", files: map[string][]byte{pool: []byte("other"), archive: good}},
		"Nowhere": {reason: "which package, where it was looked for, and what to do", want: []string{
			"cannot get Debian package thing 1~a+b (all)", "Version '1' for 'thing' was not found (it has thing_2_all.deb)",
			"pool/main/t/thing/thing_1%7ea%2bb_all.deb: 404", archive + ": 404", "apt-get update", "pin the new one in tools/packages/internal/debian/pins.yaml",
		}},
		"AllSpoilt": {reason: "never anything else", files: map[string][]byte{pool: []byte("other"), archive: []byte("other")}, want: []string{"Hash Sum mismatch"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			url := mirror(t, tc.files)
			s := Store{Dir: t.TempDir(), Get: Sources{Snapshot: url + "/file/"}.Get}
			got, err := s.Files(t.Context(), pin)
			if (err == nil) != (len(tc.want) == 0) || err == nil && len(got) != 2 {
				t.Fatalf("%s: got %v, %v", tc.reason, got, err)
			}
			for _, w := range tc.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%s: want %q in: %v", tc.reason, w, err)
				}
			}
			if err != nil && strings.ContainsAny(err.Error(), "\n") {
				t.Errorf("it takes more than a line: %v", err)
			}
		})
	}
}
