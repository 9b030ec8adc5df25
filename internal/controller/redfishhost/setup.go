package redfishhost

import (
	"context"
	"net"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishevents"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
)

const (
	// timeout of one reconcile: some BMCs take a second or two for each request.
	timeout = 5 * time.Minute
	// wakes is how many hosts may wait to be looked at.
	wakes = 1024
)

// waker wakes hosts through a channel. Where nobody takes them any more, the
// process is ending; where it can't keep up, they wait for their next poll.
func waker(to chan<- event.GenericEvent) func(types.NamespacedName) {
	return func(name types.NamespacedName) {
		host := &v1alpha1.RedfishHost{}
		host.SetNamespace(name.Namespace)
		host.SetName(name.Name)
		select {
		case to <- event.GenericEvent{Object: host}:
		default:
		}
	}
}

// Setup adds the controller of RedfishHosts. At shutdown it logs out of all BMCs.
func Setup(mgr ctrl.Manager, o wiring.Options) error {
	if err := Index(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	gates := gate.New(redfish.Connect)
	gvk := v1alpha1.RedfishHostGroupVersionKind
	wake := make(chan event.GenericEvent, wakes)
	c := NewConnector(Options{
		Kube: mgr.GetClient(),
		Resolve: func(ctx context.Context, host *v1alpha1.RedfishHost) (config.Redfish, error) {
			return o.Config.Redfish(ctx, host, host.Spec.ForProvider.CredentialsSecretRef)
		},
		Account: func(ctx context.Context, host *v1alpha1.RedfishHost, secret string) (config.Account, error) {
			return o.Config.Account(ctx, host, secret)
		},
		Gates:         Gates{gates},
		AllowLoopback: o.AllowLoopback,
		Denied:        o.Denied(mgr.GetConfig().Host),
		Recorder:      o.Recorder(mgr, managed.ControllerName(gvk.GroupKind().String())),
		Failpoint:     o.Fail,
		Now:           o.Clock,
		Forget:        o.Config.Forget,
		Wake:          waker(wake),
		TakesEvents:   o.RedfishEventsAddress != "",
		Log:           o.Logger.WithValues("controller", managed.ControllerName(gvk.GroupKind().String())),
	})
	if _, err := wiring.Registered(metrics.Registry, c.inventories); err != nil {
		return errors.Wrap(err, "cannot register the metrics of machines")
	}
	if _, err := wiring.Registered(metrics.Registry, c.streams); err != nil {
		return errors.Wrap(err, "cannot register the metrics of events")
	}
	if _, err := wiring.Registered(metrics.Registry, c.tallies); err != nil {
		return errors.Wrap(err, "cannot register the metrics of BMCs")
	}
	if err := addReceiver(mgr, o, c); err != nil {
		return err
	}
	o.AtShutdown(func(ctx context.Context) error {
		c.Stop()
		gates.Close(ctx)

		return nil
	})

	return wiring.Setup(mgr, o, wiring.Kind[*v1alpha1.RedfishHost]{
		GVK:                gvk,
		Connector:          c,
		Wake:               wake,
		UsesProviderConfig: true,
		Secrets:            secretsOf,
		Pending:            c.Pending,
		Gone:               c.Gone,
		Paused:             c.Paused,
		Timeout:            timeout,
	})
}

// addReceiver takes what BMCs send, where that's asked for.
func addReceiver(mgr ctrl.Manager, o wiring.Options, c *Connector) error {
	_, port, err := net.SplitHostPort(o.RedfishEventsAddress)
	switch {
	case o.RedfishEventsAddress == "":
		return nil
	case err != nil:
		return errors.Wrapf(err, "cannot listen on %q for events of BMCs", o.RedfishEventsAddress)
	}
	receiver := redfishevents.New(redfishevents.Options{
		Address: o.RedfishEventsAddress, Path: PathEvents, Known: c.Known, Sent: c.Sent,
		Leads: func() bool { return o.Leads(mgr) },
		Leader: func(ctx context.Context) (string, error) {
			at, err := o.Leader(ctx) // It says where it takes webhooks, if it does.
			host, _, none := net.SplitHostPort(at)
			if err != nil || none != nil {
				return "", errors.Wrap(err, "cannot tell who leads") // Nil where nobody does.
			}

			return net.JoinHostPort(host, port), nil
		},
		Log: o.Logger.WithValues("receiver", "redfish"),
	})
	if _, err := wiring.Registered(metrics.Registry, receiver); err != nil {
		return errors.Wrap(err, "cannot register the metrics of events that are sent")
	}

	return errors.Wrap(mgr.Add(receiver), "cannot add the receiver of BMCs' events")
}

// Pending says whether a host is to be looked at again soon: something is on its
// way, or its BMC had no time for the last look.
func (c *Connector) Pending(host *v1alpha1.RedfishHost) bool {
	return PollSoon(host) || c.postponed.has(host.GetUID())
}

// secretsOf lists the Secrets that a host itself names.
func secretsOf(host *v1alpha1.RedfishHost) []types.NamespacedName {
	var out []types.NamespacedName
	name := func(ref *v1alpha1.LocalReference) {
		if ref != nil {
			out = append(out, types.NamespacedName{Namespace: host.GetNamespace(), Name: ref.Name})
		}
	}
	name(host.Spec.ForProvider.CredentialsSecretRef)
	for _, m := range host.Spec.ForProvider.VirtualMedia {
		name(m.CredentialsSecretRef)
	}

	return out
}
