package artifacts

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/qcow2"
)

// image is one that QEMU wrote, of a disk of 96 KiB.
func image(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "qcow2", "testdata", name+".qcow2"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// imageServer serves an image, and counts how often.
func imageServer(t *testing.T, b []byte) (a boot.Artifact, asked *atomic.Int32) {
	t.Helper()
	asked = &atomic.Int32{}
	url := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write(b)
	})
	return boot.Artifact{URL: url, Digest: sum(string(b)), Unpack: true}, asked
}

func given(t *testing.T, c *Cache, a boot.Artifact) string {
	t.Helper()
	if err := c.Await(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	return content(t, c, a)
}

// hollow is an image of a disk of n bytes (a multiple of 2 MiB) that has nothing but its first cluster.
func hollow(n uint64) []byte {
	const size = 4096
	b := make([]byte, 4*size)
	copy(b, "QFI\xfb")
	put32, put64 := binary.BigEndian.PutUint32, binary.BigEndian.PutUint64
	put32(b[4:], 3)
	put32(b[20:], 12)
	put64(b[24:], n)
	put32(b[36:], uint32(n/(2<<20))) //nolint:gosec // A test's own.
	put64(b[40:], size)
	put32(b[100:], 104)
	put64(b[size:], 2*size)
	put64(b[2*size:], 3*size)
	copy(b[3*size:], "a boot sector")
	return b
}

// TestUnpacked: of an image of QEMU's machines get the disk that's in it, with the digest of that; it's fetched and unpacked once.
func TestUnpacked(t *testing.T) {
	a, asked := imageServer(t, image(t, "compressed"))
	c := newCache(t, nil)
	if d := c.DigestOf(a); d != "" {
		t.Errorf("nobody can know yet that it's %s", d)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if err := c.Await(t.Context(), a); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	disk := given(t, c, a)
	if len(disk) != 96<<10 || c.DigestOf(a) != sum(disk) || asked.Load() != 1 {
		t.Errorf("%d bytes, %s, asked %d times", len(disk), c.DigestOf(a), asked.Load())
	}
	plain, _ := imageServer(t, image(t, "version2"))
	if other := given(t, c, plain); other != disk {
		t.Error("another image of the same disk is another disk")
	}
	packed := a
	packed.Unpack = false
	if got := given(t, c, packed); sum(got) != a.Digest || c.DigestOf(packed) != a.Digest {
		t.Error("the image itself is something else now")
	}
	if n, _ := filepath.Glob(filepath.Join(c.o.Dir, "*"+fresh)); len(n) != 0 {
		t.Errorf("left behind: %v", n)
	}
}

// TestUnpackedBefore: after a restart a disk is held against its image, and neither fetched nor written again; what isn't the image's goes.
func TestUnpackedBefore(t *testing.T) {
	cases := map[string]struct {
		reason  string
		change  func(t *testing.T, path string)
		rewrite bool
	}{
		"Same":    {"as it was", func(*testing.T, string) {}, false},
		"Flipped": {"a disk that forgets, or somebody who writes", func(t *testing.T, path string) { t.Helper(); changed(t, path, "Flipped") }, true},
		"Shorter": {"half of it", func(t *testing.T, path string) {
			t.Helper()
			if err := os.Truncate(path, 4096); err != nil {
				t.Fatal(err)
			}
		}, true},
		"Removed": {"none of it", func(t *testing.T, path string) { t.Helper(); changed(t, path, "Removed") }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, asked := imageServer(t, image(t, "plain"))
			first := newCache(t, nil)
			disk := given(t, first, a)
			path := filepath.Join(first.o.Dir, nameOf(a))
			tc.change(t, path)
			half := filepath.Join(first.o.Dir, halfName(a))
			if err := os.WriteFile(half, []byte("half"), 0o600); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Stat(path)
			c := newCache(t, func(o *Options) { o.Dir = first.o.Dir })
			if _, err := os.Stat(half); err == nil {
				t.Error("what was half unpacked is there still")
			}
			if d := c.DigestOf(a); d != "" {
				t.Errorf("%s is believed", d)
			}
			if got := given(t, c, a); got != disk || c.DigestOf(a) != sum(disk) || asked.Load() != 1 {
				t.Errorf("%s: another disk, asked %d times", tc.reason, asked.Load())
			}
			after, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if written := before == nil || !before.ModTime().Equal(after.ModTime()); written != tc.rewrite || (c.Counts().Damaged == 1) != (tc.rewrite && before != nil) {
				t.Errorf("%s: written again: %t, %+v", tc.reason, written, c.Counts())
			}
		})
	}
}

// TestHoles: what a disk doesn't hold takes no room, and its room is that of the cache.
func TestHoles(t *testing.T) {
	b := hollow(64 << 20)
	a, _ := imageServer(t, b)
	c := newCache(t, func(o *Options) { o.CacheBytes = 64 << 20 })
	if disk := given(t, c, a); len(disk) != 64<<20 || !strings.HasPrefix(disk, "a boot sector\x00") || c.DigestOf(a) != sum(disk) {
		t.Errorf("%d bytes", len(disk))
	}
	if r := c.Report(); r.Bytes != int64(len(b))+4096 || r.Files != 1 {
		t.Errorf("%+v", r)
	}
	again := newCache(t, func(o *Options) { o.Dir, o.CacheBytes = c.o.Dir, 64<<20 })
	if r := again.Report(); r.Bytes > 1<<20 {
		t.Errorf("after a restart: %+v", r)
	}
}

// TestNotUnpacked: what an image says of itself fills no disk, and each refusal is a sentence.
func TestNotUnpacked(t *testing.T) {
	lying := hollow(64 << 20)
	binary.BigEndian.PutUint64(lying[24:], 1<<60)
	backed := hollow(2 << 20)
	binary.BigEndian.PutUint64(backed[8:], 512)
	broken := image(t, "compressed")
	for i := len(broken) - 4096; i < len(broken); i++ {
		broken[i] = 0xff
	}
	cases := map[string]struct {
		reason string
		image  []byte
		bytes  int64 // of the cache
		says   string
		kept   bool // It's tried again later.
	}{
		"Lie":     {"2^60 bytes", lying, 1 << 30, "it can't be unpacked: its disk has 1152921504606846976 bytes, and 1073741824 is the most", false},
		"Large":   {"larger than all files together may be", hollow(64 << 20), 32 << 20, "its disk has 67108864 bytes, and 33554432 is the most", false},
		"Backing": {"a file of this server", backed, 1 << 30, "backing file", false},
		"Raw":     {"not an image of QEMU's", []byte("a raw disk"), 1 << 30, "isn't a qcow2 image; correct its format", false},
		"Broken":  {"it can't be inflated", broken, 1 << 30, "can't be decoded", false},
		"NoRoom":  {"image and disk don't both fit", image(t, "plain"), 97 << 10, "full of files that machines need now", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, asked := imageServer(t, tc.image)
			now := time.Now()
			c := newCache(t, func(o *Options) { o.CacheBytes, o.Now = tc.bytes, func() time.Time { return now } })
			c.Want(map[boot.Artifact]Level{a: Soon})
			for range 2 {
				if err := c.Await(t.Context(), a); err == nil || !strings.Contains(err.Error(), tc.says) {
					t.Fatalf("%s: %v, want %q", tc.reason, err, tc.says)
				}
				now = now.Add(failureFor)
			}
			if got := len(c.faults) == 0; got != tc.kept || asked.Load() != 1 {
				t.Errorf("%s: remembered: %t; asked %d times", tc.reason, !got, asked.Load())
			}
			r := c.Report()
			if len(r.Failed) != 1 || r.Failed[0].Reason != ReasonFetch || !strings.Contains(r.Failed[0].Message, tc.says) || len(r.Digests) != 0 {
				t.Errorf("%s: %+v", tc.reason, r)
			}
			if n, _ := filepath.Glob(filepath.Join(c.o.Dir, "*"+raw+"*")); len(n) != 0 {
				t.Errorf("left behind: %v", n)
			}
		})
	}
}

// TestNoRoomAgain: a disk that there was no room for isn't written over and over while machines ask, and is once there's room.
func TestNoRoomAgain(t *testing.T) {
	a, _ := imageServer(t, image(t, "plain"))
	now := time.Now()
	c := newCache(t, func(o *Options) { o.CacheBytes, o.Now = 97<<10, func() time.Time { return now } })
	half := filepath.Join(c.o.Dir, halfName(a))
	for range 3 {
		if err := c.Await(t.Context(), a); err == nil || !strings.Contains(err.Error(), "full of files that machines need now") {
			t.Fatal(err)
		}
		if err := os.MkdirAll(half, 0o750); err != nil { // Who begins anew fails by another word.
			t.Fatal(err)
		}
		now = now.Add(failureFor)
	}
	if err := os.Remove(half); err != nil {
		t.Fatal(err)
	}
	c.o.CacheBytes = 1 << 30
	if disk := given(t, c, a); len(disk) != 96<<10 || len(c.needs) != 0 {
		t.Errorf("%d bytes, %v", len(disk), c.needs)
	}
}

// TestChangedMeanwhile: an image that somebody writes to while it's unpacked is no proof of a disk, nor of its being wrong.
func TestChangedMeanwhile(t *testing.T) {
	for name, at := range map[string]int64{"Data": -8, "Header": 0} {
		t.Run(name, func(t *testing.T) {
			b := hollow(2 << 20)
			a, asked := imageServer(t, b)
			now, path, once := time.Now(), "", sync.Once{}
			c := newCache(t, func(o *Options) {
				o.Now = func() time.Time { return now }
				o.Free = func() (int64, error) {
					if i, err := os.Stat(path); err == nil && i.Size() == int64(len(b)) {
						once.Do(func() { overwrite(t, path, (int64(len(b))+at)%int64(len(b))) })
					}
					return 1 << 40, nil
				}
			})
			path = c.path(a.Digest)
			if err := c.Await(t.Context(), a); err == nil || len(c.faults) != 0 {
				t.Fatalf("%v, %v", err, c.faults)
			}
			now = now.Add(failureFor)
			if disk := given(t, c, a); !strings.HasPrefix(disk, "a boot sector\x00") || strings.Contains(disk, "changed") || asked.Load() != 2 {
				t.Errorf("asked %d times", asked.Load())
			}
		})
	}
}

func overwrite(t *testing.T, path string, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt([]byte("changed!"), at)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Error(err)
	}
}

// TestUnpackedAhead: a profile's image is unpacked before any machine asks.
func TestUnpackedAhead(t *testing.T) {
	a, _ := imageServer(t, image(t, "compressed"))
	c := newCache(t, nil)
	c.Want(map[boot.Artifact]Level{a: ByProfile})
	for end := time.Now().Add(10 * time.Second); c.DigestOf(a) == ""; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it isn't unpacked")
		}
	}
	if r := c.Report(); len(r.Digests) != 1 || len(r.Failed) != 0 {
		t.Errorf("%+v", r)
	}
}

// TestUnpackedOfTwoURLs: an image that a profile names by one URL and a machine's plan by another is unpacked by one at a time, and once.
func TestUnpackedOfTwoURLs(t *testing.T) {
	b := hollow(4 << 20)
	one, _ := imageServer(t, b)
	two, _ := imageServer(t, b)
	most, dir := atomic.Int32{}, t.TempDir()
	c := newCache(t, func(o *Options) {
		o.Dir = dir
		o.Free = func() (int64, error) {
			time.Sleep(20 * time.Millisecond) // The other one may begin.
			if halves, _ := filepath.Glob(filepath.Join(dir, "*"+raw+"*"+fresh)); len(halves) > int(most.Load()) {
				most.Store(int32(len(halves))) //nolint:gosec // Two.
			}
			return 1 << 40, nil
		}
	})
	packed := one
	packed.Unpack = false
	_ = given(t, c, packed)
	c.Want(map[boot.Artifact]Level{one: ByProfile})
	if disk := given(t, c, two); len(disk) != 4<<20 {
		t.Errorf("%d bytes", len(disk))
	}
	flying := func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.flying)
	}
	for end := time.Now().Add(10 * time.Second); flying() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if n := most.Load(); n != 1 {
		t.Errorf("%d wrote its disk at once", n)
	}
}

// failing is an image's file on a disk that fails from some time on.
type failing struct {
	io.ReaderAt

	now bool
}

func (f *failing) ReadAt(p []byte, off int64) (int, error) {
	if f.now {
		return 0, errors.New("input/output error")
	}
	return f.ReaderAt.ReadAt(p, off)
}

// TestUnreadableImage: that an image can't be read now says nothing about the disk that was unpacked of it.
func TestUnreadableImage(t *testing.T) {
	b := hollow(2 << 20)
	a, _ := imageServer(t, b)
	first := newCache(t, nil)
	disk := given(t, first, a)
	c := newCache(t, func(o *Options) { o.Dir = first.o.Dir })
	if ok, err := c.find(a.Digest); !ok || err != nil {
		t.Fatal(ok, err)
	}
	r := &failing{ReaderAt: bytes.NewReader(b)}
	img, err := qcow2.Open(r, int64(len(b)), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	h, err := hasher(a.Digest)
	if err != nil {
		t.Fatal(err)
	}
	r.now = true
	if n, err := c.same(a, img, h); n != 0 || err == nil || c.Counts().Damaged != 0 {
		t.Errorf("%d, %v, %+v", n, err, c.Counts())
	}
	if got := given(t, c, a); got != disk || c.Counts().Damaged != 0 {
		t.Errorf("it was thrown away: %+v", c.Counts())
	}
}

// TestDiskGoesBeforeItsImage: for want of room the disk goes, which is made again of its image; without the image it would wait for a download.
func TestDiskGoesBeforeItsImage(t *testing.T) {
	a, _ := imageServer(t, image(t, "plain"))
	c := newCache(t, nil)
	_ = given(t, c, a)
	c.Need(map[string]Level{})
	c.mu.Lock()
	defer c.mu.Unlock()
	f := &flight{level: Soon, half: "another"}
	c.kept[fileOf(a.Digest)].used = c.o.Now().Add(-time.Hour)
	for _, want := range []string{nameOf(a), fileOf(a.Digest), ""} {
		got := c.victim(f)
		if got != want {
			t.Errorf("%q goes, want %q", got, want)
		}
		c.forget(got)
	}
}
