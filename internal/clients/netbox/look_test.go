package netbox_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestSeenLonger: a look that takes longer than anybody who asks has time for is made all the same, once, and whoever asks at its end has what
// it showed.
func TestSeenLonger(t *testing.T) {
	const age, pages, callers = time.Minute, 10, 3
	s := &shelf{markers: marked(1000*pages, "c1/")}
	c, _ := onShelf(t, s)
	asked, gate := make(chan struct{}), make(chan struct{})
	s.slow = func() {
		asked <- struct{}{}
		<-gate
	}
	read := func() {
		<-asked
		gate <- struct{}{}
	}
	for n := range int64(callers) {
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() {
			_, _, err := c.Seen(ctx, n+1, age)
			failed <- err
		}()
		for range pages / callers {
			read()
		}
		cancel()
		if err := <-failed; !netbox.IsUnreachable(err) {
			t.Errorf("caller %d had no time: %v", n, err)
		}
	}
	seen := make(chan error)
	go func() {
		ip, ok, err := c.Seen(t.Context(), 10000, age)
		if err == nil && (!ok || ip.ID != 10000) {
			err = errors.New("it isn't there")
		}
		seen <- err
	}()
	read()
	if err := <-seen; err != nil || s.requests() != pages {
		t.Errorf("the last caller: %v; %d requests, want %d", err, s.requests(), pages)
	}
}

// TestSeenImpatiently: who could read one record by itself doesn't wait for a look that takes long, and who can't does.
func TestSeenImpatiently(t *testing.T) {
	t.Parallel() // It waits.
	s := &shelf{markers: marked(2, "c1/")}
	c, _ := onShelf(t, s)
	looking, resume := make(chan struct{}), make(chan struct{})
	s.looking, s.resume = looking, resume
	all := make(chan error, 1)
	go func() {
		_, err := c.Refresh(t.Context(), time.Minute)
		all <- err
	}()
	<-looking
	s.mu.Lock()
	s.looking = nil
	s.mu.Unlock()
	began := time.Now()
	if _, ok, err := c.Seen(t.Context(), 1, time.Minute); ok || err != nil || time.Since(began) > 20*time.Second {
		t.Errorf("Seen(1) = %v, %v after %s: want that its record be read by itself", ok, err, time.Since(began))
	}
	select {
	case err := <-all:
		t.Errorf("who asks for all waits for all: %v", err)
	default:
	}
	close(resume)
	if err := <-all; err != nil {
		t.Error(err)
	}
	if _, ok, err := c.Seen(t.Context(), 1, time.Minute); !ok || err != nil || s.requests() != 1 {
		t.Errorf("that look goes on, and there's no other one: %v, %v, %d requests", ok, err, s.requests())
	}
}

// TestSeenWhileLookingAgain: nobody waits for a look for whom the one before will do, be it that only a read of the record can tell.
func TestSeenWhileLookingAgain(t *testing.T) {
	const age = time.Minute
	s := &shelf{markers: marked(2, "c1/"), text: "old", edits: map[int]int{}}
	c, pass := onShelf(t, s)
	if _, ok, err := c.Seen(t.Context(), 1, age); !ok || err != nil {
		t.Fatal(ok, err)
	}
	pass(age)
	looking, resume := make(chan struct{}), make(chan struct{})
	s.mu.Lock()
	s.looking, s.resume = looking, resume
	s.mu.Unlock()
	first := make(chan error)
	go func() {
		_, _, err := c.Seen(t.Context(), 1, age)
		first <- err
	}()
	<-looking
	soon, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for number, want := range map[int64]bool{1: true, 2: true, 99: false} {
		if _, ok, err := c.Seen(soon, number, age); ok != want || err != nil {
			t.Errorf("Seen(%d) = %v, %v while a look is blocked: want %v", number, ok, err, want)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Refresh(over, age); !netbox.IsUnreachable(err) {
		t.Errorf("who wants to know of all waits: %v", err)
	}
	s.mu.Lock()
	s.edits[2], s.looking = 1, nil
	s.mu.Unlock()
	now := make(chan []netbox.IPAddress)
	go func() {
		changed, err := c.Refresh(t.Context(), 0)
		if err != nil {
			t.Error(err)
		}
		now <- changed
	}()
	time.Sleep(20 * time.Millisecond) // So that it most likely asks before that look ends.
	close(resume)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if changed := <-now; len(changed) != 1 || changed[0].ID != 2 || s.requests() != 3 {
		t.Errorf("a look that begins now sees what was changed since another one began: %v, %d requests", changed, s.requests())
	}
	if ip, ok, err := c.Seen(t.Context(), 2, 0); !ok || err != nil || ip.LastUpdated != "1" || s.requests() != 4 {
		t.Errorf("so does one for a record: %v, %v, %v, %d requests", ip, ok, err, s.requests())
	}
}

// TestSeenSmallerPages: a NetBox that can't give a thousand at a time is asked for fewer, and now and then for more again. One that can't give a
// hundred, but answers, is read record by record.
func TestSeenSmallerPages(t *testing.T) {
	for name, breaks := range map[string]string{"Fails": "", "BreaksOff": "Torn", "HangsUp": "HungUp"} {
		t.Run(name, func(t *testing.T) { seenSmallerPages(t, breaks) })
	}
}

func seenSmallerPages(t *testing.T, breaks string) {
	t.Helper()
	const age, soon, records = time.Minute, 2 * time.Second, 1200
	s := &shelf{markers: marked(records, "c1/"), breaks: breaks}
	c, pass := onShelf(t, s)
	// sizes of the pages that a look asked for, where it's asked for number after a while.
	sizes := func(number int64, after time.Duration) (asked string, ok bool, err error) {
		pass(after)
		before := s.requests()
		_, ok, err = c.Seen(t.Context(), number, age)
		last := ""
		for _, a := range s.asked[before:] {
			u, _ := url.Parse(a)
			if now := u.Query().Get("limit"); now != last {
				asked, last = strings.TrimSpace(asked+" "+now), now
			}
		}
		return asked, ok, err
	}
	steps := []struct {
		why   string
		most  int
		after time.Duration
		want  string
		ok    bool
		fails bool
	}{
		{"as many as it can give at first", 0, 0, "1000", true, false},
		{"it fails over so many,", 200, age, "1000", false, true},
		{"and is asked for fewer soon,", 200, soon, "500", false, true},
		{"and fewer", 200, soon, "250", false, true},
		{"until it can give them.", 200, soon, "125", true, false},
		{"More are tried", 200, age, "250", false, true},
		{"once,", 200, soon, "125", true, false},
		{"and not again for a while.", 200, age, "125", true, false},
		{"Then", 1000, time.Hour, "125", true, false},
		{"they are,", 1000, age, "250", true, false},
		{"and more", 1000, age, "500", true, false},
		{"up to the most.", 1000, age, "1000", true, false},
		{"Where it can't give any", 50, age, "1000", false, true},
		{"", 50, soon, "500", false, true},
		{"", 50, soon, "250", false, true},
		{"", 50, soon, "125", false, true},
		{"it's asked for a hundred", 50, soon, "100", false, true},
		{"twice more", 50, soon, "100", false, true},
		{"and whether it answers at all,", 50, soon, "100 ", false, false},
		{"and then not for a while,", 50, 10*time.Minute - time.Second, "", false, false},
		{"and is again.", 1000, time.Second, "100", true, false},
	}
	for i, step := range steps {
		if breaks == "Torn" && step.most < 100 {
			break // It answers, so nobody asks whether it does: records are read one by one at once.
		}
		s.mu.Lock()
		s.most = step.most
		s.mu.Unlock()
		asked, ok, err := sizes(1+int64(i), step.after)
		if asked != strings.TrimSpace(step.want) || ok != step.ok || (err != nil) != step.fails {
			t.Errorf("%d %s: pages of %q, %v, %v: want %q, %v, an error: %v", i, step.why, asked, ok, err, step.want, step.ok, step.fails)
		}
	}
}

// TestSeenClosed: a look ends with its connection, and none begins after that. Who asks reads his record by itself.
func TestSeenClosed(t *testing.T) {
	asked, ended := make(chan struct{}), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked) // A second request would panic.
		<-r.Context().Done()
		close(ended)
	}))
	t.Cleanup(srv.Close)
	cfg := netbox.Config{URL: srv.URL, Token: token, MarkerField: "claim", MarkersBegin: "c1/"}
	for name, end := range map[string]func(*netbox.Pool, *netbox.Client){
		"Client":  func(_ *netbox.Pool, c *netbox.Client) { c.Close() },
		"Process": func(p *netbox.Pool, _ *netbox.Client) { p.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			asked, ended = make(chan struct{}), make(chan struct{})
			p := netbox.NewPool()
			c, err := p.Client("uid", cfg)
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error)
			go func() {
				_, ok, err := c.Seen(t.Context(), 1, time.Minute)
				if ok {
					err = errors.New("it was seen")
				}
				done <- err
			}()
			<-asked
			end(p, c)
			<-ended
			if err := <-done; err != nil {
				t.Error(err)
			}
			if _, ok, err := c.Seen(t.Context(), 1, 0); ok || err != nil {
				t.Errorf("afterwards: %v, %v", ok, err)
			}
			if _, err := c.Refresh(t.Context(), 0); err == nil || netbox.Unfit(err) {
				t.Errorf("who wants to know of all must hear that nobody looks: %v", err)
			}
		})
	}
	p := netbox.NewPool()
	p.Close()
	c, err := p.Client("uid", cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := c.Seen(t.Context(), 1, time.Minute); ok || err != nil {
		t.Errorf("one that's made as the provider ends: %v, %v", ok, err)
	}
}

// TestSeenPanics: a fault of ours over an answer costs looks for a while, and not the provider.
func TestSeenPanics(t *testing.T) {
	s := &shelf{markers: marked(1, "c1/")}
	var faulty atomic.Bool
	faulty.Store(true)
	c, pass := onShelf(t, s, netbox.WithMeter(func(netbox.Call) {
		if faulty.Load() {
			panic("boom")
		}
	}))
	if _, ok, err := c.Seen(t.Context(), 1, time.Minute); ok || err != nil {
		t.Errorf("the record is read by itself: %v, %v", ok, err)
	}
	_, err := c.Refresh(t.Context(), time.Minute)
	p, ok := errors.AsType[*netbox.PanicError](err)
	if !ok || !netbox.Unfit(err) || !strings.Contains(p.Stack, "boom") || strings.Contains(err.Error(), "boom") {
		t.Errorf("it's told with its stack: %v", err)
	}
	faulty.Store(false)
	pass(10 * time.Minute)
	if _, ok, err := c.Seen(t.Context(), 1, time.Minute); !ok || err != nil {
		t.Errorf("it's tried again: %v, %v", ok, err)
	}
}

// TestForget: what is forgotten is read by itself, and nothing else is.
func TestForget(t *testing.T) {
	s := &shelf{markers: marked(2, "c1/")}
	c, _ := onShelf(t, s)
	for n, want := range []bool{true, false} {
		for number, want := range map[int64]bool{1: want, 2: true} {
			if _, ok, err := c.Seen(t.Context(), number, time.Minute); ok != want || err != nil {
				t.Errorf("%d: Seen(%d) = %v, %v: want %v", n, number, ok, err, want)
			}
		}
		c.Forget(1)
	}
	if s.requests() != 1 {
		t.Errorf("%d requests", s.requests())
	}
}
