// Package rpiboot is what the firmware of a Raspberry Pi asks by TFTP: the files of its profile, its config.txt and cmdline.txt, and its
// kernel, under the gate that decides about iPXE's scripts.
//
// Such a firmware can't be told a name, so that no token can be in it. What stands for it is the token of the machine's DHCP exchange with
// this bootd: it's good for who asks from the address that was given in that, for as long as a boot takes.
package rpiboot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/rpi"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tftp"
)

// Sightings are told what machines were seen to do; in production a daemon.
type Sightings interface {
	Sight(n boot.Name, x session.Sighting)
	// Sent is told how many bytes of a kernel or an initrd a machine was sent.
	Sent(n boot.Name, bytes int64)
	Seen(p *boot.Plan, mac boot.MAC, stage boot.Stage, fw boot.Firmware, at time.Time)
}

// Options of a Server. All are required, but Installer, Decided and Reached.
type Options struct {
	// Gate decides what machines may have.
	Gate      *gate.Gate
	Sightings Sightings
	Artifacts tftp.Artifacts
	// Base is the URL of this bootd for a machine that asked at an address, which may be invalid; "": it isn't known.
	Base func(asked netip.Addr) string
	// Installer is the base URL that what runs later is told, by Base's; nil: the same.
	Installer func(base string) string
	// Decided is told of each decision, and Reached where a machine's boot is. nil: nobody is.
	Decided func(boot.Decision)
	Reached func(m session.Machine, s boot.Stage, at time.Time)
	Now     func() time.Time
	Logger  *slog.Logger
}

const (
	// oneBoot is how long after its DHCP exchange a firmware may ask: some wait half a minute for each file, and load a large initrd in
	// small blocks.
	oneBoot = 15 * time.Minute
	// maxBoots are remembered.
	maxBoots = 16384
)

// A Server answers machines.
type Server struct {
	o Options

	mu sync.Mutex
	of map[netip.Addr]*started
}

// New makes a server.
func New(o Options) *Server { return &Server{o: o, of: map[netip.Addr]*started{}} }

// started is a boot from its DHCP exchange on. Another exchange is another boot, however alike they are: every Pi 3 has the same number in
// each of them.
type started struct {
	dhcp.Pi

	id rpi.Identity
	// anothers says that its address asked for another board's files: there are two at it, and its boot is nobody's.
	anothers atomic.Bool

	mu sync.Mutex // guards the rest; held while a file is being opened
	// seen says that its start was told. plan is the digest of the plan that it gets files of, said what its log was last told.
	seen       bool
	plan, said string
	// boot is the token of the boot that it was decided on, once that's in its session; words its cmdline.txt, decision what it was.
	boot, words string
	decision    boot.Decision
	// over says that it has the kernel of an install: one that begins again has no part in that.
	over bool
}

// Began is told of each exchange by DHCP, before it's answered.
func (s *Server) Began(x dhcp.Pi) {
	at := x.Plan.Network.Address.Addr()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.of) >= maxBoots && s.of[at] == nil {
		s.forget(x.At)
	}
	s.of[at] = &started{Pi: x, id: rpi.IdentityOf(x.Plan.MACs, x.Plan.Serial, x.MachineID), seen: x.Confirmed}
}

// forget drops what is over, or all: it costs at worst another try of each.
func (s *Server) forget(now time.Time) {
	for at, b := range s.of {
		if now.Sub(b.At) >= oneBoot {
			delete(s.of, at)
		}
	}
	if len(s.of) >= maxBoots {
		clear(s.of)
	}
}

func (s *Server) at(client netip.Addr) *started {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.of[client]
	if b == nil || s.o.Now().Sub(b.At) >= oneBoot {
		return nil
	}
	return b
}

// Own is a tftp.Own.
func (s *Server) Own(name string, client, ours netip.Addr) (tftp.OwnFile, bool) {
	b := s.at(client)
	if b == nil {
		return tftp.OwnFile{}, false
	}
	c, ok := s.o.Gate.Caller(b.Token, boot.TokenScript)
	if !ok || c.Plan.Network.Address.Addr() != client {
		return tftp.OwnFile{}, false
	}
	files, _ := c.Plan.For(boot.ARM64)
	prefix, f, ok := rpi.Find(files, name)
	if b.id.Contradicts(prefix) {
		b.anothers.Store(true)
	}
	if !ok || b.anothers.Load() {
		return tftp.OwnFile{}, false // Firmware looks for more than there is, and does without.
	}
	return tftp.OwnFile{Machine: c.Claims.Entry, Open: func(ctx context.Context) (tftp.Content, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.anothers.Load() {
			return tftp.Content{}, errTwo
		}
		x, err := s.open(ctx, b, c, f, ours)
		x.Name, x.First = f.Name, f.First()
		if err == nil && f.Counts() && !c.Live() { // What netboots each time has no session that would say so.
			x.Arrived = func(bytes int64) { s.o.Sightings.Sent(c.Plan.Entry, bytes) }
		}
		return x, err
	}}, true
}

var (
	errPlan = errors.New("the plan was changed since the machine's firmware began: it gets files of one plan")
	errOver = errors.New("its firmware begins anew without asking DHCP, after it was given the kernel of an install")
	errTwo  = errors.New("its address asks for another board's files, too")
	errDisk = errors.New("nothing is to be booted: it goes on with its boot order")
)

// open gives a file of a boot for which something is to be booted. A file that comes with nothing is given as long as the gate says so; with
// the first of cmdline.txt and kernel the grant is opened, and used where the kernel destroys. What was decided then stands for the rest of
// this boot: its files are asked for again and again.
func (s *Server) open(ctx context.Context, b *started, c gate.Caller, f rpi.File, ours netip.Addr) (tftp.Content, error) {
	if !b.seen && !f.ROM() { // The ROM of a Pi 3 loads what begins with DHCP again.
		b.seen = true
		s.o.Sightings.Seen(c.Plan, "", boot.StageDHCP, boot.Firmware{Kind: boot.FirmwareRaspberryPi, Arch: boot.ARM64}, b.At)
	}
	digest := c.Plan.Digest()
	switch {
	case b.plan != "" && b.plan != digest:
		return tftp.Content{}, errPlan
	case b.over && f.Begins():
		return tftp.Content{}, errOver
	}
	decision := b.decision
	if b.boot == "" {
		var err error
		if decision, err = s.decide(ctx, b, c, f.Commits(), ours); err != nil {
			return tftp.Content{}, err
		}
	}
	b.plan = digest
	x, err := s.content(ctx, b, c, f, decision)
	if err != nil {
		x.Close()
		return tftp.Content{}, err
	}
	return x, nil
}

// content of a file, after it was decided that something is booted.
func (s *Server) content(ctx context.Context, b *started, c gate.Caller, f rpi.File, d boot.Decision) (tftp.Content, error) {
	if b.boot != "" {
		var ok bool
		if c, ok = s.o.Gate.Caller(b.boot, boot.TokenBoot); !ok || !c.Fits() {
			return tftp.Content{}, boot.ErrNoGrant
		}
		if c.Plan.Digest() != b.plan {
			return tftp.Content{}, errPlan
		}
	}
	switch f.Kind {
	case rpi.ConfigText:
		text, err := rpi.Config(c.Plan, d)
		return tftp.Content{Data: []byte(text)}, err //nolint:wrapcheck // It says what is wrong, and of which entry.
	case rpi.CommandLineText:
		return tftp.Content{Data: []byte(b.words)}, nil
	case rpi.Kernel:
		return s.kernel(ctx, b, c, f)
	case rpi.Firmware, rpi.Initrd:
	}
	return tftp.OpenArtifact(ctx, s.o.Artifacts, f.Artifact, f.Name) //nolint:wrapcheck // The same.
}

// kernel is given to the boot alone that was decided on. One that destroys by itself is noted before its first byte, each time.
func (s *Server) kernel(ctx context.Context, b *started, c gate.Caller, f rpi.File) (tftp.Content, error) {
	x, err := tftp.OpenArtifact(ctx, s.o.Artifacts, f.Artifact, f.Name)
	if err != nil {
		return x, err //nolint:wrapcheck // It says what failed.
	}
	if c.Plan.KernelDestroys() {
		err := s.o.Gate.Deliver(ctx, c)
		if err != nil && !gate.Final(err) {
			err = fmt.Errorf("%w: %w", tftp.ErrLater, err)
		}
		if err != nil {
			return x, err
		}
	}
	b.over = !c.Live()
	s.reached(c, boot.StageKernel)
	s.o.Sightings.Sight(c.Plan.Entry, session.Sighting{Kind: session.SawKernel, At: s.o.Now(), Live: c.Live()})
	return x, nil
}

// reached says where a machine's boot is.
func (s *Server) reached(c gate.Caller, stage boot.Stage) {
	if s.o.Reached != nil {
		s.o.Reached(c.Memo.Machine, stage, s.o.Now())
	}
}
