package bootd

import (
	"crypto/sha512"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// qcow2Site writes examples/bootd/qcow2.yaml as loopback can serve it, with an image that QEMU wrote.
func qcow2Site(t *testing.T) string {
	t.Helper()
	spec, err := os.ReadFile(filepath.Join("..", "..", "examples", "bootd", "qcow2.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile(filepath.Join("qcow2", "testdata", "compressed.qcow2"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"vmlinuz": []byte("a kernel"), "initrd.img": []byte("an initrd"), "debian-13-genericcloud-amd64.qcow2": image}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(files[filepath.Base(r.URL.Path)]) }))
	t.Cleanup(web.Close)
	text := strings.NewReplacer("https://images.example", web.URL, "10.78.0.", "127.78.0.", "  dhcp:\n", "  dhcp:\n    relays: [127.0.0.1/32]\n").Replace(string(spec))
	var lines []string
	for l := range strings.Lines(text) { // The digest follows the URL that it's of.
		if key, _, ok := strings.Cut(l, "digest: "); ok {
			_, name, _ := strings.Cut(lines[len(lines)-1], "url: ")
			sum := sha512.Sum512(files[filepath.Base(strings.TrimSpace(name))])
			l = key + "digest: sha512:" + hex.EncodeToString(sum[:]) + "\n"
		}
		lines = append(lines, l)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "qcow2.yaml"), []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestQCOW2Example installs the machine of examples/bootd/qcow2.yaml: what its installer reads is the disk in the image, and has the digest
// that it was told.
func TestQCOW2Example(t *testing.T) {
	log := &lines{}
	c := config(t)
	c.SpecDir, c.DHCPListen, c.Logger, c.Advertise = qcow2Site(t), freeUDP(t), slogTo(log), netip.MustParseAddr("127.0.0.1")
	running(t, c)
	script := ""
	eventually(t, "the script", func() bool {
		_, script = get(t, scriptURL(t, c.DHCPListen, "52:54:00:00:0d:01"))
		return strings.Contains(script, "install: Granted")
	})
	word := func(name string) string {
		_, rest, _ := strings.Cut(script, " "+name+"=")
		value, _, _ := strings.Cut(rest, " ")
		return value
	}
	status, disk := get(t, word("baremetal.image"))
	sum := sha512.Sum512([]byte(disk))
	if status != http.StatusOK || len(disk) != 96<<10 || word("baremetal.image-digest") != "sha512:"+hex.EncodeToString(sum[:]) || word("baremetal.image-format") != "Raw" {
		t.Fatalf("%d, %d bytes\n%s", status, len(disk), script)
	}
	if !strings.Contains(log.String(), "image unpacked") {
		t.Error("the log doesn't say so")
	}
}
