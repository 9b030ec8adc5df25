package config

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// countAfter is how long after somebody began or ended to use a config its users are counted: of a thousand who come at once, each count
// looks at all there are so far, and writes their number.
const countAfter = time.Second

// together wakes whom another handler wakes, once for all that happens within a second.
type together struct{ of handler.EventHandler }

// Create wakes later.
func (t together) Create(ctx context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	t.of.Create(ctx, e, later{q})
}

// Update wakes later.
func (t together) Update(ctx context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	t.of.Update(ctx, e, later{q})
}

// Delete wakes later.
func (t together) Delete(ctx context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	t.of.Delete(ctx, e, later{q})
}

// Generic wakes later.
func (t together) Generic(ctx context.Context, e event.GenericEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	t.of.Generic(ctx, e, later{q})
}

// later is a queue in which what is added waits for others like it.
type later struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// Add puts it in after a while; what waits already isn't made to wait longer.
func (q later) Add(r reconcile.Request) { q.AddAfter(r, countAfter) }
