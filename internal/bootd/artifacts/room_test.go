package artifacts

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestRoom: what downloads fill the disk with mustn't take the room that the log of consumed grants needs.
func TestRoom(t *testing.T) {
	const reserve = 100
	cases := map[string]struct {
		reason string
		needed map[string]bool
		left   string
		says   string
	}{
		"Evict":   {"of what nothing needs the oldest goes", map[string]bool{}, "young new", ""},
		"Needed":  {"what a plan names stays, though it's older", map[string]bool{sum("old"): true}, "old new", ""},
		"Full":    {"all is needed: the new one must wait", map[string]bool{sum("old"): true, sum("young"): true}, "old young", "nearly full"},
		"Unknown": {"before anything is known of plans nothing goes", nil, "old young", "nearly full"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			url := serving(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "new") })
			var c *Cache
			c = newCache(t, func(o *Options) {
				o.Reserve = reserve
				o.Free = func() (int64, error) { // There is room for one of the two.
					if c.Has(sum("old")) && c.Has(sum("young")) {
						return reserve - 1, nil
					}
					return reserve, nil
				}
			})
			for i, s := range []string{"old", "young"} {
				if err := os.WriteFile(c.path(sum(s)), []byte(s), 0o600); err != nil {
					t.Fatal(err)
				}
				at := time.Now().Add(time.Duration(i-10) * time.Hour)
				if err := os.Chtimes(c.path(sum(s)), at, at); err != nil {
					t.Fatal(err)
				}
			}
			c.Need(tc.needed)
			err := c.Await(t.Context(), boot.Artifact{URL: url, Digest: sum("new")})
			if (err != nil) != (tc.says != "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %v", tc.reason, err)
			}
			var left []string
			for _, s := range []string{"old", "young", "new"} {
				if c.Has(sum(s)) {
					left = append(left, s)
				}
			}
			if got := strings.Join(left, " "); got != tc.left {
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
	c.Need(map[string]bool{})
	err := c.Await(t.Context(), boot.Artifact{URL: url, Digest: sum(string(big))})
	if err == nil || !strings.Contains(err.Error(), "nearly full") {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(c.o.Dir); len(left) != 0 {
		t.Errorf("left %v behind", left)
	}
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
