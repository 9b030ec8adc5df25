package netbox_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// ownedBy returns the client of a handler that shares a room.
func ownedBy(t *testing.T, owner string, room *netbox.Room, h http.HandlerFunc) *netbox.Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	c, err := netbox.New(netbox.Config{URL: srv.URL, Token: token, MarkerField: "f", Owner: owner}, netbox.WithRoom(room))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestDripping: a list counts as it comes, so that who sends all of it but the last byte, and waits, takes what he has sent from what others have.
func TestDripping(t *testing.T) {
	resume := make(chan struct{})
	begin := `{"count":1,"next":null,"results":[{"id":7,"address":"10.0.0.1/24","vrf":null,"comments":"` + strings.Repeat("x", 3<<20)
	answer := func(drips bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprint(w, begin)
			if drips {
				_ = http.NewResponseController(w).Flush()
				select {
				case <-resume:
				case <-r.Context().Done():
				}
			}
			_, _ = fmt.Fprint(w, `"}]}`)
		}
	}
	room := netbox.NewRoom(netbox.Limits{Each: 8 << 20, Page: 4 << 20, One: 1 << 10, List: 8 << 20, Lists: 8 << 20})
	slow, other := ownedBy(t, "team-a", room, answer(true)), ownedBy(t, "team-b", room, answer(false))
	read := func(c *netbox.Client) error {
		_, err := c.FindHost(t.Context(), netip.MustParseAddr("10.0.0.1"), nil)
		return err //nolint:wrapcheck // A test's.
	}
	if err := read(other); err != nil {
		t.Fatalf("where nobody else reads: %v", err)
	}
	done := make(chan error)
	go func() { done <- read(slow) }()
	var err error
	for range 500 { // It takes a moment until all of it has come.
		if err = read(other); err != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !netbox.IsUnreachable(err) || !strings.Contains(err.Error(), "beside others that are read just now") {
		t.Errorf("while another list drips: %v", err)
	}
	close(resume)
	if err := <-done; err != nil {
		t.Errorf("the one that dripped: %v", err)
	}
	if err := read(other); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestOne: an answer that is no list may be less long than one that is.
func TestOne(t *testing.T) {
	record := `{"id":7,"address":"10.0.0.1/24","vrf":null,"comments":"` + strings.Repeat("x", 600<<10) + `"}`
	get := func(ctx context.Context, c *netbox.Client) error {
		_, err := c.Get(ctx, 7)
		return err //nolint:wrapcheck // A test's.
	}
	find := func(ctx context.Context, c *netbox.Client) error {
		_, err := c.FindHost(ctx, netip.MustParseAddr("10.0.0.1"), nil)
		return err //nolint:wrapcheck // As above.
	}
	cases := map[string]struct {
		reason string
		one    int
		read   func(context.Context, *netbox.Client) error
		says   string
	}{
		"Long":      {"it's longer than may be", 512 << 10, get, "larger than 512 KiB"},
		"List":      {"a list may be longer", 512 << 10, find, ""},
		"Unbounded": {"nobody says so", 0, get, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := ownedBy(t, "", netbox.NewRoom(netbox.Limits{Each: 8 << 20, Page: 4 << 20, One: tc.one}), func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if strings.HasSuffix(r.URL.Path, "/7/") {
					_, _ = fmt.Fprint(w, record)
					return
				}
				_, _ = fmt.Fprintf(w, `{"count":1,"next":null,"results":[%s]}`, record)
			})
			if err := tc.read(t.Context(), c); (err != nil) != (tc.says != "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.says)
			}
		})
	}
}
