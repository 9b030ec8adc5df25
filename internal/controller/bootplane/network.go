package bootplane

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

const (
	// liveFor is how long a bootd counts as live after its last heartbeat, which comes at least every 5 s.
	liveFor = v1alpha1.BootServerLife
	// seenStep is how much newer a heartbeat must be than the one in a network's status to be written there: a status isn't
	// rewritten for every one.
	seenStep = time.Minute
)

// networks keeps the status of BootNetworks.
type networks struct {
	kube client.Client
	now  func() time.Time
}

// Reconcile says which bootds serve a network, and how many machines boot on it.
func (r *networks) Reconcile(ctx context.Context, req reconcile.Request) (ctrl.Result, error) {
	n := &v1alpha1.BootNetwork{}
	if err := r.kube.Get(ctx, req.NamespacedName, n); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err) //nolint:wrapcheck // Nothing to add.
	}
	entries := &v1alpha1.BootEntryList{}
	if err := r.kube.List(ctx, entries, client.MatchingFields{fieldNetwork: req.String()}); err != nil {
		return ctrl.Result{}, fmt.Errorf("cannot list the BootEntries of BootNetwork %q: %w", req, err)
	}
	all := &v1alpha1.BootServerList{}
	if err := r.kube.List(ctx, all); err != nil {
		return ctrl.Result{}, fmt.Errorf("cannot list BootServers: %w", err)
	}
	live, next := serversOf(req.NamespacedName, all.Items, r.now())
	before := n.DeepCopy()
	showNetwork(n, live, len(entries.Items))
	showReports(n, reports(req.NamespacedName, all.Items, r.now()))
	if equality.Semantic.DeepEqual(before.Status, n.Status) {
		return ctrl.Result{RequeueAfter: next}, nil
	}
	if err := r.kube.Status().Patch(ctx, n, client.MergeFrom(before)); err != nil {
		return ctrl.Result{}, fmt.Errorf("cannot write the status of BootNetwork %q: %w", req, err)
	}
	return ctrl.Result{RequeueAfter: next}, nil
}

// serversOf returns the live bootds of a network by name, and when the first of them stops being live unless it's heard of again.
// A bootd that isn't live wakes us when it's back.
func serversOf(network types.NamespacedName, all []v1alpha1.BootServer, now time.Time) ([]v1alpha1.NetworkServer, time.Duration) {
	var live []v1alpha1.NetworkServer
	var next time.Duration
	for i := range all {
		s := &all[i]
		at := slices.IndexFunc(s.Status.Networks, func(n v1alpha1.BootServerNetwork) bool {
			return n.Namespace == network.Namespace && n.Name == network.Name
		})
		if at < 0 || s.Status.LastSeen == nil {
			continue
		}
		left := liveFor - now.Sub(s.Status.LastSeen.Time)
		if left <= 0 {
			continue
		}
		if next == 0 || left < next {
			next = left
		}
		seen := metav1.NewTime(s.Status.LastSeen.Truncate(time.Second))
		live = append(live, v1alpha1.NetworkServer{Name: s.Name, Address: s.Status.Networks[at].Address, LastSeen: &seen})
	}
	slices.SortFunc(live, func(a, b v1alpha1.NetworkServer) int { return strings.Compare(a.Name, b.Name) })
	return live, next
}

// showNetwork writes a network's status.
func showNetwork(n *v1alpha1.BootNetwork, live []v1alpha1.NetworkServer, machines int) {
	for i := range live {
		live[i].LastSeen = steady(n.Status.Servers, live[i])
	}
	n.Status.Servers = live
	n.Status.Machines = int64(machines)
	ready := xpv2.Available()
	if len(live) == 0 {
		ready = xpv2.Unavailable().WithMessage("no bootd serves this network: none has one of its subnets, or none was heard of in 15 s")
		ready.Reason = v1alpha1.ReasonWaitingForBootServer
	}
	n.Status.SetConditions(ready.WithObservedGeneration(n.Generation))
}

// steady returns when a bootd was last seen, or what stands there already where that isn't much older.
func steady(was []v1alpha1.NetworkServer, is v1alpha1.NetworkServer) *metav1.Time {
	for _, w := range was {
		if w.Name == is.Name && w.LastSeen != nil && is.LastSeen.Sub(w.LastSeen.Time).Abs() < seenStep {
			return w.LastSeen
		}
	}
	return is.LastSeen
}
