package wiring

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// turns is the order of a queue in which flows take turns: what waits in a long one delays only those behind it.
type turns[T comparable] struct {
	// flow names what an item waits in line with.
	flow func(T) string

	// order of the flows that have items, the next one first.
	order []string
	lines map[string][]T
	n     int
}

var _ workqueue.Queue[string] = &turns[string]{}

func newTurns[T comparable](flow func(T) string) *turns[T] {
	return &turns[T]{flow: flow, lines: map[string][]T{}}
}

// Touch does nothing: who waits already keeps his place.
func (t *turns[T]) Touch(T) {}

// Len is how many items there are.
func (t *turns[T]) Len() int { return t.n }

// Push puts an item at the end of its flow's line.
func (t *turns[T]) Push(item T) {
	f := t.flow(item)
	if len(t.lines[f]) == 0 {
		t.order = append(t.order, f)
	}
	t.lines[f] = append(t.lines[f], item)
	t.n++
}

// Pop takes the first item of the flow whose turn it is.
func (t *turns[T]) Pop() T {
	f := t.order[0]
	t.order = t.order[1:]
	item := t.lines[f][0]
	if rest := t.lines[f][1:]; len(rest) > 0 {
		t.lines[f] = rest
		t.order = append(t.order, f)
	} else {
		delete(t.lines, f)
	}
	t.n--
	return item
}

// inTurns lets the flows of a kind take turns. Flows are told by what the cache has of a resource.
func inTurns[T resource.ModernManaged](kube client.Reader, object client.Object, flow func(T) string) func(string, workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	of := func(r reconcile.Request) string {
		mg, ok := object.DeepCopyObject().(T)
		if !ok || kube.Get(context.Background(), r.NamespacedName, mg) != nil {
			return ""
		}
		return flow(mg)
	}
	return func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[reconcile.Request]{Name: name, Queue: newTurns(of)})
		return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{
			Name: name,
			DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(
				workqueue.TypedDelayingQueueConfig[reconcile.Request]{Name: name, Queue: queue}),
		})
	}
}
