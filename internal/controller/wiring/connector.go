package wiring

import (
	"context"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

// paced wraps a kind's connector: its clients tell the pace of their steps, and have failpoints around their calls. Those are
// named KIND.CALL.before and KIND.CALL.after, such as netboxipaddress.create.after: after the call, before its result is recorded.
func paced[T resource.ModernManaged](k Kind[T], o Options, p *pace) managed.TypedExternalConnector[T] {
	return managed.TypedExternalConnectorFn[T](func(ctx context.Context, mg T) (managed.TypedExternalClient[T], error) {
		if meta.WasDeleted(mg) {
			p.forget(mg.GetUID())
		}
		c, err := k.Connector.Connect(ctx, mg)
		if err != nil {
			return nil, err //nolint:wrapcheck // The managed reconciler says that connecting failed.
		}
		stays := func(ctx context.Context) error { return o.KindStays(ctx, k.GVK) }
		return &external[T]{TypedExternalClient: c, pace: p, fail: o.Fail, stays: stays, kind: k.GVK.Kind, name: strings.ToLower(k.GVK.Kind)}, nil
	})
}

// An external is a kind's external client, with steps told and failpoints.
type external[T resource.ModernManaged] struct {
	managed.TypedExternalClient[T]

	pace  *pace
	fail  func(name string)
	stays func(ctx context.Context) error
	// kind, and name, which is the kind in failpoints.
	kind, name string
}

// Observe the external thing.
func (e *external[T]) Observe(ctx context.Context, mg T) (managed.ExternalObservation, error) {
	e.pace.expect(mg.GetUID(), writeNone)
	answered := e.pace.crowd.asks(requestOf(mg))
	o, err := e.TypedExternalClient.Observe(ctx, mg)
	answered(err)
	e.pace.observed(e.kind, found(o, err))
	if err == nil {
		e.pace.expect(mg.GetUID(), upcomingOf(mg, o))
	}
	if err == nil && !o.ResourceExists && meta.WasDeleted(mg) {
		e.pace.gone(mg.GetUID())
	}
	return o, err //nolint:wrapcheck // The managed reconciler says what failed.
}

// Create the external thing.
func (e *external[T]) Create(ctx context.Context, mg T) (managed.ExternalCreation, error) {
	e.pace.expect(mg.GetUID(), writeNone) // It was written that this call is about to be made.
	e.pace.begin(mg)
	e.fail(e.name + ".create.before")
	answered := e.pace.crowd.asks(requestOf(mg))
	c, err := e.TypedExternalClient.Create(ctx, mg)
	answered(err)
	if err == nil {
		e.fail(e.name + ".create.after")
		e.pace.create(mg)
	}
	return c, err //nolint:wrapcheck // The managed reconciler says what failed.
}

// Update the external thing by one step.
func (e *external[T]) Update(ctx context.Context, mg T) (managed.ExternalUpdate, error) {
	e.fail(e.name + ".update.before")
	answered := e.pace.crowd.asks(requestOf(mg))
	u, err := e.TypedExternalClient.Update(ctx, mg)
	answered(err)
	if err == nil {
		e.fail(e.name + ".update.after")
		e.pace.step(mg.GetUID())
	}
	return u, err //nolint:wrapcheck // The managed reconciler says what failed.
}

// Delete the external thing by one step, unless all resources of the kind are being deleted with it.
func (e *external[T]) Delete(ctx context.Context, mg T) (managed.ExternalDelete, error) {
	if err := e.stays(ctx); err != nil {
		return managed.ExternalDelete{}, err
	}
	e.fail(e.name + ".delete.before")
	answered := e.pace.crowd.asks(requestOf(mg))
	d, err := e.TypedExternalClient.Delete(ctx, mg)
	answered(err)
	if err == nil {
		e.fail(e.name + ".delete.after")
		e.pace.remove(mg)
	}
	return d, err //nolint:wrapcheck // The managed reconciler says what failed.
}
