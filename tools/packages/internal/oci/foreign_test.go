package oci

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// within is a request about something in a repository.
var within = regexp.MustCompile(`^/v2/(.+?)/(blobs|manifests|referrers|tags)/`)

// seen is what a registry wrote, before it's sent.
func seen(all http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	all.ServeHTTP(w, r)
	return w
}

// about says in which repository a request is at home, and what it's about, such as "manifests". Both are empty where it's in none.
func about(r *http.Request) (repository, what string) {
	if m := within.FindStringSubmatch(r.URL.Path); len(m) > 0 {
		return m[1], m[2]
	}
	return "", ""
}

func reading(r *http.Request) bool { return r.Method == http.MethodHead || r.Method == http.MethodGet }

// quay answers 401 to whoever asks for a repository that isn't there (quay/quay#1054), and makes it when a token is asked for that may push.
// What was pushed by its digest and has no tag yet it doesn't show (helm/helm#31348).
func quay() http.Handler {
	var mu sync.Mutex
	all, made, tagged := memory(), map[string]bool{}, map[string]bool{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path == "/token" {
			for _, s := range r.URL.Query()["scope"] {
				if p := strings.Split(s, ":"); len(p) == 3 && strings.Contains(p[2], "push") {
					made[p[1]] = true
				}
			}
			fmt.Fprint(w, `{"token":"x"}`)
			return
		}
		repository, what := about(r)
		if r.Header.Get("Authorization") == "" || repository != "" && !made[repository] {
			w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token",service="quay"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		byDigest := strings.Contains(r.URL.Path, "/manifests/sha256:")
		if byDigest && reading(r) && !tagged[repository] {
			http.NotFound(w, r)
			return
		}
		if what == "manifests" && !byDigest && !reading(r) {
			tagged[repository] = true
		}
		all.ServeHTTP(w, r)
	})
}

// artifactory answers 403 for a manifest that isn't there (google/go-containerregistry#1691).
func artifactory() http.Handler {
	all := memory()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, what := about(r); what == "manifests" && reading(r) && seen(all, r).Code == http.StatusNotFound {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		all.ServeHTTP(w, r)
	})
}

// TestPushForeign pushes a release to registries that don't say 404 of what isn't there, and never over another one.
func TestPushForeign(t *testing.T) {
	for title, registry := range map[string]http.Handler{"Quay": quay(), "Artifactory": artifactory()} {
		t.Run(title, func(t *testing.T) {
			host := serve(t, registry)
			first := artifact(t, host+"/path/thing", "1")
			for range 2 { // It may be tried again.
				if _, err := first.Push(t.Context(), true, nil); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := artifact(t, host+"/path/thing", "2").Push(t.Context(), true, nil); err == nil || !strings.Contains(err.Error(), "a release isn't changed") {
				t.Errorf("a release was overwritten: %v", err)
			}
			want, err := first.Digest()
			if err != nil {
				t.Fatal(err)
			}
			if got := meant(t, first); got != want {
				t.Errorf("the tag means %s, want what was released first, %s", got, want)
			}
		})
	}
}

// meant is the digest that a registry has for an artifact's name.
func meant(t *testing.T, a Artifact) v1.Hash {
	t.Helper()
	ref, err := name.ParseReference(a.Reference(), name.StrictValidation)
	if err != nil {
		t.Fatal(err)
	}
	d, err := remote.Head(ref)
	if err != nil {
		t.Fatal(err)
	}
	return d.Digest
}

// TestPushUnseen pushes by a log-in that may write and not read: whether the version is there nobody knows, so it isn't written over.
func TestPushUnseen(t *testing.T) {
	all, closed := memory(), true
	host := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, what := about(r); what == "manifests" && reading(r) && closed {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		all.ServeHTTP(w, r)
	}))
	closed = false
	first := artifact(t, host+"/thing", "1")
	if _, err := first.Push(t.Context(), true, nil); err != nil {
		t.Fatal(err)
	}
	closed = true
	if _, err := artifact(t, host+"/thing", "2").Push(t.Context(), true, nil); err == nil || !strings.Contains(err.Error(), "doesn't let you read") {
		t.Errorf("want it refused, got %v", err)
	}
	closed = false
	want, err := first.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if got := meant(t, first); got != want {
		t.Errorf("the tag means %s, want what was released first, %s", got, want)
	}
}
