package netboxwebhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

const secret = "s3cret"

// A stage is a receiver, and all around it.
type stage struct {
	*Receiver

	mu      sync.Mutex
	reads   []int64
	looks   int
	woken   map[string]int
	results map[string]int
	// changed are what a read of a record returns, and err what all do.
	changed map[int64][]netbox.IPAddress
	err     error
	block   chan struct{}
	// looking happens during a look at all; nil does nothing.
	looking   func()
	forgotten []int64
	freed     []string
	// secret is what this provider knows.
	secret string
	// follows says that another provider leads, and leader where that one listens.
	follows bool
	leader  string
}

func (s *stage) MarkerField() string { return "claim" }

func (s *stage) News(h netbox.Hook) bool { return h.LastUpdated != "known" }

func (s *stage) Reread(ctx context.Context, number int64) ([]netbox.IPAddress, error) {
	s.mu.Lock()
	block := s.block
	s.mu.Unlock()
	if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads = append(s.reads, number)
	return s.changed[number], s.err
}

func (s *stage) Forget(numbers ...int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten = append(s.forgotten, numbers...)
}

func (s *stage) Refresh(context.Context, time.Duration) ([]netbox.IPAddress, error) {
	if s.looking != nil {
		s.looking()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	var all []netbox.IPAddress
	for _, c := range s.changed {
		all = append(all, c...)
	}
	return all, s.err
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{secret: secret, woken: map[string]int{}, results: map[string]int{}, changed: map[int64][]netbox.IPAddress{}}
	s.Receiver = New(Options{
		Address: "127.0.0.1:0",
		Hooked: func(_ context.Context, ref config.Ref) (config.NetBox, []byte, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			switch {
			case ref.Name == "broken":
				return config.NetBox{}, nil, errors.New("boom")
			case ref == config.Ref{Kind: "ClusterProviderConfig", Name: "netbox"} || ref == config.Ref{Kind: "ProviderConfig", Namespace: "team-a", Name: "mine"}:
				return config.NetBox{Identity: config.Identity{Ref: ref, UID: "uid"}}, []byte(s.secret), nil
			}
			return config.NetBox{}, nil, config.ErrNoHook
		},
		Connect: func(config.NetBox) (Connection, error) { return s, nil },
		Wake: func(_ context.Context, _ config.Ref, marker string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.woken[marker]++
		},
		Freed: func(of config.Identity, a netip.Addr) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.freed = append(s.freed, fmt.Sprintf("%s %s", of.UID, a))
		},
		Count: func(_ config.Ref, known bool, result string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if known == (result == resultUnsigned || result == resultLimited || result == resultFailed) {
				t.Errorf("%s of a config that is known %t", result, known)
			}
			s.results[result]++
		},
		Leads: func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return !s.follows
		},
		Leader: func(context.Context) (string, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.leader == "unknown" {
				return "", errors.New("boom")
			}
			return s.leader, nil
		},
		Log: logging.NewNopLogger(),
	})
	return s
}

func body(event string, id int, updated, marker string) string {
	return fmt.Sprintf(`{"event":%q,"model":"ipaddress","data":{"id":%d,"last_updated":%q,"custom_fields":{"claim":%q}}}`, event, id, updated, marker)
}

func sign(b string) string {
	m := hmac.New(sha512.New, []byte(secret))
	_, _ = m.Write([]byte(b))
	return hex.EncodeToString(m.Sum(nil))
}

// deliver sends a delivery and returns the status.
func deliver(h http.Handler, path, b, signature string) int {
	return deliverFrom(h, "192.0.2.1:1234", path, b, signature)
}

func deliverFrom(h http.Handler, from, path, b, signature string) int {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(b))
	r.RemoteAddr = from
	r.Header.Set(netbox.SignatureHeader, signature)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

func TestDeliveries(t *testing.T) {
	good := body("updated", 7, "1", "m")
	const path = "/netbox/webhook/netbox"
	cases := map[string]struct {
		reason, path, body, signature string
		status                        int
		result                        string
	}{
		"Good":       {"a ClusterProviderConfig's", path, good, sign(good), 204, resultTaken},
		"Namespaced": {"a ProviderConfig's", "/netbox/webhook/team-a/mine", good, sign(good), 204, resultTaken},
		"Unsigned":   {"without a signature", path, good, "", 403, resultUnsigned},
		"Forged":     {"with another's", path, good, sign("x"), 403, resultUnsigned},
		"Unknown":    {"of a config that there isn't: the same answer", "/netbox/webhook/other", good, sign(good), 403, resultUnsigned},
		"Other":      {"of a namespace's config under a cluster's name", "/netbox/webhook/mine", good, sign(good), 403, resultUnsigned},
		"Broken":     {"while the API server is away", "/netbox/webhook/broken", good, sign(good), 503, resultFailed},
		"Garbage":    {"signed, and no JSON", path, "x", sign("x"), 400, resultMalformed},
		"Long":       {"signed, and long enough to fill our memory with", path, body("updated", 7, strings.Repeat("2", maxBody/2), "m"), sign(body("updated", 7, strings.Repeat("2", maxBody/2), "m")), 400, resultMalformed},
		"Device":     {"about something else", path, `{"event":"updated","model":"device"}`, sign(`{"event":"updated","model":"device"}`), 204, resultOther},
		"Known":      {"about what is known", path, body("updated", 7, "known", "m"), sign(body("updated", 7, "known", "m")), 204, resultKnown},
		"Huge":       {"without end", path, strings.Repeat("x", maxBody+1), sign(good), 413, resultUnsigned},
		"NoPath":     {"somewhere else", "/", good, sign(good), 404, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			if got := deliver(s.Handler(t.Context()), tc.path, tc.body, tc.signature); got != tc.status {
				t.Errorf("%s: %d, want %d", tc.reason, got, tc.status)
			}
			want := map[string]int{}
			if tc.result != "" {
				want[tc.result] = 1
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if diff := cmp.Diff(want, s.results); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	w := httptest.NewRecorder()
	newStage(t).Handler(t.Context()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", w.Code)
	}
}

// hold has reads wait from now on, until release.
func (s *stage) hold() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	block := make(chan struct{})
	s.block = block
	return func() { close(block) }
}

// eventually waits for what a goroutine does: for as long as a busy machine may take for what takes none.
func (s *stage) eventually(t *testing.T, reason string, ok func() bool) {
	t.Helper()
	for late := time.Now().Add(time.Minute); time.Now().Before(late); {
		s.mu.Lock()
		done := ok()
		s.mu.Unlock()
		if done {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.Fatalf("%s: never: %d reads, %d looks, woken %v, results %v", reason, len(s.reads), s.looks, s.woken, s.results)
}

// TestWakes: whose record was changed, cleared or deleted is woken.
func TestWakes(t *testing.T) {
	marked := func(m string) netbox.IPAddress { return netbox.IPAddress{CustomFields: map[string]any{"claim": m}} }
	cases := map[string]struct {
		reason, event string
		changed       []netbox.IPAddress
		err           error
		want          map[string]int
	}{
		"Changed": {"the one whose it is", "updated", []netbox.IPAddress{marked("m")}, nil, map[string]int{"m": 1}},
		"Taken":   {"and whose it was", "updated", []netbox.IPAddress{marked("n"), marked("m")}, nil, map[string]int{"m": 1, "n": 1}},
		"Deleted": {"also of what was never seen", "deleted", nil, nil, map[string]int{"m": 1}},
		"Down":    {"where it can't be read, it says so itself", "updated", nil, errors.New("boom"), map[string]int{"m": 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.changed[7], s.err = tc.changed, tc.err
			b := body(tc.event, 7, "1", "m")
			deliver(s.Handler(t.Context()), "/netbox/webhook/netbox", b, sign(b))
			s.eventually(t, tc.reason, func() bool { return cmp.Equal(tc.want, s.woken) })
			if forgets := len(s.forgotten) == 1; forgets != (tc.err != nil) {
				t.Errorf("%s: forgotten is %v: who is woken must look anew where nobody could", tc.reason, s.forgotten)
			}
		})
	}
}

// TestReplay: what was taken once is asked nothing for again, however often it's sent.
func TestReplay(t *testing.T) {
	s := newStage(t)
	h := s.Handler(t.Context())
	b := body("updated", 7, "1", "m")
	for range 100 {
		deliver(h, "/netbox/webhook/netbox", b, sign(b))
	}
	s.eventually(t, "one read", func() bool { return len(s.reads) == 1 })
	if diff := cmp.Diff(map[string]int{resultTaken: 1, resultRepeated: 99}, s.results); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestFlood: however many records are told of, they cost a bounded number of requests; those that wait are looked at together.
func TestFlood(t *testing.T) {
	s := newStage(t)
	now := time.Now() // All of it happens at once, however slow the machine is.
	s.senders.now = func() time.Time { return now }
	s.block = make(chan struct{})
	h := s.Handler(t.Context())
	for i := range 1000 {
		b := body("updated", i+1, "1", fmt.Sprint(i))
		deliver(h, "/netbox/webhook/netbox", b, sign(b))
		s.changed[int64(i+1)] = []netbox.IPAddress{{CustomFields: map[string]any{"claim": fmt.Sprint(i)}}}
	}
	close(s.block)
	s.eventually(t, "all are woken", func() bool { return len(s.woken) == 1000 })
	if len(s.reads)+s.looks > 3 {
		t.Errorf("%d reads and %d looks for 1000 records", len(s.reads), s.looks)
	}
	const path = "/netbox/webhook/netbox"
	for i := range 5 * burst {
		deliver(h, path, body("updated", i, "x", ""), "forged")
	}
	b := body("updated", 5000, "1", "m")
	if s.results[resultLimited] < burst || deliver(h, path, b, sign(b)) != http.StatusNoContent {
		t.Errorf("a flood of forged deliveries, and a signed one through the same proxy: %v", s.results)
	}
	for i := range 2 * crowdBurst {
		deliver(h, path, body("updated", i, "x", ""), "forged")
	}
	if deliver(h, path, b, sign(b)) != http.StatusTooManyRequests {
		t.Errorf("of more than that nothing is looked at: %v", s.results)
	}
	for _, from := range []string{"192.0.2.2:1", "[2001:db8:0:1::1]:1"} {
		if got := deliverFrom(h, from, path, b, sign(b)); got != http.StatusNoContent {
			t.Errorf("a signed one from elsewhere: %d", got)
		}
	}
}

// TestSenders: how many are told apart is bounded, and who sent nothing for a while is forgotten.
func TestSenders(t *testing.T) {
	now := time.Unix(0, 0)
	s := newSenders(func() time.Time { return now })
	for i := range mostSenders + 10 {
		s.vain(fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255))
	}
	if len(s.each) != mostSenders || s.of("10.99.0.1:1") != s.rest || s.of("nonsense") != s.rest || s.of("10.0.0.1:1") == s.rest {
		t.Errorf("%d senders", len(s.each))
	}
	if s.of("[2001:db8::1]:1") != s.of("[2001:db8::2]:2") {
		t.Error("one host is told apart from itself")
	}
	now = now.Add(forgetSender + time.Second)
	if s.of("10.99.0.1:1") == s.rest || len(s.each) != 1 {
		t.Errorf("%d senders after a while", len(s.each))
	}
	for range burst {
		s.vain("10.99.0.1:1")
	}
	if !s.spent("10.99.0.1:2") || s.spent("10.99.0.2:1") {
		t.Error("each has a bound of his own")
	}
}

// TestFreed: an address that was anybody's is free now, and somebody may wait for it.
func TestFreed(t *testing.T) {
	s := newStage(t)
	h := s.Handler(t.Context())
	for _, b := range []string{
		`{"event":"deleted","model":"ipaddress","data":{"id":7,"address":"10.77.0.9/24","last_updated":"known"}}`,
		`{"event":"deleted","model":"ipaddress","data":{"id":8,"last_updated":"known"}}`, body("updated", 9, "known", "x"),
	} {
		deliver(h, "/netbox/webhook/netbox", b, sign(b))
	}
	if diff := cmp.Diff([]string{"uid 10.77.0.9", "uid invalid IP"}, s.freed); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestServe: it listens, answers, and ends.
func TestServe(t *testing.T) {
	s := newStage(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.serve(ctx, l) }()
	b := body("updated", 7, "1", "m")
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.Addr().String()+"/netbox/webhook/netbox", strings.NewReader(b))
	req.Header.Set(netbox.SignatureHeader, sign(b))
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != http.StatusNoContent {
		t.Errorf("%v, %v", res, err)
	}
	_ = res.Body.Close()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	s.Address = "256.0.0.1:1"
	if err := s.Start(t.Context()); err == nil {
		t.Error("an address that nobody can listen on is an error")
	}
}
