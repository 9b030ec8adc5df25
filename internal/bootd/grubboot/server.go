// Package grubboot is what a machine asks by TFTP that boots by Debian's signed shim and grub: the two loaders, its grub.cfg, decided anew
// at each request by the gate that decides about iPXE's scripts, and the files that it names.
package grubboot

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/grub"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tftp"
)

// Sightings are told what machines were seen to do; in production a session.Manager.
type Sightings interface {
	Sight(n boot.Name, x session.Sighting)
	// Sent is told how many bytes of a kernel or an initrd a machine was sent.
	Sent(n boot.Name, bytes int64)
}

// Options of a Server. All are required, but Decided and Reached.
type Options struct {
	// State gives what is known now; nil: nothing yet.
	State func() *boot.State
	// Gate decides what machines may have.
	Gate      *gate.Gate
	Sightings Sightings
	// Artifacts are the files that configurations name.
	Artifacts tftp.Artifacts
	// Signed are the loaders, by architecture.
	Signed map[boot.Arch]tftp.Signed
	// Server is the address of this bootd for a machine that asked at an address, which may be invalid, and Base its URL.
	Server func(asked netip.Addr) (server netip.Addr, base string)
	// Installer is the base URL that what runs after grub is told, by Server's; nil: the same.
	Installer func(base string) string
	// Decided is told of each decision about a configuration, and Reached where a machine's boot is. nil: nobody is.
	Decided func(boot.Decision)
	Reached func(m session.Machine, s boot.Stage, at time.Time)
	Now     func() time.Time
	Logger  *slog.Logger
}

// A Server answers machines.
type Server struct{ o Options }

// New makes a server.
func New(o Options) *Server { return &Server{o} }

// configName is what grub asks for beside its shim: grub.First says so.
const configName = "grub.cfg"

// Own is a tftp.Own.
func (s *Server) Own(name string, _, ours netip.Addr) (tftp.OwnFile, bool) {
	if token, digest, ok := ipxe.LoaderFileOf(name); ok {
		return s.file(token, digest)
	}
	token, arch, name, ok := ipxe.LoaderOf(name)
	if !ok {
		return tftp.OwnFile{}, false
	}
	c, ok := s.o.Gate.Caller(token, boot.TokenScript)
	if !ok {
		return tftp.OwnFile{}, false
	}
	of := tftp.OwnFile{Machine: c.Claims.Entry}
	if name == configName {
		of.Open = func(ctx context.Context) (tftp.Content, error) { return s.config(ctx, c, arch, ours) }
		return of, true
	}
	signed := s.o.Signed[arch]
	if _, ok := signed.Has(name); !ok {
		return tftp.OwnFile{}, false // The shim asks for revocations and certificates too, and does without.
	}
	of.Open = func(ctx context.Context) (tftp.Content, error) {
		if signed.First(name) && c.Plan.LocalBoot == boot.LocalBootNotFound && s.unfound(ctx, c, arch) {
			return tftp.Content{Name: name}, errDisk
		}
		data, err := signed.Read(name)
		if err != nil {
			s.o.Logger.Warn("a machine's loader can't be read any more", "entry", c.Plan.Entry.String(), "error", err.Error())
			return tftp.Content{Name: name}, fmt.Errorf("%w: %w", tftp.ErrLater, err) // Its package may be in the middle of an upgrade.
		}
		return tftp.Content{Name: name, Data: data, First: signed.First(name)}, nil
	}
	return of, true
}

// errDisk is of a machine that is sent to its disk by a shim that isn't there.
var errDisk = fmt.Errorf("%w: it boots from its disk", tftp.ErrNotFound)

// unfound says whether a machine is to boot from its disk, which then was told. It opens and uses nothing.
func (s *Server) unfound(ctx context.Context, c gate.Caller, arch boot.Arch) bool {
	a := s.o.Gate.Script(ctx, c, boot.Firmware{Kind: boot.FirmwareUEFI, Arch: arch}, false, func(gate.Answer) error { return nil })
	if a.Answer != boot.AnswerLocalDisk || ctx.Err() != nil {
		return false
	}
	s.o.Logger.Info("shim or grub not found", "entry", c.Plan.Entry.String(), "answer", string(a.Answer), "reason", a.Reason, "mac", string(c.MAC()))
	s.told(c, a)
	return true
}

// config decides and renders. It's what iPXE's script is by HTTP.
func (s *Server) config(ctx context.Context, c gate.Caller, arch boot.Arch, ours netip.Addr) (tftp.Content, error) {
	server, base := s.o.Server(ours)
	err := errNoAddress
	var a gate.Answer
	var text string
	if server.IsValid() {
		a, text, err = s.decide(ctx, c, arch, server.String(), base, true)
	}
	if err == nil && ctx.Err() != nil { // It was given up meanwhile: what it waited for in vain isn't the reason of a hold.
		err = fmt.Errorf("%w: %w", tftp.ErrLater, ctx.Err())
	}
	if err != nil {
		s.o.Logger.Warn("a grub.cfg can't be made", "entry", c.Plan.Entry.String(), "error", err.Error())
		return tftp.Content{Name: configName}, err
	}
	s.o.Logger.Info("grub.cfg", "entry", c.Plan.Entry.String(), "answer", string(a.Answer), "reason", a.Reason, "mac", string(c.MAC()))
	s.told(c, a)
	return tftp.Content{Name: configName, Data: []byte(text), Again: true}, nil
}

// told notes an answer.
func (s *Server) told(c gate.Caller, a gate.Answer) {
	if s.o.Decided != nil {
		s.o.Decided(a.Decision)
	}
	if x, tells := s.o.Gate.Sighting(c, a, s.o.Now()); tells {
		s.o.Sightings.Sight(c.Plan.Entry, x)
	}
	s.reached(c, boot.StageScript)
}

func (s *Server) decide(ctx context.Context, c gate.Caller, arch boot.Arch, server, base string, commit bool) (gate.Answer, string, error) {
	input := func(a gate.Answer) grub.Input {
		return grub.Input{
			Plan: a.Told(c), Decision: a.Decision, Arch: arch, Base: base, Installer: s.installer(base), Server: server, NoAddress: s.proxied(c.Plan), Token: a.Token,
		}
	}
	a := s.o.Gate.Script(ctx, c, boot.Firmware{Kind: boot.FirmwareUEFI, Arch: arch}, commit, func(a gate.Answer) error {
		_, err := grub.Render(input(a))
		return err
	})
	text, err := grub.Render(input(a))
	if err != nil { // What netboots each time isn't tried before.
		s.o.Logger.Warn("a grub.cfg can't be made", "entry", c.Plan.Entry.String(), "error", err.Error())
		a = gate.Hold(gate.ReasonScript)
		a.Message = err.Error()
		text, err = grub.Render(input(a))
	}
	return a, text, err
}

// The words that stand in a foretold configuration for what only a boot has.
const (
	shownBootToken = "BOOT-TOKEN"
	shownServer    = "BOOTD"
)

// Foresee says what a grub would be told now, by the code that tells it, with words in the place of its token and of our address where that
// isn't known. arch is the machine's option 93. No grant is opened or used, nothing is noted or counted.
func (s *Server) Foresee(ctx context.Context, token, _ string, arch uint16) (gate.Answer, string, error) {
	c, ok := s.o.Gate.Caller(token, boot.TokenScript)
	if !ok {
		return gate.Hold(gate.ReasonToken), "", nil
	}
	server, base := shownServer, "http://"+shownServer
	if at, url := s.o.Server(netip.Addr{}); at.IsValid() {
		server, base = at.String(), url
	}
	a, text, err := s.decide(ctx, c, boot.FirmwareOf(arch).Arch, server, base, false)
	if a.Token != "" {
		text = strings.ReplaceAll(text, a.Token, shownBootToken)
		a.Token = shownBootToken
	}
	return a, text, err
}

func (s *Server) installer(base string) string {
	if s.o.Installer == nil {
		return base
	}
	return s.o.Installer(base)
}

// proxied says whether another server gives the machine its address, which its kernel mustn't be told by us then.
func (s *Server) proxied(p *boot.Plan) bool {
	st := s.o.State()
	return st != nil && st.Elsewhere(p.Network.Name)
}

// file opens a kernel or an initrd of the boot's own plan. It opens and consumes no grant. A kernel that destroys by itself is given to the
// boot alone that used the grant, and noted before its first byte.
func (s *Server) file(token, digest string) (tftp.OwnFile, bool) {
	c, ok := s.o.Gate.Caller(token, boot.TokenBoot)
	if !ok || !c.Fits() {
		return tftp.OwnFile{}, false
	}
	a, kernel, ok := c.Plan.File(digest)
	if !ok {
		return tftp.OwnFile{}, false
	}
	name := "initrd"
	if kernel {
		name = "kernel"
	}
	return tftp.OwnFile{Machine: c.Claims.Entry, Open: func(ctx context.Context) (tftp.Content, error) {
		x, err := tftp.OpenArtifact(ctx, s.o.Artifacts, a, name)
		if err == nil && kernel {
			err = s.kernel(ctx, c)
		}
		if err != nil {
			x.Close()
			return tftp.Content{Name: name}, err
		}
		if !c.Live() { // It has no session that would say so.
			x.Arrived = func(bytes int64) { s.o.Sightings.Sent(c.Plan.Entry, bytes) }
		}
		return x, nil
	}}, true
}

// kernel comes before the first byte of one.
func (s *Server) kernel(ctx context.Context, c gate.Caller) error {
	if c.Plan.KernelDestroys() {
		err := s.o.Gate.Deliver(ctx, c)
		if gate.Final(err) {
			return err
		}
		if err != nil {
			return fmt.Errorf("%w: %w", tftp.ErrLater, err)
		}
	}
	s.reached(c, boot.StageKernel)
	s.o.Sightings.Sight(c.Plan.Entry, session.Sighting{Kind: session.SawKernel, At: s.o.Now(), Live: c.Plan.Mode == boot.ModeLive})
	return nil
}

var errNoAddress = fmt.Errorf("%w: it isn't known by which address of ours the machine asked; name it by --advertise-address", tftp.ErrLater)

// reached says where a machine's boot is.
func (s *Server) reached(c gate.Caller, stage boot.Stage) {
	if s.o.Reached != nil {
		s.o.Reached(c.Memo.Machine, stage, s.o.Now())
	}
}
