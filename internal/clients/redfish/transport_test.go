package redfish

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// asked notes requests before another handler answers them.
type asked struct {
	next http.Handler
	seen []string
}

func (a *asked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.seen = append(a.seen, r.Method+" "+r.URL.Path+" "+string(body))
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	a.next.ServeHTTP(w, r)
}

// TestRespelling: iLOs redirect to the spelling of a path that they like; everything else is no business of a BMC's.
func TestRespelling(t *testing.T) {
	cases := map[string]struct {
		reason   string
		status   int
		location string
		method   string
		want     []string // paths asked for
		kind     Kind
	}{
		"Slash":      {reason: "A slash is missing.", status: 308, location: "/redfish/v1/Systems/1/", want: []string{"/redfish/v1/Systems/1", "/redfish/v1/Systems/1/"}},
		"Moved":      {reason: "In another code.", status: 301, location: "/redfish/v1/systems/1", want: []string{"/redfish/v1/Systems/1", "/redfish/v1/systems/1"}},
		"Absolute":   {reason: "By the name that the BMC has for itself: we stay where we are.", status: 302, location: "https://ilo.example/redfish/v1/Systems/1/", want: []string{"/redfish/v1/Systems/1", "/redfish/v1/Systems/1/"}},
		"Write":      {reason: "A write goes along with its body.", status: 307, location: "/redfish/v1/Systems/1/", method: http.MethodPatch, want: []string{"/redfish/v1/Systems/1", "/redfish/v1/Systems/1/"}},
		"WriteMoved": {reason: "Codes that make a read of a write aren't followed.", status: 302, location: "/redfish/v1/Systems/1/", method: http.MethodPatch, want: []string{"/redfish/v1/Systems/1"}, kind: Protocol},
		"Elsewhere":  {reason: "Another path is another thing.", status: 308, location: "/login", want: []string{"/redfish/v1/Systems/1"}, kind: Protocol},
		"OtherHost":  {reason: "Another host is nobody's business.", status: 308, location: "https://evil.example/redfish/v1/Systems/1", want: []string{"/redfish/v1/Systems/1"}, kind: Protocol},
		"Same":       {reason: "The same again doesn't help.", status: 308, location: "/redfish/v1/Systems/1", want: []string{"/redfish/v1/Systems/1"}, kind: Protocol},
		"Nowhere":    {reason: "No Location.", status: 308, want: []string{"/redfish/v1/Systems/1"}, kind: Protocol},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got, bodies []string
			c := connectTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == pathRoot {
					_, _ = io.WriteString(w, emptyRoot)

					return
				}
				body, _ := io.ReadAll(r.Body)
				got, bodies = append(got, r.URL.Path), append(bodies, string(body))
				if len(got) == 1 {
					w.Header().Set("Location", tc.location)
					w.WriteHeader(tc.status)

					return
				}
				_, _ = io.WriteString(w, `{"Id":"1"}`)
			}))
			method, body := http.MethodGet, any(nil)
			if tc.method != "" {
				method, body = tc.method, map[string]string{"a": "b"}
			}
			_, err := c.do(t.Context(), method, "/redfish/v1/Systems/1", body, "")
			if diff := cmp.Diff(tc.want, got); diff != "" || KindOf(err) != tc.kind {
				t.Errorf("\n%s\ngot %v, want kind %q; paths: -want, +got:\n%s", tc.reason, err, tc.kind, diff)
			}
			for _, b := range bodies {
				if b != bodies[0] {
					t.Errorf("\n%s\nbodies differ: %q", tc.reason, bodies)
				}
			}
		})
	}
}

// TestLoop: a BMC that redirects to and fro is left after one step.
func TestLoop(t *testing.T) {
	n := 0
	c := connectTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == pathRoot {
			_, _ = io.WriteString(w, emptyRoot)

			return
		}
		n++
		w.Header().Set("Location", map[bool]string{true: "/a", false: "/a/"}[strings.HasSuffix(r.URL.Path, "/")])
		w.WriteHeader(http.StatusPermanentRedirect)
	}))
	if _, err := c.get(t.Context(), "/a", nil); KindOf(err) != Protocol || n != 2 {
		t.Errorf("got %v after %d requests, want a protocol error after 2", err, n)
	}
}

// TestHalfRefusal: a BMC that dies in the middle of its refusal has refused: no second try in another way.
func TestHalfRefusal(t *testing.T) {
	for name, hang := range map[string]bool{"Cut": false, "Hang": true} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == pathRoot {
					_, _ = io.WriteString(w, emptyRoot)

					return
				}
				tries++
				w.Header().Set("Content-Length", "100")
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = io.WriteString(w, `{"error":{"code":"Base.`)
				_ = http.NewResponseController(w).Flush()
				if hang {
					<-r.Context().Done()
				}
				panic(http.ErrAbortHandler)
			}))
			t.Cleanup(srv.Close)
			c, err := Connect(t.Context(), Config{
				Address: srv.URL, Username: "u", Password: "p", TLS: TLS{Verify: VerifyNone}, Guard: loopback(), RequestTimeout: 200 * time.Millisecond,
			})
			if err == nil {
				_, err = c.System(t.Context(), Selector{})
			}
			if !IsUnauthorized(err) || tries != 1 {
				t.Errorf("got %v after %d tries, want unauthorized after 1", err, tries)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	cases := map[string]struct {
		reason string
		header string
		want   time.Duration
	}{
		"None":     {reason: "It doesn't ask."},
		"Seconds":  {reason: "It does.", header: "30", want: 30 * time.Second},
		"Long":     {reason: "Nobody waits for an hour.", header: "3600", want: 2 * time.Minute},
		"Date":     {reason: "A BMC's clock is wrong.", header: "Wed, 21 Oct 2015 07:28:00 GMT"},
		"Negative": {reason: "Nonsense.", header: "-5"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := retryAfter(tc.header); got != tc.want {
				t.Errorf("%s\nretryAfter(%q) = %s, want %s", tc.reason, tc.header, got, tc.want)
			}
			c := connectTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == pathRoot {
					_, _ = io.WriteString(w, emptyRoot)

					return
				}
				w.Header().Set("Retry-After", tc.header)
				w.WriteHeader(http.StatusServiceUnavailable)
			}))
			_, err := c.get(t.Context(), "/a", nil)
			if e := new(Error); !asError(err, &e) || e.RetryAfter != tc.want || e.Kind != Unreachable {
				t.Errorf("%s\ngot %+v, want to retry after %s", tc.reason, err, tc.want)
			}
		})
	}
}

// TestDriftingRoot: a service root that drifts from the schema is no reason to refuse a BMC.
func TestDriftingRoot(t *testing.T) {
	for name, root := range map[string]string{
		"Types": `{"Id":5,"Name":null,"RedfishVersion":1.0,"ProtocolFeaturesSupported":"none","Oem":[],"Links":null,"Systems":"/redfish/v1/Systems","UUID":{}}`,
		"Lists": `{"Links":{"Sessions":null},"Systems":{"@odata.id":"/redfish/v1/Systems"},"Managers":[],"Product":["x"],"Vendor":7}`,
		"Bare":  `{"@odata.id":"/redfish/v1"}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := connectTo(t, bmcOf{
				"/redfish/v1": root, "/redfish/v1/Systems": `{"Members":[{"@odata.id":"/redfish/v1/Systems/1"}]}`, "/redfish/v1/Systems/1": `{"Id":"1","SerialNumber":"S"}`,
			})
			if s, err := c.System(t.Context(), Selector{}); err != nil || s.Serial != "S" {
				t.Errorf("System(...): got %q, %v", s.Serial, err)
			}
		})
	}
}

// TestRequestsOfConnect: what a login costs a slow BMC: the root and the session.
func TestRequestsOfConnect(t *testing.T) {
	a := &asked{next: &loginBMC{status: 201, token: "t", location: "/s/1"}}
	srv := httptest.NewTLSServer(a)
	t.Cleanup(srv.Close)
	c, err := Connect(t.Context(), Config{Address: srv.URL, Username: "u", Password: "p", TLS: TLS{Verify: VerifyNone}, Guard: loopback()})
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close(context.WithoutCancel(t.Context()))
	want := []string{"GET /redfish/v1/ ", `POST /redfish/v1/SessionService/Sessions {"Password":"p","UserName":"u"}`, "DELETE /s/1 "}
	if diff := cmp.Diff(want, a.seen); diff != "" {
		t.Errorf("requests: -want, +got:\n%s", diff)
	}
}
