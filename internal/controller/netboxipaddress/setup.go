package netboxipaddress

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
)

// Setup adds the controller of NetBoxIPAddresses.
func Setup(mgr ctrl.Manager, o wiring.Options) error {
	if o.ClusterID == "" {
		return errors.New("cannot manage NetBoxIPAddresses without the cluster's id: markers begin with it")
	}
	operators := netbox.NewPool(netbox.WithDialControl(guard(o.AllowLoopback, nil)), netbox.WithClock(o.Clock))
	tenants := netbox.NewPool(netbox.WithDialControl(guard(o.AllowLoopback, o.Denied(mgr.GetConfig().Host))), netbox.WithClock(o.Clock))
	wake := make(chan event.GenericEvent)
	r := &refresher{
		pools: []*netbox.Pool{operators, tenants}, every: maxAge(o.PollInterval), poll: o.PollInterval, cluster: o.ClusterID, wake: wake, log: o.Logger,
	}
	if err := mgr.Add(r); err != nil {
		return fmt.Errorf("cannot add what looks for changes in NetBox: %w", err)
	}
	sweeper := newSweeper(&sweeper{
		configs: o.Config.NetBoxes, cluster: o.ClusterID, now: o.Clock, log: o.Logger, events: o.Recorder(mgr, sweeperName),
		client: func(of config.Identity, cfg netbox.Config) (Quarantine, error) {
			if of.Kind == v1alpha1.ClusterProviderConfigKind {
				return operators.Borrow(string(of.UID), cfg)
			}
			return tenants.Borrow(string(of.UID), cfg)
		},
	})
	err := o.Gated(func() error { return mgr.Add(sweeper) }, v1alpha1.ProviderConfigGroupVersionKind, v1alpha1.ClusterProviderConfigGroupVersionKind)
	if err != nil {
		return fmt.Errorf("cannot add what ends quarantines: %w", err)
	}
	c := NewConnector(Options{
		Resolve: func(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (config.NetBox, error) {
			return o.Config.NetBox(ctx, mg)
		},
		Client: func(of config.Identity, cfg netbox.Config) (NetBox, error) {
			if of.Kind == v1alpha1.ClusterProviderConfigKind {
				return operators.Client(string(of.UID), cfg)
			}
			return tenants.Client(string(of.UID), cfg)
		},
		Saw:       o.Config.SawNetBox,
		Kube:      mgr.GetClient(),
		Due:       sweeper.due,
		Recorder:  o.Recorder(mgr, managed.ControllerName(v1alpha1.NetBoxIPAddressGroupVersionKind.GroupKind().String())),
		Warn:      warner(o.Recorder(mgr, "netbox-sources")),
		MaxAge:    maxAge(o.PollInterval),
		ClusterID: o.ClusterID,
		Failpoint: o.Fail,
		Now:       o.Clock,
	})
	if err := keepStocks(mgr, o, c, wake); err != nil {
		return err
	}
	return wiring.Setup(mgr, o, wiring.Kind[*v1alpha1.NetBoxIPAddress]{
		GVK:                       v1alpha1.NetBoxIPAddressGroupVersionKind,
		Wake:                      wake,
		Connector:                 c,
		Made:                      c.Made,
		Flow:                      flow,
		UsesProviderConfig:        true,
		DeterministicExternalName: true,
		// NetBox is one database: what it doesn't show any more after a DELETE is gone, and nobody has to wait for it.
		CreationGrace: time.Nanosecond,
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

// flow is what an address waits in line with: others that its namespace asks for from the same place, apart from those that have theirs
// and are only looked at.
func flow(mg *v1alpha1.NetBoxIPAddress) string {
	if meta.GetExternalName(mg) != "" && !meta.WasDeleted(mg) {
		return mg.GetNamespace() + " has"
	}
	return mg.GetNamespace() + " wants " + fromWords(mg.Spec.ForProvider)
}

// guard refuses, after name resolution, to send a token to the provider's own host or link: a namespace's owner may write a
// ProviderConfig, and so choose what the provider connects to. Denied are the ranges of the cluster itself, where his NetBox can't
// be; an operator's ClusterProviderConfig may well name one that runs there.
func guard(allowLoopback bool, denied []netip.Prefix) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("address %q isn't one that can be checked: %w", address, err)
		}
		a := ap.Addr().Unmap()
		if (a.IsLoopback() && !allowLoopback) || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() {
			return fmt.Errorf("address %q may not be used: no token is sent to loopback or link-local addresses", a)
		}
		if slices.ContainsFunc(denied, func(p netip.Prefix) bool { return p.Contains(a.WithZone("")) }) {
			return fmt.Errorf("address %q may not be used: it is in a range of the cluster itself", a)
		}
		return nil
	}
}
