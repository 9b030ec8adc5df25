package bootd

import (
	"net/netip"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/certificate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/foreign"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/grub"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/rpiboot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/snapshot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tftp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/trace"
)

// daemon is a bootd put together.
type daemon struct {
	c        Config
	source   Source
	sessions *session.Manager
	gate     *gate.Gate
	cache    *artifacts.Cache
	snapshot *snapshot.Snapshot
	files    tftp.Files
	metrics  *metrics
	own      ownAddresses
	trace    *trace.Ring
	activity *activity
	trails   *session.Trails
	sights   *dhcp.Sights
	standIns *dhcp.StandIns
	tftp     *tftp.Server // nil: not served
	pis      *rpiboot.Server
	proxy    *proxyPort
	six      *six
	solicits *solicited
	others   *foreign.Watch
	lent     *lending

	certificate *certificate.Pair // nil: there's no HTTPS

	// old is what an earlier life knew: served until the source knows more.
	old     atomic.Pointer[boot.State]
	oldKeys [][]byte
	// told is the state that learned was told of last, wanted what was asked of the cache for it, and ownTold which entries of it have an address of
	// this node's.
	told    *boot.State
	wanted  map[boot.Artifact]artifacts.Level
	ownTold map[boot.Name]netip.Addr
	settled sync.Once
}

func assemble(c Config) (*daemon, error) {
	d := &daemon{
		c: c, snapshot: snapshot.In(c.StateDir), files: tftp.Load(c.TFTPDir), trace: trace.New(c.TraceBytes),
		activity: newActivity(c.calm), trails: session.NewTrails(), sights: dhcp.NewSights(), proxy: &proxyPort{c: c}, six: &six{c: c},
	}
	var err error
	d.cache, err = artifacts.Open(artifacts.Options{
		Dir: filepath.Join(c.StateDir, "artifacts"), Guard: c.Artifacts, MaxBytes: c.MaxArtifactBytes, CacheBytes: c.CacheBytes,
		PullSecret: d.pullSecret, Now: c.Now, Logger: c.Logger,
	})
	if err != nil {
		return nil, err
	}
	old, keys, lost := d.snapshot.Load()
	if lost != nil {
		c.Logger.Warn("starting without what was known before", "error", lost.Error())
	}
	d.oldKeys = keys
	d.old.Store(old)
	if d.standIns, err = dhcp.OpenStandIns(filepath.Join(c.StateDir, "relays.json")); err != nil {
		c.Logger.Warn("a machine behind two relays may be told of as answered by another server once", "error", err.Error())
	}
	d.others = foreign.Open(foreign.Options{
		State: d.state, Ours: d.ours, Path: filepath.Join(c.StateDir, "begun.json"), Served: segmentsOf(old), Now: c.Now, Logger: c.Logger,
	})
	var unsigned map[boot.Arch]error
	d.files, unsigned = d.files.WithSigned(c.SignedDir, grub.First())
	for arch, err := range unsigned {
		c.Logger.Warn("machines with firstStage Shim can't boot", "architecture", string(arch), "error", err.Error())
	}
	for name, err := range d.files.Problems {
		c.Logger.Warn("there is no iPXE; a stand-in is served that only simulated machines can boot", "file", name, "error", err.Error())
	}
	var m atomic.Pointer[metrics]
	d.source, d.sessions, err = sources(c, d.cache, d.report, func() { m.Load().consumptions.Inc() }, earlier{old, lost, d.snapshot.Beside, d.snapshot.OfferBeside}, d.learned)
	if err != nil {
		return nil, err
	}
	d.lent = d.lend()
	d.gate = gate.New(gate.Options{
		State: d.state, Keys: d.keys, Synced: d.source.Synced, Held: d.source.Held, Reread: rereadOf(d.source), Asks: asksOf(d.source), Skewed: skewedBy(d.source), Sessions: d.sessions, Artifacts: d.cache, Now: c.Now, Logger: c.Logger,
	})
	d.metrics = newMetrics(d)
	d.metrics.registry.MustRegister(cacheMetrics(d.cache)...)
	m.Store(d.metrics)
	d.solicits = d.solicitations()
	return d, nil
}

// state is what is known now: by the source, else by an earlier life.
func (d *daemon) state() *boot.State {
	if st := d.source.State(); st != nil {
		return st
	}
	if old := d.old.Load(); old != nil {
		return old
	}
	return d.source.State() // It may just have come.
}

func (d *daemon) keys() [][]byte {
	if k := d.source.Keys(); len(k) > 0 {
		return k
	}
	return d.oldKeys
}
