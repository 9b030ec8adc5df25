package config

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"golang.org/x/time/rate"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// A ProviderConfigUsage shows people who uses a config. It isn't what keeps that: users are counted where they are. So nobody waits for one to be
// written: the first few are at once, and those of thousands of resources that come in the same moment take a tenth of the time, at most, that the
// API server could write them in: a busy one has enough to do with the resources themselves (docs/adr/0080).
const (
	usagesAtOnce = 20
	usagesShare  = 10
	// usagesLeast and usagesMost are how many are written in a second, whatever one takes.
	usagesLeast, usagesMost rate.Limit = 2, 50
)

// An unrecorded user is a resource whose use of a config is to be recorded.
type unrecorded struct {
	kind schema.GroupVersionKind
	name types.NamespacedName
	uid  types.UID
}

// A recorder writes usages at leisure.
type recorder struct {
	*Resolver

	queue workqueue.TypedInterface[unrecorded]
	pace  *rate.Limiter
	log   logging.Logger
}

// record has the Resolver's usages written by what it returns, once that is started.
func (r *Resolver) record(log logging.Logger) *recorder {
	l := &recorder{Resolver: r, queue: workqueue.NewTyped[unrecorded](), pace: rate.NewLimiter(usagesMost, usagesAtOnce), log: log}
	r.leisure.Store(l)
	return l
}

// Start writes usages until the context ends.
func (l *recorder) Start(ctx context.Context) error {
	go func() {
		<-ctx.Done()
		l.queue.ShutDown()
	}()
	for {
		u, over := l.queue.Get()
		if over || l.pace.Wait(ctx) != nil {
			return nil //nolint:nilerr // It ends since it's to.
		}
		began := time.Now()
		if err := l.write(ctx, u); err != nil { // The next look at the resource asks again.
			l.log.Debug("The use of a provider config can't be recorded", "kind", u.kind.Kind, "name", u.name, "error", err)
		}
		l.pace.SetLimit(leisurely(time.Since(began)))
		l.queue.Done(u)
	}
}

// leisurely is how many usages a second are written where the last one took so long.
func leisurely(took time.Duration) rate.Limit {
	return min(max(rate.Every(usagesShare*took), usagesLeast), usagesMost)
}

// write records the use by a resource that is still there.
func (l *recorder) write(ctx context.Context, u unrecorded) error {
	o, err := l.kube.Scheme().New(u.kind)
	if err != nil {
		return fmt.Errorf("cannot make a %s: %w", u.kind.Kind, err)
	}
	mg, ok := o.(resource.ModernManaged)
	if !ok {
		return fmt.Errorf("a %s isn't a managed resource", u.kind.Kind)
	}
	if err := l.kube.Get(ctx, u.name, mg); err != nil || mg.GetUID() != u.uid || meta.WasDeleted(mg) {
		return client.IgnoreNotFound(err) //nolint:wrapcheck // Nobody is shown it.
	}
	ref, err := refOf(mg)
	if err != nil {
		return err
	}
	return l.track(ctx, mg, ref)
}

// use records that a resource uses a config: at leisure where it isn't recorded yet and somebody writes so, else at once.
func (r *Resolver) use(ctx context.Context, mg resource.ModernManaged, ref Ref) error {
	got, err := r.tracked(ctx, mg)
	l := r.leisure.Load()
	if l == nil || !kerrors.IsNotFound(err) { // One that is there may be out of date: whose config it names can't go as long as it does.
		return r.keepTracked(ctx, mg, ref, got, err)
	}
	gvk, err := apiutil.GVKForObject(mg, r.kube.Scheme())
	if err != nil {
		return fmt.Errorf("cannot tell the kind of %q: %w", mg.GetName(), err)
	}
	l.queue.Add(unrecorded{gvk, client.ObjectKeyFromObject(mg), mg.GetUID()})
	return nil
}
