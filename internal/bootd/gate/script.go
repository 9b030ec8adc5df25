package gate

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
)

const (
	// filesPatience is how long a script request waits for files that are on their way; longer than
	// that, and the machine gets a hold script.
	filesPatience = 3 * time.Second
	// bootTokenLife is how long the token of a boot is good beyond its grant: for the install that began
	// in the grant's last minute, and for the report of the system that it started.
	bootTokenLife = 24 * time.Hour
)

// An Answer is what a machine is told.
type Answer struct {
	boot.Decision

	// Token of the boot, for Install and Live.
	Token string
	// Message says more than the reason does, for people; may be empty.
	Message string

	// told is the plan as its machine is told it, where that's another one.
	told *boot.Plan
}

// Told is a caller's plan as its machine is told it: of an image that is unpacked here an installer gets the raw disk, with the digest of that.
func (a Answer) Told(c Caller) *boot.Plan {
	if a.told != nil {
		return a.told
	}
	return c.Plan
}

// told is a plan whose files are there in the place of one whose images are to be unpacked; nil: it has none. It's for the installer's eyes: what
// is granted, noted and compared is the plan itself.
func (g *Gate) told(p *boot.Plan, arch boot.Arch) (*boot.Plan, error) {
	f, ok := p.For(arch)
	if !ok || f.Image == nil || !f.Image.Source().Unpack {
		return nil, nil //nolint:nilnil // There's no other.
	}
	digest := g.o.Artifacts.DigestOf(f.Image.Source())
	if digest == "" {
		return nil, artifacts.ErrFetching // It was there a moment ago, and went for others.
	}
	f.Image = &boot.Image{Artifact: boot.Artifact{Digest: digest}, Format: boot.FormatRaw, Compression: f.Image.Compression}
	out := *p
	out.Artifacts = []boot.Artifacts{f}
	return &out, nil
}

// Hold is the answer that makes a machine wait, for a reason.
func Hold(reason string) Answer {
	return Answer{Decision: boot.Decision{Answer: boot.AnswerHold, Reason: reason}}
}

// Script decides what a machine is told, and does what must be done before it's told: an answer of Install stands in its session when
// this returns. render tries whether the answer can be told at all, before anything is opened for it. Without commit, as for a HEAD,
// all is decided alike, but nothing is opened or used.
func (g *Gate) Script(ctx context.Context, c Caller, fw boot.Firmware, commit bool, render func(Answer) error) Answer {
	f := boot.Facts{Now: c.at, Plan: c.Plan, Session: c.Session, Arch: fw.Arch}
	if f.Now.IsZero() {
		f.Now = g.o.Now()
	}
	if !c.Live() { // What netboots each time rests on neither.
		f.Log, f.Synced = g.o.Sessions.Logged(c.Plan.EntryUID, c.Plan.HostUID), g.o.Synced(c.Plan)
		f.Skewed = g.o.Skewed != nil && g.o.Skewed()
	}
	d := boot.Decide(f)
	again, repeats := g.repeat(c, fw.Arch, d)
	switch {
	case (repeats || d.Answer == boot.AnswerInstall) && !c.Plan.Port.Marked(c.Claims.Nonce):
		return Hold(ReasonPort) // Its DHCP exchange didn't show that it's where its entry says.
	case repeats:
		x := g.install(ctx, c, fw, again, commit, render)
		if x.Answer == boot.AnswerHold && x.Reason == boot.DecidedConsumed && d.Answer == boot.AnswerLocalDisk {
			return Answer{Decision: d} // Its kernel went out: it was reset, however alike its requests look, and boots what its entry says.
		}
		return x
	case d.Answer == boot.AnswerInstall:
		nonce := g.nonce(c, c.Session.Grant.ID, fw.Arch)
		if boot.Outdated(*c.Session, nonce, c.Claims.Exchange(f.Now), f.Now) {
			return Hold(boot.DecidedSuperseded)
		}
		return g.install(ctx, c, fw, nonce, commit, render)
	case d.Answer == boot.AnswerLive:
		return g.live(ctx, c, fw, f.Now)
	case d.Answer == boot.AnswerHold:
		if d.Reason == boot.DecidedBootLoop && commit {
			g.looped(ctx, c, g.nonce(c, c.Session.Grant.ID, fw.Arch))
		}
		return Hold(g.heldBy(c, d.Reason))
	}
	return Answer{Decision: d}
}

// heldBy says what a machine waits for. While its specs or records are in doubt nobody asks for an install, nor makes a grant, nor counts one as compared.
func (g *Gate) heldBy(c Caller, reason string) string {
	doubtful := reason == boot.DecidedDisk || reason == boot.DecidedNoSession
	switch {
	case (doubtful || slices.Contains([]string{boot.DecidedNotSynced, boot.DecidedNoGrant, boot.DecidedConsumed, boot.DecidedExpired}, reason)) && g.asks(c):
		return ReasonConfirm
	case (doubtful || reason == boot.DecidedNotSynced) && g.o.Held(c.Plan):
		return ReasonHeld
	}
	return reason
}

// ArchDigit is the last digit of the nonce of a boot of that architecture.
func ArchDigit(a boot.Arch) string {
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
func (g *Gate) repeat(c Caller, arch boot.Arch, d boot.Decision) (string, bool) {
	if d.Reason != boot.DecidedConsumed || !c.Plan.KernelDestroys() || c.Session.Revocation != "" {
		return "", false
	}
	used := g.o.Sessions.Logged(c.Plan.EntryUID, c.Plan.HostUID)
	if c.Session.Consumed != nil {
		used = append(used, *c.Session.Consumed)
	}
	for _, x := range used {
		grant := c.Session.Grant
		if grant == nil || x.GrantID != grant.ID || x.PlanDigest != c.Plan.Digest() || g.o.Sessions.NewBoot(c.Plan.Entry, x.At) {
			continue
		}
		for _, k := range g.o.Keys() {
			if Nonce(k, c.Claims.Nonce, x.GrantID, arch) == x.Nonce {
				return x.Nonce, true
			}
		}
	}
	return "", false
}

// install opens the grant, and consumes it where the kernel destroys, before a byte goes out. The files
// come first: a grant isn't used up for what can't be served.
func (g *Gate) install(ctx context.Context, c Caller, fw boot.Firmware, nonce string, commit bool, render func(Answer) error) Answer {
	if err := g.ready(ctx, c.Plan, fw); err != nil {
		return unready(err)
	}
	told, err := g.told(c.Plan, fw.Arch)
	if err != nil {
		return Hold(artifacts.ReasonFetching)
	}
	grant := c.Session.Grant
	t := boot.Claims{
		Kind: boot.TokenBoot, Entry: c.Claims.Entry, GrantID: grant.ID, Nonce: nonce, Expires: grant.Expires.Add(bootTokenLife),
	}
	token, err := g.mint(t)
	if err != nil {
		return Hold(ReasonScript)
	}
	a := Answer{Decision: boot.Decision{Answer: boot.AnswerInstall, Reason: boot.DecidedGranted}, Token: token, told: told}
	if err := render(a); err != nil {
		return Answer{Decision: Hold(ReasonScript).Decision, Message: err.Error()}
	}
	if !commit {
		if err := g.held(c); err != nil {
			return Hold(reason(err))
		}
		return a
	}
	err = g.open(ctx, c, t)
	if disk := err != nil && reason(err) == ReasonDisk; disk || err == nil { // The others say nothing of the disk.
		g.unwritten.Store(disk)
	}
	if err != nil {
		why, level := reason(err), slog.LevelInfo
		if why == ReasonAPI || why == ReasonDisk { // Nobody decided it: what has to be written down couldn't be.
			level = slog.LevelWarn
		}
		g.o.Logger.Log(ctx, level, "an install script is held back", "entry", c.Plan.Entry.String(), "error", err.Error())
		return Hold(why)
	}
	g.granted.remember(t.Entry, c.Plan)
	return a
}

// open records that a script is about to go out, and uses its grant where its kernel needs no second question.
func (g *Gate) open(ctx context.Context, c Caller, t boot.Claims) error {
	if err := g.paced(c); err != nil {
		return err
	}
	if err := g.held(c); err != nil {
		return err
	}
	x := c.Claims.Exchange(g.o.Now())
	if c.Plan.KernelDestroys() {
		if err := g.free(ctx, c); err != nil {
			return err
		}
		if err := g.o.Sessions.OpenAndConsume(ctx, c.Plan, t, x); err != nil {
			return err
		}
		if c.Plan.Method != boot.MethodScript {
			return nil
		}
		return g.o.Sessions.Deliver(ctx, c.Plan, t) // What its author's script does isn't known: it's given once, and to no repeat.
	}
	return g.o.Sessions.Open(ctx, c.Plan, t, x)
}

func (g *Gate) live(ctx context.Context, c Caller, fw boot.Firmware, now time.Time) Answer {
	if x := loadOf(c.Plan, fw); !g.lately.there(x, now) {
		if err := g.ready(ctx, c.Plan, fw); err != nil {
			return unready(err)
		}
		g.lately.saw(x, now)
	}
	id := c.Memo.live
	token, err := g.mint(boot.Claims{
		Kind: boot.TokenBoot, Entry: c.Claims.Entry, GrantID: id, Nonce: g.nonce(c, id, fw.Arch), Expires: now.Add(bootTokenLife),
	})
	if err != nil {
		return Hold(ReasonScript)
	}
	return Answer{Decision: boot.Decision{Answer: boot.AnswerLive, Reason: boot.DecidedLive}, Token: token}
}

func (g *Gate) mint(t boot.Claims) (string, error) {
	keys := g.o.Keys()
	if len(keys) == 0 {
		return "", errors.New("there are no token keys")
	}
	return boot.Mint(keys[0], t)
}

// ready waits a moment until all files of a boot are here with the right digests.
func (g *Gate) ready(ctx context.Context, p *boot.Plan, fw boot.Firmware) error {
	ctx, cancel := context.WithTimeout(ctx, filesPatience)
	defer cancel()
	for a := range needed(p, fw) {
		if err := g.o.Artifacts.Await(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// needed are the files that a firmware boots. None waits for what it doesn't load.
func needed(p *boot.Plan, fw boot.Firmware) iter.Seq[boot.Artifact] {
	files, _ := p.For(fw.Arch)
	if fw.Kind != boot.FirmwareRaspberryPi {
		files.RaspberryPi = nil
	}
	return Files(files)
}

// Files are all files of one architecture.
func Files(f boot.Artifacts) iter.Seq[boot.Artifact] {
	return func(yield func(boot.Artifact) bool) {
		if f.ISO != nil {
			yield(*f.ISO) // It has all else within.
			return
		}
		if !yield(f.Kernel) {
			return
		}
		for _, x := range f.Initrds {
			if !yield(x) {
				return
			}
		}
		if f.Image != nil && !yield(f.Image.Source()) {
			return
		}
		if f.RaspberryPi == nil {
			return
		}
		for _, x := range f.RaspberryPi.Files {
			if !yield(x.Artifact) {
				return
			}
		}
	}
}

func unready(err error) Answer {
	a := Hold(artifacts.ReasonFetch)
	if why, ok := errors.AsType[*artifacts.Error](err); ok {
		a.Reason = why.Reason
	}
	if a.Reason != artifacts.ReasonFetching {
		a.Message = err.Error()
	}
	return a
}
