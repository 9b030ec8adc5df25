package config

import (
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestTogether: a thousand who begin to use a config at once have it counted once.
func TestTogether(t *testing.T) {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	u := &v1alpha1.ProviderConfigUsage{}
	u.ProviderConfigReference = xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: "netbox"}
	h := together{&resource.EnqueueRequestForProviderConfig{Kind: v1alpha1.ClusterProviderConfigKind}}
	began := time.Now()
	for range 250 {
		h.Create(t.Context(), event.CreateEvent{Object: u}, q)
		h.Update(t.Context(), event.UpdateEvent{ObjectOld: u, ObjectNew: u}, q)
		h.Delete(t.Context(), event.DeleteEvent{Object: u}, q)
		h.Generic(t.Context(), event.GenericEvent{Object: u}, q)
	}
	if n := q.Len(); n != 0 && time.Since(began) < countAfter {
		t.Errorf("%d are to be counted now", n)
	}
	r, _ := q.Get()
	if r.Name != "netbox" || time.Since(began) < countAfter {
		t.Errorf("%v is woken after %s", r, time.Since(began))
	}
	q.Done(r)
	if n := q.Len(); n != 0 {
		t.Errorf("it's woken %d times more", n)
	}
}
