package netbox

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 9, 1, 10, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		reason string
		header map[string]string
		want   time.Duration
	}{
		"None":       {"It says nothing.", nil, 0},
		"Seconds":    {"In seconds.", map[string]string{"Retry-After": "7"}, 7 * time.Second},
		"Date":       {"As a date.", map[string]string{"Retry-After": "Tue, 01 Sep 2026 10:00:09 GMT"}, 9 * time.Second},
		"OtherClock": {"By the clock that the date is of.", map[string]string{"Retry-After": "Tue, 01 Sep 2026 12:00:09 GMT", "Date": "Tue, 01 Sep 2026 12:00:00 GMT"}, 9 * time.Second},
		"Past":       {"It's over.", map[string]string{"Retry-After": "Tue, 01 Sep 2026 09:00:00 GMT"}, 0},
		"Negative":   {"Nonsense says nothing.", map[string]string{"Retry-After": "-3"}, 0},
		"Huge":       {"Nonsense says nothing.", map[string]string{"Retry-After": "99999999999999999999"}, 0},
		"Words":      {"Nonsense says nothing.", map[string]string{"Retry-After": "soon"}, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := http.Header{}
			for k, v := range tc.header {
				h.Set(k, v)
			}
			if got := retryAfter(h, now); got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

// TestPauseHoldsTheConnection: what one request was told holds for all of the connection, until it's over; what would have to wait long
// fails at once.
func TestPauseHoldsTheConnection(t *testing.T) {
	cases := map[string]struct {
		reason  string
		status  int
		after   string
		held    time.Duration
		without bool
	}{
		"429Seconds": {"A limit that says how long.", 429, "60", time.Minute, false},
		"429Date":    {"A limit that says until when.", 429, "Thu, 01 Jan 1970 00:01:00 GMT", time.Minute, false},
		"429":        {"A limit that doesn't say.", 429, "", shortPause, false},
		"429Zero":    {"A limit that says at once, which it can't mean.", 429, "0", shortPause, false},
		"429Forever": {"Nobody has us wait for a day.", 429, "86400", longPause, false},
		"503Seconds": {"A maintenance that says how long.", 503, "60", time.Minute, false},
		"503":        {"A 503 that doesn't say is retried as any failure.", 503, "", 0, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Date"] = nil
				w.Header().Set("Content-Type", "application/json")
				if requests.Add(1) == 1 {
					w.Header().Set("Retry-After", tc.after)
					w.WriteHeader(tc.status)
				}
				_, _ = w.Write([]byte(`{"netbox-version":"4.6.8"}`))
			}))
			defer srv.Close()
			var now atomic.Int64
			var held atomic.Int32
			c, err := New(Config{URL: srv.URL, Token: "t", MarkerField: "f"}, WithClock(func() time.Time { return time.Unix(now.Load(), 0) }),
				WithMeter(func(k Call) {
					if k.Held {
						held.Add(1)
					}
				}))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Status(t.Context()); err == nil {
				t.Fatal("the first must fail")
			}
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			_, err = c.Status(ctx)
			if tc.without {
				if err != nil || requests.Load() != 2 {
					t.Fatalf("%s: %v after %d requests", tc.reason, err, requests.Load())
				}
				return
			}
			if !IsUnreachable(err) || !strings.Contains(err.Error(), "asked for a pause") || requests.Load() != 1 || held.Load() != 1 {
				t.Fatalf("%s: %v after %d requests, %d held", tc.reason, err, requests.Load(), held.Load())
			}
			now.Store(int64(tc.held / time.Second))
			if _, err := c.Status(t.Context()); err != nil {
				t.Errorf("%s: after %s: %v", tc.reason, tc.held, err)
			}
			t.Logf("\n| NetBox client: %s, the whole connection is held back for %s: %s | 1 | 1 |", name, tc.held, tc.reason)
		})
	}
}

// TestShortPauseIsWaitedFor: a second or two aren't worth a failure.
func TestShortPauseIsWaitedFor(t *testing.T) {
	p := &pause{now: time.Now}
	p.until = time.Now().Add(2 * holdLook)
	began := time.Now()
	if err := p.hold(t.Context(), statusCall()); err != nil || time.Since(began) < 2*holdLook {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}

// TestNothingIsSentInAPause: all who come meanwhile are held, for as long as the last answer asked for, and go on at once when that's over.
func TestNothingIsSentInAPause(t *testing.T) {
	cases := map[string]struct {
		reason string
		// again is how many seconds another answer asks for when half of the pause is over; "" is none.
		again string
		// fails says that all who are held fail then, with nothing sent.
		fails bool
	}{
		"Once":   {"One answer asks for two seconds.", "", false},
		"Longer": {"A second one, a second later, for two more: that's more than anybody is held for.", "2", true},
		"Minute": {"A second one asks for a minute.", "60", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &pause{now: time.Now}
				p.note(http.StatusTooManyRequests, http.Header{})
				done := make(chan error, inFlight)
				for range inFlight {
					go func() { done <- p.hold(t.Context(), statusCall()) }()
				}
				synctest.Wait()
				time.Sleep(shortPause / 2)
				if tc.again != "" {
					p.note(http.StatusTooManyRequests, http.Header{"Retry-After": {tc.again}})
				}
				time.Sleep(shortPause/2 - 1)
				if n := len(done); !tc.fails && n != 0 {
					t.Fatalf("%s: %d requests were sent in the pause", tc.reason, n)
				}
				time.Sleep(1 + holdLook)
				for range inFlight {
					if err := <-done; (err != nil) != tc.fails || err != nil && !IsUnreachable(err) {
						t.Errorf("%s: %v", tc.reason, err)
					}
				}
			})
		})
	}
}

// TestRateLimit: no more is asked in a second than is said, however many ask, and who can't wait for his turn has nothing sent.
func TestRateLimit(t *testing.T) {
	const rate, asked = 20, 30 // The first second's may come at once.
	var came atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		came.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":1,"address":"10.0.0.1/24"}`)
	}))
	defer srv.Close()
	c, err := New(Config{URL: srv.URL, Token: "0123456789abcdef0123456789abcdef01234567", MarkerField: "claim_id", RequestsPerSecond: rate})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	began := time.Now()
	var wg sync.WaitGroup
	for range asked {
		wg.Go(func() {
			if _, err := c.Get(t.Context(), 1); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if took, least := time.Since(began), time.Second*(asked-rate)/rate; took < least*9/10 {
		t.Errorf("%d requests in %s, want %s at least", asked, took, least)
	}
	slow, err := New(Config{URL: srv.URL, Token: "0123456789abcdef0123456789abcdef01234567", MarkerField: "claim_id", RequestsPerSecond: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	_, _ = slow.Get(t.Context(), 1)
	before := came.Load()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := slow.Get(ctx, 1); !IsUnreachable(err) || came.Load() != before {
		t.Errorf("got %v, and %d requests", err, came.Load()-before)
	}
}
