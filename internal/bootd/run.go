package bootd

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/httpboot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/limit"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tftp"
)

// Run serves machines until ctx ends, or something fails that only a restart could heal.
func Run(ctx context.Context, c Config) error {
	c, err := c.complete()
	if err != nil {
		return ConfigError{err}
	}
	unlock, err := lock(c.StateDir)
	if err != nil {
		return ConfigError{advised(c.StateDir, err)}
	}
	defer unlock()
	d, err := assemble(c)
	if err != nil {
		return ConfigError{advised(c.StateDir, err)}
	}
	if d.certificate, err = c.certificate(); err != nil {
		return ConfigError{err}
	}
	l, err := listen(ctx, c)
	if err != nil {
		return err
	}
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	g, serving := errgroup.WithContext(serving)
	known, ended := context.WithCancel(context.WithoutCancel(serving))
	g.Go(func() error {
		defer ended() // The snapshot is written once more with what the source knew last.
		return d.source.Run(serving)
	})
	g.Go(func() error { return d.sessions.Run(serving) })
	g.Go(func() error { return d.snapshot.Run(known, c.Logger) })
	g.Go(func() error { return d.cache.Run(serving) })
	if err := d.serve(serving, g, l); err != nil {
		l.close()
		return err
	}
	g.Go(func() error {
		d.drain(ctx, serving)
		end()
		return nil
	})
	return g.Wait()
}

// learned keeps a new state on the disk, and fetches the files of whoever may ask for them soon.
func (d *daemon) learned(st *boot.State) {
	old := d.old.Swap(nil) // It may be as large as what is known now.
	d.settled.Do(giveBack)
	saved := st == old && slices.EqualFunc(d.keys(), d.oldKeys, bytes.Equal)
	if k := d.keys(); len(k) > 0 && st != d.told && !saved {
		d.snapshot.Offer(st, k)
	}
	if d.gate != nil {
		d.gate.Renewed()
	}
	if d.lent != nil { // A source may know something before it's run.
		d.lent.tell(st, d.c.Logger)
	}
	var ahead []boot.Artifact
	if s, ok := d.source.(interface{ Ahead() []boot.Artifact }); ok {
		ahead = s.Ahead()
	}
	more, only := st.Since(d.told)
	d.tellOwn(st, more, only)
	if only && len(more) > 0 { // No state of a hundred thousand is gone through for one that came.
		d.wanted = maps.Clone(d.wanted)
		for _, p := range more {
			want(d.wanted, p, st)
		}
	} else {
		d.wanted = wants(st, ahead)
	}
	d.told = st
	d.cache.Want(d.wanted)
}

// serve starts the listeners.
func (d *daemon) serve(ctx context.Context, g *errgroup.Group, l listeners) error {
	d.pis = d.raspberryPis(l)
	answers, err := d.serveDHCP(ctx, g, l)
	if err != nil {
		return err
	}
	var web *httpboot.Server
	if l.tftp != nil {
		d.tftp = tftp.New(tftp.Config{
			Files: d.files, Own: d.ownFiles(l), State: d.state, Sightings: d, Observe: d.metrics.transferred, Sent: d.metrics.sent, Ended: d.activity.touch, Trace: d.tracedTFTP,
			Log: d.c.Logger, Now: d.c.Now, MTU: d.c.TFTPMTU, SinglePort: d.c.TFTPSinglePort,
		})
		g.Go(func() error { return d.tftp.Serve(ctx, l.tftp) })
	}
	ready := func() bool { return d.state() != nil && len(d.keys()) > 0 }
	if l.http != nil {
		httpboot.FewFiles(d.c.Logger)
		mux := http.NewServeMux()
		web = d.http(l)
		machines := d.activity.watch(web.Handler())
		if l.health == nil {
			d.metrics.register(mux, ready)
		}
		g.Go(func() error { return httpboot.Serve(ctx, l.http, beside(machines, mux), d.c.Logger) })
		if l.https != nil {
			g.Go(func() error {
				return httpboot.ServeTLS(ctx, l.https, d.activity.watch(web.Handler()), d.certificate.Config(d.c.TLS.serves(TLSFirmware) || d.c.TLS.serves(TLSIPXE)), d.c.Logger)
			})
		}
	}
	g.Go(func() error { return d.serveSix(ctx, l) })
	g.Go(func() error { return d.solicits.run(ctx) })
	if l.health != nil {
		mux := http.NewServeMux()
		d.metrics.register(mux, ready)
		g.Go(func() error { return httpboot.Serve(ctx, l.health, mux, d.c.Logger) })
	}
	d.serveAdmin(ctx, g, answers, web, l)
	return nil
}

func (d *daemon) serveDHCP(ctx context.Context, g *errgroup.Group, l listeners) (*dhcp.Server, error) {
	frames := d.frames(ctx, l)
	holders, err := dhcp.OpenHolders(filepath.Join(d.c.StateDir, "ports.json"))
	if err != nil {
		d.c.Logger.Warn("a switch port that an entry names without MACs is that of the machine which boots there next", "error", err.Error())
	}
	srv := dhcp.New(dhcp.Config{
		Holders: holders, Misplaced: d.misplaced,
		Frames: frames != nil, Lending: d.lent.of(d.ours), Pi: d.pis.Began,
		State: d.state, Keys: d.keys, Sightings: d, Sights: d.sights, Declined: d.declined, Own: d.has, OtherServer: d.otherServer, Observe: d.answered, Advertise: d.c.Advertise, HTTPPort: l.httpPort(), Secure: d.secure(l),
		Skewed: skewedBy(d.source), Foreign: d.mayBegin, Peer: d.peer, StandIns: d.standIns, Began: d.others.Began, Named: d.named, Proxy: d.proxy.Open, ProxyAlone: d.c.DHCPListen == "",
		Files: d.firstStages(),
		Limit: limit.New(limit.Default()), Trace: d.tracer(),
		Log: d.c.Logger, Now: d.c.Now,
	})
	var serving sync.WaitGroup
	for i, c := range l.dhcp {
		if i < len(d.c.DHCPInterfaces) { // Then each has a socket of its own, in their order.
			g.Go(func() error { return follow(d.c.DHCPInterfaces[i], c, d.c.Logger).run(ctx) })
		}
		conn, err := dhcp.NewConn(c, frames)
		if err != nil {
			return nil, err
		}
		serving.Add(1)
		g.Go(func() error {
			defer serving.Done()
			return srv.Serve(ctx, holdOffers(conn, d.turn(), d.leaving))
		})
	}
	if len(l.dhcp) > 0 {
		g.Go(func() error { return d.others.Run(ctx) })
		g.Go(func() error { return d.lent.run(ctx, d, serving.Wait) })
		g.Go(func() error { return holders.Run(ctx, d.c.Logger, serving.Wait) })
		g.Go(func() error { return d.standIns.Run(ctx, d.c.Logger) })
		g.Go(func() error { return d.lent.watch(ctx, d.state) })
	}
	g.Go(func() error { return d.proxy.run(ctx, d.state, srv) })
	return srv, nil
}

// firstStages are those that there are.
func (d *daemon) firstStages() dhcp.Files {
	return dhcp.Files{
		BIOS: d.files.Has(tftp.BIOS), UEFIAMD64: d.files.Has(tftp.UEFIAMD64), UEFIARM64: cmp.Or(d.files.Has(tftp.UEFIARM64), d.files.Has(tftp.ARM64Full)),
		NativeAMD64: d.files.Has(tftp.UEFIFull), NativeARM64: d.files.Has(tftp.ARM64Full),
		ShimAMD64: d.files.Signed[boot.AMD64].Shim, ShimARM64: d.files.Signed[boot.ARM64].Shim,
		GrubARM64: d.files.Signed[boot.ARM64].Alone,
	}
}

func (d *daemon) http(l listeners) *httpboot.Server {
	port := l.httpPort()
	return httpboot.New(httpboot.Options{
		State: d.state, Ready: d.source.Ready, Gate: d.gate, Sightings: d, Artifacts: d.cache, Data: d.source.Data,
		Firmware: func(name string) ([]byte, bool) {
			f, ok := d.files.Find(name)
			return f.Data, ok
		},
		Base: func(local netip.AddrPort) string {
			if a := d.c.Advertise; a.IsValid() && (!local.IsValid() || a.Is4() == local.Addr().Is4()) {
				local = netip.AddrPortFrom(d.c.Advertise, port)
			}
			return "http://" + local.String()
		},
		Secured: d.secured(l), Installer: d.installers(l),
		Decided: d.decided, Served: d.metrics.served, Reached: d.reached, Took: d.metrics.took, Now: d.c.Now, Logger: d.c.Logger,
	})
}

// Seen passes on what DHCP and TFTP saw.
func (d *daemon) Seen(p *boot.Plan, mac boot.MAC, stage boot.Stage, fw boot.Firmware, at time.Time) {
	m := session.MachineOf(p.Entry)
	if stage != boot.StageBootedFromDisk || !d.installing(p) {
		d.reached(m, stage, at)
	}
	d.activity.saw(stage)
	d.watchLoop(m, p, mac, stage, fw, at)
	if k, ok := kindOf(stage); ok {
		d.sessions.Sight(p.Entry, session.Sighting{
			Machine: m, Kind: k, At: at, Installed: d.installed(p), Live: p.Mode == boot.ModeLive, Silent: p.SilentInstaller, Firmware: string(fw.Kind), Arch: string(fw.Arch),
		})
	}
}

// declined says into the session, where its owner looks, that a machine can't use its address. bootd may write no Events: the provider makes one of it.
func (d *daemon) declined(p *boot.Plan, mac boot.MAC, address netip.Addr, at time.Time) {
	d.sessions.Sight(p.Entry, session.Sighting{
		Kind: session.SawReport, At: at, Live: p.Mode == boot.ModeLive,
		Message:  "DHCPDECLINE: another machine on the segment uses address " + address.String(),
		Declined: address.String(), MAC: mac,
	})
}

// misplaced says into the session what switch ports say of a machine.
func (d *daemon) misplaced(p *boot.Plan, says string, at time.Time) {
	d.sessions.Sight(p.Entry, session.Sighting{Kind: session.SawReport, At: at, Live: p.Mode == boot.ModeLive, Message: says})
}

// otherServer tells a source that keeps its records alone of another server that answers its machine: that one may install it, too.
func (d *daemon) otherServer(p *boot.Plan, server netip.Addr) {
	d.trails.Asked(session.MachineOf(p.Entry)) // Its script is that one's, too.
	if !d.ours(server) {
		d.elsewhere(p, server.Unmap().String())
	}
}

func (d *daemon) elsewhere(p *boot.Plan, server string) {
	s, ok := d.source.(interface {
		OtherServer(p *boot.Plan, server string)
	})
	if ok {
		s.OtherServer(p, server)
	}
}

// installed names the grant that a machine's disk was last installed by, as far as is known now.
func (d *daemon) installed(p *boot.Plan) string {
	if st := d.state(); st != nil && st.Sessions[p.EntryUID].Installed != nil {
		return st.Sessions[p.EntryUID].Installed.GrantID
	}
	return ""
}

// installing says whether a machine that asks as a system may be its own installer.
func (d *daemon) installing(p *boot.Plan) bool {
	st := d.state()
	if st == nil {
		return false
	}
	s := st.Sessions[p.EntryUID]
	return installing(s) || s.Grant != nil && (s.Installed == nil || s.Installed.GrantID != s.Grant.ID)
}

// kindOf is asked for each packet that is answered.
func kindOf(s boot.Stage) (session.Kind, bool) {
	switch s { //nolint:exhaustive // The others aren't seen on the wire.
	case boot.StageDHCP:
		return session.SawFirmwareDHCP, true
	case boot.StageFirmware:
		return session.SawFirmwareFile, true
	case boot.StageKernel:
		return session.SawKernel, true
	case boot.StageBootedFromDisk:
		return session.SawSystemDHCP, true
	}
	return 0, false
}
