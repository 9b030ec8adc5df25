package artifacts

import (
	"bytes"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// registry is one, as the OCI distribution specification has it, of one repository: boot/images.
type registry struct {
	mu        sync.Mutex
	blobs     map[string]string
	manifests map[string]string
	// token that it wants; "": none. challenge is what it says then.
	token, challenge string
	// basic is another Authorization that it takes; "": none.
	basic string
	// store, where set, is where blobs are sent from.
	store string
	// breaks are after how many octets answers end.
	breaks []int
	asked  []string
}

// ServeHTTP answers a client of the registry.
func (r *registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, strings.TrimSpace(q.URL.Path+" "+q.Header.Get("Range")))
	shown := q.Header.Get("Authorization")
	if r.token != "" && shown != "Bearer "+r.token && (r.basic == "" || shown != r.basic) {
		for c := range strings.SplitSeq(r.challenge, "\n") {
			w.Header().Add("WWW-Authenticate", c)
		}
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	name, isBlob := strings.CutPrefix(q.URL.Path, "/v2/boot/images/blobs/")
	body, ok := r.blobs[name]
	if m, isManifest := strings.CutPrefix(q.URL.Path, "/v2/boot/images/manifests/"); isManifest {
		body, ok = r.manifests[m]
		ok = ok && strings.Contains(q.Header.Get("Accept"), "application/vnd.oci.image.manifest.v1+json")
	}
	switch {
	case !ok:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		return
	case isBlob && r.store != "":
		http.Redirect(w, q, r.store+"/"+url.PathEscape(body), http.StatusTemporaryRedirect)
		return
	}
	out := w
	if len(r.breaks) > 0 {
		out = &cutOff{ResponseWriter: w, left: r.breaks[0]}
		r.breaks = r.breaks[1:]
	}
	http.ServeContent(out, q, "", time.Time{}, bytes.NewReader([]byte(body)))
}

func (r *registry) serve(t *testing.T) (host string) {
	t.Helper()
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func manifestOf(digests ...string) string {
	layers := make([]string, 0, len(digests))
	for _, d := range digests {
		layers = append(layers, fmt.Sprintf(`{"mediaType":"application/octet-stream","digest":%q,"size":6}`, d))
	}
	return `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"digest":"sha256:x"},"layers":[` + strings.Join(layers, ",") + `]}`
}

func sum512(s string) string {
	h := sha512.Sum512([]byte(s))
	return "sha512:" + hex.EncodeToString(h[:])
}

// TestRegistry: a file is named by itself, or by a manifest that it's a layer of.
func TestRegistry(t *testing.T) {
	kernel := sum("kernel")
	one, two := manifestOf(kernel), manifestOf(sum("other"), kernel)
	blob, tagged := "/v2/boot/images/blobs/"+kernel, "/v2/boot/images/manifests/v1"
	const index = `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{"digest":"sha256:x"}]}`
	cases := map[string]struct {
		reason, ref, digest, manifest string
		want                          []string
		code, says                    string
	}{
		"Blob":          {reason: "the file's own digest is enough", want: []string{blob}},
		"BlobByDigest":  {reason: "it may stand in the URL too", ref: "@" + kernel, want: []string{blob}},
		"Tag":           {reason: "a manifest by its tag", ref: ":v1", manifest: one, want: []string{tagged, blob}},
		"Digest":        {reason: "a manifest by its digest", ref: "@" + sum(one), manifest: one, want: []string{"/v2/boot/images/manifests/" + sum(one), blob}},
		"Layers":        {reason: "of several layers the one with the file's digest", ref: ":v1", manifest: two, want: []string{tagged, blob}},
		"SHA512":        {reason: "the only layer, checked by the profile's digest", ref: ":v1", manifest: one, digest: sum512("kernel"), want: []string{tagged, blob}},
		"Forged":        {reason: "a manifest that isn't the one of its digest", ref: "@" + sum("x"), manifest: one, code: ReasonFetch, says: "another manifest"},
		"OtherLayer":    {reason: "its only layer is another file", ref: ":v1", manifest: manifestOf(sum("other")), code: ReasonDigest, says: "another digest"},
		"NoSuchLayer":   {reason: "none of its layers is the file", ref: ":v1", manifest: manifestOf(sum("other"), sum("third")), code: ReasonFetch, says: "2 layers, none of them"},
		"Index":         {reason: "a manifest of manifests", ref: ":v1", manifest: index, code: ReasonFetch, says: "index of others"},
		"NoManifest":    {reason: "there is none", ref: ":v2", manifest: one, code: ReasonFetch, says: "asked for the manifest, answered 404 (application/json)"},
		"NoBlob":        {reason: "there's no such file", digest: sum("gone"), code: ReasonFetch, says: "answered 404 (application/json)"},
		"NotJSON":       {reason: "a manifest that is none", ref: ":v1", manifest: "<html>", code: ReasonFetch, says: "isn't JSON"},
		"StrangeDigest": {reason: "what a manifest says mustn't lead elsewhere", ref: ":v1", manifest: manifestOf("../../../x"), code: ReasonFetch, says: "no digest that's known"},
		"Large":         {reason: "a manifest without end", ref: ":v1", manifest: strings.Repeat(" ", maxManifest+1), code: ReasonFetch, says: "larger than 4 MiB"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &registry{blobs: map[string]string{kernel: "kernel"}, manifests: map[string]string{"v1": tc.manifest, sum(tc.manifest): tc.manifest, sum("x"): tc.manifest}}
			if tc.digest == "" {
				tc.digest = kernel
			}
			c := newCache(t, nil)
			err := c.Await(t.Context(), boot.Artifact{URL: "oci://" + r.serve(t) + "/boot/images" + tc.ref, Digest: tc.digest})
			var why *Error
			if tc.code != "" {
				if !errors.As(err, &why) || why.Reason != tc.code || !strings.Contains(err.Error(), tc.says) || c.Has(tc.digest) {
					t.Errorf("%s: %v, want %s saying %q", tc.reason, err, tc.code, tc.says)
				}
				return
			}
			if err != nil || read(t, c, tc.digest) != "kernel" || !slices.Equal(r.asked, tc.want) {
				t.Errorf("%s: %v, asked for %q, want %q", tc.reason, err, r.asked, tc.want)
			}
		})
	}
}

// TestRegistryResumes: a blob's URL holds its digest, so that no server has to say that it's still the same.
func TestRegistryResumes(t *testing.T) {
	r := &registry{blobs: map[string]string{sum("kernel"): "kernel"}, breaks: []int{4}}
	a := boot.Artifact{URL: "oci://" + r.serve(t) + "/boot/images", Digest: sum("kernel")}
	c := newCache(t, func(o *Options) { o.Now = later() })
	if err := c.Await(t.Context(), a); err == nil {
		t.Fatal("half a file")
	}
	if err := c.Await(t.Context(), a); err != nil || read(t, c, a.Digest) != "kernel" {
		t.Fatal(err)
	}
	if got := r.asked[1]; got != "/v2/boot/images/blobs/"+a.Digest+" bytes=4-" {
		t.Errorf("asked for %q", got)
	}
}

// TestChallenge: what a registry says of whom it wants is read as RFC 9110 §11.6.1 has it.
func TestChallenge(t *testing.T) {
	type told struct {
		realm, service string
		basic          bool
	}
	for name, tc := range map[string]struct {
		reason string
		says   []string
		want   told
	}{
		"Nothing":  {"it says nothing", nil, told{}},
		"Bearer":   {"as most do", []string{`Bearer realm="https://x/t",service="s",scope="repository:a:pull"`}, told{"https://x/t", "s", false}},
		"Headers":  {"each in a header of its own", []string{`Basic realm="b"`, `Bearer realm="r",service="s"`}, told{"r", "s", true}},
		"OneLine":  {"or all in one", []string{`Basic realm="b", Bearer realm=r , service = s`}, told{"r", "s", true}},
		"Behind":   {"in whatever order", []string{`Bearer realm="r", Basic realm="b"`}, told{"r", "", true}},
		"Quoted":   {"a quote within quotes", []string{`Bearer error_description="the \"x, Basic y=\" token",realm="r",service="a\"b"`}, told{"r", `a"b`, false}},
		"Empty":    {"a value that's empty, with quotes or without", []string{`Bearer scope="",x=,realm="r"`}, told{"r", "", false}},
		"Extended": {"a name with a star", []string{`Bearer title*=UTF-8''x, realm="r"`}, told{"r", "", false}},
		"Second":   {"the first of two counts, and nothing of the other", []string{`Bearer realm="r", Bearer realm="q", service="s"`}, told{"r", "", false}},
		"Token68":  {"what stands behind another scheme is no scheme", []string{`Negotiate YII/basic+x==`, `NTLM basic`}, told{}},
		"Capitals": {"names are in capitals or not", []string{`BEARER Realm="r", BASIC Realm="b"`}, told{"r", "", true}},
		"Broken":   {"quotes that don't end", []string{`Bearer realm="r`}, told{}},
	} {
		t.Run(name, func(t *testing.T) {
			realm, service, basic := challenge(tc.says)
			if got := (told{realm, service, basic}); got != tc.want {
				t.Errorf("%s: %+v, want %+v", tc.reason, got, tc.want)
			}
		})
	}
}

// TestTokens: who wants a token for what everybody may read says where there is one. That is a stranger's word.
func TestTokens(t *testing.T) {
	var elsewhere http.Header
	store := serving(t, func(w http.ResponseWriter, q *http.Request) {
		elsewhere = q.Header.Clone()
		_, _ = io.WriteString(w, strings.TrimPrefix(q.URL.Path, "/")) //nolint:gosec // Octets for a cache, not a page.
	})
	var asked url.Values
	answer := `{"token":"let-me-in"}`
	service := serving(t, func(w http.ResponseWriter, q *http.Request) {
		asked = q.URL.Query()
		if q.URL.Path == "/closed" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "the password is hunter2")
			return
		}
		_, _ = io.WriteString(w, answer)
	})
	cases := map[string]struct {
		reason, challenge, answer string
		code, says                string
	}{
		"Token":    {reason: "a token is had, and shown to the registry alone", challenge: `Bearer realm="` + service + `/token?x=y",service="here",scope="repository:other:push"`, answer: `{"token":"let-me-in"}`},
		"Access":   {reason: "as OAuth calls it", challenge: `bearer realm="` + service + `",service="here"`, answer: `{"access_token":"let-me-in","expires_in":60}`},
		"Both":     {reason: "who has a password may show that, too", challenge: "Basic realm=\"x\"\n" + `Bearer realm="` + service + `",service="here"`, answer: `{"token":"let-me-in"}`},
		"OneLine":  {reason: "both of them in one header", challenge: `Basic realm="x", Bearer realm="` + service + `",service=here`, answer: `{"token":"let-me-in"}`},
		"Capitals": {reason: "names are in capitals or not", challenge: `BEARER Realm = "` + service + `", scope="", Service="here", error="invalid_token", Basic realm="x"`, answer: `{"token":"let-me-in"}`},
		"Password": {reason: "there is none to give", challenge: `Basic realm="x"`, code: ReasonFetch, says: "bootd has none"},
		"Nothing":  {reason: "nothing is said", code: ReasonFetch, says: "bootd has none"},
		"File":     {reason: "no URL of a server", challenge: `Bearer realm="file:///etc/passwd"`, code: ReasonFetch, says: "bootd has none"},
		"Closed":   {reason: "nothing of what it says is shown", challenge: `Bearer realm="` + service + `/closed"`, code: ReasonFetch, says: "token service answered 403 (text/plain)"},
		"Empty":    {reason: "an answer without one", challenge: `Bearer realm="` + service + `"`, answer: `{}`, code: ReasonFetch, says: "gave no token"},
		"Header":   {reason: "a token mustn't become a header of its own", challenge: `Bearer realm="` + service + `"`, answer: `{"token":"a\r\nX-Evil: 1"}`, code: ReasonFetch, says: "gave no token"},
		"Endless":  {reason: "an answer without end", challenge: `Bearer realm="` + service + `"`, answer: `{"token":"` + strings.Repeat("x", maxToken) + `"}`, code: ReasonFetch, says: "gave no token"},
		"Wrong":    {reason: "a token that the registry doesn't take", challenge: `Bearer realm="` + service + `"`, answer: `{"token":"other"}`, code: ReasonFetch, says: "answered 401"},
		"Metadata": {reason: "where the guard lets nobody", challenge: `Bearer realm="http://169.254.169.254/latest"`, code: ReasonTarget, says: "may not be used"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			elsewhere, asked, answer = nil, nil, tc.answer
			r := &registry{blobs: map[string]string{sum("kernel"): "kernel"}, token: "let-me-in", challenge: tc.challenge, store: store}
			c := newCache(t, nil)
			err := c.Await(t.Context(), boot.Artifact{URL: "oci://" + r.serve(t) + "/boot/images", Digest: sum("kernel")})
			var why *Error
			if tc.code != "" {
				if !errors.As(err, &why) || why.Reason != tc.code || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("%s: %v, want %s saying %q", tc.reason, err, tc.code, tc.says)
				}
				return
			}
			if err != nil || read(t, c, sum("kernel")) != "kernel" {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if elsewhere.Get("Authorization") != "" || elsewhere.Get("Referer") != "" {
				t.Errorf("%s: another server was told %v", tc.reason, elsewhere)
			}
			if asked.Get("scope") != "repository:boot/images:pull" || asked.Get("service") != "here" {
				t.Errorf("%s: asked for %v", tc.reason, asked)
			}
		})
	}
}

func TestReference(t *testing.T) {
	d := sum("x")
	for in, want := range map[string]reference{
		"oci://r.example/a":                        {host: "r.example", repository: "a"},
		"oci://r.example:5000/a/b-c/d__e:v1":       {host: "r.example:5000", repository: "a/b-c/d__e", tag: "v1"},
		"oci://r.example/a@" + d:                   {host: "r.example", repository: "a", digest: d},
		"oci://docker.io/library/debian:12":        {host: "docker.io", repository: "library/debian", tag: "12"},
		"oci://r.example":                          {},
		"oci://r.example/":                         {},
		"oci://r.example/A":                        {},
		"oci://r.example/a/../b":                   {},
		"oci://r.example/a:v1@" + d:                {},
		"oci://r.example/a@sha512:" + d:            {},
		"oci://user:pw@r.example/a":                {},
		"oci://r.example/a?x=y":                    {},
		"oci://r.example/a#x":                      {},
		"oci://[::1]/a":                            {},
		"http://r.example/a":                       {},
		"oci://r.example/" + "a:" + "v1/" + "more": {},
	} {
		if got, err := parseReference(in); got != want || (err == nil) == (want == reference{}) {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
	for host, want := range map[string]string{
		"r.example": "https://r.example/v2/a", "127.0.0.1:5000": "http://127.0.0.1:5000/v2/a", "localhost": "http://localhost/v2/a",
		"docker.io": "https://registry-1.docker.io/v2/a", "10.0.0.1": "https://10.0.0.1/v2/a",
	} {
		if got := (reference{host: host, repository: "a"}).base(); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}

// FuzzRegistry: what a registry says is a stranger's word.
func FuzzRegistry(f *testing.F) {
	f.Add(manifestOf(sum("kernel")), `Bearer realm="http://x",service="y"`)
	f.Fuzz(func(t *testing.T, manifest, answer string) {
		if d, err := layer([]byte(manifest), sum("kernel")); err == nil && !digestPattern.MatchString(d) {
			t.Errorf("%q is a layer's digest", d)
		}
		if s, err := token(strings.NewReader(answer)); err == nil && (s == "" || strings.ContainsAny(s, "\r\n ")) {
			t.Errorf("%q is a token", s)
		}
		if r, err := parseReference(manifest); err == nil && !strings.HasPrefix(r.base(), "http") {
			t.Errorf("%+v", r)
		}
	})
}
