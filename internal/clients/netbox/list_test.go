package netbox_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestListBounds: a server that somebody names in a config of his own may answer a look with anything. It's given up before it fills our
// memory, and not tried again for a while; why is told to who looks at all of them.
func TestListBounds(t *testing.T) {
	const record = `{"id":%d,"address":"10.0.0.1/24","custom_fields":{"f":"c1/x","g":%s},"comments":"%s"}`
	many := func(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	dense := func(size int) string { return "[" + many(size/3, "[]") + "]" }
	cases := map[string]struct {
		reason, results string
		asked           int64
		// says is what Refresh's error does; "" is none. Such a list ends.
		says string
	}{
		"Crowded": {"More than was asked for is on a page.", many(1001, fmt.Sprintf(record, 7, "1", "")), 1, "isn't a list of what was asked for"},
		"Bare":    {"It has as many as there is place for in the bytes of a page.", many(1<<20, "1"), 1, "isn't a list of what was asked for"},
		"Endless": {"There is always one more page of 3 MiB, of which nothing is kept.", fmt.Sprintf(record, 7, "1", strings.Repeat("x", 3<<20)), 11, "larger than 32 MiB"},
		"Large":   {"There is always one more page of 2 MiB, of which all is kept.", many(10, fmt.Sprintf(record, 7, "1", strings.Repeat("x", 200<<10))), 5, "more than 8 MiB of memory"},
		"Packed":  {"A page of 400 kB would take 12 MiB of memory.", many(70, fmt.Sprintf(record, 7, dense(6<<10), "")), 1, "more than 8 MiB of memory"},
		"Fat":     {"One record would take 1.8 MiB of memory, and 60 kB as it comes: it's left out.", fmt.Sprintf(record, 7, dense(60<<10), ""), 1, ""},
		"Dense":   {"One record would take a hundred MiB: it's left out.", fmt.Sprintf(record, 7, dense(3<<20), ""), 1, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			next := `"http://x/"`
			if tc.says == "" {
				next = "null"
			}
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(w, `{"count":9999999,"next":%s,"previous":null,"results":[%s]}`, next, tc.results)
			}))
			defer srv.Close()
			c, err := netbox.New(netbox.Config{URL: srv.URL, Token: token, MarkerField: "f", MarkersBegin: "c1/"},
				netbox.WithRoom(netbox.NewRoom(netbox.Limits{Each: 8 << 20, Page: 4 << 20})))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for range 2 {
				if _, ok, err := c.Seen(t.Context(), 7, time.Minute); ok || err != nil {
					t.Errorf("%s: seen %v, %v", tc.reason, ok, err)
				}
			}
			_, err = c.Refresh(t.Context(), time.Minute)
			if netbox.Unfit(err) != (tc.says != "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: who looks at all is told %v, want %q", tc.reason, err, tc.says)
			}
			if n := asked.Load(); n != tc.asked {
				t.Errorf("%s: asked %d times, want %d", tc.reason, n, tc.asked)
			}
		})
	}
}

// TestOtherListBounds: so are lists of anything else, which many may read at once; and what they found isn't remembered where there's no room.
func TestOtherListBounds(t *testing.T) {
	host := func(comments int) string {
		return `{"id":7,"address":"10.0.0.1/24","vrf":null,"comments":"` + strings.Repeat("x", comments) + `"}`
	}
	dense := `{"id":7,"address":"10.0.0.1/24","custom_fields":{"g":[` + strings.TrimSuffix(strings.Repeat("[],", 20<<10), ",") + `]}}`
	prefix := `{"id":7,"prefix":"10.0.0.0/24","vrf":null,"role":{"slug":"` + strings.Repeat("r", 100) + `"}}`
	cases := map[string]struct {
		reason, results string
		more            bool
		list            func(c *netbox.Client) error
		asked           int64
		says            string
	}{
		"Small":    {"what's small is read", host(10), false, findHost, 1, ""},
		"Endless":  {"one more page of 1 MiB", host(1 << 20), true, findHost, 3, "more than 4 MiB of memory"},
		"Dense":    {"a page of 600 kB that would take 12 MiB", strings.TrimSuffix(strings.Repeat(dense+",", 10), ","), false, findHost, 1, "more than 4 MiB of memory"},
		"Prefixes": {"what a filter leaves", strings.TrimSuffix(strings.Repeat(prefix+",", 1000), ","), true, findPrefixes, 16, "more than 4 MiB of memory"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			next := "null"
			if tc.more {
				next = `"http://x/"`
			}
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(w, `{"count":1,"next":%s,"previous":null,"results":[%s]}`, next, tc.results)
			}))
			defer srv.Close()
			c, err := netbox.New(netbox.Config{URL: srv.URL, Token: token, MarkerField: "f"},
				netbox.WithRoom(netbox.NewRoom(netbox.Limits{Each: 8 << 20, Page: 4 << 20, List: 4 << 20})))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for range 2 { // What the first one took is given back.
				asked.Store(0)
				if err := tc.list(c); (err != nil) != (tc.says != "") || err != nil && !strings.Contains(err.Error(), tc.says) {
					t.Errorf("%s: %v, want %q", tc.reason, err, tc.says)
				}
				if n := asked.Load(); n != tc.asked {
					t.Errorf("%s: asked %d times, want %d", tc.reason, n, tc.asked)
				}
			}
		})
	}
}

func findHost(c *netbox.Client) error {
	_, err := c.FindHost(context.Background(), netip.MustParseAddr("10.0.0.1"), nil)
	return err //nolint:wrapcheck // A test's.
}

func findPrefixes(c *netbox.Client) error {
	_, err := c.FindPrefixes(context.Background(), netbox.Filter{Family: 4})
	return err //nolint:wrapcheck // As above.
}
