package wiring

import (
	"context"
	"reflect"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Each write of a composed resource is a change that Crossplane's circuit breaker counts for its composite (fifty at once, then
// one in two seconds), and the managed reconciler makes some that say nothing: three of five on the way to a created thing, two of
// four to one that is found and named. What is here leaves those out, and nothing else:
//
//   - its finalizer, by itself, where a write of the resource follows anyway before anything is done outside;
//   - the status between a Create and the look that follows at once: that it is being created;
//   - the status of a late initialisation without what was observed, which the answer to its write has taken away.

// An upcoming write of a resource, which the managed reconciler makes after Observe and before it calls anything else.
type upcoming int

const (
	writeNone upcoming = iota
	// writeCreate: that a Create is about to be called.
	writeCreate
	// writeLate: what Observe initialised late.
	writeLate
)

// upcomingOf tells which write follows an observation.
func upcomingOf(mg resource.Managed, o managed.ExternalObservation) upcoming {
	may := func(a xpv2.ManagementAction) bool {
		p := mg.GetManagementPolicies()
		return slices.Contains(p, xpv2.ManagementActionAll) || slices.Contains(p, a)
	}
	switch {
	case meta.WasDeleted(mg):
		return writeNone
	case !o.ResourceExists && may(xpv2.ManagementActionCreate):
		return writeCreate
	case o.ResourceExists && o.ResourceLateInitialized && may(xpv2.ManagementActionLateInitialize):
		return writeLate
	}
	return writeNone
}

// expect a write of a resource.
func (p *pace) expect(uid types.UID, w upcoming) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w == writeNone {
		delete(p.writes, uid)
		return
	}
	p.writes[uid] = w
}

func (p *pace) expected(uid types.UID) upcoming {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.writes[uid]
}

// finalizer adds the managed reconciler's finalizer in memory where a write follows that carries it to the API server.
func (p *pace) finalizer(c client.Client) resource.Finalizer {
	api := resource.NewAPIFinalizer(c, managed.FinalizerName)
	return resource.FinalizerFns{
		AddFinalizerFn: func(ctx context.Context, o resource.Object) error {
			if p.expected(o.GetUID()) == writeNone {
				return api.AddFinalizer(ctx, o) //nolint:wrapcheck // The managed reconciler says what failed.
			}
			meta.AddFinalizer(o, managed.FinalizerName)
			return nil
		},
		RemoveFinalizerFn: api.RemoveFinalizer,
	}
}

// A thriftyManager gives the managed reconciler a client that leaves out needless writes.
type thriftyManager struct {
	ctrl.Manager

	pace *pace
}

// GetClient returns the client.
func (m thriftyManager) GetClient() client.Client {
	return thriftyClient{Client: m.Manager.GetClient(), pace: m.pace}
}

type thriftyClient struct {
	client.Client

	pace *pace
}

// Update writes an object. After a late initialisation its status is still what was observed: the API server's answer holds the one
// before, and the reconciler would write that, only to write the other after the next look.
func (c thriftyClient) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	if c.pace.expected(o.GetUID()) != writeLate {
		return c.Client.Update(ctx, o, opts...) //nolint:wrapcheck // A client wraps nothing.
	}
	c.pace.expect(o.GetUID(), writeNone)
	observed := o.DeepCopyObject()
	err := c.Client.Update(ctx, o, opts...)
	if err == nil {
		reflect.ValueOf(o).Elem().FieldByName("Status").Set(reflect.ValueOf(observed).Elem().FieldByName("Status"))
	}
	return err //nolint:wrapcheck // As above.
}

// Status returns the client of the subresource.
func (c thriftyClient) Status() client.SubResourceWriter {
	return thriftyStatus{SubResourceWriter: c.Client.Status(), pace: c.pace}
}

type thriftyStatus struct {
	client.SubResourceWriter

	pace *pace
}

// Update writes a status, unless it says only that what was just created is being created.
func (s thriftyStatus) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	if s.pace.created(o.GetUID()) && creating(o) {
		return nil
	}
	return s.SubResourceWriter.Update(ctx, o, opts...) //nolint:wrapcheck // A client wraps nothing.
}

// created says, once, that a Create has just succeeded.
func (p *pace) created(uid types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.looks[uid]
	was := l.created
	if l.created = false; was {
		p.looks[uid] = l
	}
	return was
}

func creating(o client.Object) bool {
	c, ok := o.(resource.Conditioned)
	return ok && c.GetCondition(xpv2.TypeReady).Reason == xpv2.ReasonCreating && c.GetCondition(xpv2.TypeSynced).Reason == xpv2.ReasonReconcileSuccess
}
