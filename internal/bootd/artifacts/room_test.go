package artifacts

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// lying gives a folder that an earlier life left files in, each used an hour after the one before.
func lying(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i, s := range names {
		path := filepath.Join(dir, fileOf(sum(s)))
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// left are those of some files that are still there.
func left(c *Cache, names ...string) string {
	var out []string
	for _, s := range names {
		if _, err := os.Stat(c.path(sum(s))); err == nil {
			out = append(out, s)
		}
	}
	return strings.Join(out, " ")
}

// TestRoom: what downloads fill the disk with mustn't take the room that the log of consumed grants needs.
func TestRoom(t *testing.T) {
	const reserve = 100
	cases := map[string]struct {
		reason string
		needed map[string]Level
		left   string
		says   string
	}{
		"Evict":    {"of what nothing needs the oldest goes", map[string]Level{}, "young new", ""},
		"Needed":   {"what a machine may ask for stays, though it's older", map[string]Level{sum("old"): Soon}, "old new", ""},
		"Planned":  {"so does what a plan names, before what nothing does", map[string]Level{sum("old"): ByPlan}, "old new", ""},
		"Profile":  {"a profile's goes before a plan's", map[string]Level{sum("old"): ByPlan, sum("young"): ByProfile}, "old new", ""},
		"AllPlans": {"what machines need that are installed goes for one that isn't", map[string]Level{sum("old"): ByPlan, sum("young"): ByPlan}, "young new", ""},
		"Full":     {"all is needed: the new one must wait", map[string]Level{sum("old"): Soon, sum("young"): Soon}, "old young", "nearly full"},
		"Unknown":  {"before anything is known of plans nothing goes", nil, "old young", "nearly full"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			url := serving(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "new") })
			var c *Cache
			c = newCache(t, func(o *Options) {
				o.Dir, o.Reserve = lying(t, "old", "young"), reserve
				o.Free = func() (int64, error) { // There is room for one of the two.
					if left(c, "old", "young") == "old young" {
						return reserve - 1, nil
					}
					return reserve, nil
				}
			})
			c.Need(tc.needed)
			err := c.Await(t.Context(), boot.Artifact{URL: url, Digest: sum("new")})
			if (err != nil) != (tc.says != "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if got := left(c, "old", "young", "new"); got != tc.left {
				t.Errorf("%s: %q is left, want %q", tc.reason, got, tc.left)
			}
		})
	}
}

func TestDownloadStopsBeforeTheDiskIsFull(t *testing.T) {
	big := bytes.Repeat([]byte("x"), 3*lookEvery)
	url := serving(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(big) })
	var looked atomic.Int32
	c := newCache(t, func(o *Options) {
		o.Reserve = 1
		o.Free = func() (int64, error) {
			if looked.Add(1) > 2 {
				return 0, nil
			}
			return 1, nil
		}
	})
	c.Need(map[string]Level{})
	err := c.Await(t.Context(), boot.Artifact{URL: url, Digest: sum(string(big))})
	if err == nil || !strings.Contains(err.Error(), "nearly full") {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(c.o.Dir); len(left) != 0 {
		t.Errorf("left %v behind", left)
	}
	t.Logf("\n| bootd: the disk is full in the middle of a download | %d | %d |", 1, 1)
}

func TestFreeIn(t *testing.T) {
	if n, err := freeIn(t.TempDir()); err != nil || n <= 0 {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := freeIn("/there/is/no/such"); err == nil {
		t.Error("a folder that isn't there has room")
	}
}

// TestSlowServersLeaveRoom: a tenant who names many files of a server that never ends keeps nobody else waiting.
func TestSlowServersLeaveRoom(t *testing.T) {
	release := make(chan struct{})
	slow := serving(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(release) })
	good := serving(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "good") })
	c := newCache(t, nil)
	for i := range 2 * downloads {
		c.Start(boot.Artifact{URL: slow, Digest: sum(strings.Repeat("x", i+1))})
	}
	if err := c.Await(t.Context(), boot.Artifact{URL: good, Digest: sum("good")}); err != nil {
		t.Error(err)
	}
}

// TestDrippingDownloadEnds: a byte now and then is no progress.
func TestDrippingDownloadEnds(t *testing.T) {
	ended := make(chan struct{})
	p := &patient{r: strings.NewReader(strings.Repeat("x", leastProgress+1)), t: time.AfterFunc(30*time.Millisecond, func() { close(ended) })}
	if _, err := p.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	<-ended
}

func TestContentTypeIsCut(t *testing.T) {
	h := http.Header{"Content-Type": {"text/" + strings.Repeat("x", 5000)}}
	if got := contentType(h); len(got) != maxType {
		t.Errorf("%d characters of a stranger's are shown", len(got))
	}
}
