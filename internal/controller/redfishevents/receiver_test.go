package redfishevents

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/crossplane-contrib/provider-baremetal/internal/controller/hooks"
)

// taker is a receiver that knows one host, "a" with secret "s".
func taker(t *testing.T, leads bool, leader string) (r *Receiver, url string, woken *atomic.Int64) {
	t.Helper()
	woken = &atomic.Int64{}
	r = New(Options{
		Path: "/redfish/events/", Log: logging.NewNopLogger(), Leads: func() bool { return leads },
		Leader: func(context.Context) (string, error) { return leader, nil },
		Known:  func(id, secret string) bool { return id == "a" && secret == "s" },
		Sent: func(id, secret string) bool {
			if id != "a" || secret != "s" {
				return false
			}
			woken.Add(1)
			return true
		},
	})
	srv := httptest.NewServer(r.Handler())
	t.Cleanup(srv.Close)
	return r, srv.URL, woken
}

// counted is how many events a receiver has counted.
func counted(t *testing.T, r *Receiver, result string) (n float64) {
	t.Helper()
	all := prometheus.NewPedanticRegistry()
	all.MustRegister(r)
	families, err := all.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if m.GetLabel()[0].GetValue() == result {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return n
}

// unsized is a body whose length nobody says before.
type unsized struct{ io.Reader }

func post(t *testing.T, url string, body io.Reader, header ...string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range header {
		req.Header.Set(h, "1")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

func TestTake(t *testing.T) {
	cases := map[string]struct {
		reason, path string
		body         func() io.Reader
		status       int
		result       string
	}{
		"Event":    {reason: "what it says isn't read", path: "a/s", body: func() io.Reader { return strings.NewReader(`{"Events": []}`) }, status: 204, result: resultTaken},
		"Empty":    {reason: "nor has it to say anything", path: "a/s", status: 204, result: resultTaken},
		"Garbage":  {reason: "nor is it JSON", path: "a/s", body: func() io.Reader { return strings.NewReader("\x00\xff{{{{") }, status: 204, result: resultTaken},
		"Secret":   {reason: "a wrong secret", path: "a/t", status: 404, result: resultUnknown},
		"Longer":   {reason: "a secret and more", path: "a/ss", status: 404, result: resultUnknown},
		"Host":     {reason: "a host that nobody knows", path: "b/s", status: 404, result: resultUnknown},
		"TooLong":  {reason: "a path of which nothing is looked up", path: "a/" + strings.Repeat("s", 8<<10), status: 404, result: resultUnknown},
		"Oversize": {reason: "a body that says that it's too long", path: "a/s", body: func() io.Reader { return strings.NewReader(strings.Repeat("x", maxBody+1)) }, status: 413, result: resultTooLarge},
		"Unsized":  {reason: "one that doesn't", path: "a/s", body: func() io.Reader { return unsized{strings.NewReader(strings.Repeat("x", maxBody+1))} }, status: 413, result: resultTooLarge},
		"Largest":  {reason: "the longest that may be", path: "a/s", body: func() io.Reader { return unsized{strings.NewReader(strings.Repeat("x", maxBody))} }, status: 204, result: resultTaken},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, url, woken := taker(t, true, "")
			var body io.Reader
			if tc.body != nil {
				body = tc.body()
			}
			if got := post(t, url+"/redfish/events/"+tc.path, body); got != tc.status {
				t.Errorf("%s: status %d, want %d", tc.reason, got, tc.status)
			}
			if counted(t, r, tc.result) != 1 || (woken.Load() == 1) != (tc.result == resultTaken) {
				t.Errorf("%s: %q counted %v, woken %d", tc.reason, tc.result, counted(t, r, tc.result), woken.Load())
			}
		})
	}
}

// unread is a body that nobody may read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body of a stranger's event was read")

	return 0, io.EOF
}

// TestStranger: of what somebody sends who doesn't know the secret nothing is read, however long it is.
func TestStranger(t *testing.T) {
	r, _, woken := taker(t, true, "")
	for _, length := range []int64{-1, 2, maxBody + 1} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/redfish/events/a/t", unread{t})
		req.ContentLength = length
		w := httptest.NewRecorder()
		r.Handler().ServeHTTP(w, req)
		if w.Code != http.StatusNotFound || woken.Load() != 0 {
			t.Errorf("a body of %d bytes: status %d, woken %d", length, w.Code, woken.Load())
		}
	}
}

// TestPassOn: what comes to a provider that doesn't lead is taken by the one that does, once.
func TestPassOn(t *testing.T) {
	leads, url, woken := taker(t, true, "")
	at := strings.TrimPrefix(url, "http://")
	cases := map[string]struct {
		reason, leader, path string
		header               []string
		status               int
		result               string
	}{
		"Taken":   {reason: "the one that leads takes it", leader: at, path: "a/s", status: 204, result: resultPassed},
		"Unknown": {reason: "or doesn't", leader: at, path: "a/t", status: 404, result: resultUnknown},
		"Nobody":  {reason: "nobody leads", path: "a/s", status: 503, result: resultUnled},
		"Gone":    {reason: "who led is gone", leader: "127.0.0.1:1", path: "a/s", status: 503, result: resultUnled},
		"Twice":   {reason: "it was passed on already", leader: at, path: "a/s", header: []string{hooks.PassedHeader}, status: 503, result: resultUnled},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, url, _ := taker(t, false, tc.leader)
			if got := post(t, url+"/redfish/events/"+tc.path, strings.NewReader("{}"), tc.header...); got != tc.status || counted(t, r, tc.result) != 1 {
				t.Errorf("%s: status %d, want %d; counted %v", tc.reason, got, tc.status, counted(t, r, tc.result))
			}
		})
	}
	if woken.Load() != 1 || counted(t, leads, resultTaken) != 1 || counted(t, leads, resultUnknown) != 1 {
		t.Errorf("woken %d, taken %v, unknown %v", woken.Load(), counted(t, leads, resultTaken), counted(t, leads, resultUnknown))
	}
}
