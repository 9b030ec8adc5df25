package redfish

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestPatience: reads end when their time is over, as many as it's for, and writes don't.
func TestPatience(t *testing.T) {
	const slow, path = 200 * time.Millisecond, "/redfish/v1/Systems/1"
	cases := map[string]struct {
		reason   string
		patience Patience
		method   string
		body     bool // is what is slow
		before   int  // quick reads
		others   bool // begin to wait in the middle
		want     Kind
		cut      bool
		wrote    bool
		yielded  bool
	}{
		"Cut":      {reason: "A read that takes too long.", patience: Patience{Read: slow / 4}, want: Unreachable, cut: true},
		"CutBody":  {reason: "So does its body.", patience: Patience{Read: slow / 4}, body: true, want: Unreachable, cut: true},
		"InTime":   {reason: "It may take as long.", patience: Patience{Read: 10 * slow}},
		"Patient":  {reason: "All the time of RequestTimeout.", patience: Patience{}},
		"AllReads": {reason: "Every read is bounded.", patience: Patience{Read: slow / 4}, before: 1, want: Unreachable, cut: true},
		"Write":    {reason: "Nobody knows what becomes of a write that is broken off.", patience: Patience{Read: slow / 4}, method: http.MethodPatch, wrote: true},
		"Yields":   {reason: "Somebody waits.", others: true, want: Unreachable, yielded: true},
		"Stays":    {reason: "Nobody breaks off a write.", others: true, method: http.MethodPatch, wrote: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := connectTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == path {
					if tc.body {
						w.WriteHeader(http.StatusOK)
						_ = http.NewResponseController(w).Flush()
					}
					time.Sleep(slow)
				}
				_, _ = io.WriteString(w, emptyRoot)
			}))
			p := tc.patience
			ctx := WithPatience(t.Context(), &p)
			if tc.others {
				var now context.CancelFunc
				p.Yield, now = context.WithCancel(t.Context())
				time.AfterFunc(slow/4, now)
			}
			for range tc.before {
				if _, err := c.get(ctx, pathRoot, nil); err != nil {
					t.Fatal(err)
				}
			}
			method := http.MethodGet
			if tc.method != "" {
				method = tc.method
			}
			_, err := c.do(ctx, method, path, nil, "")
			if KindOf(err) != tc.want || p.Cut != tc.cut || p.Wrote != tc.wrote || p.Yielded != tc.yielded {
				t.Errorf("%s\ngot %v, cut %t, wrote %t, yielded %t; want kind %q, %t, %t, %t", tc.reason, err, p.Cut, p.Wrote, p.Yielded, tc.want, tc.cut, tc.wrote, tc.yielded)
			}
			if read := method == http.MethodGet && !tc.cut && !tc.yielded; (p.Slowest >= slow) != read {
				t.Errorf("%s\nthe slowest read took %v", tc.reason, p.Slowest)
			}
		})
	}
}

// TestResumedIsJudged: a TLS session that is resumed has its certificate judged like a new one.
func TestResumedIsJudged(t *testing.T) {
	var resumed []bool
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resumed = append(resumed, r.TLS.DidResume)
		_, _ = io.WriteString(w, emptyRoot)
	}))
	t.Cleanup(srv.Close)
	pin := Fingerprint(srv.Certificate().Raw)
	for name, tls := range map[string]TLS{
		"Pinned": {Verify: VerifyPinned, Pins: []string{pin}},
		"First":  {Verify: VerifyTrustOnFirstUse},
		"None":   {Verify: VerifyNone},
	} {
		t.Run(name, func(t *testing.T) {
			resumed = nil
			c, err := Connect(t.Context(), Config{Address: srv.URL, Auth: AuthBasic, TLS: tls, Guard: loopback()})
			if err != nil {
				t.Fatal(err)
			}
			c.http.CloseIdleConnections()
			if _, err := c.get(t.Context(), pathRoot, nil); err != nil || len(resumed) != 2 || !resumed[1] {
				t.Fatalf("get(...): %v; resumed %v, want the second", err, resumed)
			}
			c.http.CloseIdleConnections()
			c.trust.cfg = TLS{Verify: VerifyPinned, Pins: []string{"aa"}}
			if _, err := c.get(t.Context(), pathRoot, nil); !IsUntrustedCertificate(err) {
				t.Errorf("get(...) by a resumed session whose certificate isn't trusted any more: %v", err)
			}
		})
	}
}
