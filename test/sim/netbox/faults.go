package netbox

import (
	"maps"
	"net/http"
	"strings"
	"time"
)

// A FaultKind is one way to go wrong.
type FaultKind string

// The faults. Those that answer do so instead of the work; the others say when.
const (
	// FaultBadToken answers 403 as to a token that nobody knows.
	FaultBadToken FaultKind = "BadToken"
	// FaultReadOnlyToken answers writes with 403 as to a token that may only read.
	FaultReadOnlyToken FaultKind = "ReadOnlyToken"
	// FaultFull answers an allocation with 409.
	FaultFull FaultKind = "Full"
	// FaultMarkerTaken answers a write with the 400 of a unique custom field.
	FaultMarkerTaken FaultKind = "MarkerTaken"
	// FaultNoPrefix answers anything below prefixes/ID with 404.
	FaultNoPrefix FaultKind = "NoPrefix"
	// FaultServerErrorJSON answers 500 as when the database is down (942).
	FaultServerErrorJSON FaultKind = "ServerErrorJSON"
	// FaultServerErrorHTML answers 500 as when the cache is down (932).
	FaultServerErrorHTML FaultKind = "ServerErrorHTML"
	// FaultHang never answers and does nothing.
	FaultHang FaultKind = "Hang"
	// FaultHangAfter does the work and never answers, as when the event queue hangs (938).
	FaultHangAfter FaultKind = "HangAfter"
	// FaultDisconnect closes the connection and does nothing (946).
	FaultDisconnect FaultKind = "Disconnect"
	// FaultEOFAfter does the work and closes the connection without an answer.
	FaultEOFAfter FaultKind = "EOFAfter"
	// FaultErrorAfter does the work and answers 500 in HTML, as a proxy that lost patience.
	FaultErrorAfter FaultKind = "ErrorAfter"
	// FaultDelay waits for Delay, then does the work, even if the client has gone (858).
	FaultDelay FaultKind = "Delay"
	// FaultBusy answers 429 with Retry-After, as a proxy with a rate limit.
	FaultBusy FaultKind = "Busy"
	// FaultConflict answers a write with 409, as one that lost to another.
	FaultConflict FaultKind = "Conflict"
	// FaultBadGateway answers 502 in HTML, as a proxy before a NetBox that restarts, and does nothing.
	FaultBadGateway FaultKind = "BadGateway"
	// FaultPage answers 200 with an HTML page, as a login page in between, and does nothing.
	FaultPage FaultKind = "Page"
	// FaultRedirect sends to Location, another host for example, and does nothing.
	FaultRedirect FaultKind = "Redirect"
	// FaultBOM does the work and answers with a byte order mark before the JSON.
	FaultBOM FaultKind = "BOM"
	// FaultHalfJSON does the work and answers with half of the JSON, in good HTTP.
	FaultHalfJSON FaultKind = "HalfJSON"
	// FaultCutOff does the work and closes the connection in the middle of the answer.
	FaultCutOff FaultKind = "CutOff"
	// FaultStrangeChoice does the work and answers with a status, a role and a key that nobody knows, as a newer NetBox.
	FaultStrangeChoice FaultKind = "StrangeChoice"
	// FaultDropFields forgets custom_fields of a write silently, as 4.4.10 does with unknown ones (346).
	FaultDropFields FaultKind = "DropFields"
)

// A Fault is injected until it was used Times times.
type Fault struct {
	Kind FaultKind
	// Method it is for, or "" for those that the kind is about: writes for FaultReadOnlyToken,
	// FaultMarkerTaken, FaultDropFields and the …After kinds, POST for FaultFull, else any.
	Method string
	// Path is a part of the paths that it is for; "" is any.
	Path string
	// Body is a part of the bodies that it is for, such as a marker; "" is any.
	Body string
	// Times it works; 0 means until it is taken out.
	Times int
	// Delay of FaultDelay; of FaultBusy what Retry-After asks for, 1 s if it's 0.
	Delay time.Duration
	// Location of FaultRedirect.
	Location string
}

// Inject puts a fault in and returns what takes it out. Of several that fit, the oldest works.
func (s *Server) Inject(f Fault) (remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &f
	if p.Times == 0 {
		p.Times = -1
	}
	s.faults = append(s.faults, p)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		p.Times = 0
	}
}

// FaultsMet counts how often each kind of fault worked.
func (s *Server) FaultsMet() map[FaultKind]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.met)
}

// takeFault returns a copy of the fault for this request, or one that does nothing.
func (s *Server) takeFault(r *http.Request, body []byte) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if f.Times != 0 && f.fits(r, body) {
			f.Times--
			s.met[f.Kind]++
			used := *f
			return &used
		}
	}
	return &Fault{}
}

func (f *Fault) fits(r *http.Request, body []byte) bool {
	write := r.Method != http.MethodGet && r.Method != http.MethodHead
	switch {
	case f.Method != "" && f.Method != r.Method, !strings.Contains(r.URL.Path, f.Path), !strings.Contains(string(body), f.Body):
		return false
	case f.Method != "":
		return true
	}
	switch f.Kind {
	case FaultReadOnlyToken, FaultMarkerTaken, FaultDropFields, FaultHangAfter, FaultEOFAfter, FaultErrorAfter, FaultConflict:
		return write
	case FaultFull:
		return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/available-ips/")
	case FaultNoPrefix:
		return strings.Contains(r.URL.Path, "/ipam/prefixes/") && !strings.HasSuffix(r.URL.Path, "/prefixes/")
	default:
		return true
	}
}
