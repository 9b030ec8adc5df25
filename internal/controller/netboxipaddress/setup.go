package netboxipaddress

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxlink"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxwebhook"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
)

// Setup adds the controller of NetBoxIPAddresses.
func Setup(mgr ctrl.Manager, o wiring.Options) error {
	if o.ClusterID == "" {
		return errors.New("cannot manage NetBoxIPAddresses without the cluster's id: markers begin with it")
	}
	m, err := netboxlink.NewMetrics(metrics.Registry)
	if err != nil {
		return err //nolint:wrapcheck // It says what failed.
	}
	links := netboxlink.New(netboxlink.Options{
		ClusterID: o.ClusterID, AllowLoopback: o.AllowLoopback, Denied: o.Denied(mgr.GetConfig().Host), Meter: m.Call, Refused: o.Config.Doubt,
		Tracer: o.Tracer, Now: o.Clock, Addresses: addresses(mgr.GetClient()),
	})
	o.Config.ProbeNetBox(links.Inspect)
	wake := make(chan event.GenericEvent)
	sweeper := newSweeper(&sweeper{
		configs: o.Config.NetBoxes, cluster: o.ClusterID, now: o.Clock, log: o.Logger, events: o.Recorder(mgr, sweeperName),
		client: func(of config.Identity, cfg netbox.Config) (Quarantine, error) { return links.Borrow(of, cfg) },
	})
	err = o.Gated(func() error { return mgr.Add(sweeper) }, v1alpha1.ProviderConfigGroupVersionKind, v1alpha1.ClusterProviderConfigGroupVersionKind)
	if err != nil {
		return fmt.Errorf("cannot add what ends quarantines: %w", err)
	}
	again := newAlarm(wake)
	if err := mgr.Add(again); err != nil {
		return fmt.Errorf("cannot add what wakes addresses at their time: %w", err)
	}
	c := connect(mgr, o, links, m, sweeper.due, again.set)
	r := &refresher{
		pools: links.Pools(), every: maxAge(o.PollInterval), poll: o.PollInterval, cluster: o.ClusterID, wake: wake, log: o.Logger, doubt: c.doubt,
		warn: warner(o.Recorder(mgr, refresherName), eventUnlisted),
	}
	if err := mgr.Add(r); err != nil {
		return fmt.Errorf("cannot add what looks for changes in NetBox: %w", err)
	}
	if err := addReceiver(mgr, o, links, m, r, c.stocks); err != nil {
		return err
	}
	if err := keepStocks(mgr, o, c, wake); err != nil {
		return err
	}
	k := Kind(c)
	k.Wake = wake
	return wiring.Setup(mgr, o, k)
}

// Kind is that of NetBoxIPAddresses, but for what wakes them.
func Kind(c *Connector) wiring.Kind[*v1alpha1.NetBoxIPAddress] {
	return wiring.Kind[*v1alpha1.NetBoxIPAddress]{
		GVK:                       v1alpha1.NetBoxIPAddressGroupVersionKind,
		Indexes:                   map[string]client.IndexerFunc{IndexHost: HostOf},
		Connector:                 c,
		Made:                      c.Made,
		Gone:                      c.forget,
		Merge:                     StillTrue,
		Asks:                      asks,
		Flow:                      flow,
		AtOnce:                    atOnce,
		UsesProviderConfig:        true,
		DeterministicExternalName: true,
		// NetBox is one database: what it doesn't show any more after a DELETE is gone, and nobody has to wait for it.
		CreationGrace: time.Nanosecond,
	}
}

// addresses counts those of a namespace.
func addresses(kube client.Reader) func(ctx context.Context, namespace string) (int, error) {
	return func(ctx context.Context, namespace string) (int, error) {
		all := &v1alpha1.NetBoxIPAddressList{}
		err := kube.List(ctx, all, client.InNamespace(namespace), client.UnsafeDisableDeepCopy)
		return len(all.Items), err //nolint:wrapcheck // Nobody is shown it.
	}
}

// holders finds the addresses whose status says that they have one.
func holders(kube client.Reader) func(ctx context.Context, address netip.Addr) ([]v1alpha1.NetBoxIPAddress, error) {
	return func(ctx context.Context, address netip.Addr) ([]v1alpha1.NetBoxIPAddress, error) {
		all := &v1alpha1.NetBoxIPAddressList{}
		err := kube.List(ctx, all, client.MatchingFields{IndexHost: address.String()}, client.UnsafeDisableDeepCopy)
		return all.Items, err //nolint:wrapcheck // It's worded by who asked.
	}
}

// connect makes the connector.
func connect(mgr ctrl.Manager, o wiring.Options, links *netboxlink.Links, m *netboxlink.Metrics, due func(time.Time), again func(types.NamespacedName, time.Time)) *Connector {
	return NewConnector(Options{
		Resolve: func(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (config.NetBox, error) {
			return o.Config.NetBox(ctx, mg)
		},
		Client:    func(of config.Identity, cfg netbox.Config) (NetBox, error) { return links.Client(of, cfg) },
		Tally:     m,
		Saw:       o.Config.SawNetBox,
		Kube:      mgr.GetClient(),
		Live:      o.Live,
		Holders:   holders(mgr.GetClient()),
		Due:       due,
		Again:     again,
		Recorder:  o.Recorder(mgr, managed.ControllerName(v1alpha1.NetBoxIPAddressGroupVersionKind.GroupKind().String())),
		Warn:      warner(o.Recorder(mgr, "netbox-sources"), eventNearlyFull),
		MaxAge:    maxAge(o.PollInterval),
		ClusterID: o.ClusterID,
		Failpoint: o.Fail,
		Now:       o.Clock,
	})
}

const (
	// looks are made so many times in a poll interval, and not less than once in longestAge.
	looks      = 5
	longestAge = 2 * time.Minute
)

// maxAge is how old what is known of a record may be, where each is looked at once in a poll interval.
func maxAge(poll time.Duration) time.Duration { return min(poll/looks, longestAge) }

// sweeperName is who tells of ended quarantines.
const sweeperName = "netbox-quarantine"

// atOnce is enough to keep a NetBox busy, whose connection has 16 calls under way: more would only wait longer for one another, and who
// comes while a thousand are made would wait for them. There are twice as many workers: no NetBox has all of them.
const atOnce = 28

// asks is whose NetBox an address is of: its cluster-wide provider config's, or its namespace's. One that hangs doesn't have others wait, and
// who may write ProviderConfigs doesn't count for many.
func asks(mg *v1alpha1.NetBoxIPAddress) string {
	ref := mg.GetProviderConfigReference()
	switch {
	case ref == nil:
		return ""
	case ref.Kind == v1alpha1.ClusterProviderConfigKind:
		return ref.Kind + "/" + ref.Name
	}
	return ref.Kind + "/" + mg.GetNamespace()
}

// flow is what an address waits in line with, of those of its NetBox: others that its namespace asks for from the same place, apart from those
// that have theirs and are only looked at.
func flow(mg *v1alpha1.NetBoxIPAddress) string {
	if !unnamed(mg) && !meta.WasDeleted(mg) {
		return mg.GetNamespace() + " has"
	}
	return mg.GetNamespace() + " wants " + fromWords(mg.Spec.ForProvider)
}

// addReceiver has NetBoxes' webhooks listened to, where that's asked for.
func addReceiver(mgr ctrl.Manager, o wiring.Options, links *netboxlink.Links, m *netboxlink.Metrics, r *refresher, s *stocks) error {
	if o.NetBoxWebhookAddress == "" {
		return nil
	}
	receiver := netboxwebhook.New(netboxwebhook.Options{
		Address: o.NetBoxWebhookAddress,
		Hooked:  o.Config.Hooked,
		Connect: func(n config.NetBox) (netboxwebhook.Connection, error) {
			return links.Client(n.Identity, netboxlink.Settings(n, o.ClusterID))
		},
		Wake: func(ctx context.Context, of config.Ref, marker string) {
			if us, ok := parseMarker(marker); ok && (of.Namespace == "" || of.Namespace == us.namespace) {
				r.tell(ctx, marker)
			}
		},
		Freed:  func(of config.Identity, a netip.Addr) { s.freed(of.UID, a) },
		Leads:  func() bool { return o.Leads(mgr) },
		Leader: o.Leader,
		Count:  m.Delivered,
		Log:    o.Logger.WithValues("receiver", "netbox"),
	})
	if err := mgr.Add(receiver); err != nil {
		return fmt.Errorf("cannot add the receiver of NetBox's webhooks: %w", err)
	}
	return nil
}
