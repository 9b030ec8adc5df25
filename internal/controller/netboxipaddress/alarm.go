package netboxipaddress

import (
	"context"
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
}

func newAlarm(wake chan<- event.GenericEvent) *alarm {
	return &alarm{wake: wake, ended: make(chan struct{})}
}

// Start ends when ctx does, and all alarms with it.
func (a *alarm) Start(ctx context.Context) error {
	<-ctx.Done()
	close(a.ended)
	return nil
}

// set wakes a resource then.
func (a *alarm) set(name types.NamespacedName, at time.Time) {
	time.AfterFunc(time.Until(at), func() {
		select {
		case a.wake <- wakeUp(name):
		case <-a.ended:
		}
	})
}

// wakeUp is the event that has a resource looked at.
func wakeUp(name types.NamespacedName) event.GenericEvent {
	return event.GenericEvent{Object: &v1alpha1.NetBoxIPAddress{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}}
}
