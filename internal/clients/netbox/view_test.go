package netbox_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// A shelf is a NetBox of addresses alone, that counts what it's asked.
type shelf struct {
	mu sync.Mutex
	// markers of the records by their numbers less one, and their description.
	markers []string
	text    string
	// edits of a record by its number.
	edits  map[int]int
	status int
	asked  []string
	// tags of a record by its number, as JSON without the brackets.
	tags map[int]string
	// looking is told that a list was read, and resume awaited before it's answered, where not nil.
	looking, resume chan struct{}
	// most records that it gives at a time before what stands in front of it loses patience; 0 is any number.
	most int
	// breaks is how it fails over more, and over anything while it's away.
	breaks string
	away   bool
	// slow happens before a list is answered; nil does nothing.
	slow func()
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.String())
	w.Header().Set("Content-Type", "application/json")
	if s.away {
		s.mu.Unlock()
		s.tooMany(w)
		return
	}
	if s.status != 0 {
		w.WriteHeader(s.status)
		_, _ = fmt.Fprint(w, `{"detail": "no"}`)
		s.mu.Unlock()
		return
	}
	if id, err := strconv.Atoi(strings.Trim(strings.TrimPrefix(r.URL.Path, "/api/ipam/ip-addresses/"), "/")); err == nil {
		_, _ = fmt.Fprint(w, s.record(id))
		s.mu.Unlock()
		return
	}
	q := r.URL.Query()
	limit, _ := strconv.Atoi(q.Get("limit"))
	offset, _ := strconv.Atoi(q.Get("offset"))
	if s.most > 0 && limit > s.most {
		s.mu.Unlock()
		s.tooMany(w)
		return
	}
	var page []string
	next := "null"
	for id := offset + 1; id <= len(s.markers); id++ {
		if len(page) == limit {
			next = `"http://elsewhere/"`
			break
		}
		page = append(page, s.record(id))
	}
	answer := fmt.Sprintf(`{"count": %d, "next": %s, "results": [%s]}`, len(s.markers), next, strings.Join(page, ","))
	looking, resume, slow := s.looking, s.resume, s.slow
	s.mu.Unlock()
	if slow != nil {
		slow()
	}
	if looking != nil {
		close(looking)
		<-resume
	}
	_, _ = fmt.Fprint(w, answer)
}

// tooMany is how it fails over a page that is too much.
func (s *shelf) tooMany(w http.ResponseWriter) {
	switch s.breaks {
	case "":
		w.WriteHeader(http.StatusGatewayTimeout)
	case "Torn":
		w.Header().Set("Content-Length", "1000")
		_, _ = fmt.Fprint(w, `{"count": 9`)
	default:
		panic(http.ErrAbortHandler)
	}
}

func (s *shelf) record(id int) string {
	return fmt.Sprintf(`{"id": %d, "address": "10.0.0.1/16", "description": %q, "custom_fields": {"claim": %q}, "last_updated": "%d", "tags": [%s]}`,
		id, s.text, s.markers[id-1], s.edits[id], s.tags[id])
}

func (s *shelf) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

// onShelf returns a client of a shelf, and what passes time.
func onShelf(t *testing.T, s *shelf, more ...netbox.Option) (c *netbox.Client, pass func(time.Duration)) {
	t.Helper()
	return ownedShelf(t, "", s, more...)
}

// ownedShelf is onShelf with a connection of somebody.
func ownedShelf(t *testing.T, owner string, s *shelf, more ...netbox.Option) (c *netbox.Client, pass func(time.Duration)) {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	now := time.Now()
	var mu sync.Mutex
	c, err := netbox.New(netbox.Config{URL: srv.URL, Token: token, MarkerField: "claim", MarkersBegin: "c1/", Owner: owner}, append(more, netbox.WithClock(func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
	}
}

func marked(n int, begin string) []string {
	out := make([]string, 0, n)
	for i := range n {
		out = append(out, fmt.Sprintf("%sns/a-%d/u", begin, i+1))
	}
	return out
}

func TestSeen(t *testing.T) {
	const age = time.Minute
	cases := map[string]struct {
		reason  string
		shelf   *shelf
		numbers []int64
		wait    time.Duration
		again   []int64
		ok      bool
		err     bool
		want    int
	}{
		"Pages": {
			reason: "All that fill a page cost one request together.",
			shelf:  &shelf{markers: marked(2500, "c1/")}, numbers: []int64{1, 1000, 1001, 2500, 7}, ok: true, want: 3,
		},
		"Lately": {
			reason: "What was seen lately isn't asked for again.",
			shelf:  &shelf{markers: marked(3, "c1/")}, numbers: []int64{1}, wait: age / 2, again: []int64{2, 3, 1}, ok: true, want: 1,
		},
		"Old": {
			reason: "What was seen too long ago is looked at again, all together.",
			shelf:  &shelf{markers: marked(3, "c1/")}, numbers: []int64{1}, wait: age, again: []int64{2, 3, 1}, ok: true, want: 2,
		},
		"Absent": {
			reason: "What isn't among them may be there all the same: only a GET can tell.",
			shelf:  &shelf{markers: marked(3, "c1/")}, numbers: []int64{4}, wait: age / 2, again: []int64{4}, want: 1,
		},
		"FilterIgnored": {
			reason: "A NetBox that doesn't know the filter returns everything: it isn't asked so again for a while.",
			shelf:  &shelf{markers: append(marked(1, "c1/"), marked(3, "c2/")...)}, numbers: []int64{1}, wait: 2 * age, again: []int64{1, 2}, want: 1,
		},
		"CaseIgnored": {
			reason: "The filter ignores case, so another cluster's may be among ours.",
			shelf:  &shelf{markers: append(marked(1, "c1/"), marked(1, "C1/")...)}, numbers: []int64{1}, ok: true, want: 1,
		},
		"Down": {
			reason: "One that failed to look, and answers nothing else either, has failed for all who would.",
			shelf:  &shelf{status: http.StatusBadGateway}, numbers: []int64{1}, wait: time.Second, again: []int64{1, 2, 3}, err: true, want: 2,
		},
		"UpAgain": {
			reason: "A while later somebody tries again.",
			shelf:  &shelf{status: http.StatusBadGateway}, numbers: []int64{1}, wait: 3 * time.Second, again: []int64{1}, err: true, want: 4,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, pass := onShelf(t, tc.shelf)
			look := func(numbers []int64) {
				for _, n := range numbers {
					ip, ok, err := c.Seen(t.Context(), n, age)
					if ok != tc.ok || (err != nil) != tc.err || (ok && ip.ID != n) {
						t.Errorf("%s\nSeen(%d) = %d, %v, %v: want %v, error %v", tc.reason, n, ip.ID, ok, err, tc.ok, tc.err)
					}
				}
			}
			look(tc.numbers)
			pass(tc.wait)
			look(tc.again)
			if got := tc.shelf.requests(); got != tc.want {
				t.Errorf("%s\n%d requests: want %d: %v", tc.reason, got, tc.want, tc.shelf.asked)
			}
		})
	}
}

// TestSeenSlowly: a look that takes longer than what it shows may be old is one for all, and isn't begun anew as soon as it's over.
func TestSeenSlowly(t *testing.T) {
	const age, pages, page = 12 * time.Second, 10, 2 * time.Second
	s := &shelf{markers: marked(1000*pages, "c1/"), edits: map[int]int{}}
	c, pass := onShelf(t, s)
	s.slow = func() { pass(page) }
	steps := []struct {
		why  string
		wait time.Duration
		want int
	}{
		{"all that wait for it go by it", 0, pages},
		{"NetBox isn't asked again before it has had as long a rest", pages*page - time.Second, pages},
		{"and then is", time.Second, 2 * pages},
	}
	for _, step := range steps {
		pass(step.wait)
		for _, n := range []int64{1, 1000, 1001, 10000} {
			if ip, ok, err := c.Seen(t.Context(), n, age); err != nil || !ok || ip.ID != n {
				t.Errorf("%s: Seen(%d) = %d, %v, %v", step.why, n, ip.ID, ok, err)
			}
		}
		if got := s.requests(); got != step.want {
			t.Errorf("%s: %d requests, want %d", step.why, got, step.want)
		}
	}
	s.edits[7] = 1
	if all, err := c.Refresh(t.Context(), 0); err != nil || len(all) != 1 || s.requests() != 3*pages {
		t.Errorf("what is to be looked at now is: %d, %v, %d requests", len(all), err, s.requests())
	}
}

// TestSeenWhileLooking: what was read by itself during a look is newer than what the look saw.
func TestSeenWhileLooking(t *testing.T) {
	s := &shelf{markers: marked(2, "c1/"), text: "old", looking: make(chan struct{}), resume: make(chan struct{})}
	c, _ := onShelf(t, s)
	done := make(chan error, 1)
	go func() {
		_, _, err := c.Seen(t.Context(), 1, time.Minute)
		done <- err
	}()
	<-s.looking
	s.mu.Lock()
	s.text, s.looking = "new", nil
	s.mu.Unlock()
	if ip, err := c.Get(t.Context(), 2); err != nil || ip.Description != "new" {
		t.Fatal(ip, err)
	}
	if ip, ok, err := c.Seen(t.Context(), 2, time.Minute); err != nil || !ok || ip.Description != "new" {
		t.Errorf("what is known waits for a look that is under way: %v, %v, %v", ip, ok, err)
	}
	close(s.resume)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for number, want := range map[int64]string{1: "old", 2: "new"} {
		if ip, ok, err := c.Seen(t.Context(), number, time.Minute); err != nil || !ok || ip.Description != want {
			t.Errorf("Seen(%d) = %q, %v, %v: want %q", number, ip.Description, ok, err, want)
		}
	}
}

// TestSeenOfItsOwn: what this connection wrote or read is seen without a look.
func TestSeenOfItsOwn(t *testing.T) {
	s := &shelf{markers: marked(1, "c1/")}
	c, _ := onShelf(t, s)
	if _, err := c.Get(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := c.Seen(t.Context(), 1, time.Minute); err != nil || !ok || s.requests() != 1 {
		t.Errorf("Seen(1) = %v, %v after %d requests: want what Get has just read", ok, err, s.requests())
	}
}

func TestRefresh(t *testing.T) {
	s := &shelf{markers: marked(4, "c1/"), edits: map[int]int{}}
	c, pass := onShelf(t, s)
	refresh := func(why string, want ...int64) {
		t.Helper()
		pass(time.Minute)
		all, err := c.Refresh(t.Context(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, ip := range all {
			got = append(got, ip.ID)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", why, diff)
		}
	}
	refresh("what is seen for the first time hasn't changed")
	refresh("nothing has changed")
	s.edits[2] = 1
	refresh("a person edited one", 2)
	refresh("it's told once")
	s.edits[3] = 1
	if _, err := c.Get(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	refresh("this connection knew already")
	s.markers = s.markers[:3]
	refresh("one is gone", 4)
	s.markers = marked(4, "c1/")
	refresh("one is there again", 4)
	refresh("that's told once")
}
