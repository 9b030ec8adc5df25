package netbox_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

const addressJSON = `{"id":7,"address":"10.0.0.1/24","custom_fields":{"claim_id":"m"},"last_updated":"2026-01-01T00:00:00Z"}`

// hasty is the timeout of a client that is to meet it, and patient one that nobody meets: a busy machine may take a second for what takes none.
const hasty, patient = 2 * time.Second, time.Minute

// A trouble is what stands between us and a NetBox that behaves: how a read and a write by it end, and how many requests those make.
type trouble struct {
	reason string
	// server answers; nil where run makes its own.
	server      http.HandlerFunc
	read, write netbox.Kind
	requests    int
}

// answer writes a body as a content type.
func answer(status int, contentType, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// raw answers with bytes that net/http wouldn't send, and hangs up after a while.
func raw(after time.Duration, bytes string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = conn.Write([]byte(bytes))
		time.Sleep(after)
		_ = conn.Close()
	}
}

func troubles() map[string]trouble {
	const json, html = "application/json", "text/html; charset=utf-8"
	unexpected, unknown := netbox.KindUnexpected, netbox.KindUnknownOutcome
	return map[string]trouble{
		"ByteOrderMark":    {"A proxy puts a mark in front of JSON.", answer(200, json, "\ufeff"+addressJSON), "", unknown, 2},
		"ByteOrderMark201": {"Also in front of what was made.", answer(201, json, "\ufeff"+addressJSON), unexpected, "", 2},
		"Charset":          {"JSON says its charset.", answer(200, json+"; charset=utf-8", addressJSON), "", unknown, 2},
		"HTML200":          {"A login page.", answer(200, html, "<html>"), unexpected, unknown, 2},
		"HTML201":          {"A page with the right status.", answer(201, html, "<html>"), unexpected, unknown, 2},
		"HTML400":          {"gunicorn's own, of a request that it doesn't read.", answer(400, html, "<html>"), unexpected, unknown, 2},
		"HTML404":          {"Django's own, of a path that there isn't.", answer(404, html, "<html>"), unexpected, unknown, 2},
		"HTML500":          {"The cache is down.", answer(500, html, "<html>"), netbox.KindServerError, unknown, 2},
		"JSON500":          {"The database is down.", answer(500, json, `{"error":"x","exception":"OperationalError"}`), netbox.KindServerError, unknown, 2},
		"BadGateway":       {"The proxy has lost NetBox.", answer(502, html, "<html>"), netbox.KindServerError, unknown, 2},
		"Unavailable":      {"The proxy has none.", answer(503, html, "<html>"), netbox.KindServerError, unknown, 2},
		"GatewayTimeout":   {"The proxy gave up, NetBox needn't have.", answer(504, html, "<html>"), netbox.KindServerError, unknown, 2},
		"Unknown599":       {"A status that nobody has defined.", answer(599, json, `{}`), netbox.KindServerError, unknown, 2},
		"Slow":             {"A body that doesn't end in time.", raw(2*hasty, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{"), unexpected, unknown, 2},
		"Truncated":        {"A body shorter than said.", raw(0, "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n"+addressJSON), unexpected, unknown, 2},
		"TruncatedChunks":  {"Chunks without the last one.", raw(0, "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"id\"\r\n"), unexpected, unknown, 2},
		"CutJSON":          {"A complete answer that isn't complete JSON.", answer(201, json, addressJSON[:30]), unexpected, unknown, 2},
		"Moved":            {"http was asked, it has moved to https.", answer(301, html, "", "Location", "https://netbox.example/"), unexpected, unexpected, 2},
		"Found":            {"A single sign-on in front.", answer(302, html, "", "Location", "https://login.example/"), unexpected, unexpected, 2},
		"Permanent":        {"A redirect that keeps the method.", answer(308, html, "", "Location", "/elsewhere/"), unexpected, unexpected, 2},
		"NewStatus": {"A status and a role that nobody knows yet.", answer(200, json,
			`{"id":7,"address":"10.0.0.1/24","status":{"value":"beamed","label":"Gebeamt"},"role":"quorum","vrf":null}`), "", unknown, 2},
		"NewShape":   {"Fields of other types than today's.", answer(200, json, `{"id":"7","address":"10.0.0.1/24","tags":{"a":1},"tenant":[1],"role":{"value":3},"custom_fields":null}`), "", unknown, 2},
		"OtherShape": {"JSON that isn't an address.", answer(200, json, `[7]`), unexpected, unknown, 2},
		"EOF":        {"A worker dies.", raw(0, ""), netbox.KindUnreachable, unknown, 0},
		"NotHTTP":    {"Something else listens.", raw(0, "SSH-2.0-OpenSSH_9.9\r\n"), netbox.KindUnreachable, unknown, 0},
		"Headers":    {"Headers without end.", raw(0, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 100<<10)+"\r\n\r\n"), netbox.KindUnreachable, unknown, 0},
		"Stale":      {"A person has changed it meanwhile.", answer(412, json, `{"detail":"Precondition failed."}`, "ETag", `W/"2"`), netbox.KindConflict, netbox.KindConflict, 2},
		"TooMany":    {"A proxy's limit.", answer(429, json, `{"detail":"x"}`), netbox.KindServerError, netbox.KindServerError, 2},
		"Login407":   {"A proxy wants a password.", answer(407, html, "<html>"), unexpected, unknown, 2},
	}
}

// TestTroubles has each trouble meet a read and a write. A write whose effect isn't known is never made again by itself.
func TestTroubles(t *testing.T) {
	all := troubles()
	for _, name := range sortedKeys(all) {
		tc := all[name]
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				if r.Header.Get("Accept-Language") != "en" || r.Header.Get("Authorization") != "Token "+token {
					t.Errorf("headers: %v", r.Header)
				}
				tc.server(w, r)
			}))
			t.Cleanup(srv.Close)
			call := func(write bool) error {
				timeout := patient
				if name == "Slow" {
					timeout = hasty
				}
				c, err := netbox.New(netbox.Config{URL: srv.URL, Token: token, MarkerField: "claim_id", Timeout: timeout})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				if write {
					_, err = c.Create(t.Context(), netip.MustParsePrefix("10.0.0.1/24"), nil, netbox.Request{Marker: "m"})
					return err
				}
				_, err = c.Get(t.Context(), 7)
				return err
			}
			rerr, werr := call(false), call(true)
			if got := [2]netbox.Kind{netbox.KindOf(rerr), netbox.KindOf(werr)}; got != [2]netbox.Kind{tc.read, tc.write} {
				t.Errorf("%s: read %v, write %v; want %q, %q", tc.reason, rerr, werr, tc.read, tc.write)
			}
			if tc.requests > 0 && int(requests.Load()) != tc.requests {
				t.Errorf("%s: %d requests, want %d", tc.reason, requests.Load(), tc.requests)
			}
			for _, err := range []error{rerr, werr} {
				if err != nil && (strings.Contains(err.Error(), token) || strings.Contains(err.Error(), "example")) {
					t.Errorf("a secret, or the server's own words: %q", err)
				}
			}
			faultRow(t, fmt.Sprintf("%s, read %s, write %s: %s", name, words(tc.read), words(tc.write), tc.reason), 2)
		})
	}
}

// faultRow is a row of the table that "make test" shows at its end: what went wrong, how often it was made to, and how often it was met,
// which is the same here.
func faultRow(t *testing.T, words string, met int) {
	t.Helper()
	t.Logf("\n| NetBox client: %s | %d | %d |", words, met, met)
}

func words(k netbox.Kind) string {
	if k == "" {
		return "Done"
	}
	return string(k)
}

func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// TestRedirectsKeepTheToken: whatever a redirect names, nothing is sent there.
func TestRedirectsKeepTheToken(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		c := serve(t, http.RedirectHandler(other.URL, status))
		_, err := c.Get(t.Context(), 7)
		if netbox.KindOf(err) != netbox.KindUnexpected || !strings.Contains(err.Error(), "redirects aren't followed") {
			t.Errorf("%d: %v", status, err)
		}
		if err := c.CreateMarkerField(t.Context()); err == nil {
			t.Errorf("%d: a write was redirected", status)
		}
	}
	if elsewhere.Load() != 0 {
		t.Errorf("%d requests went to another host", elsewhere.Load())
	}
	faultRow(t, "Redirect, to another host: nothing is sent there, by any of 301, 302, 303, 307, 308", 10)
}

// TestPagingGoesByItself: next may name a host, a scheme and a path that aren't ours to ask.
func TestPagingGoesByItself(t *testing.T) {
	var paths []string
	mux := http.NewServeMux()
	mux.HandleFunc("/sub/api/ipam/prefixes/", func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.URL.Path+"?offset="+r.URL.Query().Get("offset"))
		offset := len(paths) - 1
		next := `"http://10.255.255.1/api/ipam/prefixes/?limit=200&offset=200"`
		if offset == 2 {
			next = "null"
		}
		_, _ = fmt.Fprintf(w, `{"count":3,"next":%s,"results":[{"id":%d,"prefix":"10.0.0.0/24","vrf":{"id":%d}}]}`, next, offset+1, offset+1)
	})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		mux.ServeHTTP(w, r)
	}))
	defer srv.Close()
	_, err := newClient(t, srv.URL+"/sub").FindPrefix(t.Context(), "10.0.0.0/24", netbox.VRFRef{})
	if len(paths) < 2 || paths[1] != "/sub/api/ipam/prefixes/?offset=1" {
		t.Errorf("asked for %q (%v)", paths, err)
	}
	faultRow(t, "NextElsewhere, next names another host without the sub-path: pages go on by offset, where the first came from", 1)
}

// TestLongURL: NetBox answers more than 4 kB with an HTML 400, so it isn't asked.
func TestLongURL(t *testing.T) {
	c := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked: %d bytes", len(r.URL.String())) }))
	_, err := c.FindByMarker(t.Context(), strings.Repeat("m", 5000))
	if !netbox.IsInvalid(err) || !strings.Contains(err.Error(), "4 kB") {
		t.Errorf("got %v", err)
	}
	faultRow(t, "LongURL, over 4 kB: nothing is sent, and the sentence says so", 1)
}

// TestConnectionsThatDie: a server closes what is idle. A read is made again, a write is made once at most.
func TestConnectionsThatDie(t *testing.T) {
	var gets, posts atomic.Int32
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			gets.Add(1)
		} else {
			posts.Add(1)
			w.WriteHeader(http.StatusCreated)
		}
		_, _ = io.WriteString(w, addressJSON)
	}))
	conns := make(chan net.Conn, 100)
	srv.Config.ConnState = func(c net.Conn, s http.ConnState) {
		if s == http.StateIdle {
			conns <- c
		}
	}
	srv.Start()
	defer srv.Close()
	c := newClient(t, srv.URL)
	for i := range 20 {
		if _, err := c.Get(t.Context(), 7); err != nil {
			t.Errorf("read %d: %v", i, err)
		}
		_ = (<-conns).Close()
		before := posts.Load()
		_, err := c.Create(t.Context(), netip.MustParsePrefix("10.0.0.1/24"), nil, netbox.Request{Marker: "m"})
		if err != nil && !netbox.IsUnknownOutcome(err) || err == nil && posts.Load() != before+1 || posts.Load() > before+1 {
			t.Fatalf("write %d: %v, made %d times", i, err, posts.Load()-before)
		}
		if err == nil {
			_ = (<-conns).Close()
		}
	}
	faultRow(t, "DeadKeepAlive, idle connections die: reads are made again, writes once at most", 40)
}

// TestHTTP2: a server that could is spoken to by HTTP/1.1, where a lost connection is one lost request.
func TestHTTP2(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 1 {
			t.Errorf("spoken to by %s", r.Proto)
		}
		answer(200, "application/json", addressJSON)(w, r)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	c, err := netbox.New(netbox.Config{URL: srv.URL, Token: token, MarkerField: "f", TLS: netbox.TLS{Verify: netbox.VerifyNone}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), 7); err != nil {
		t.Errorf("got %v", err)
	}
	faultRow(t, "HTTP2, a server that offers HTTP/2 is spoken to by HTTP/1.1", 1)
}
