package examples_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// onPaper runs the installer's script without what takes a machine: a file is the disk, and it ends where a machine would wait or start again.
const onPaper = `. ../../examples/installer/baremetal
dir=$1 cmdline=$1/cmdline work=$1/work
network() { :; }
wait_for_udev() { :; }
disk() { [ -e "$dir/disk" ] && echo "$dir/disk"; }
stay() { exit 1; }
finish() { exit 0; }

mountroot
`

// asked is a bootd that notes what it's asked, with what failed means to it.
type asked struct {
	mu    sync.Mutex
	told  []string
	image []byte
	begin int
}

func (a *asked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	verb := filepath.Base(r.URL.Path)
	body, _ := io.ReadAll(r.Body)
	if a.told = append(a.told, verb); verb == "failed" {
		a.told = append(a.told, string(body))
	}
	switch verb {
	case "begin":
		w.WriteHeader(a.begin)
	case "image":
		_, _ = w.Write(a.image)
	}
}

// TestInstaller: the installer of the examples writes what its digest says, tells bootd so, and never that a disk is installed which isn't.
func TestInstaller(t *testing.T) {
	disk := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(disk)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		image  []byte
		digest string // "": that of the image
		words  string
		begin  int
		noDisk bool
		want   []string
		failed string
	}{
		"Raw":         {reason: "an image as it is", image: disk, want: []string{"begin", "image", "installed"}},
		"Gzip":        {reason: "a compressed one, whose digest is of what is sent", image: zipped.Bytes(), words: "baremetal.image-compression=Gzip", want: []string{"begin", "image", "installed"}},
		"OtherDigest": {reason: "what isn't the image isn't installed", image: disk, digest: strings.Repeat("0", 64), want: []string{"begin", "image", "failed"}, failed: "the image that came has digest"},
		"Broken":      {reason: "nor is what can't be unpacked", image: disk, words: "baremetal.image-compression=Gzip", want: []string{"begin", "image", "failed"}, failed: "can't be unpacked and written"},
		"Refused":     {reason: "without its grant nothing is fetched", image: disk, begin: http.StatusConflict, want: []string{"begin"}},
		"NoDisk":      {reason: "none of several disks is guessed, and no grant is used for it", image: disk, noDisk: true, want: []string{"failed"}, failed: "installer.disk"},
		"NoCloudInit": {
			reason: "what cloud-init is to have has nowhere to go in this image", image: disk, words: "ds=nocloud;s=x",
			want: []string{"begin", "image", "user-data", "meta-data", "vendor-data", "network-config", "failed"}, failed: "no file system with cloud-init",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			bootd := &asked{image: tc.image, begin: max(tc.begin, http.StatusOK)}
			web := httptest.NewServer(bootd)
			defer web.Close()
			sum := sha256.Sum256(tc.image)
			if tc.digest == "" {
				tc.digest = hex.EncodeToString(sum[:])
			}
			line := fmt.Sprintf("baremetal.callback=http://profile.example baremetal.callback=%s/v1/boot/TOKEN baremetal.image=%s/v1/boot/TOKEN/image baremetal.image-digest=sha256:%s %s\n", web.URL, web.URL, tc.digest, tc.words)
			files := map[string]string{"cmdline": line, "disk": strings.Repeat("x", 1<<21)}
			if tc.noDisk {
				delete(files, "disk")
			}
			for f, text := range files {
				if err := os.WriteFile(filepath.Join(dir, f), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			out, err := exec.CommandContext(t.Context(), "sh", "-c", onPaper, "installer", dir).CombinedOutput() //nolint:gosec // Our own words.
			installed := slices.Contains(tc.want, "installed")
			if (err == nil) != installed {
				t.Errorf("%s: it ended with %v:\n%s", tc.reason, err, out)
			}
			if tc.failed != "" {
				if last := bootd.told[len(bootd.told)-1]; !strings.Contains(last, tc.failed) {
					t.Errorf("%s: it failed with %s", tc.reason, last)
				}
				bootd.told = bootd.told[:len(bootd.told)-1]
			}
			if diff := cmp.Diff(tc.want, bootd.told); diff != "" {
				t.Errorf("%s (-want +got):\n%s\n%s", tc.reason, diff, out)
			}
			if got, _ := os.ReadFile(filepath.Join(dir, "disk")); installed && !bytes.HasPrefix(got, disk) {
				t.Errorf("%s: the disk isn't the image's", tc.reason)
			}
		})
	}
}
