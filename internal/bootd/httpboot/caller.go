package httpboot

import (
	"errors"
	"net/http"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// A caller is a machine with a token of its boot.
type caller struct {
	claims  boot.Claims
	plan    *boot.Plan
	session *boot.Session
}

// caller reads a token. Who has none that's good is told no word why.
func (s *Server) caller(r *http.Request, kind boot.TokenKind) (caller, bool) {
	st := s.o.State()
	if st == nil {
		return caller{}, false
	}
	t, err := boot.Verify(s.o.Keys(), r.PathValue("token"), s.o.Now())
	if err != nil || t.Kind != kind {
		return caller{}, false
	}
	c := caller{claims: t}
	p, ok := st.ByEntry(t.Entry)
	if !ok {
		return caller{}, false
	}
	c.plan = p
	if x, ok := st.Sessions[p.EntryUID]; ok {
		c.session = &x
	}
	return c, true
}

// grantID of the grant that the session held when it was last seen; "" where it held none.
func (c caller) grantID() string {
	if c.session == nil || c.session.Grant == nil {
		return ""
	}
	return c.session.Grant.ID
}

// liveDigits of a plan's digest stand in the token of a live boot where the grant's id is otherwise.
const liveDigits = 16

// liveID ties the token of a live boot to the plan that it was made for.
func liveID(p *boot.Plan) string { return strings.TrimPrefix(p.Digest(), "sha256:")[:liveDigits] }

// fits says whether a boot token is of the present plan or grant, and may fetch what destroys nothing by
// itself: kernels and initrds. Whether it may go further is the session's to say.
func (c caller) fits() bool {
	if c.session != nil && c.session.Revocation != "" {
		return false
	}
	if c.plan.Mode == boot.ModeLive {
		return c.claims.GrantID == liveID(c.plan)
	}
	s := c.session
	if s == nil || c.claims.GrantID == "" {
		return false
	}
	return s.Grant != nil && s.Grant.ID == c.claims.GrantID || s.Consumed != nil && s.Consumed.GrantID == c.claims.GrantID
}

// owns says whether this boot used the grant, by what the watch has delivered. That a consumption isn't
// in it yet says nothing: then the session must be asked.
func (c caller) owns() bool { return c.session != nil && boot.Owns(*c.session, c.claims) == nil }

// ended says whether this boot has reported its install: it needs no image any more, and doesn't begin again.
func (c caller) ended() bool {
	return c.owns() && c.session.Installed != nil && c.session.Installed.GrantID == c.claims.GrantID
}

// planDigest is that of the plan which was granted to this boot.
func (c caller) planDigest() string {
	switch s := c.session; {
	case c.plan.Mode == boot.ModeLive:
		return c.plan.Digest() // Its token is of the present plan.
	case s.Consumed != nil && s.Consumed.GrantID == c.claims.GrantID:
		return s.Consumed.PlanDigest
	case s.Grant != nil:
		return s.Grant.PlanDigest
	}
	return ""
}

// refuse answers a machine whose request was refused, or couldn't be decided.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	if final(err) {
		forbidden(w)
		return
	}
	if !errors.Is(err, errPace) { // Who asks too often doesn't fill the log as well.
		s.o.Logger.Info("a machine must wait", "error", err.Error())
	}
	tryAgain(w)
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

// final says whether an error is a refusal, which no retry changes.
func final(err error) bool {
	for _, x := range []error{
		boot.ErrRevoked, boot.ErrNoGrant, boot.ErrExpired, boot.ErrSuperseded, boot.ErrConsumed, boot.ErrBootLoop, session.ErrNotFound,
	} {
		if errors.Is(err, x) {
			return true
		}
	}
	return false
}

// reason is the word for a refusal to open or consume.
func reason(err error) string {
	for _, x := range []struct {
		err    error
		reason string
	}{
		{boot.ErrRevoked, boot.DecidedRevoked},
		{boot.ErrNoGrant, boot.DecidedStale},
		{boot.ErrExpired, boot.DecidedExpired},
		{boot.ErrSuperseded, ReasonSuperseded},
		{boot.ErrConsumed, boot.DecidedConsumed},
		{boot.ErrBootLoop, boot.DecidedBootLoop},
		{session.ErrNotFound, boot.DecidedNoSession},
		{errPace, ReasonPace},
	} {
		if errors.Is(err, x.err) {
			return x.reason
		}
	}
	return ReasonAPI
}
