package httpboot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

const (
	// maxBody of a callback.
	maxBody = 64 << 10
	// bodyPatience is how long it may take to arrive.
	bodyPatience = 30 * time.Second
)

// report is the body of a callback.
type report struct {
	Message string `json:"message"`
	Percent int    `json:"percent"`
}

// text of a report, for people.
func (r report) text() string {
	m := session.Clean(r.Message)
	if r.Percent <= 0 || r.Percent > 100 {
		return m
	}
	if m == "" {
		return fmt.Sprintf("%d %%", r.Percent)
	}
	return fmt.Sprintf("%s (%d %%)", m, r.Percent)
}

// callbackFunc does what one callback says.
type callbackFunc func(ctx context.Context, c gate.Caller, r report) error

func (s *Server) callbacks() map[string]callbackFunc {
	return map[string]callbackFunc{
		"begin":    s.begin,
		"progress": s.progress,
		"installed": func(ctx context.Context, c gate.Caller, r report) error {
			return s.ended(ctx, c, r, true)
		},
		"failed": func(ctx context.Context, c gate.Caller, r report) error {
			return s.ended(ctx, c, r, false)
		},
		"booted": s.booted,
	}
}

func (s *Server) callback(w http.ResponseWriter, r *http.Request, f callbackFunc) {
	c, ok := s.caller(r)
	if !ok || !c.Fits() {
		s.unknown(w)
		return
	}
	heard, err := decode(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, "the body is too large", http.StatusRequestEntityTooLarge)
		return
	case err != nil:
		http.Error(w, "the body isn't a JSON object with message and percent", http.StatusBadRequest)
		return
	}
	// What was said whole counts, whether or not its client waits to hear so.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), answerPatience)
	defer cancel()
	if err := f(ctx, c, heard); err != nil {
		s.refuse(w, c, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// decode reads a body; none at all says nothing, which is fine.
func decode(body io.Reader) (report, error) {
	b, err := io.ReadAll(body)
	if err != nil || len(b) == 0 {
		return report{}, err
	}
	r := report{}
	err = json.Unmarshal(b, &r)
	return r, err
}

func (s *Server) said(c gate.Caller, r report) {
	s.o.Sightings.Sight(c.Plan.Entry, session.Sighting{
		Kind: session.SawReport, At: s.o.Now(), Message: r.text(), Live: c.Plan.Mode == boot.ModeLive,
	})
}

// begin consumes the grant, unless the same boot did.
func (s *Server) begin(ctx context.Context, c gate.Caller, r report) error {
	if err := s.o.Gate.Begin(ctx, c); err != nil {
		return err
	}
	if c.Live() {
		s.about(c).Info("a live system runs")
	} else {
		s.about(c).Info("an install begins", "grant", c.Claims.GrantID)
	}
	s.reached(c, boot.StageInstalling)
	s.said(c, r)
	return nil
}

func (s *Server) progress(ctx context.Context, c gate.Caller, r report) error {
	if err := s.o.Gate.Progress(ctx, c); err != nil {
		return err
	}
	s.said(c, r)
	return nil
}

func (s *Server) ended(ctx context.Context, c gate.Caller, r report, installed bool) error {
	if c.Live() {
		s.said(c, r)
		return nil
	}
	stands, err := s.o.Gate.End(ctx, c, installed, r.text())
	switch {
	case err != nil:
		return err
	case !stands:
		s.about(c).Warn("an install that was done says that it failed: it counts as done", "grant", c.Claims.GrantID, "says", r.text())
	case installed:
		s.about(c).Info("an install is done", "grant", c.Claims.GrantID, "says", r.text())
		s.reached(c, boot.StageInstalled)
	default:
		s.about(c).Warn("an install failed", "grant", c.Claims.GrantID, "says", r.text())
		s.reached(c, boot.StageFailed)
	}
	return nil
}

func (s *Server) booted(ctx context.Context, c gate.Caller, r report) error {
	if c.Live() {
		s.said(c, r)
		return nil
	}
	if err := s.o.Gate.Booted(ctx, c, r.text()); err != nil {
		return err
	}
	s.about(c).Info("the installed system runs", "grant", c.Claims.GrantID, "says", r.text())
	s.reached(c, boot.StageBootedFromDisk)
	return nil
}
