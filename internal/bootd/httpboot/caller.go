package httpboot

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
)

// caller reads the token of a boot in a request's path.
func (s *Server) caller(r *http.Request) (gate.Caller, bool) {
	return s.o.Gate.Caller(r.PathValue("token"), boot.TokenBoot)
}

// refuse answers a machine whose request was refused, or couldn't be decided.
func (s *Server) refuse(w http.ResponseWriter, c gate.Caller, err error) {
	if gate.Final(err) {
		s.about(c).Info("a boot is refused", "why", err.Error())
		forbidden(w)
		return
	}
	if !errors.Is(err, gate.ErrPace) { // Who asks too often doesn't fill the log as well.
		s.o.Logger.Warn("a machine must wait", "entry", c.Plan.Entry.String(), "mac", string(c.MAC()), "error", err.Error())
	}
	tryAgain(w)
}

// about gives what writes lines about a boot.
func (s *Server) about(c gate.Caller) *slog.Logger {
	return s.o.Logger.With("entry", c.Plan.Entry.String(), "mac", string(c.MAC()))
}

// unknown answers a token that is of no boot that's known. A bootd that has just started doesn't know them all, and a machine
// that is in the middle of an install would take a refusal for the end of it.
func (s *Server) unknown(w http.ResponseWriter) {
	if !s.o.Ready() {
		tryAgain(w)
		return
	}
	forbidden(w)
}

func tryAgain(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "2")
	http.Error(w, "try again", http.StatusServiceUnavailable)
}

func forbidden(w http.ResponseWriter) { http.Error(w, "forbidden", http.StatusForbidden) }
