package netbox_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

func asError(err error, e **netbox.Error) bool { return errors.As(err, e) }

func TestNew(t *testing.T) {
	ok := netbox.Config{URL: "https://netbox.example/", Token: token, MarkerField: "crossplane_claim"}
	with := func(f func(*netbox.Config)) netbox.Config { c := ok; f(&c); return c }
	cases := map[string]struct {
		cfg  netbox.Config
		want string // part of the error
	}{
		"Good":      {ok, ""},
		"SubPath":   {with(func(c *netbox.Config) { c.URL = "http://n.example:8000/a/b" }), ""},
		"NoScheme":  {with(func(c *netbox.Config) { c.URL = "netbox.example" }), "must look like"},
		"OddScheme": {with(func(c *netbox.Config) { c.URL = "ftp://netbox.example" }), "must look like"},
		"Password":  {with(func(c *netbox.Config) { c.URL = "https://u:hunter2@netbox.example" }), "must not hold a user"},
		"Query":     {with(func(c *netbox.Config) { c.URL = "https://netbox.example/?a=b" }), "must not hold a query"},
		"NoToken":   {with(func(c *netbox.Config) { c.Token = " \n" }), "it is empty"},
		"OddToken":  {with(func(c *netbox.Config) { c.Token = "a b" }), "no NetBox token has"},
		"NoField":   {with(func(c *netbox.Config) { c.MarkerField = "" }), "lower-case"},
		"OddField":  {with(func(c *netbox.Config) { c.MarkerField = "a&limit" }), "lower-case"},
		"Double":    {with(func(c *netbox.Config) { c.MarkerField = "a__n" }), "single underscores"},
		"FirstUse":  {with(func(c *netbox.Config) { c.TLS.Verify = "TrustOnFirstUse" }), "isn't supported yet"},
		"NoPEM":     {with(func(c *netbox.Config) { c.TLS = netbox.TLS{Verify: "CABundle", CABundle: "x"} }), "no PEM certificate"},
		"BadPin":    {with(func(c *netbox.Config) { c.TLS = netbox.TLS{Verify: "Pinned", PinnedSHA256: []string{"ab"}} }), "64 hex digits"},
		"NoPin":     {with(func(c *netbox.Config) { c.TLS = netbox.TLS{Verify: "Pinned"} }), "at least one pin"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := netbox.New(tc.cfg)
			if tc.want == "" && err == nil {
				return
			}
			if tc.want == "" || !netbox.IsInvalid(err) || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("a password is in %q", err)
			}
		})
	}
}

func TestSchemeAndPath(t *testing.T) {
	cases := map[string]struct{ token, base, auth, path string }{
		"Version1":  {token, "", "Token " + token, "/api/status/"},
		"Version2":  {"nbt_key.secret", "/", "Bearer nbt_key.secret", "/api/status/"},
		"Newline":   {"nbt_key.secret\n", "/", "Bearer nbt_key.secret", "/api/status/"},
		"SubPath":   {token, "/sub/netbox", "Token " + token, "/sub/netbox/api/status/"},
		"WithAPI":   {token, "/sub/api/", "Token " + token, "/sub/api/status/"},
		"ManySlash": {token, "//", "Token " + token, "/api/status/"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &script{t: t, answers: []transcript{transcripts(t, "4.6.8")["002"]}}
			srv := httptest.NewServer(s)
			defer srv.Close()
			c, err := netbox.New(netbox.Config{URL: srv.URL + tc.base, Token: tc.token, MarkerField: "f"})
			if err != nil {
				t.Fatal(err)
			}
			if v, err := c.Status(t.Context()); err != nil || v.String() != "4.6.8" {
				t.Fatalf("status: %v, %v", v, err)
			}
			got := []string{s.seen[0].Header.Get("Authorization"), s.seen[0].Path}
			if diff := cmp.Diff([]string{tc.auth, tc.path}, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestTrouble is rule 2: what a write without an answer, and a read without one, are.
func TestTrouble(t *testing.T) {
	hijack := func(f func(net.Conn)) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				f(conn)
				_ = conn.Close()
			}
		}
	}
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	cases := map[string]struct {
		reason      string
		handler     http.HandlerFunc
		read, write netbox.Kind
	}{
		"EOF":       {"the server dies", hijack(func(net.Conn) {}), netbox.KindUnreachable, netbox.KindUnknownOutcome},
		"Half":      {"half an answer", hijack(func(c net.Conn) { _, _ = c.Write([]byte("HTTP/1.1 201 C\r\nContent-Length: 99\r\n\r\n{")) }), netbox.KindUnexpected, netbox.KindUnknownOutcome},
		"Hang":      {"no answer", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, netbox.KindUnreachable, netbox.KindUnknownOutcome},
		"Garbage":   {"JSON that isn't an address", answerWith(201, `{"a":1}`), netbox.KindUnexpected, netbox.KindUnknownOutcome},
		"WrongOK":   {"a 200 to a POST", answerWith(200, `{"id":7,"address":"10.0.0.1/24"}`), "", netbox.KindUnknownOutcome},
		"Big":       {"an answer without end", answerWith(201, `"`+strings.Repeat("x", 5<<20)+`"`), netbox.KindUnexpected, netbox.KindUnknownOutcome},
		"Busy":      {"a proxy's limit", answerWith(429, `{"detail":"x"}`), netbox.KindServerError, netbox.KindServerError},
		"Login":     {"a proxy's login", answerWith(401, `{"detail":"x"}`), netbox.KindUnauthorized, netbox.KindUnauthorized},
		"Backend":   {"a 404 of an ingress", answerWith(404, `{"error":"no backend"}`), netbox.KindUnexpected, netbox.KindUnknownOutcome},
		"Missing":   {"a record may not be there, and what makes them always is", answerWith(404, `{"detail":"x"}`), netbox.KindNotFound, netbox.KindUnknownOutcome},
		"Conflict":  {"a 409 of NetBox's says what it's about", answerWith(409, `{"detail":"x"}`), netbox.KindConflict, netbox.KindConflict},
		"Conflicts": {"another one's may have passed a write on", answerWith(409, `{"message":"x"}`), netbox.KindConflict, netbox.KindUnknownOutcome},
		"Patience":  {"a gateway's timeout, as JSON", answerWith(408, `{"message":"x"}`), netbox.KindServerError, netbox.KindUnknownOutcome},
		"TooEarly":  {"and a gateway that would be asked later", answerWith(425, `{"message":"x"}`), netbox.KindServerError, netbox.KindUnknownOutcome},
		"Closed":    {"and nginx's own", answerWith(499, `{"message":"x"}`), netbox.KindServerError, netbox.KindUnknownOutcome},
		"Timeout": {"a gateway's timeout, as a page", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusRequestTimeout)
		}, netbox.KindServerError, netbox.KindUnknownOutcome},
		"Teapot":   {"another 4xx that isn't NetBox's", answerWith(418, `{"detail":"x"}`), netbox.KindInvalid, netbox.KindUnknownOutcome},
		"Method":   {"a 4xx of NetBox", answerWith(405, `{"detail":"x"}`), netbox.KindInvalid, netbox.KindInvalid},
		"NoObject": {"a list of errors", answerWith(400, `[{}]`), netbox.KindInvalid, netbox.KindInvalid},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(tc.handler)
			defer srv.CloseClientConnections()
			timeout := patient
			if name == "Hang" {
				timeout = hasty
			}
			c, err := netbox.New(netbox.Config{URL: srv.URL, Token: token, MarkerField: "f", Timeout: timeout})
			if err != nil {
				t.Fatal(err)
			}
			_, rerr := c.Get(t.Context(), 7)
			_, werr := c.Create(t.Context(), netip.MustParsePrefix("10.0.0.1/24"), nil, netbox.Request{Marker: "m"})
			if got := [2]netbox.Kind{netbox.KindOf(rerr), netbox.KindOf(werr)}; got != [2]netbox.Kind{tc.read, tc.write} {
				t.Errorf("%s: read %v, write %v; want %q, %q", tc.reason, rerr, werr, tc.read, tc.write)
			}
		})
	}
}

// TestNoNetBox: what has none of what each NetBox has isn't one, in whichever words it says so: nothing is absent by that.
func TestNoNetBox(t *testing.T) {
	html := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte("<html>"))
	}
	for name, handler := range map[string]http.HandlerFunc{"JSON": answerWith(404, `{"detail":"Not Found"}`), "Backend": answerWith(404, `{"error":"no backend"}`), "HTML": html} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(handler)
			t.Cleanup(srv.Close)
			c, err := netbox.New(netbox.Config{URL: srv.URL, Token: token, MarkerField: "f"})
			if err != nil {
				t.Fatal(err)
			}
			for call, do := range map[string]func() error{
				"status": func() error { _, err := c.Status(t.Context()); return err },
				"marker": func() error { _, err := c.FindByMarker(t.Context(), "m"); return err },
				"prefix": func() error { _, err := c.FindPrefix(t.Context(), "10.0.0.0/24", netbox.VRFRef{}); return err },
				"create": func() error {
					_, err := c.Create(t.Context(), netip.MustParsePrefix("10.0.0.1/24"), nil, netbox.Request{Marker: "m"})
					return err
				},
			} {
				if err := do(); !netbox.IsNoNetBox(err) || netbox.IsNotFound(err) || call == "create" != netbox.IsUnknownOutcome(err) {
					t.Errorf("%s: %v", call, err)
				}
			}
			if _, err := c.Get(t.Context(), 7); netbox.IsNoNetBox(err) {
				t.Errorf("one record may be absent: %v", err)
			}
		})
	}
}

// TestFullIsNetBoxs: that a source is full NetBox says in its own way; another 409 is of something in front of it.
func TestFullIsNetBoxs(t *testing.T) {
	for body, want := range map[string]netbox.Kind{
		`{"detail":"Insufficient resources are available to satisfy the request"}`: netbox.KindFull,
		`{"message":"x"}`: netbox.KindUnknownOutcome, `[]`: netbox.KindUnknownOutcome,
	} {
		srv := httptest.NewServer(answerWith(http.StatusConflict, body))
		t.Cleanup(srv.Close)
		c, err := netbox.New(netbox.Config{URL: srv.URL, Token: token, MarkerField: "f"})
		if err != nil {
			t.Fatal(err)
		}
		p := netbox.Parent{Kind: netbox.ParentPrefix, ID: 1, Prefix: netip.MustParsePrefix("10.0.0.0/24")}
		if _, err := c.Allocate(t.Context(), p, netbox.Request{Marker: "m"}); netbox.KindOf(err) != want {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

func answerWith(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func TestNothingSent(t *testing.T) {
	write := func(c *netbox.Client, ctx context.Context) error {
		_, err := c.Create(ctx, netip.MustParsePrefix("10.0.0.1/24"), nil, netbox.Request{Marker: "m"})
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	if err := write(newClient(t, "http://"+addr), t.Context()); !netbox.IsUnreachable(err) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("a refused connection: %v", err)
	}
	srv := httptest.NewServer(answerWith(500, `{}`))
	defer srv.Close()
	deny := netbox.WithDialControl(func(string, string, syscall.RawConn) error { return errors.New("denied") })
	if err := write(newClient(t, srv.URL, deny), t.Context()); netbox.KindOf(err) != netbox.KindNotAllowed {
		t.Errorf("a denied address: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := write(newClient(t, srv.URL), ctx); !netbox.IsUnreachable(err) {
		t.Errorf("a cancelled context: %v", err)
	}
}

func TestTLS(t *testing.T) {
	srv := httptest.NewTLSServer(answerWith(200, `{"netbox-version":"4.6.8"}`))
	defer srv.Close()
	srv.Config.ErrorLog = nil
	sum := sha256.Sum256(srv.Certificate().Raw)
	bundle := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}))
	cases := map[string]struct {
		tls  netbox.TLS
		want netbox.Kind
	}{
		"System":   {netbox.TLS{}, netbox.KindUntrusted},
		"CABundle": {netbox.TLS{Verify: netbox.VerifyCABundle, CABundle: bundle}, ""},
		"Pinned":   {netbox.TLS{Verify: netbox.VerifyPinned, PinnedSHA256: []string{hex.EncodeToString(sum[:])}}, ""},
		"WrongPin": {netbox.TLS{Verify: netbox.VerifyPinned, PinnedSHA256: []string{strings.Repeat("00", 32)}}, netbox.KindUntrusted},
		"None":     {netbox.TLS{Verify: netbox.VerifyNone}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := netbox.New(netbox.Config{URL: srv.URL, Token: token, MarkerField: "f", TLS: tc.tls})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Status(t.Context()); netbox.KindOf(err) != tc.want {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestPool(t *testing.T) {
	p := netbox.NewPool()
	cfg := netbox.Config{URL: "http://a.example", Token: token, MarkerField: "f"}
	get := func(cfg netbox.Config) *netbox.Client {
		c, err := p.Client("uid", cfg)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := get(cfg)
	if get(cfg) != first {
		t.Error("the same settings must give the same client")
	}
	cfg.Token = "nbt_a.b"
	if get(cfg) == first {
		t.Error("a new token must give a new client")
	}
	borrowed, err := p.Borrow("uid", cfg)
	if err != nil || borrowed != get(cfg) {
		t.Errorf("whoever looks now and then uses what is there: %v", err)
	}
	if other, err := p.Borrow("other", cfg); err != nil || other == borrowed || len(p.Used(time.Hour)) != 1 {
		t.Errorf("and leaves nothing behind: %v, %d", err, len(p.Used(time.Hour)))
	}
	if _, err := p.Client("uid", netbox.Config{}); !netbox.IsInvalid(err) {
		t.Errorf("bad settings: %v", err)
	}
}

// TestTokenTooNew: a token of version 2 that isn't accepted may be just what a NetBox before 4.5 doesn't know, which 4.2 doesn't tell of itself.
func TestTokenTooNew(t *testing.T) {
	for version, want := range map[string]string{
		"4.2.9": "it may be a NetBox before 4.5, which knows no tokens of version 2", "4.4.10": "it's NetBox 4.4, which knows no tokens of version 2", "4.6.8": "", "4.7.0-beta1": "",
	} {
		for name, tc := range map[string]struct{ token, want string }{"Version2": {"nbt_aaaaaaaaaaaa.b", want}, "Version1": {token, ""}} {
			all := transcripts(t, version)
			srv := httptest.NewServer(&script{t: t, answers: []transcript{all["802"], all["003"]}})
			c, err := netbox.New(netbox.Config{URL: srv.URL, Token: tc.token, MarkerField: "claim_id"})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Get(t.Context(), 1)
			srv.Close()
			if e, ok := errors.AsType[*netbox.Error](err); !ok || e.Kind != netbox.KindUnauthorized || !strings.HasPrefix(e.Hint, tc.want) || (e.Hint == "") != (tc.want == "") {
				t.Errorf("%s, %s: %+v", version, name, err)
			}
		}
	}
}
