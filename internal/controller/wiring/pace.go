package wiring

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// soon is the next look at a resource that is on its way.
	soon = time.Second
	// growth of the interval while a resource is on its way and nothing changes: up to stepPatience while a step is pending, and to
	// patience while it just isn't ready, which can take a person.
	growth       = 1.5
	stepPatience = 5 * time.Second
	patience     = 15 * time.Second
	// jitter of every interval, a part of it in either direction.
	jitter = 0.1
)

// A look is what is remembered of a resource that is on its way.
type look struct {
	// version is the resourceVersion at the last look, and idle for how many looks it hasn't changed.
	version string
	idle    int
	// stepped says that the last look ended with an Update. The managed reconciler waits a poll interval after one.
	stepped bool
	// created says that the last look ended with a Create whose status wasn't written yet.
	created bool
	// removed says that the last look ended with the first Delete, whose status wasn't written yet.
	removed bool
}

// A pace decides when a resource is looked at again: soon while it's on its way, else after its poll interval. It remembers only
// the resources that are on their way.
type pace struct {
	// retries is the controller's back-off. What failed before a thing was created, or waited for before it was deleted, says nothing
	// about what comes then: the managed reconciler looks again by a retry, which would be as late as after the last failure.
	retries workqueue.TypedRateLimiter[reconcile.Request]
	// observed counts what looks find, by kind.
	observed func(kind, found string)
	// crowd bounds how many reconciles ask the same; nil doesn't.
	crowd *crowd[reconcile.Request]

	mu    sync.Mutex
	looks map[types.UID]look
	// writes that follow the look that is under way.
	writes map[types.UID]upcoming
	// deletions that were asked for at least once.
	deletions map[types.UID]bool
	// was is a resource as the reconcile that is under way read it.
	was map[types.UID]client.Object
	// versions are those of resources that were written from here, and own these resources themselves until the cache has heard of that.
	versions map[types.UID]string
	own      map[types.UID]ownWrite
	// swept is when what is in own for long was last forgotten.
	swept time.Time
	// before are the annotations of resources whose Create is under way, as they were when it began.
	before map[types.UID]map[string]string
}

func newPace(retries workqueue.TypedRateLimiter[reconcile.Request]) *pace {
	return &pace{
		retries: retries, observed: func(string, string) {}, looks: map[types.UID]look{}, writes: map[types.UID]upcoming{}, deletions: map[types.UID]bool{},
		was: map[types.UID]client.Object{}, versions: map[types.UID]string{}, own: map[types.UID]ownWrite{}, before: map[types.UID]map[string]string{},
	}
}

// create notes that a resource's external thing was just made: the look that follows comes at once.
func (p *pace) create(mg resource.Managed) {
	p.mu.Lock()
	l := p.looks[mg.GetUID()]
	l.created = true
	p.looks[mg.GetUID()] = l
	p.mu.Unlock()
	p.retry(mg)
}

// remove notes that the deletion of a resource's external thing was just asked for. The look after the first time comes at once;
// those after further steps are retries.
func (p *pace) remove(mg resource.Managed) {
	p.mu.Lock()
	again := p.deletions[mg.GetUID()]
	p.deletions[mg.GetUID()] = true
	l := p.looks[mg.GetUID()]
	l.removed = !again
	p.looks[mg.GetUID()] = l
	p.mu.Unlock()
	if !again {
		p.retry(mg)
	}
}

// retry makes the next retry of a resource the first.
func (p *pace) retry(mg resource.Managed) {
	p.retries.Forget(requestOf(mg))
}

// requestOf a resource is what its reconciles are known by.
func requestOf(mg resource.Managed) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: mg.GetNamespace(), Name: mg.GetName()}}
}

// step notes that a resource's external thing was just changed.
func (p *pace) step(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.looks[uid]
	l.stepped = true
	p.looks[uid] = l
}

// forget a resource that is being deleted.
func (p *pace) forget(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.looks, uid)
	delete(p.writes, uid)
	delete(p.was, uid)
	delete(p.before, uid)
}

// gone forgets the deletion of a resource whose external thing is gone.
func (p *pace) gone(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.deletions, uid)
	delete(p.versions, uid)
	delete(p.own, uid)
	delete(p.looks, uid)
}

// interval until the next look at a resource whose poll interval is poll.
func (p *pace) interval(mg resource.Managed, pending bool, poll time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, seen := p.looks[mg.GetUID()]
	if !last.stepped && settled(mg, pending) {
		delete(p.looks, mg.GetUID())
		return poll
	}
	next := look{version: mg.GetResourceVersion()}
	if seen && !last.stepped && last.version == next.version {
		next.idle = last.idle + 1
	}
	p.looks[mg.GetUID()] = next
	most := patience
	if pending {
		most = stepPatience
	}
	return min(pause(next.idle, most), poll)
}

// pause is how long to wait after so many looks at which nothing had changed, and at most.
func pause(idle int, most time.Duration) time.Duration {
	d := soon
	for range idle {
		if d >= most {
			break
		}
		d = time.Duration(float64(d) * growth)
	}
	return min(d, most)
}

// settled says whether nothing is expected to happen to a resource by itself. What is only observed never is on its way.
func settled(mg resource.Managed, pending bool) bool {
	if slices.Equal(mg.GetManagementPolicies(), xpv2.ManagementPolicies{xpv2.ManagementActionObserve}) {
		return true
	}
	return !pending && mg.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue
}

// spread moves a duration by up to jitter of it, for random in [0, 1).
func spread(d time.Duration, random float64) time.Duration {
	return d + time.Duration((random-0.5)*2*jitter*float64(d))
}

// hook is the one poll hook: the managed reconciler has but one, and the last one wins.
func hook[T resource.ModernManaged](p *pace, pending func(T) bool) managed.PollIntervalHook {
	return func(mg resource.Managed, poll time.Duration) time.Duration {
		typed, ok := mg.(T)
		return spread(p.interval(mg, ok && pending != nil && pending(typed), poll), rand.Float64()) //nolint:gosec // Not a secret.
	}
}
