package netboxipaddress

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// TestAlarm: a resource is woken at its time and not before.
func TestAlarm(t *testing.T) {
	wake := make(chan event.GenericEvent)
	a := newAlarm(wake)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- a.Start(ctx) }()
	at := time.Now().Add(100 * time.Millisecond)
	a.set(types.NamespacedName{Namespace: "team-a", Name: "web-1"}, at)
	select {
	case e := <-wake:
		if early := time.Until(at); early > 0 || e.Object.GetNamespace() != "team-a" || e.Object.GetName() != "web-1" {
			t.Errorf("%s/%s is woken %s before its time", e.Object.GetNamespace(), e.Object.GetName(), early)
		}
	case <-time.After(10 * time.Second):
		t.Error("nobody is woken")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
