package httpboot

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
)

// answerPatience is for what a handler may wait for, and for its answer; those that stream go on from there.
const answerPatience = 2 * time.Minute

// watched wraps a handler: a panic costs one request, and each request is counted and logged, by its
// route alone, since its path holds a token.
func (s *Server) watched(route string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		rec := &recorder{ResponseWriter: w}
		defer func() {
			if p := recover(); p != nil {
				s.failed(rec, route, p)
			}
			s.o.Served(route, rec.code())
			if s.o.Took != nil {
				s.o.Took(route, rec.bytes, time.Since(began))
			}
			s.o.Logger.Debug("HTTP", "route", route, "method", r.Method, "status", rec.code(), "from", r.RemoteAddr, "took", time.Since(began).String())
		}()
		h.ServeHTTP(rec, r)
	})
}

// reached says where a machine's boot is.
func (s *Server) reached(c gate.Caller, stage boot.Stage) {
	if s.o.Reached != nil {
		s.o.Reached(c.Plan, stage, s.o.Now())
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

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *recorder) code() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}
