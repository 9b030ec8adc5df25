package controller

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
)

// leaderFor is how long it's believed who leads.
const leaderFor = time.Second

// A lease is the one that leader election is about. Whoever holds it says there, in his name, where he takes NetBox's webhooks: others that are
// sent some pass them on to him. Nobody but providers may write it (package/manifests/rbac.yaml). A name is HOST_ID_ADDRESS:PORT, and
// HOST_ID where that's of no use.
type lease struct {
	leases    coordinationv1.LeasesGetter
	namespace string
	lock      *resourcelock.LeaseLock
	now       func() time.Time

	mu     sync.Mutex
	holder string
	read   time.Time
}

// newLease returns the lease of providers that listen for webhooks; nil for others, whose lock the manager makes as well.
func newLease(ctx context.Context, s Settings) (*lease, error) {
	if !s.LeaderElection || s.NetBoxWebhookAddress == "" {
		return nil, nil //nolint:nilnil // None is needed.
	}
	cfg := rest.AddUserAgent(rest.CopyConfig(s.Kube), "leader-election")
	cfg.Timeout = renewDeadline / 2 // As the manager's own: one request that hangs must not lose the lease.
	leases, err := coordinationv1.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client of leases: %w", err)
	}
	at, err := reachable(ctx, s.NetBoxWebhookAddress, s.Kube)
	if err != nil {
		s.Log.Info("Other providers can't pass webhooks of NetBox on to this one", "error", err)
	}
	return leaseOf(leases, s.Namespace, at)
}

// leaseOf is the lease for a provider that others reach at an address; "" where they don't.
func leaseOf(leases coordinationv1.LeasesGetter, namespace, at string) (*lease, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("cannot tell this host's name: %w", err)
	}
	name := host + "_" + string(uuid.NewUUID())
	if at != "" {
		name += "_" + at
	}
	return &lease{leases: leases, namespace: namespace, now: time.Now, lock: &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: leaderElectionID},
		Client:     leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: name},
	}}, nil
}

// into has a manager elected by the lease.
func (l *lease) into(o *ctrl.Options) {
	if l != nil {
		o.LeaderElectionResourceLockInterface = l.lock
	}
}

// tells has elections told by events, as the manager's own lock does.
func (l *lease) tells(mgr ctrl.Manager) {
	if l != nil {
		l.lock.LockConfig.EventRecorder = mgr.GetEventRecorderFor(l.lock.Identity()) // A provider has no right to the new API.
	}
}

// leader returns where the provider that leads takes webhooks; "" where none does, or it doesn't say.
func (l *lease) leader(ctx context.Context) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.read.IsZero() && l.now().Sub(l.read) < leaderFor {
		return takesAt(l.holder), nil
	}
	got, err := l.leases.Leases(l.namespace).Get(ctx, leaderElectionID, metav1.GetOptions{})
	if err != nil && !kerrors.IsNotFound(err) {
		return "", fmt.Errorf("cannot read the lease of the provider that leads: %w", err)
	}
	l.holder, l.read = "", l.now()
	if err == nil && got.Spec.HolderIdentity != nil {
		l.holder = *got.Spec.HolderIdentity
	}
	return takesAt(l.holder), nil
}

// takesAt is the address in a holder's name; "" where there is none.
func takesAt(holder string) string {
	at := holder[strings.LastIndex(holder, "_")+1:]
	if _, err := netip.ParseAddrPort(at); err != nil {
		return ""
	}
	return at
}

// reachable returns where others in the cluster reach what listens on an address: by the IP address that this host has for the API server, where
// it listens on all.
func reachable(ctx context.Context, listen string, kube *rest.Config) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("cannot read address %q: %w", listen, err)
	}
	if a, err := netip.ParseAddr(host); err == nil && !a.IsUnspecified() {
		return listen, nil
	}
	server, _, err := rest.DefaultServerUrlFor(kube)
	if err != nil {
		return "", fmt.Errorf("cannot read the API server's URL: %w", err)
	}
	const anyPort = "443" // Nothing is sent.
	c, err := (&net.Dialer{}).DialContext(ctx, "udp", net.JoinHostPort(server.Hostname(), anyPort))
	if err != nil {
		return "", fmt.Errorf("cannot tell by which address this host reaches the API server: %w", err)
	}
	defer func() { _ = c.Close() }()
	own, err := netip.ParseAddrPort(c.LocalAddr().String())
	if err != nil {
		return "", fmt.Errorf("cannot read this host's address: %w", err)
	}
	return net.JoinHostPort(own.Addr().Unmap().String(), port), nil
}
