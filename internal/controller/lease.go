package controller

import (
	"cmp"
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

// A lease is the one that leader election is about. Whoever holds it says there, in his name, where he takes NetBox's webhooks, or else
// BMCs' events: others that are sent some pass them on to him. Nobody but providers may write it (package/manifests/rbac.yaml). A name is HOST_ID_ADDRESS:PORT, and
// HOST_ID where that's of no use.
type lease struct {
	leases    coordinationv1.LeasesGetter
	namespace string
	lock      *resourcelock.LeaseLock
	now       func() time.Time
	// asking lets one at a time ask who holds it: whoever comes meanwhile goes by what that one was told.
	asking chan struct{}

	mu   sync.Mutex
	read holding
}

// A holding is who held the lease when, or why that couldn't be read.
type holding struct {
	name string
	err  error
	at   time.Time
}

// newLease returns the lease of providers that listen for webhooks or events; nil for others, whose lock the manager makes as well.
func newLease(ctx context.Context, s Settings) (*lease, error) {
	listens := cmp.Or(s.NetBoxWebhookAddress, s.RedfishEventsAddress)
	if !s.LeaderElection || listens == "" {
		return nil, nil //nolint:nilnil // None is needed.
	}
	cfg := rest.AddUserAgent(rest.CopyConfig(s.Kube), "leader-election")
	cfg.Timeout = renewDeadline / 2 // As the manager's own: one request that hangs must not lose the lease.
	leases, err := coordinationv1.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client of leases: %w", err)
	}
	at, err := reachable(ctx, listens, s.Kube)
	if err != nil {
		s.Log.Info("Other providers can't pass on to this one what they're sent", "error", err)
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
	return &lease{leases: leases, namespace: namespace, now: time.Now, asking: make(chan struct{}, 1), lock: &resourcelock.LeaseLock{
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

// leader returns where the provider that leads takes webhooks; "" where none does, or it doesn't say. One that was killed holds the lease until
// it's over (leaseDuration): until then that's where it was.
func (l *lease) leader(ctx context.Context) (string, error) {
	if h, ok := l.lately(); ok {
		return takesAt(h.name), h.err
	}
	select {
	case l.asking <- struct{}{}:
	case <-ctx.Done():
		return "", fmt.Errorf("cannot wait for the lease of the provider that leads: %w", ctx.Err())
	}
	defer func() { <-l.asking }()
	if h, ok := l.lately(); ok {
		return takesAt(h.name), h.err
	}
	h := l.ask(ctx)
	if h.err == nil || ctx.Err() == nil { // That one who asked had no time is nobody else's trouble.
		l.mu.Lock()
		l.read = h
		l.mu.Unlock()
	}
	return takesAt(h.name), h.err
}

// lately is what is known, for as long as that's believed.
func (l *lease) lately() (h holding, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.read, !l.read.at.IsZero() && l.now().Sub(l.read.at) < leaderFor
}

// ask the API server who holds the lease.
func (l *lease) ask(ctx context.Context) holding {
	got, err := l.leases.Leases(l.namespace).Get(ctx, leaderElectionID, metav1.GetOptions{})
	h := holding{at: l.now()}
	switch {
	case err != nil && !kerrors.IsNotFound(err):
		h.err = fmt.Errorf("cannot read the lease of the provider that leads: %w", err)
	case err == nil && got.Spec.HolderIdentity != nil:
		h.name = *got.Spec.HolderIdentity
	}
	return h
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
	return shown(own.Addr().Unmap(), port)
}

// shown is what others are told of an address of this host's that nobody named. Loopback is where each of them would find itself.
func shown(own netip.Addr, port string) (string, error) {
	if own.IsLoopback() {
		return "", fmt.Errorf("this host reaches the API server by %s, where nobody else reaches this host: name an address of it in --netbox-webhook-address", own)
	}
	return net.JoinHostPort(own.String(), port), nil
}
