package rpiboot

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/rpi"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tftp"
)

var (
	errNoAddress = fmt.Errorf("%w: it isn't known by which address of ours the machine asked; name it by --advertise-address", tftp.ErrLater)
	errHeld      = fmt.Errorf("%w: it's held", tftp.ErrLater)
)

func firmware() boot.Firmware {
	return boot.Firmware{Kind: boot.FirmwareRaspberryPi, Arch: boot.ARM64}
}

// decide asks the gate. nil: something is booted, and with commit that's in its session, and what the machine is told is kept. Who is to boot
// from its disk gets no file, and who is held no answer: its firmware asks again for as long as it's set to.
func (s *Server) decide(ctx context.Context, b *started, c gate.Caller, commit bool, ours netip.Addr) (boot.Decision, error) {
	base := s.o.Base(ours)
	if base == "" {
		s.o.Logger.Warn("a Raspberry Pi's files can't be made", "entry", c.Plan.Entry.String(), "error", errNoAddress.Error())
		return boot.Decision{}, errNoAddress
	}
	a, words := s.ask(ctx, c, b.MAC, base, commit)
	if !commit && a.Reason == boot.DecidedBootLoop { // It comes to no file that commits: that it has begun is known by its first one.
		a, words = s.ask(ctx, c, b.MAC, base, true)
	}
	if ctx.Err() != nil { // It was given up meanwhile: what it waited for in vain isn't the reason of a hold.
		return a.Decision, fmt.Errorf("%w: %w", tftp.ErrLater, ctx.Err())
	}
	boots := a.Answer == boot.AnswerInstall || a.Answer == boot.AnswerLive
	if !boots || commit {
		s.said(b, c, a)
	}
	switch {
	case boots && commit:
		b.boot, b.words, b.decision = a.Token, words, a.Decision
		s.reached(c, boot.StageScript)
	case boots:
	case a.Answer == boot.AnswerLocalDisk, a.Reason == boot.DecidedConsumed && c.Plan.Otherwise != boot.OtherwiseHold:
		return a.Decision, errDisk
	default:
		return a.Decision, fmt.Errorf("%w (%s)", errHeld, a.Reason)
	}
	return a.Decision, nil
}

// ask gives the gate's answer, and the cmdline.txt that it comes to.
func (s *Server) ask(ctx context.Context, c gate.Caller, mac boot.MAC, base string, commit bool) (a gate.Answer, words string) {
	render := func(a gate.Answer) error {
		_, err := rpi.Config(c.Plan, a.Decision)
		if err == nil {
			words, err = rpi.CommandLine(s.input(c, a, mac, base))
		}
		return err //nolint:wrapcheck // It says what is wrong, and of which entry.
	}
	a = s.o.Gate.Script(ctx, c, firmware(), commit, render)
	if a.Answer == boot.AnswerInstall || a.Answer == boot.AnswerLive { // What netboots each time isn't tried before.
		if err := render(a); err != nil {
			a = gate.Hold(gate.ReasonScript)
			a.Message = err.Error()
		}
	}
	return a, words
}

func (s *Server) input(c gate.Caller, a gate.Answer, mac boot.MAC, base string) rpi.Input {
	in := rpi.Input{Plan: a.Told(c), Decision: a.Decision, Base: base, Token: a.Token, MAC: mac}
	if s.o.Installer != nil {
		in.Installer = s.o.Installer(base)
	}
	return in
}

// said notes what a boot is told, once: its firmware asks for two dozen files.
func (s *Server) said(b *started, c gate.Caller, a gate.Answer) {
	said := string(a.Answer) + a.Reason
	if b.said == said {
		return
	}
	b.said = said
	if s.o.Decided != nil {
		s.o.Decided(a.Decision)
	}
	s.o.Logger.Info("Raspberry Pi", "entry", c.Plan.Entry.String(), "answer", string(a.Answer), "reason", a.Reason, "mac", string(b.MAC), "message", a.Message)
	if x, tells := s.o.Gate.Sighting(c, a, s.o.Now()); tells {
		s.o.Sightings.Sight(c.Plan.Entry, x)
	}
}

// The words that stand in what is foretold for what only a boot has.
const (
	shownBootToken = "BOOT-TOKEN"
	shownBase      = "http://BOOTD"
)

// Foresee says what a Raspberry Pi would be told now, by the code that tells it, with words in the place of its token and of our address where
// that isn't known. No grant is opened or used, nothing is noted or counted.
func (s *Server) Foresee(ctx context.Context, token, _ string, _ uint16) (gate.Answer, string, error) {
	c, ok := s.o.Gate.Caller(token, boot.TokenScript)
	if !ok {
		return gate.Hold(gate.ReasonToken), "", nil
	}
	base, mac := s.o.Base(netip.Addr{}), boot.MAC("")
	if base == "" {
		base = shownBase
	}
	if len(c.Plan.MACs) > 0 {
		mac = c.Plan.MACs[0]
	}
	a, _ := s.ask(ctx, c, mac, base, false)
	text, err := rpi.Told(s.input(c, a, mac, base))
	if a.Token != "" {
		text = strings.ReplaceAll(text, a.Token, shownBootToken)
		a.Token = shownBootToken
	}
	return a, text, err //nolint:wrapcheck // It says what is wrong, and of which entry.
}
