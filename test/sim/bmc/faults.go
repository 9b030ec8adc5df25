package bmc

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"
)

// Fault is one way in which an emulated BMC misbehaves. The first fault that
// matches a request decides; its actions are taken in the order of its fields.
type Fault struct {
	// Method the fault is for; "" is every method.
	Method string
	// PathContains is a part of the request path the fault is for; "" is every path.
	PathContains string
	// After is how many requests that match go through first.
	After int
	// Times is how many requests are hit; 0 is every one until Heal.
	Times int
	// Delay before anything else.
	Delay time.Duration
	// Hang keeps the request open until the client gives up.
	Hang bool
	// Disconnect closes the connection without an answer.
	Disconnect bool
	// AfterEffect lets the request take its effect first: the client doesn't
	// learn that it did.
	AfterEffect bool
	// WithoutEffect answers 204 and does nothing.
	WithoutEffect bool
	// Status answers with this status code and a Redfish error body; 0 goes on as usual.
	Status int
	// Body replaces the error body that comes with Status.
	Body string
	// Header comes with Status, such as a Retry-After or a Location.
	Header http.Header
	// Half sends half of the answer, be it the usual one or that of Status, and
	// then closes the connection; with Hang, keeps it open until the client gives up.
	Half bool
}

func (f *Fault) matches(r *http.Request) bool {
	return (f.Method == "" || f.Method == r.Method) && strings.Contains(r.URL.Path, f.PathContains)
}

// Inject adds a fault.
func (b *BMC) Inject(f Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, &f)
}

// Heal removes every fault, lag and deafness, and ends a restart of the BMC.
func (b *BMC) Heal() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = nil
	b.lag = 0
	b.ignoreGraceful = false
	b.restarting = time.Time{}
	for _, s := range b.systems {
		s.stuck = false
	}
}

// SetPowerLag makes PowerState tell the state before a reset for d.
func (b *BMC) SetPowerLag(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lag = d
}

// IgnoreGraceful makes the machines' OS ignore graceful shutdowns.
func (b *BMC) IgnoreGraceful(ignore bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ignoreGraceful = ignore
}

// StickPower makes PowerState stay as it is now, whatever the machines do.
func (b *BMC) StickPower() {
	powered := b.powerStates()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.systems {
		s.laggedOn, s.stuck = powered[s], true
	}
}

// RebootBMC restarts the BMC itself: its sessions and tasks are gone at once, and
// for d it answers everything with 503.
func (b *BMC) RebootBMC(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endSessions()
	b.forget()
	b.dropTasks()
	b.restarting = b.cfg.Now().Add(d)
}

func (b *BMC) isRestarting() bool {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.cfg.Now().Before(b.restarting)
}

// Replace puts another machine behind the address: one with that serial and
// without a UUID that anybody knows.
func (b *BMC) Replace(systemID, serial string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.system(systemID); s != nil {
		b.store.change(s.uri, func(body object) { body["SerialNumber"], body["UUID"] = serial, nil })
	}
}

// Change edits a resource, as firmware and other clients do.
func (b *BMC) Change(uri string, edit func(body map[string]any)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.store.change(uri, edit)
}

// fault takes the first fault that matches r, and uses it up.
func (b *BMC) fault(r *http.Request) *Fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, f := range b.faults {
		if !f.matches(r) {
			continue
		}
		if f.After > 0 {
			f.After--

			continue
		}
		hit := *f
		if f.Times > 0 {
			f.Times--
			if f.Times == 0 {
				b.faults = append(b.faults[:i:i], b.faults[i+1:]...)
			}
		}

		return &hit
	}

	return nil
}

// misbehave carries out f and says whether the request is finished by it.
func misbehave(f *Fault, w http.ResponseWriter, r *http.Request, effect func(http.ResponseWriter)) bool {
	if f == nil {
		return false
	}
	if f.Delay > 0 {
		select {
		case <-time.After(f.Delay):
		case <-r.Context().Done():
		}
	}
	if f.AfterEffect {
		effect(discard{header: http.Header{}})
	}
	switch {
	case f.Half:
		f.half(w, r, effect)
	case f.Hang:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case f.Disconnect:
		panic(http.ErrAbortHandler)
	case f.WithoutEffect:
		w.WriteHeader(http.StatusNoContent)
	case f.Status != 0:
		f.answer(w)
	default:
		return f.AfterEffect
	}

	return true
}

// answer is the one of Status.
func (f *Fault) answer(w http.ResponseWriter) {
	maps.Copy(w.Header(), f.Header)
	if f.Body == "" {
		new(BMC).fail(w, f.Status, problem{message: "GeneralError"})

		return
	}
	w.WriteHeader(f.Status)
	_, _ = w.Write([]byte(f.Body))
}

// half sends half of an answer.
func (f *Fault) half(w http.ResponseWriter, r *http.Request, effect func(http.ResponseWriter)) {
	whole := httptest.NewRecorder()
	if f.Status != 0 {
		f.answer(whole)
	} else {
		effect(whole)
	}
	maps.Copy(w.Header(), whole.Header())
	w.Header().Set("Content-Length", strconv.Itoa(whole.Body.Len()))
	w.WriteHeader(whole.Code)
	_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
	_ = http.NewResponseController(w).Flush()
	if f.Hang {
		<-r.Context().Done()
	}
	panic(http.ErrAbortHandler)
}

// discard is a ResponseWriter for answers that nobody gets.
type discard struct{ header http.Header }

// Header implements http.ResponseWriter.
func (d discard) Header() http.Header { return d.header }

// Write implements http.ResponseWriter.
func (d discard) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader implements http.ResponseWriter.
func (d discard) WriteHeader(int) {}
