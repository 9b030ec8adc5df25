package bootd

import (
	"context"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dirsource"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/keyring"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/kubesource"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/specdir"
)

// A Source says what machines are to be given.
type Source interface {
	// Run keeps the source up to date until ctx ends.
	Run(ctx context.Context) error
	// State is what is known now; nil before anything is.
	State() *boot.State
	// Keys of tokens, the current one first.
	Keys() [][]byte
	// Ready says whether everything was read once.
	Ready() bool
	// Synced says whether a plan's grant was compared with the logs of all live bootds.
	Synced(p *boot.Plan) bool
	// Held says that nothing may be installed by a plan now, though its grant stands.
	Held(p *boot.Plan) bool
	// Stands says whether nothing that is known now keeps a grant from being used by a plan that was served a moment ago.
	Stands(p *boot.Plan) bool
	// Data reads what a machine is given.
	Data(ctx context.Context, name string) (map[string][]byte, error)
	// Lag is how many seconds ago the source was last known to be up to date; -1 if never.
	Lag() float64
}

// skewedBy is a source that knows of another clock than this host's; nil: there's none.
func skewedBy(s Source) func() bool {
	if c, ok := s.(interface{ Skewed() bool }); ok {
		return c.Skewed
	}
	return nil
}

// rereadOf is how a source is asked for what its specs say now; nil: it isn't, and the API is by who writes a session.
func rereadOf(s Source) func(context.Context, *boot.Plan) bool {
	if c, ok := s.(interface {
		Reread(ctx context.Context, p *boot.Plan) bool
	}); ok {
		return c.Reread
	}
	return nil
}

// asksOf says whether a source asks people about a machine; nil: it never does.
func asksOf(s Source) func(*boot.Plan) bool {
	if c, ok := s.(interface{ Asks(p *boot.Plan) bool }); ok {
		return c.Asks
	}
	return nil
}

// qps and burst towards the API: a rack that powers on is a burst, and Kubernetes has its own fairness.
const (
	qps   = 200
	burst = 400
)

// earlier is what an earlier life of this bootd knew, or why that isn't known.
type earlier struct {
	state *boot.State
	lost  error
	// kept gives what a source has kept beside that, and keep keeps something beside a state.
	kept func() (string, error)
	keep func(*boot.State, []byte)
}

// warning of what was lost; "" where nothing was.
func (e earlier) warning() string {
	if e.lost == nil {
		return ""
	}
	return "it started without what it knew before: " + e.lost.Error()
}

// sources gives the source of plans and the records of boots.
func sources(c Config, cache *artifacts.Cache, report func(boot.Segment) kubesource.Report, consumed func(), before earlier, onState func(*boot.State)) (src Source, m *session.Manager, err error) {
	fresh := specdir.Fresh(c.StateDir)
	log, err := session.OpenLog(filepath.Join(c.StateDir, "consumed.log"))
	if err != nil && c.SpecDir == "" {
		return nil, nil, err
	}
	blocked := ""
	if err != nil { // One bootd is all that there is: it gives addresses and boots from disk.
		log, blocked = session.Unreadable(err), err.Error()
	}
	o := session.Options{
		Log: log, Name: c.Name, Now: c.Now, Logger: c.Logger, Crash: c.Crash, Consumed: consumed, Stands: func(p *boot.Plan) bool { return src.Stands(p) },
	}
	switch {
	case c.SpecDir != "":
		return specs(c, o, specdir.Options{Fresh: fresh, Before: before.state, Kept: before.kept, Keep: before.keep, Blocked: blocked}, onState)
	case c.Kube == nil:
		o.Store = dirsource.NoSessions{}
		keys, err := keyring.Open(c.StateDir, c.Now, c.Logger)
		if err != nil {
			return nil, nil, err
		}
		return dirsource.New(c.PlansDir, keys, c.NodeLabels, c.Logger, onState), session.New(o), nil
	}
	kube, err := kubeClient(c.Kube)
	if err != nil {
		return nil, nil, err
	}
	o.Store, o.ByMachine = kubesource.Store{Kube: kube}, true
	m = session.New(o)
	served := 0
	if before.state != nil {
		served = before.state.Len()
	}
	return kubesource.New(kubesource.Options{
		Kube: kube, Name: c.Name, Namespace: c.Namespace, Node: c.NodeLabels, Version: c.Version,
		Advertise: advertised(c.Advertise), Report: report, Cache: cache.Report, Warning: before.warning(), Served: served, Now: c.Now, Logger: c.Logger,
	}, m, onState), m, nil
}

// specs gives the source of a folder of specs. What its record knows as consumed goes into the log first: it may be all that is left
// of it.
func specs(c Config, o session.Options, known specdir.Options, onState func(*boot.State)) (Source, *session.Manager, error) {
	keys, err := keyring.Open(c.StateDir, c.Now, c.Logger)
	if err != nil {
		return nil, nil, err
	}
	known.Dir, known.StateDir, known.Node, known.NoInstall, known.NewSite = c.SpecDir, c.StateDir, c.NodeLabels, c.NoInstall, c.NewSite
	known.Keys, known.Peers, known.Now, known.Logger = keys, peerNames(c.Peers, c.PeerIDs), c.Now, c.Logger
	src, err := specdir.Open(known)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range src.Consumed() {
		if err := o.Log.Add(x); err != nil && known.Blocked == "" {
			return nil, nil, err
		}
	}
	o.Store, o.Brisk = src.Store(), time.Second // Each write is two of the disk's.
	m := session.New(o)
	src.Use(m, onState)
	return src, m, nil
}

func kubeClient(access *rest.Config) (*kubesource.Client, error) {
	access = rest.CopyConfig(access)
	access.QPS, access.Burst, access.UserAgent = qps, burst, "bootd"
	return kubesource.NewClient(access)
}
