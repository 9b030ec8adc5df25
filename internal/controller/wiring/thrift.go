package wiring

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Each write of a composed resource is a change that Crossplane's circuit breaker counts for its composite (fifty at once, then
// one in two seconds), and the managed reconciler makes some that say nothing: three of five on the way to a created thing, two of
// four to one that is found and named. What is here leaves those out, and nothing else:
//
//   - its finalizer, by itself, where a write of the resource follows anyway before anything is done outside;
//   - the status between a Create and the look that follows at once, which says that it is being created: where its kind knows what
//     was made, that is written instead, and the look has nothing to write;
//   - the status between the first Delete and the look that follows at once, which finds the thing gone, or says why not;
//   - a status that says what it said: ten thousand resources that nobody touches would cost a write each at every poll;
//   - the status of a late initialisation without what was observed, which the answer to its write has taken away;
//   - whatever was decided by a copy in the cache that is older than what was last written from here: the API server refuses it.

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
	// made is Kind.Made, false for what isn't of the kind.
	made func(client.Object) bool
}

// GetClient returns the client.
func (m thriftyManager) GetClient() client.Client {
	return thriftyClient{Client: m.Manager.GetClient(), pace: m.pace, made: m.made}
}

type thriftyClient struct {
	client.Client

	pace *pace
	made func(client.Object) bool
}

// Get reads an object: as it was last written from here, where the cache hasn't heard of that yet.
func (c thriftyClient) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	err := c.Client.Get(ctx, key, o, opts...)
	if err == nil {
		c.pace.renew(o)
		c.pace.read(o)
	}
	return err //nolint:wrapcheck // A client wraps nothing.
}

// Update writes an object. After a late initialisation its status is still what was observed: the API server's answer holds the one
// before, and the reconciler would write that, only to write the other after the next look.
func (c thriftyClient) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	if c.pace.expected(o.GetUID()) != writeLate {
		return c.update(ctx, o, opts...)
	}
	c.pace.expect(o.GetUID(), writeNone)
	observed := o.DeepCopyObject()
	err := c.update(ctx, o, opts...)
	if err == nil {
		statusOf(o).Set(statusOf(observed))
	}
	return err
}

func (c thriftyClient) update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	err := c.Client.Update(ctx, o, opts...)
	if err == nil {
		c.pace.wrote(o)
	}
	return err //nolint:wrapcheck // A client wraps nothing.
}

// statusOf is the field of that name.
func statusOf(o runtime.Object) reflect.Value { return reflect.ValueOf(o).Elem().FieldByName("Status") }

// Status returns the client of the subresource.
func (c thriftyClient) Status() client.SubResourceWriter {
	return thriftyStatus{SubResourceWriter: c.Client.Status(), pace: c.pace, made: c.made}
}

type thriftyStatus struct {
	client.SubResourceWriter

	pace *pace
	made func(client.Object) bool
}

// Update writes a status, unless that is needless.
func (s thriftyStatus) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	if s.pace.created(o.GetUID()) && says(o, xpv2.ReasonCreating) && !s.made(o) {
		return nil
	}
	if s.pace.removed(o.GetUID()) && says(o, xpv2.ReasonDeleting) || s.pace.unchanged(o) {
		return nil
	}
	err := s.SubResourceWriter.Update(ctx, o, opts...)
	if err == nil {
		s.pace.wrote(o)
	}
	return err //nolint:wrapcheck // A client wraps nothing.
}

// read notes a resource as it was read, until its status is written.
func (p *pace) read(o client.Object) {
	if _, ok := o.(resource.Managed); !ok || meta.WasDeleted(o) {
		return
	}
	was, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.was[o.GetUID()] = was
}

// wrote notes a resource as the API server has it since it was written.
//
// Who owns which field is taken out of the answer, as it's out of all that is read: nobody here asks, and the next write would carry it back, to be
// read by the API server, which goes by its own.
func (p *pace) wrote(o client.Object) {
	o.SetManagedFields(nil)
	own, _ := o.DeepCopyObject().(client.Object)
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.versions[o.GetUID()], p.own[o.GetUID()] = o.GetResourceVersion(), ownWrite{own, now}
	if now.Sub(p.swept) < ownFor {
		return
	}
	p.swept = now
	maps.DeleteFunc(p.own, func(_ types.UID, w ownWrite) bool { return now.Sub(w.at) > ownFor })
}

// ownFor is how long what was written is remembered at least: caches are behind by less. The cache may have heard of it before the answer to the write
// was here, and then nothing else tells of it.
const ownFor = 10 * time.Second

// An ownWrite is a resource as it was written from here, and when.
type ownWrite struct {
	object client.Object
	at     time.Time
}

// renew puts a resource that was read from a cache in the state that was last written from here, where that is newer: what would be decided by
// the older one is refused as a conflict, or was done already. API servers count versions up (KEP-5504); of others nothing is known.
func (p *pace) renew(o client.Object) {
	p.mu.Lock()
	own := p.own[o.GetUID()].object
	p.mu.Unlock()
	if own == nil || p.heard(o) || reflect.TypeOf(own) != reflect.TypeOf(o) {
		return
	}
	reflect.ValueOf(o).Elem().Set(reflect.ValueOf(own.DeepCopyObject()).Elem())
}

// heard says that the cache knows of what was last written of a resource, which isn't remembered any more then.
func (p *pace) heard(o client.Object) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	own, ok := p.own[o.GetUID()]
	if !ok {
		return true
	}
	if n, err := resourceversion.CompareResourceVersion(o.GetResourceVersion(), own.object.GetResourceVersion()); err == nil && n < 0 {
		return false
	}
	delete(p.own, o.GetUID())
	return true
}

// unchanged says that the status of a resource is as it was read, and that what was read is what was last written from here: the
// cache may lag behind that.
func (p *pace) unchanged(o client.Object) bool {
	p.mu.Lock()
	was, read := p.was[o.GetUID()]
	delete(p.was, o.GetUID())
	version, written := p.versions[o.GetUID()]
	p.mu.Unlock()
	return read && (!written || version == was.GetResourceVersion()) &&
		equality.Semantic.DeepEqual(statusOf(was).Interface(), statusOf(o).Interface())
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

// removed says, once, that the first Delete has just succeeded.
func (p *pace) removed(uid types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.looks[uid]
	was := l.removed
	if l.removed = false; was {
		p.looks[uid] = l
	}
	return was
}

// says that all is well with a resource that isn't Ready for one reason.
func says(o client.Object, why xpv2.ConditionReason) bool {
	c, ok := o.(resource.Conditioned)
	return ok && c.GetCondition(xpv2.TypeReady).Reason == why && c.GetCondition(xpv2.TypeSynced).Reason == xpv2.ReasonReconcileSuccess
}
