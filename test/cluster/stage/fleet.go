package stage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FleetLabel is that of a fleet's nodes, and FleetNamespace where its pods are.
const (
	FleetLabel     = "fleet"
	FleetNamespace = "fleet"
)

// heartbeat is how often a node is said to be there: the controller manager gives it up after 50 seconds.
const heartbeat = 10 * time.Second

// A Fleet is of nodes that aren't there. The cluster's own scheduler and controllers deal with them as with any others, and the fleet says of
// their pods what a kubelet would. Nothing comes to them but what tolerates every taint, as bootd does. Close ends it.
type Fleet struct {
	kube  client.Client
	nodes []*corev1.Node
	stop  context.CancelFunc
	ended chan error

	mu sync.Mutex
	// broken is the image whose pods never get ready, and most how many nodes were without a ready pod at once.
	broken string
	most   int
}

// NewFleet registers so many nodes, and begins to look after their pods.
func NewFleet(ctx context.Context, kube client.Client, size int) (*Fleet, error) {
	ctx, stop := context.WithCancel(ctx)
	f := &Fleet{kube: kube, stop: stop, ended: make(chan error, 1)}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: FleetNamespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "privileged"}}}
	err := kube.Create(ctx, ns)
	for i := range size {
		n := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{
				Name:   fmt.Sprintf("fleet-%d", i+1),
				Labels: map[string]string{FleetLabel: "true", corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"},
			},
			Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: FleetLabel, Effect: corev1.TaintEffectNoSchedule}}},
		}
		f.nodes = append(f.nodes, n)
		err = errors.Join(err, kube.Create(ctx, n))
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf("cannot register nodes: %w", err)
	}
	go func() { f.ended <- f.run(ctx) }()
	return f, nil
}

// Break has pods of an image run and never be ready.
func (f *Fleet) Break(image string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = image
}

// Unavailable is how many nodes were without a ready pod at once, at most, since this was asked the last time.
func (f *Fleet) Unavailable() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.most
	f.most = 0
	return n
}

// Close takes the nodes away, after what is on them.
func (f *Fleet) Close(ctx context.Context) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: FleetNamespace}}
	err := f.kube.Delete(ctx, ns)
	for err == nil && ctx.Err() == nil {
		if err = f.kube.Get(ctx, client.ObjectKeyFromObject(ns), ns); err == nil {
			time.Sleep(poll)
		}
	}
	f.stop()
	errs := []error{ctx.Err(), client.IgnoreNotFound(err), <-f.ended}
	for _, n := range f.nodes {
		errs = append(errs, client.IgnoreNotFound(f.kube.Delete(context.WithoutCancel(ctx), n)))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("the fleet didn't end as it should: %w", err)
	}
	return nil
}

// run until the context ends.
func (f *Fleet) run(ctx context.Context) error {
	var last time.Time
	for ctx.Err() == nil {
		var err error
		if time.Since(last) > heartbeat {
			last = time.Now()
			err = f.beat(ctx)
		}
		// What somebody else wrote meanwhile is looked at again.
		if err = errors.Join(err, f.tend(ctx)); err != nil && ctx.Err() == nil && !kerrors.IsConflict(err) {
			return err
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
		}
	}
	return nil
}

// beat says of each node that it's ready, and has room.
func (f *Fleet) beat(ctx context.Context) error {
	room := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi"), corev1.ResourcePods: resource.MustParse("10")}
	for _, n := range f.nodes {
		before := n.DeepCopy()
		n.Status.Capacity, n.Status.Allocatable = room, room
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Fleet", LastHeartbeatTime: metav1.Now()}}
		if err := f.kube.Status().Patch(ctx, n, client.MergeFrom(before)); err != nil {
			return fmt.Errorf("cannot say that node %s is there: %w", n.Name, err)
		}
	}
	return nil
}

// tend does to pods what a kubelet would: those that are to end do, others run. A pod that has to go is counted before it's gone, so none is
// missed however soon the next one comes.
func (f *Fleet) tend(ctx context.Context) error {
	pods := &corev1.PodList{}
	if err := f.kube.List(ctx, pods, client.InNamespace(FleetNamespace)); err != nil {
		return fmt.Errorf("cannot list the fleet's pods: %w", err)
	}
	broken := f.count(pods.Items)
	for i := range pods.Items {
		p := &pods.Items[i]
		var err error
		switch {
		case p.Spec.NodeName == "": // It isn't anybody's yet.
		case p.DeletionTimestamp != nil:
			err = f.kube.Delete(ctx, p, client.GracePeriodSeconds(0))
		case p.Status.Phase == corev1.PodRunning:
		default:
			ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}
			if p.Spec.Containers[0].Image == broken {
				ready.Status = corev1.ConditionFalse
			}
			p.Status.Phase, p.Status.Conditions = corev1.PodRunning, append(p.Status.Conditions, ready)
			err = f.kube.Status().Update(ctx, p)
		}
		if client.IgnoreNotFound(err) != nil {
			return err //nolint:wrapcheck // Whether it's a conflict counts.
		}
	}
	return nil
}

// count the nodes without a ready pod, and return which image is broken.
func (f *Fleet) count(pods []corev1.Pod) string {
	missing := len(f.nodes)
	for _, p := range pods {
		for _, c := range p.Status.Conditions {
			if p.DeletionTimestamp == nil && c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				missing--
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.most = max(f.most, missing)
	return f.broken
}
