package artifacts

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// pullName is the name of the Secret of these tests, hunter2 the password that nobody but its host may hear.
const (
	pullName = "pull-0000"
	hunter2  = "hunter2"
)

// secretOf makes a Docker config that names a user for hosts.
func secretOf(hosts ...string) string {
	auths := make([]string, 0, len(hosts))
	for _, h := range hosts {
		auths = append(auths, fmt.Sprintf(`%q:{"auth":%q}`, h, base64.StdEncoding.EncodeToString([]byte("robot:"+hunter2))))
	}
	return `{"auths":{` + strings.Join(auths, ",") + `}}`
}

// withSecret is a cache whose Secret is what config says, whose log is written down.
func withSecret(t *testing.T, config *string) (*Cache, *strings.Builder) {
	t.Helper()
	said := &strings.Builder{}
	return newCache(t, func(o *Options) {
		o.Now = later()
		o.Logger = slog.New(slog.NewTextHandler(said, nil))
		o.PullSecret = func(_ context.Context, name string) ([]byte, error) {
			if name != pullName || *config == "" {
				return nil, errors.New("secrets \"pull-0000\" not found, says the API")
			}
			return []byte(*config), nil
		}
	}), said
}

// hears serves a file to who has the password, and writes down what it's shown.
type hears struct {
	mu     sync.Mutex
	shown  []string
	status int
	to     string
}

// ServeHTTP answers.
func (s *hears) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = append(s.shown, q.Header.Get("Authorization"))
	user, password, _ := q.BasicAuth()
	switch {
	case s.to != "":
		http.Redirect(w, q, s.to+q.URL.Path, http.StatusTemporaryRedirect) //nolint:gosec // To another server of the test.
	case s.status != 0:
		w.WriteHeader(s.status)
	case user == "robot" && password == hunter2, q.Header.Get("Authorization") == "Bearer t0ken":
		_, _ = io.WriteString(w, "kernel")
	default:
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}
}

func (s *hears) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown
}

const basic = "Basic cm9ib3Q6aHVudGVyMg==" // robot:hunter2

// TestPassword: a file's server is told the password that its Secret has for that host, and nobody else is.
func TestPassword(t *testing.T) {
	cases := map[string]struct {
		reason string
		config func(host, other string) string
		secret string
		status int
		to     bool // It redirects to the other host.
		shown  []string
		says   string
	}{
		"Told":      {reason: "its own host", config: func(h, _ string) string { return secretOf(h) }, shown: []string{basic}},
		"URL":       {reason: "a host may be named as a URL", config: func(h, _ string) string { return secretOf("https://" + h + "/v2/") }, shown: []string{basic}},
		"Below":     {reason: "only what is below a path", config: func(h, _ string) string { return secretOf(h + "/files") }, shown: []string{basic}},
		"Bearer":    {reason: "a token in the place of a password", config: func(h, _ string) string { return `{"auths":{"` + h + `":{"registrytoken":"t0ken"}}}` }, shown: []string{"Bearer t0ken"}},
		"Aside":     {reason: "another path", config: func(h, _ string) string { return secretOf(h + "/file") }, shown: []string{""}, says: "has none for that host"},
		"OtherHost": {reason: "another's password", config: func(_, o string) string { return secretOf(o, "*", "127.0.0.1", "https://") }, shown: []string{""}, says: "has none for that host"},
		"Wrong":     {reason: "one that isn't taken", config: func(h, _ string) string { return secretOf(h) }, status: http.StatusUnauthorized, shown: []string{basic}, says: "doesn't take the password of the profile's pullSecretRef (401): correct it in that Secret"},
		"Forbidden": {reason: "a user that may not", config: func(h, _ string) string { return secretOf(h) }, status: http.StatusForbidden, shown: []string{basic}, says: "doesn't let the user of the profile's pullSecretRef read it (403)"},
		"NoSecret":  {reason: "there is none", config: func(_, _ string) string { return "" }, says: "it isn't there, or bootd has no copy of it yet"},
		"NoConfig":  {reason: "it isn't one", config: func(_, _ string) string { return hunter2 }, says: "isn't a Docker config in JSON"},
		"Nameless":  {reason: "the profile names none", secret: "-", config: func(h, _ string) string { return secretOf(h) }, shown: []string{""}, says: "name a Secret with its password in the profile's pullSecretRef"},
		"Redirect":  {reason: "another host hears nothing, though the Secret names it, too", config: func(h, o string) string { return secretOf(h, o) }, to: true, shown: []string{basic}, says: "its server answered 401"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			elsewhere := &hears{}
			other := serving(t, elsewhere.ServeHTTP)
			s := &hears{status: tc.status}
			if tc.to {
				s.to = other
			}
			u := serving(t, s.ServeHTTP)
			config := tc.config(strings.TrimPrefix(u, "http://"), strings.TrimPrefix(other, "http://"))
			c, said := withSecret(t, &config)
			a := boot.Artifact{URL: u + "/files/kernel", Digest: sum("kernel"), PullSecret: pullName}
			if tc.secret == "-" {
				a.PullSecret = ""
			}
			err := c.Await(t.Context(), a)
			if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.says)
			}
			if diff := cmp.Diff(tc.shown, s.heard()); diff != "" {
				t.Errorf("%s: -to be shown, +shown:\n%s", tc.reason, diff)
			}
			for _, h := range elsewhere.heard() {
				if h != "" {
					t.Errorf("%s: another host was shown %q", tc.reason, h)
				}
			}
			kept := fmt.Sprintf("%v %s %+v", err, said, c.Report())
			for _, secret := range []string{hunter2, basic, "robot", "t0ken", "says the API"} {
				if strings.Contains(kept, secret) {
					t.Errorf("%s: what is said holds %q: %s", tc.reason, secret, kept)
				}
			}
		})
	}
}

// TestPasswordRotated: what a Secret says now counts, and what one tenant's says isn't said for another's.
func TestPasswordRotated(t *testing.T) {
	s := &hears{}
	u := serving(t, s.ServeHTTP)
	config := `{"auths":{"` + strings.TrimPrefix(u, "http://") + `":{"username":"robot","password":"old"}}}`
	c, _ := withSecret(t, &config)
	a := boot.Artifact{URL: u, Digest: sum("kernel"), PullSecret: pullName}
	if err := c.Await(t.Context(), a); err == nil {
		t.Fatal("an old password")
	}
	config = secretOf(strings.TrimPrefix(u, "http://"))
	if err := c.Await(t.Context(), boot.Artifact{URL: u, Digest: a.Digest}); err == nil {
		t.Error("who names no Secret has no password")
	}
	if err := c.Await(t.Context(), a); err != nil {
		t.Error(err)
	}
	if got := s.heard(); got[1] != "" || got[2] != basic {
		t.Errorf("shown %q", got)
	}
}

// TestRegistryPassword: a registry, and its token service, are told what the Secret has for their hosts.
func TestRegistryPassword(t *testing.T) {
	cases := map[string]struct {
		reason string
		// hosts that the Secret names: r(egistry), s(ervice).
		hosts     string
		challenge string // SERVICE, and SELF: the registry itself.
		service   int    // What the service answers; 0: a token to who has the password.
		want      string // What the service is shown.
		says      string
	}{
		"Basic":       {reason: "a registry without a token service", hosts: "r", challenge: `Basic realm="x"`},
		"Named":       {reason: "a token service on another host, which the Secret names", hosts: "rs", challenge: `Bearer realm="SERVICE/token",service="x"`, want: basic},
		"Unnamed":     {reason: "a token service that the registry alone names is told nothing", hosts: "r", challenge: `Bearer realm="SERVICE/token",service="x"`, says: "none for that service's host"},
		"Elsewhere":   {reason: "a registry that the Secret doesn't name gets no token for one that it names", hosts: "s", challenge: `Bearer realm="SERVICE/token",service="x"`, says: "none for that service's host"},
		"Both":        {reason: "tokens go before passwords", hosts: "rs", challenge: "Basic realm=\"x\"\nBearer realm=\"SERVICE/token\"", want: basic},
		"OtherHost":   {reason: "the Secret is of another registry", hosts: "", challenge: `Basic realm="x"`, says: "none for that host"},
		"WrongToken":  {reason: "the service doesn't take it", hosts: "rs", challenge: `Bearer realm="SERVICE/token"`, service: http.StatusUnauthorized, want: basic, says: "token service doesn't take the password"},
		"MayNot":      {reason: "nor let it", hosts: "rs", challenge: `Bearer realm="SERVICE/token"`, service: http.StatusForbidden, want: basic, says: "token service doesn't let the user"},
		"Unspecified": {reason: "the registry says nothing", hosts: "r", challenge: "", says: "takes neither a password nor a token"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var heard []string
			var mu sync.Mutex
			service := serving(t, func(w http.ResponseWriter, q *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				heard = append(heard, q.Header.Get("Authorization"))
				switch {
				case tc.service != 0:
					w.WriteHeader(tc.service)
				case q.Header.Get("Authorization") == basic:
					_, _ = io.WriteString(w, `{"token":"let-me-in"}`)
				default:
					w.WriteHeader(http.StatusUnauthorized)
				}
			})
			r := &registry{
				blobs: map[string]string{sum("kernel"): "kernel"}, token: "let-me-in", basic: basic, challenge: strings.ReplaceAll(tc.challenge, "SERVICE", service),
			}
			host := r.serve(t)
			var hosts []string
			for h, name := range map[string]string{"r": host, "s": strings.TrimPrefix(service, "http://")} {
				if strings.Contains(tc.hosts, h) {
					hosts = append(hosts, name)
				}
			}
			config := secretOf(hosts...)
			c, said := withSecret(t, &config)
			err := c.Await(t.Context(), boot.Artifact{URL: "oci://" + host + "/boot/images", Digest: sum("kernel"), PullSecret: pullName})
			if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.says)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, h := range heard {
				if h != tc.want {
					t.Errorf("%s: the token service was shown %q, want %q", tc.reason, h, tc.want)
				}
			}
			if s := fmt.Sprint(err, said); strings.Contains(s, hunter2) || strings.Contains(s, basic) {
				t.Errorf("%s: %s", tc.reason, s)
			}
		})
	}
}

// TestRegistryRedirects: where a registry keeps its blobs is told neither token nor password.
func TestRegistryRedirects(t *testing.T) {
	var shown atomic.Pointer[string]
	store := serving(t, func(w http.ResponseWriter, q *http.Request) {
		h := q.Header.Get("Authorization")
		shown.Store(&h)
		_, _ = io.WriteString(w, strings.TrimPrefix(q.URL.Path, "/")) //nolint:gosec // Octets for a cache, not a page.
	})
	r := &registry{blobs: map[string]string{sum("kernel"): "kernel"}, token: "x", basic: basic, challenge: `Basic realm="x"`, store: store}
	host := r.serve(t)
	config := secretOf(host, strings.TrimPrefix(store, "http://"))
	c, _ := withSecret(t, &config)
	if err := c.Await(t.Context(), boot.Artifact{URL: "oci://" + host + "/boot/images", Digest: sum("kernel"), PullSecret: pullName}); err != nil {
		t.Error(err)
	}
	if got := shown.Load(); got == nil || *got != "" {
		t.Errorf("another host was shown %v", got)
	}
}

func TestLogins(t *testing.T) {
	l, err := parseLogins([]byte(`{"auths":{
		"https://index.docker.io/v1/":{"username":"hub","password":"p"},
		"R.Example:443":{"username":"all","password":"p"}, "r.example/team-a":{"username":"a","password":"p"}, "r.example/team-a/own":{"username":"own","password":"p"},
		"s.example:5000":{"auth":"dXNlcjpwYTpzcw=="}, "*.t.example":{"username":"x","password":"p"}, "u.example":{"identitytoken":"x"},
		"v.example":{"registrytoken":"a\r\nX-Evil: 1"}, "w.example":{"auth":"!"}, "@x.example":{"username":"x","password":"p"}},
		"credHelpers":{"y.example":"ecr-login"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{
		"docker.io library/debian": "hub", "registry-1.docker.io x": "hub", "auth.docker.io token": "hub",
		"r.example x": "all", "r.example:443 x": "all", "r.example team-a": "a", "r.example team-a/x": "a", "r.example team-a/own/x": "own", "r.example team-ab": "all",
		"r.example team-a/../team-b": "all", "r.example team-a//x": "all", "r.example team-a%2fx": "all", "r.example ": "all",
		"r.example:5000 x": "", "a.r.example x": "", "s.example:5000 x": "user", "s.example x": "", "a.t.example x": "", "u.example x": "", "v.example x": "", "w.example x": "",
		"x.example x": "", "y.example x": "",
	} {
		host, path, _ := strings.Cut(at, " ")
		if got, ok := l.of(host, path); got.user != want || ok != (want != "") {
			t.Errorf("%s: %q, %v, want %q", at, got.user, ok, want)
		}
	}
	if got, _ := l.of("s.example:5000", ""); got.password != "pa:ss" {
		t.Errorf("a password may hold a colon: %q", got.password)
	}
	for u, want := range map[string]bool{"https://r.example/x": true, "http://r.example/x": false, "http://127.0.0.1:1/x": true, "http://localhost/x": true, "http://[::1]/x": true, "http://127.0.0.1.r.example": false} {
		if p, err := url.Parse(u); err != nil || confidential(p) != want {
			t.Errorf("%s may be told a password: %v", u, !want)
		}
	}
}

// FuzzLogins: a Secret is a tenant's word. No login is for a place that nobody named, and none makes a header of its own.
func FuzzLogins(f *testing.F) {
	f.Add([]byte(secretOf("r.example/a", "https://index.docker.io/v1/", "*")), "r.example", "a/b")
	f.Add([]byte(`{"auths":{"":{"registrytoken":"x"}}}`), "", "/../%2e")
	f.Fuzz(func(t *testing.T, config []byte, host, path string) {
		l, err := parseLogins(config)
		if err != nil {
			return
		}
		x, ok := l.of(host, path)
		if !ok {
			return
		}
		if host == "" || strings.ContainsAny(host, "*@ /") || strings.ContainsAny(x.header(), "\r\n") {
			t.Errorf("%q is shown %q", host, x.header())
		}
	})
}
