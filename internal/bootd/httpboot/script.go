package httpboot

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// Reasons of a hold that boot.Decide doesn't know of.
const (
	ReasonToken      = "InvalidToken"
	ReasonAPI        = "APIUnavailable"
	ReasonSuperseded = "Superseded"
	ReasonScript     = "ScriptInvalid"
	ReasonPace       = "AsksTooOften"
)

const (
	// filesPatience is how long a script request waits for files that are on their way; longer than
	// that, and iPXE gets a hold script.
	filesPatience = 3 * time.Second
	// shortWait is the hold of what ends by itself in a moment.
	shortWait = 2 * time.Second
	// bootTokenLife is how long the token of a boot is good beyond its grant: for the install that began
	// in the grant's last minute, and for the report of the system that it started.
	bootTokenLife = 24 * time.Hour
)

// answer is a script on its way: what was decided, and the token of the boot.
type answer struct {
	boot.Decision

	token   string
	message string
}

func hold(reason string) answer {
	return answer{Decision: boot.Decision{Answer: boot.AnswerHold, Reason: reason}}
}

// script decides and serves. A HEAD is decided like a GET, but opens and consumes nothing.
func (s *Server) script(w http.ResponseWriter, r *http.Request) {
	c, ok := s.caller(r, boot.TokenScript)
	if !ok {
		s.static(w, r)
		return
	}
	fw := firmware(c.plan, ipxe.FirmwareOf(r.URL.Query()))
	a := s.answer(r, c, fw)
	in := ipxe.Input{Plan: c.plan, Decision: a.Decision, Firmware: fw, Base: s.base(r), Token: a.token, Wait: wait(a.Reason)}
	if a.Answer == boot.AnswerHold {
		in.Again = in.Base + r.URL.RequestURI()
	}
	text, err := ipxe.Render(in)
	if err != nil {
		s.o.Logger.Warn("a script can't be made", "entry", c.plan.Entry.String(), "error", err.Error())
		s.static(w, r)
		return
	}
	s.o.Decided(a.Decision)
	if r.Method == http.MethodGet {
		s.o.Logger.Info("script", "entry", c.plan.Entry.String(), "answer", string(a.Answer), "reason", a.Reason)
		s.sighted(c, a)
	}
	serveScript(w, r, text)
}

// sighted notes an answer. That of an install is part of the write that opens the grant.
func (s *Server) sighted(c caller, a answer) {
	if a.Answer == boot.AnswerInstall {
		return
	}
	s.o.Sessions.Sight(c.plan.Entry, session.Sighting{
		Kind: session.SawScript, At: s.o.Now(), Reason: a.Reason, GrantID: c.grantID(), Message: a.message, Live: a.Answer == boot.AnswerLive,
	})
}

// static is the hold script of whoever can't be told more: wait, then begin again with DHCP.
func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	a := hold(ReasonToken)
	s.o.Decided(a.Decision)
	text, err := ipxe.Render(ipxe.Input{Decision: a.Decision})
	if err != nil {
		forbidden(w)
		return
	}
	serveScript(w, r, text)
}

func serveScript(w http.ResponseWriter, r *http.Request, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	serveBytes(w, r, []byte(text))
}

// firmware completes what a request says by what the plan leaves no choice about.
func firmware(p *boot.Plan, fw boot.Firmware) boot.Firmware {
	if fw.Arch == "" && len(p.Artifacts) == 1 {
		fw.Arch = p.Artifacts[0].Arch
	}
	return fw
}

// wait is how long a hold lasts; 0 is the renderer's default.
func wait(reason string) time.Duration {
	switch reason {
	case boot.DecidedNotSynced, boot.DecidedStale, boot.DecidedNoSession, boot.DecidedGranted,
		ReasonAPI, ReasonPace, artifacts.ReasonFetching, artifacts.ReasonFetch, artifacts.ReasonDigest:
		return shortWait
	}
	return 0
}

// answer decides what a machine is told and does what must be done before it's told.
func (s *Server) answer(r *http.Request, c caller, fw boot.Firmware) answer {
	d := boot.Decide(boot.Facts{
		Now: s.o.Now(), Plan: c.plan, Session: c.session, Log: s.o.Sessions.Logged(c.plan.EntryUID),
		Synced: s.o.Synced(c.plan), Arch: fw.Arch,
	})
	again, repeats := s.repeat(c, fw.Arch, d)
	switch {
	case repeats:
		return s.install(r, c, fw, again)
	case d.Answer == boot.AnswerInstall:
		return s.install(r, c, fw, s.nonce(c, c.session.Grant.ID, fw.Arch))
	case d.Answer == boot.AnswerLive:
		return s.live(r, c, fw)
	}
	return answer{Decision: d}
}

// nonce of the boot that a script request begins. It follows from the request alone, so that a repeat
// of the request is the same boot, whichever replica answers it and however often that was restarted in
// between. Each DHCP exchange makes another script token, and with it another boot.
func (s *Server) nonce(c caller, id string, arch boot.Arch) string {
	keys := s.o.Keys()
	if len(keys) == 0 {
		return ""
	}
	return nonce(keys[0], c.claims.Nonce, id, arch)
}

// nonce ends with a digit for the architecture, so that a boot's token says which image is its own.
func nonce(key []byte, script, id string, arch boot.Arch) string {
	n := boot.DerivedNonce(key, "boot", script, id)
	return n[:len(n)-1] + archDigit(arch)
}

func archDigit(a boot.Arch) string {
	switch a {
	case boot.AMD64:
		return "1"
	case boot.ARM64:
		return "2"
	}
	return "0"
}

// repeat finds out whether a request is the retry of one that consumed the grant: of a kernel that
// destroys, whose machine must get what it paid for, however long bootd was away meanwhile. The nonce is
// that of the consumption. A machine that starts anew comes with a new token, or with the same one where
// it was reset within a minute: then OpenAndConsume knows whether its kernel went out.
func (s *Server) repeat(c caller, arch boot.Arch, d boot.Decision) (string, bool) {
	if d.Reason != boot.DecidedConsumed || !c.plan.KernelDestroys() || c.session.Revocation != "" {
		return "", false
	}
	used := s.o.Sessions.Logged(c.plan.EntryUID)
	if c.session.Consumed != nil {
		used = append(used, *c.session.Consumed)
	}
	for _, x := range used {
		g := c.session.Grant
		if g == nil || x.GrantID != g.ID || x.PlanDigest != c.plan.Digest() || s.o.Sessions.NewBoot(c.plan.Entry, x.At) {
			continue
		}
		for _, k := range s.o.Keys() {
			if nonce(k, c.claims.Nonce, x.GrantID, arch) == x.Nonce {
				return x.Nonce, true
			}
		}
	}
	return "", false
}

// install opens the grant, and consumes it where the kernel destroys, before a byte goes out. The files
// come first: a grant isn't used up for what can't be served.
func (s *Server) install(r *http.Request, c caller, fw boot.Firmware, nonce string) answer {
	if err := s.ready(r.Context(), c.plan, fw.Arch); err != nil {
		return unready(err)
	}
	g := c.session.Grant
	t := boot.Claims{
		Kind: boot.TokenBoot, Entry: c.claims.Entry, GrantID: g.ID, Nonce: nonce, Expires: g.Expires.Add(bootTokenLife),
	}
	token, err := s.mint(t)
	if err != nil {
		return hold(ReasonScript)
	}
	a := answer{Decision: boot.Decision{Answer: boot.AnswerInstall, Reason: boot.DecidedGranted}, token: token}
	if _, err := ipxe.Render(ipxe.Input{Plan: c.plan, Decision: a.Decision, Firmware: fw, Base: s.base(r), Token: token}); err != nil {
		return answer{Decision: hold(ReasonScript).Decision, message: err.Error()}
	}
	if r.Method != http.MethodGet {
		return a
	}
	if err := s.open(r.Context(), c, t); err != nil {
		s.o.Logger.Info("an install script is held back", "entry", c.plan.Entry.String(), "error", err.Error())
		return hold(reason(err))
	}
	s.granted.remember(t.Entry, c.plan)
	return a
}

// open records that a script is about to go out, and uses its grant where its kernel needs no second question.
func (s *Server) open(ctx context.Context, c caller, t boot.Claims) error {
	if err := s.paced(c); err != nil {
		return err
	}
	if c.plan.KernelDestroys() {
		return s.o.Sessions.OpenAndConsume(ctx, c.plan, t)
	}
	return s.o.Sessions.Open(ctx, c.plan, t.GrantID, t.Nonce)
}

func (s *Server) live(r *http.Request, c caller, fw boot.Firmware) answer {
	if err := s.ready(r.Context(), c.plan, fw.Arch); err != nil {
		return unready(err)
	}
	id := liveID(c.plan)
	token, err := s.mint(boot.Claims{
		Kind: boot.TokenBoot, Entry: c.claims.Entry, GrantID: id, Nonce: s.nonce(c, id, fw.Arch), Expires: s.o.Now().Add(bootTokenLife),
	})
	if err != nil {
		return hold(ReasonScript)
	}
	return answer{Decision: boot.Decision{Answer: boot.AnswerLive, Reason: boot.DecidedLive}, token: token}
}

func (s *Server) mint(t boot.Claims) (string, error) {
	keys := s.o.Keys()
	if len(keys) == 0 {
		return "", errors.New("there are no token keys")
	}
	return boot.Mint(keys[0], t)
}

// ready waits a moment until all files of a boot are here with the right digests.
func (s *Server) ready(ctx context.Context, p *boot.Plan, arch boot.Arch) error {
	ctx, cancel := context.WithTimeout(ctx, filesPatience)
	defer cancel()
	files, _ := p.For(arch)
	for _, a := range Files(files) {
		if err := s.o.Artifacts.Await(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// Files are all files of one architecture.
func Files(f boot.Artifacts) []boot.Artifact {
	all := append([]boot.Artifact{f.Kernel}, f.Initrds...)
	if f.Image != nil {
		all = append(all, f.Image.Artifact)
	}
	return all
}

func unready(err error) answer {
	a := hold(artifacts.ReasonFetch)
	if why, ok := errors.AsType[*artifacts.Error](err); ok {
		a.Reason = why.Reason
	}
	if a.Reason != artifacts.ReasonFetching {
		a.message = err.Error()
	}
	return a
}
