package netboxipaddress

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	xpevent "github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
)

const (
	// keeperTick is how often it's asked which sources are to be looked at, keeperTimeout how long a look may take, and keeperAtOnce
	// how many are under way in one NetBox: one that doesn't answer keeps no other's waiting.
	keeperTick    = time.Second
	keeperTimeout = 20 * time.Second
	keeperAtOnce  = 4
)

// A keeper looks at the sources in use, often at those that somebody waits for: one look for all who wait. It wakes as many of them as
// there are free addresses, and has their owner warned of those that are about to be full.
type keeper struct {
	connector *Connector
	// unused sources are let go of after that long.
	unused time.Duration
	wake   chan<- event.GenericEvent
	log    logging.Logger
	// looks are those under way.
	looks sync.WaitGroup
}

// Start runs until ctx ends.
func (k *keeper) Start(ctx context.Context) error {
	defer k.looks.Wait()
	t := time.NewTicker(keeperTick)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		case <-k.connector.stocks.hurry:
		}
		k.round(ctx)
	}
}

// round begins to look at the sources that are due, and waits for none: who has to wait for his turn comes after the next look that ends.
func (k *keeper) round(ctx context.Context) {
	for _, s := range k.connector.stocks.due(k.unused, keeperAtOnce) {
		k.looks.Go(func() {
			defer k.connector.stocks.again()
			k.look(ctx, s)
		})
	}
}

func (k *keeper) look(ctx context.Context, s stock) {
	ctx, cancel := context.WithTimeout(ctx, keeperTimeout)
	defer cancel()
	parent, usage, err := read(ctx, s)
	if err != nil {
		k.log.Debug("Cannot look at a source of addresses", "source", s.key.id, "error", err) // Each resource that needs it says so by itself.
		k.connector.stocks.failed(s.key, netbox.IsNotFound(err))
		return
	}
	n := k.connector.stocks.learn(s.key, parent, usage)
	k.connector.warn(n)
	for _, name := range n.wake {
		k.tell(ctx, name)
	}
}

func (k *keeper) tell(ctx context.Context, name types.NamespacedName) {
	select {
	case k.wake <- wakeUp(name):
	case <-ctx.Done():
	}
}

// read counts what is free in a source. One that was only heard of is read first: whether it's a pool isn't known yet.
func read(ctx context.Context, s stock) (netbox.Parent, netbox.Usage, error) {
	parent := s.parent
	if !s.known {
		get := s.netbox.GetPrefix
		if s.key.kind == netbox.ParentRange {
			get = s.netbox.GetRange
		}
		p, err := get(ctx, s.key.id)
		if err != nil {
			return p, netbox.Usage{}, err
		}
		parent = p
	}
	u, err := s.netbox.Usage(ctx, parent)
	return parent, u, err
}

// warn tells the owner of a source, once, that it's about to be full.
func (c *Connector) warn(n news) {
	if n.warning != "" {
		c.Warn(n.of, n.warning)
	}
}

// eventNearlyFull is the reason of that warning.
const eventNearlyFull xpevent.Reason = "SourceNearlyFull"

// warner records warnings on provider configs.
func warner(r xpevent.Recorder, reason xpevent.Reason) func(of config.Identity, message string) {
	return func(of config.Identity, message string) {
		var o client.Object = &v1alpha1.ClusterProviderConfig{}
		if of.Kind == v1alpha1.ProviderConfigKind {
			o = &v1alpha1.ProviderConfig{}
		}
		o.SetNamespace(of.Namespace)
		o.SetName(of.Name)
		o.SetUID(of.UID)
		r.Event(o, xpevent.Warning(reason, errors.New(message)))
	}
}

// keepStocks adds what looks at sources, and the metrics of it.
func keepStocks(mgr ctrl.Manager, o wiring.Options, c *Connector, wake chan<- event.GenericEvent) error {
	m, err := wiring.Registered(metrics.Registry, newCollector())
	if err != nil {
		return fmt.Errorf("cannot register the metrics of sources: %w", err)
	}
	m.stocks.Store(c.stocks)
	if err := mgr.Add(&keeper{connector: c, unused: 2*o.PollInterval + idleLook, wake: wake, log: o.Logger}); err != nil {
		return fmt.Errorf("cannot add what looks at sources of addresses: %w", err)
	}
	return nil
}
