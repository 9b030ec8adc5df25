package netboxipaddress

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// An alarm wakes each resource at the time that was set for it. Their own retries come ever later, and may miss it by half as much as
// they have waited so far.
type alarm struct {
	wake chan<- event.GenericEvent
	// ended is closed when nobody is woken any more.
	ended chan struct{}

	mu sync.Mutex
	// rings are those to come, one for each resource.
	rings map[types.NamespacedName]*ring
}

// A ring is when a resource is to be woken.
type ring struct {
	at    time.Time
	timer *time.Timer
}

func newAlarm(wake chan<- event.GenericEvent) *alarm {
	return &alarm{wake: wake, ended: make(chan struct{}), rings: map[types.NamespacedName]*ring{}}
}

// Start ends when ctx does, and all alarms with it.
func (a *alarm) Start(ctx context.Context) error {
	<-ctx.Done()
	close(a.ended)
	return nil
}

// set wakes a resource then, once, however often it's set. Of two times the earlier one counts: the look that it makes sets the later one again.
func (a *alarm) set(name types.NamespacedName, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r, ok := a.rings[name]; ok {
		if !at.Before(r.at) {
			return
		}
		r.timer.Stop()
	}
	r := &ring{at: at}
	r.timer = time.AfterFunc(time.Until(at), func() { a.ring(name, r) })
	a.rings[name] = r
}

func (a *alarm) ring(name types.NamespacedName, r *ring) {
	a.mu.Lock()
	if a.rings[name] == r {
		delete(a.rings, name)
	}
	a.mu.Unlock()
	select {
	case a.wake <- wakeUp(name):
	case <-a.ended:
	}
}

// wakeUp is the event that has a resource looked at.
func wakeUp(name types.NamespacedName) event.GenericEvent {
	return event.GenericEvent{Object: &v1alpha1.NetBoxIPAddress{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}}
}
