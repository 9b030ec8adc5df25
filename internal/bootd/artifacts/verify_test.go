package artifacts

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// changed does to a file of the cache what its name says.
func changed(t *testing.T, path, how string) {
	t.Helper()
	var err error
	switch how {
	case "Flipped":
		err = os.WriteFile(path, []byte("/abd"), 0o600)
	case "Truncated":
		err = os.Truncate(path, 3)
	case "Emptied":
		err = os.Truncate(path, 0)
	case "Grown":
		err = os.WriteFile(path, []byte("/abc\n"), 0o600)
	case "Replaced":
		if err = os.WriteFile(path+".other", []byte("/abd"), 0o600); err == nil {
			err = os.Rename(path+".other", path)
		}
	case "Piped":
		if err = os.Remove(path); err == nil {
			err = syscall.Mkfifo(path, 0o600)
		}
	case "Removed":
		err = os.Remove(path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestCacheCorrupted: what isn't what its name says isn't served, whether it became so while bootd was away or while it ran. It's set
// aside, said, and fetched anew.
func TestCacheCorrupted(t *testing.T) {
	for _, how := range []string{"Flipped", "Truncated", "Emptied", "Grown", "Replaced", "Piped", "Removed"} {
		for _, restarted := range []bool{true, false} {
			t.Run(how, func(t *testing.T) {
				a := boot.Artifact{URL: echo(t) + "/abc", Digest: sum("/abc")}
				c := newCache(t, nil)
				if err := c.Await(t.Context(), a); err != nil {
					t.Fatal(err)
				}
				changed(t, c.path(a.Digest), how)
				if restarted {
					dir := c.o.Dir
					c = newCache(t, func(o *Options) { o.Dir = dir })
				}
				if _, _, err := c.Open(a); !errors.Is(err, ErrFetching) || c.Has(a.Digest) {
					t.Errorf("it would be served: %v", err)
				}
				if err := c.Await(t.Context(), a); err != nil {
					t.Fatal(err)
				}
				if got := read(t, c, a.Digest); got != "/abc" {
					t.Errorf("served %q", got)
				}
				_, err := os.Stat(c.path(a.Digest) + damage)
				if aside := err == nil; aside == (how == "Removed") || aside != (c.Counts().Damaged == 1) {
					t.Errorf("set aside: %t, %+v", aside, c.Counts())
				}
				t.Logf("\n| bootd: a file of the cache is corrupted | %d | %d |", 1, 1)
			})
		}
	}
}

// TestFoundIsReadOnce: what lies there and is right is neither fetched again nor read again and again.
func TestFoundIsReadOnce(t *testing.T) {
	dir := lying(t, "kernel")
	c := newCache(t, func(o *Options) { o.Dir = dir })
	if r := c.Report(); r.Files != 1 || r.Bytes != 6 {
		t.Errorf("%+v", r)
	}
	a := boot.Artifact{URL: "http://127.0.0.1:1/away", Digest: sum("kernel")}
	if _, _, err := c.Open(a); !errors.Is(err, ErrFetching) {
		t.Errorf("before it was read: %v", err)
	}
	for range 2 {
		if err := c.Await(t.Context(), a); err != nil {
			t.Errorf("without its server: %v", err)
		}
		if got := read(t, c, a.Digest); got != "kernel" {
			t.Errorf("%q", got)
		}
	}
	if n := c.Counts(); n != (Counts{}) {
		t.Errorf("%+v", n)
	}
}

// TestDamagedGoesFirst: it's kept for somebody to look at, as long as there's room.
func TestDamagedGoesFirst(t *testing.T) {
	dir := lying(t, "/abc")
	changed(t, filepath.Join(dir, fileOf(sum("/abc"))), "Flipped")
	url := echo(t)
	c := newCache(t, func(o *Options) { o.Dir, o.CacheBytes = dir, 8 })
	has(t, c, url, "/abc")
	if r := c.Report(); r.Bytes != 8 || r.Files != 1 {
		t.Errorf("%+v", r)
	}
	has(t, c, url, "/new") // Nothing is known of plans.
	if n, _ := filepath.Glob(filepath.Join(dir, "*"+damage)); len(n) != 0 || left(c, "/abc", "/new") != "/abc /new" {
		t.Errorf("%v is there still, beside %s", n, left(c, "/abc", "/new"))
	}
}

// TestUnreadableIsntDamaged: a bootd that has no descriptors left mustn't throw its cache away.
func TestUnreadableIsntDamaged(t *testing.T) {
	dir := t.TempDir()
	c := newCache(t, func(o *Options) { o.Dir = dir })
	loop := filepath.Join(dir, fileOf(sum("loop")))
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	err := c.Await(t.Context(), boot.Artifact{URL: echo(t) + "/loop", Digest: sum("loop")})
	if err == nil || !strings.Contains(err.Error(), "can't read its cache") || c.Counts().Damaged != 0 {
		t.Errorf("%v, %+v", err, c.Counts())
	}
}
