package httpboot

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
)

// filePatience is how long a request waits for a file that is on its way.
const filePatience = 20 * time.Second

// artifact serves a file of the cache, by Range where asked.
func (s *Server) artifact(w http.ResponseWriter, r *http.Request, a *boot.Artifact) {
	f, sent := s.opened(w, r, *a)
	if f == nil {
		return
	}
	defer sent()
	serve(w, r, f)
}

// opened opens a file of the cache, once it's there; nil: it was said why it can't be had. It's closed by sent.
func (s *Server) opened(w http.ResponseWriter, r *http.Request, a boot.Artifact) (f *os.File, sent func()) {
	f, done, err := s.found(r, a)
	if err != nil {
		missing(w, err)
		return nil, nil
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("ETag", `"`+s.o.Artifacts.DigestOf(a)+`"`)
	return f, func() {
		_ = f.Close()
		done()
	}
}

// found opens a file of the cache, and waits for one that is on its way.
func (s *Server) found(r *http.Request, a boot.Artifact) (f *os.File, sent func(), err error) {
	f, sent, err = s.o.Artifacts.Open(a)
	if errors.Is(err, artifacts.ErrFetching) {
		return s.awaited(r, a)
	}
	return f, sent, err //nolint:wrapcheck // Its own words.
}

// missing says why a file can't be had, and whether it may be soon.
func missing(w http.ResponseWriter, err error) {
	if errors.Is(err, artifacts.ErrFetching) {
		w.Header().Set("Retry-After", "2")
		http.Error(w, "the file is being fetched", http.StatusServiceUnavailable)
		return
	}
	http.Error(w, err.Error(), http.StatusBadGateway)
}

// awaited waits for a file that isn't there yet.
func (s *Server) awaited(r *http.Request, a boot.Artifact) (f *os.File, sent func(), err error) {
	ctx, cancel := context.WithTimeout(r.Context(), filePatience)
	defer cancel()
	if err := s.o.Artifacts.Await(ctx, a); err != nil {
		return nil, nil, err //nolint:wrapcheck // The cache's own words.
	}
	return s.o.Artifacts.Open(a) //nolint:wrapcheck // The cache's own words.
}

// isFile says whether a path is one of the files that machines load whole.
func isFile(path string) bool {
	_, name := behindToken(path)
	digest, ok := strings.CutPrefix(name, "files/")
	return name == "image" || ok && digest != "" && !strings.Contains(digest, "/")
}
