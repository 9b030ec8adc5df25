package httpboot

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

// routeScript is what most machines ask for, and every one first.
const routeScript = "GET " + ipxe.PathBoot + "{token}/" + ipxe.ScriptName

// routeNone is what there isn't: a path or a method that nobody serves.
const routeNone = "none"

// scriptToken reads the path of a script as http.ServeMux does, which takes longer than deciding; false: it's another path, or one that's
// written in another way, for that to read.
func scriptToken(r *http.Request) (string, bool) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || r.URL.RawPath != "" {
		return "", false
	}
	return tokenOfScript(r.URL.Path)
}

// tokenOfScript is what stands for a token in the path of a script; false: it's no such path.
func tokenOfScript(path string) (string, bool) {
	token, name := behindToken(path)
	return token, name == ipxe.ScriptName
}

// behindToken is what stands for a token in a path, and what is behind it; "" and "" of a path without one.
func behindToken(path string) (token, name string) {
	rest, ok := strings.CutPrefix(path, ipxe.PathBoot)
	if !ok {
		return "", ""
	}
	if token, name, _ = strings.Cut(rest, "/"); token == "" {
		return "", ""
	}
	return token, name
}

// script decides and serves. A HEAD is decided like a GET, but opens and consumes nothing.
func (s *Server) script(w http.ResponseWriter, r *http.Request, token string) {
	c, ok := s.o.Gate.Caller(token, boot.TokenScript)
	if !ok {
		s.static(w, r)
		return
	}
	near(c)
	fw, held := ipxe.AskedBy(r.URL.RawQuery)
	local := localOf(r)
	a, text, err := s.decide(r.Context(), c, fw, s.baseAt(r, local), local.Addr().Is6(), r.URL, r.Method == http.MethodGet)
	if err != nil {
		s.o.Logger.Warn("a script can't be made", "entry", c.Plan.Entry.String(), "error", err.Error())
		s.static(w, r)
		return
	}
	s.o.Decided(a.Decision)
	if r.Method == http.MethodGet {
		now := s.o.Now()
		s.told(r.Context(), c, a, now)
		s.sighted(c, a, now)
		s.reachedAt(c, boot.StageScript, now)
	}
	if !held && unfound(c.Plan, a) {
		w.Header().Set("Cache-Control", "no-store")
		http.NotFound(w, r)
		return
	}
	serveScript(w, r, text)
}

// told logs a decision. Its line says nothing of where in the program it's from, which takes as long to find out as the rest of it.
func (s *Server) told(ctx context.Context, c gate.Caller, a gate.Answer, now time.Time) {
	h, level := s.o.Logger.Handler(), slog.LevelInfo
	if a.Reason == gate.ReasonScript { // Somebody must change something.
		level = slog.LevelWarn
	}
	if !h.Enabled(ctx, level) {
		return
	}
	line := slog.NewRecord(now, level, "script", 0)
	line.AddAttrs(slog.String("entry", c.Memo.Entry), slog.String("answer", string(a.Answer)), slog.String("reason", a.Reason), slog.String("mac", c.Memo.MAC))
	if a.Message != "" {
		line.AddAttrs(slog.String("message", a.Message))
	}
	_ = h.Handle(ctx, line) // As slog.Logger.
}

// unfound says whether a machine is sent to its disk by a script that isn't there.
func unfound(p *boot.Plan, a gate.Answer) bool {
	return a.Answer == boot.AnswerLocalDisk && p.LocalBoot == boot.LocalBootNotFound
}

// decide gives the answer to a script request, and its text. six says that it came over IPv6, at is where the machine asks again.
func (s *Server) decide(ctx context.Context, c gate.Caller, fw boot.Firmware, base string, six bool, at *url.URL, commit bool) (gate.Answer, script, error) {
	fw = firmware(c.Plan, fw)
	input := func(a gate.Answer) ipxe.Input {
		return ipxe.Input{Plan: a.Told(c), Decision: a.Decision, Firmware: fw, Base: base, Six: six, Installer: s.installer(base), NoAddress: s.proxied(c.Plan), Token: a.Token, Wait: gate.Wait(a.Reason)}
	}
	a := s.o.Gate.Script(ctx, c, fw, commit, func(a gate.Answer) error {
		_, err := ipxe.Render(input(a))
		return err
	})
	text, err := s.text(c, input(a), base, at)
	if err != nil { // What netboots each time isn't tried before.
		a = gate.Hold(gate.ReasonScript)
		a.Message = err.Error()
		text, err = s.text(c, input(a), base, at)
	}
	return a, text, err
}

// text renders an answer.
func (s *Server) text(c gate.Caller, in ipxe.Input, base string, at *url.URL) (script, error) {
	if in.Decision.Answer == boot.AnswerHold && in.Decision.Reason != boot.DecidedSuperseded { // That token will never be good again.
		in.Again = base + ipxe.Held(at.RequestURI()) // Whatever localBoot says now: it may say another when the machine asks again.
	}
	return s.render(c, in)
}

// proxied says whether another server gives the machine its address: told the planned one as well, its kernel would take what that server
// may have given to somebody else.
func (s *Server) proxied(p *boot.Plan) bool {
	st := s.o.State()
	return st != nil && st.Elsewhere(p.Network.Name)
}

// sighted notes an answer.
func (s *Server) sighted(c gate.Caller, a gate.Answer, now time.Time) {
	if x, tells := s.o.Gate.Sighting(c, a, now); tells {
		s.o.Sightings.Sight(c.Plan.Entry, x)
	}
}

// static is the hold script of whoever can't be told more: wait, then begin again with DHCP.
func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	a := gate.Hold(gate.ReasonToken)
	s.o.Decided(a.Decision)
	text, err := rendered(ipxe.Input{Decision: a.Decision})
	if err != nil {
		forbidden(w)
		return
	}
	serveScript(w, r, text)
}

// Values of a script's header, which nobody changes.
var plainText, noStore = []string{"text/plain; charset=utf-8"}, []string{"no-store"} //nolint:gochecknoglobals // Each script takes no memory for them.

// lengths of scripts, as their headers say them. Nobody changes one.
var lengths = sync.OnceValue(func() [][]string { //nolint:gochecknoglobals // As above.
	all := make([][]string, maxKept+1)
	for n := range all {
		all[n] = []string{strconv.Itoa(n)}
	}
	return all
})

func lengthOf(n int) []string {
	if n > maxKept {
		return []string{strconv.Itoa(n)}
	}
	return lengths()[n]
}

// serveScript answers GET and HEAD. A script is whole or not at all: each is made anew, so that a Range of it means nothing.
func serveScript(w http.ResponseWriter, r *http.Request, x script) {
	h := w.Header()
	h["Content-Type"], h["Cache-Control"], h["Content-Length"] = plainText, noStore, lengthOf(x.Len())
	if r.Method != http.MethodHead {
		x.send(w)
	}
}

// firmware completes what a request says by what the plan leaves no choice about.
func firmware(p *boot.Plan, fw boot.Firmware) boot.Firmware {
	if fw.Arch == "" && len(p.Artifacts) == 1 {
		fw.Arch = p.Artifacts[0].Arch
	}
	return fw
}
