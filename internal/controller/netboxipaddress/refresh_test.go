package netboxipaddress

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// TestRefreshWakes: whose record somebody edited is woken, by what the record's marker says.
func TestRefreshWakes(t *testing.T) {
	edits := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		edits++
		_, _ = fmt.Fprintf(w, `{"count": 3, "next": null, "results": [
			{"id": 1, "address": "10.0.0.1/24", "custom_fields": {"claim": "c1/team-a/web-1/u1"}, "last_updated": "%d"},
			{"id": 2, "address": "10.0.0.2/24", "custom_fields": {"claim": "c1/team-a/web-2/u2"}, "last_updated": "0"},
			{"id": 3, "address": "10.0.0.3/24", "custom_fields": {"claim": "c1/not a marker"}, "last_updated": "%d"}]}`, edits, edits)
	}))
	t.Cleanup(srv.Close)
	now := time.Now()
	pool := netbox.NewPool(netbox.WithClock(func() time.Time { return now }))
	c, err := pool.Client("cfg", netbox.Config{URL: srv.URL, Token: "t", MarkerField: "claim", MarkersBegin: "c1/"})
	if err != nil {
		t.Fatal(err)
	}
	wake := make(chan event.GenericEvent, 8)
	r := &refresher{pools: []*netbox.Pool{pool}, every: time.Minute, poll: 10 * time.Minute, cluster: "c1", wake: wake, log: logging.NewNopLogger()}
	look := func(after time.Duration) []string {
		now = now.Add(after)
		r.refresh(t.Context())
		r.looks.wait()
		var woken []string
		for len(wake) > 0 {
			o := (<-wake).Object
			woken = append(woken, o.GetNamespace()+"/"+o.GetName())
		}
		return woken
	}
	if diff := cmp.Diff([]string(nil), look(0)); diff != "" {
		t.Errorf("the first look wakes nobody: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"team-a/web-1"}, look(time.Minute)); diff != "" {
		t.Errorf("an edit wakes one: -want, +got:\n%s", diff)
	}
	now = now.Add(time.Minute)
	if _, _, err := c.Seen(t.Context(), 2, r.every); err != nil || edits != 3 {
		t.Fatalf("a resource makes the look: %v, %d looks", err, edits)
	}
	if diff := cmp.Diff([]string{"team-a/web-1"}, look(r.tick())); diff != "" || edits != 3 || r.tick() > r.every/10 {
		t.Errorf("an edit that another look shows wakes one soon, without a look more: %d looks, -want, +got:\n%s", edits, diff)
	}
	if diff := cmp.Diff([]string(nil), look(time.Hour)); diff != "" || edits != 3 {
		t.Errorf("a connection that nobody uses any more isn't asked, and its token is forgotten: %d looks, -want, +got:\n%s", edits, diff)
	}
}

// TestRefreshHangs: a NetBox that doesn't answer makes nobody else's edit be told late.
func TestRefreshHangs(t *testing.T) {
	var edits atomic.Int32
	good := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"count": 1, "next": null, "results": [{"id": 1, "address": "10.0.0.1/24", "custom_fields": {"claim": "c1/team-a/web-1/u1"}, "last_updated": "%d"}]}`, edits.Add(1))
	}))
	t.Cleanup(good.Close)
	ctx, cancel := context.WithCancel(t.Context())
	var hung atomic.Int32
	dead := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		hung.Add(1)
		<-ctx.Done()
	}))
	t.Cleanup(dead.Close)
	pool := netbox.NewPool()
	for i, url := range []string{dead.URL, good.URL} {
		if _, err := pool.Client(fmt.Sprint(i), netbox.Config{URL: url, Token: "t", MarkerField: "claim", MarkersBegin: "c1/"}); err != nil {
			t.Fatal(err)
		}
	}
	wake := make(chan event.GenericEvent)
	r := &refresher{pools: []*netbox.Pool{pool}, every: 50 * time.Millisecond, poll: time.Hour, cluster: "c1", wake: wake, log: logging.NewNopLogger()}
	done := make(chan error)
	go func() { done <- r.Start(ctx) }()
	for range 3 {
		select {
		case <-wake:
		case <-time.After(5 * time.Second):
			t.Fatal("an edit isn't told")
		}
	}
	if n := hung.Load(); n != 1 {
		t.Errorf("%d requests to the one that hangs, want one", n)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestRefreshWarns: that looks don't help with a NetBox is told to its provider config's owner, once for as long as it's so.
func TestRefreshWarns(t *testing.T) {
	contentType, marker, asked := "", "", 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		asked++
		_, _ = fmt.Fprintf(w, `{"count": 1, "next": null, "results": [{"id": 1, "address": "10.0.0.1/24", "custom_fields": {"claim": %q}}]}`, marker)
	}))
	t.Cleanup(srv.Close)
	now := time.Now()
	pool := netbox.NewPool(netbox.WithClock(func() time.Time { return now }))
	cfg := netbox.Config{Name: "ProviderConfig/team-a/mine", URL: srv.URL, Token: "t", MarkerField: "claim", MarkersBegin: "c1/"}
	var told []string
	r := &refresher{
		pools: []*netbox.Pool{pool}, every: time.Minute, poll: time.Hour, cluster: "c1", log: logging.NewNopLogger(), wake: make(chan event.GenericEvent, 8),
		warn: func(of config.Identity, message string) {
			told = append(told, fmt.Sprintf("%s %s/%s %s: %s", of.Kind, of.Namespace, of.Name, of.UID, message))
		},
	}
	for _, step := range []struct {
		why, contentType, marker string
		told, asked              int
	}{
		{"NetBox has no such field, which its provider config says", "application/json", "someone's", 0, 1},
		{"it answers with a page", "application/json", ours, 0, 2},
		{"something else than NetBox does", "text/html", ours, 1, 3},
		{"still", "text/html", ours, 1, 4},
		{"NetBox does again", "application/json", ours, 1, 5},
		{"and not any more", "text/html", ours, 2, 6},
	} {
		contentType, marker = step.contentType, step.marker
		for range 2 {
			if _, err := pool.Client("uid", cfg); err != nil {
				t.Fatal(err)
			}
			r.refresh(t.Context())
			r.looks.wait()
		}
		if len(told) != step.told || asked != step.asked {
			t.Errorf("%s: told %q, asked %d times; want %d and %d", step.why, told, asked, step.told, step.asked)
		}
		now = now.Add(10 * time.Minute)
	}
	const want = "ProviderConfig team-a/mine uid: each address is read by itself at each look"
	if len(told) == 0 || !strings.HasPrefix(told[0], want) {
		t.Errorf("%q, want %q…", told, want)
	}
}

func TestTick(t *testing.T) {
	for every, want := range map[time.Duration]time.Duration{2 * time.Minute: 12 * time.Second, 12 * time.Second: 1200 * time.Millisecond, 2 * time.Second: time.Second, 50 * time.Millisecond: 50 * time.Millisecond} {
		if got := (&refresher{every: every}).tick(); got != want {
			t.Errorf("tick() = %s of %s: want %s", got, every, want)
		}
	}
}

func TestMaxAge(t *testing.T) {
	for poll, want := range map[time.Duration]time.Duration{0: 0, time.Second: 200 * time.Millisecond, 5 * time.Minute: time.Minute, time.Hour: 2 * time.Minute} {
		if got := maxAge(poll); got != want {
			t.Errorf("maxAge(%s) = %s: want %s", poll, got, want)
		}
	}
}
