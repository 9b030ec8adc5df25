package httpboot

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// A sending is a file that a machine may have; nil: it was said why it may have none.
type sending struct {
	artifact boot.Artifact
	entry    boot.Name
	// counted: its machine has a session, which counts what it was sent.
	counted bool
	// begun is called once its machine has any of it; nil: nobody minds.
	begun func()
}

func sendingOf(c gate.Caller, a boot.Artifact) *sending {
	return &sending{artifact: a, entry: c.Plan.Entry, counted: !c.Live()}
}

// delivered serves what is found for a boot. Its plan, and all that finding it took, is left behind before: sending takes minutes, of ten thousand machines
// at once.
func (s *Server) delivered(w http.ResponseWriter, r *http.Request, find func(http.ResponseWriter, *http.Request) *sending) {
	x := find(w, r)
	if x == nil {
		return
	}
	rec, ok := w.(*recorder)
	if ok && r.Method == http.MethodGet {
		rec.begun, x.begun = x.begun, nil
	}
	s.artifact(w, r, &x.artifact)
	if ok && x.counted && rec.bytes > 0 {
		s.o.Sightings.Sent(x.entry, rec.bytes)
	}
}

// file finds a kernel or an initrd of the boot's own plan. It opens and consumes nothing. A kernel that destroys by itself
// is given to the boot alone that used the grant, and noted before its first byte.
func (s *Server) file(w http.ResponseWriter, r *http.Request) *sending {
	c, ok := s.caller(r)
	if !ok || !c.Fits() {
		s.unknown(w)
		return nil
	}
	a, kernel, ok := c.Plan.File(ipxe.DigestOf(r.PathValue("digest")))
	if !ok {
		http.NotFound(w, r)
		return nil
	}
	if kernel && c.Plan.KernelDestroys() && r.Method == http.MethodGet {
		if err := s.o.Gate.Deliver(r.Context(), c); err != nil {
			s.refuse(w, c, err)
			return nil
		}
	}
	x := sendingOf(c, a)
	if kernel {
		x.begun = func() { s.kernelOf(c) }
	}
	return x
}

// kernelOf notes that the kernel of a boot goes out.
func (s *Server) kernelOf(c gate.Caller) {
	s.reached(c, boot.StageKernel)
	s.o.Sightings.Sight(c.Plan.Entry, session.Sighting{Kind: session.SawKernel, At: s.o.Now(), Live: c.Live()})
}

// image finds the disk image. The first GET consumes the grant before its first byte, and not for an image that can't be had.
func (s *Server) image(w http.ResponseWriter, r *http.Request) *sending {
	if c, ok := s.caller(r); ok && c.Fits() && r.Method == http.MethodGet && s.o.Gate.Unused(c) {
		a, ok := imageOf(c)
		if !ok {
			http.NotFound(w, r)
			return nil
		}
		f, sent, err := s.found(r, a)
		if err != nil {
			missing(w, err)
			return nil
		}
		defer sent() // Held until the grant is used: others may want its room.
		_ = f.Close()
	}
	c, ok := s.admitted(w, r)
	if !ok {
		return nil
	}
	if s.o.Gate.Ended(c) || c.Late() {
		forbidden(w)
		return nil
	}
	if a, ok := imageOf(c); ok {
		return sendingOf(c, a)
	}
	http.NotFound(w, r)
	return nil
}

// imageOf is the disk image of a boot's architecture.
func imageOf(c gate.Caller) (boot.Artifact, bool) {
	for _, f := range c.Plan.Artifacts {
		if f.Image != nil && strings.HasSuffix(c.Claims.Nonce, gate.ArchDigit(f.Arch)) {
			return f.Image.Source(), true
		}
	}
	return boot.Artifact{}, false
}

// iso finds an ISO, which a machine's loader reads by ranges. Its grant was used by the script; the first GET says that it goes out.
func (s *Server) iso(w http.ResponseWriter, r *http.Request) *sending {
	c, ok := s.caller(r)
	if !ok || !c.Fits() {
		s.unknown(w)
		return nil
	}
	p, first, err := s.o.Gate.Read(r.Context(), c, r.Method != http.MethodHead)
	switch {
	case errors.Is(err, gate.ErrChanged):
		s.o.Logger.Warn("an install gets no more of its ISO: its plan was changed since it began", "entry", c.Plan.Entry.String())
		s.unknown(w)
		return nil
	case err != nil:
		s.refuse(w, c, err)
		return nil
	}
	for _, f := range p.Artifacts {
		if f.ISO == nil || !strings.HasSuffix(c.Claims.Nonce, gate.ArchDigit(f.Arch)) {
			continue
		}
		if first { // That's known by now, whatever comes of this request.
			s.kernelOf(c)
		}
		return sendingOf(c, *f.ISO)
	}
	http.NotFound(w, r)
	return nil
}

// admitted lets a boot at what only it may have, and gives it the plan that was granted. For an install a GET consumes its
// grant, unless this boot has used it already; a HEAD never does.
func (s *Server) admitted(w http.ResponseWriter, r *http.Request) (gate.Caller, bool) {
	c, ok := s.caller(r)
	if !ok || !c.Fits() {
		s.unknown(w)
		return c, false
	}
	p, err := s.o.Gate.Admit(r.Context(), c, r.Method != http.MethodHead)
	switch {
	case errors.Is(err, gate.ErrChanged):
		s.o.Logger.Warn("an install gets nothing more: its plan was changed since it began", "entry", c.Plan.Entry.String())
		s.unknown(w)
		return c, false
	case err != nil:
		s.refuse(w, c, err)
		return c, false
	}
	c.Plan = p
	if r.Method == http.MethodGet {
		s.reached(c, boot.StageInstalling)
	}
	return c, true
}

// data serves user data and the like. All of it consumes: whoever asks for it is an install that began. Once that was reported it's over, but for who
// asks later. Whether the boot may still have it is asked anew each time, since the watch may not have heard of a revocation yet.
func (s *Server) data(w http.ResponseWriter, r *http.Request, name string) {
	c, ok := s.admitted(w, r)
	if !ok {
		return
	}
	if s.o.Gate.Ended(c) && !c.Plan.AsksLater() {
		forbidden(w)
		return
	}
	if s.closed(c) {
		forbidden(w)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead && !c.Owns() && c.Plan.Mode != boot.ModeLive {
		return // Not even its length before the grant is used.
	}
	if err := s.o.Gate.Data(r.Context(), c); err != nil {
		s.refuse(w, c, err)
		return
	}
	s.secret(w, r, c, name)
}

// talosPatience is how long an install by Talos has its machine config where its profile has no timeout.
const talosPatience = time.Hour

// closed says that a boot had its data for long enough. Talos never says that it's done, and keeps the URL in its boot loader: there the
// time since the grant was used says it.
func (s *Server) closed(c gate.Caller) bool {
	if c.Live() || c.Plan.UserDataFormat != boot.UserDataTalos || !c.Owns() {
		return false
	}
	return s.o.Now().After(c.Session.Consumed.At.Add(cmp.Or(c.Plan.InstallTimeout, talosPatience)))
}

// secret serves what is in the machine's Secret, unless that was changed since the boot began.
func (s *Server) secret(w http.ResponseWriter, r *http.Request, c gate.Caller, name string) {
	if present, ok := s.o.State().ByEntry(c.Claims.Entry); !ok || present.UserDataDigest != c.Plan.UserDataDigest {
		forbidden(w)
		return
	}
	if c.Plan.UserDataSecret == "" {
		s.given(w, r, c, nil, name)
		return
	}
	data, err := s.o.Data(r.Context(), c.Plan.UserDataSecret)
	if err != nil {
		s.refuse(w, c, err)
		return
	}
	if c.Plan.UserDataDigest != "" && boot.DataDigest(data) != c.Plan.UserDataDigest {
		s.refuse(w, c, errEdited)
		return
	}
	s.given(w, r, c, data, name)
}

// errEdited says that a machine's data was changed, and its plan not yet: whether it may still have it is known in a moment.
var errEdited = errors.New("what the machine is to be given was edited since its plan was made")
