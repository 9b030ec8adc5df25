package httpboot

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
)

// answerPatience is for what a handler may wait for, and for its answer; those that stream go on from there.
const answerPatience = 2 * time.Minute

// watched wraps a handler: see watch.
func (s *Server) watched(route string, h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &recorder{ResponseWriter: w}
		defer s.watch(rec, r, route, time.Now())
		h(rec, r)
	})
}

// watch is deferred by what serves a request: a panic costs that one, and each is counted and logged, by its route alone, since its path
// holds a token.
func (s *Server) watch(rec *recorder, r *http.Request, route string, began time.Time) {
	if p := recover(); p != nil {
		s.failed(rec, route, p)
	}
	s.o.Served(route, rec.code())
	took := time.Since(began)
	if s.o.Took != nil {
		s.o.Took(route, rec.bytes, took)
	}
	if s.o.Logger.Enabled(r.Context(), slog.LevelDebug) {
		s.o.Logger.Debug("HTTP", "route", route, "method", r.Method, "status", rec.code(), "from", r.RemoteAddr, "took", took.String())
	}
}

// reached says where a machine's boot is.
func (s *Server) reached(c gate.Caller, stage boot.Stage) { s.reachedAt(c, stage, s.o.Now()) }

// reachedAt is reached for who knows what time it is.
func (s *Server) reachedAt(c gate.Caller, stage boot.Stage, now time.Time) {
	if s.o.Reached != nil {
		s.o.Reached(c.Memo.Machine, stage, now)
	}
}

func (s *Server) failed(rec *recorder, route string, p any) {
	s.o.Logger.Error("a request caused a panic", "route", route, "panic", fmt.Sprint(p))
	if rec.status != 0 {
		return // Its answer has begun.
	}
	http.Error(rec, "internal error", http.StatusInternalServerError)
}

// recorder remembers the status of an answer.
type recorder struct {
	http.ResponseWriter

	status int
	bytes  int64
	// begun is called before an answer that has a file, or a part of one; nil: there's none.
	begun func()
}

// Write counts.
func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// WriteHeader remembers the status.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	if begun := r.begun; begun != nil { // It goes before the answer: it's known before anything that the machine does with that; and it's kept no longer.
		r.begun = nil
		if status == http.StatusOK || status == http.StatusPartialContent {
			begun()
		}
	}
	r.ResponseWriter.WriteHeader(status)
}

// ReadFrom passes a file on whole: by pieces of memory the kernel couldn't send it by itself.
func (r *recorder) ReadFrom(src io.Reader) (int64, error) {
	to, ok := r.ResponseWriter.(io.ReaderFrom)
	if !ok {
		return io.Copy(struct{ io.Writer }{r}, src)
	}
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := to.ReadFrom(src)
	r.bytes += n
	return n, err
}

// WriteString counts, without a copy of its own.
func (r *recorder) WriteString(text string) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := io.WriteString(r.ResponseWriter, text)
	r.bytes += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *recorder) code() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}
