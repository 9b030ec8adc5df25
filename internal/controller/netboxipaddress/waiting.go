package netboxipaddress

import (
	"context"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

const (
	// lookAnyway is how long a resource that waits is believed to have no record, before that's looked at again.
	lookAnyway = 10 * time.Minute
	// mostLooks bounds how many full sources one look of a resource looks at. What is behind them is believed to be full for now.
	mostLooks = 8
)

// A fullError says that no source has an address.
type fullError struct {
	// sources are those that are full, in words and numbers; others is how many couldn't serve anyway.
	sources []string
	others  int
	// marked and populated are how many of them are marked as utilized, and as populated.
	marked, populated int
}

// fullOf says that one source is full.
func fullOf(p netbox.Parent) fullError {
	out := fullError{}
	switch {
	case p.Populated:
		out.populated = 1
	case p.Utilized:
		out.marked = 1
	}
	return out
}

func (e fullError) Error() string { return "all sources are full" }

// wait notes that a resource waits for these sources.
func (s *stocks) wait(uid types.UID, w waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.seen = s.now()
	if old := s.waiters[uid]; !slices.Equal(old.keys, w.keys) {
		stays := make(map[stockKey]bool, len(w.keys))
		for _, key := range w.keys {
			stays[key] = true
		}
		for _, key := range old.keys {
			if !stays[key] {
				s.drop(uid, key)
			}
		}
	}
	s.waiters[uid] = w
	s.join(uid, w.keys)
}

// leave notes that a resource doesn't wait any more.
func (s *stocks) leave(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(uid)
}

func (s *stocks) forget(uid types.UID) {
	for _, key := range s.waiters[uid].keys {
		s.drop(uid, key)
	}
	delete(s.waiters, uid)
}

func (s *stocks) drop(uid types.UID, key stockKey) {
	if k, ok := s.all[key]; ok {
		k.waiting = slices.DeleteFunc(k.waiting, func(u types.UID) bool { return u == uid })
	}
}

// asker is who waits: a resource with its settings, since it last asked for a record, whichever process did so.
func (e *external) asker(mg *v1alpha1.NetBoxIPAddress) string {
	return e.settings + "/" + mg.GetAnnotations()[v1alpha1.AnnotationAsked]
}

// An absence is that NetBox was asked for the record of an asker, and has none.
type absence struct {
	asker string
	at    time.Time
}

// hasNone says whether a resource is known to have no record, so that none is looked for: NetBox said so a while ago, and nothing was asked
// for since. Thousands may wait for a source that is full, or isn't there. What is being deleted is looked for, whatever is known, and what
// may come yet: NetBox may have carried a POST out after its answer was given up, or not show yet what it made. So is what somebody names.
func (e *external) hasNone(mg *v1alpha1.NetBoxIPAddress) bool {
	_, comes := e.connector.mayCome(mg)
	_, hides := e.connector.hides(mg, created(mg))
	e.awaited = comes || hides
	none, ok := e.connector.absences.get(mg.GetUID())
	return ok && !meta.WasDeleted(mg) && !e.awaited && unnamed(mg) && !onlyObserved(mg) && none.asker == e.asker(mg) &&
		e.connector.Now().Sub(none.at) < lookAnyway
}

// search looks for the record of a resource, and notes where NetBox says that none carries its marker.
func (e *external) search(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	err := e.find(ctx, mg)
	if err == nil && e.record == nil && e.plan.adopt == nil && e.field == netbox.FieldReady && !e.unasked {
		e.foundNone(mg, !e.awaited)
	}
	return err
}

// foundNone notes that NetBox was just asked for a record of a resource, and has none; and whether that is for good, as none can come of
// what was asked for before.
func (e *external) foundNone(mg *v1alpha1.NetBoxIPAddress, forGood bool) {
	if !forGood {
		e.connector.absences.forget(mg.GetUID())
		return
	}
	e.connector.absences.put(mg.GetUID(), absence{e.asker(mg), e.connector.Now()})
}

// stocked takes out of the plan what is known to be full. Where nothing is left the resource waits, and NetBox isn't asked to write:
// one look at each source serves all who wait.
func (e *external) stocked(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	s, uid := e.connector.stocks, mg.GetUID()
	looks, after := 0, s.staleAfter(e.of.UID)
	i, missed := e.usable(ctx, mg, 0)
	for ; i >= 0; i, missed = e.usable(ctx, mg, i+1) {
		c := &e.plan.candidates[i]
		if c.err = e.edged(ctx, mg.Spec.ForProvider, *c); c.err != nil {
			continue
		}
		if looks < mostLooks {
			looked, err := e.lookAtFull(ctx, c.parent, after)
			if err != nil {
				return err
			}
			if looked {
				looks++
			}
		}
		if s.has(e, c.parent, uid) {
			s.leave(uid)
			return nil
		}
		c.err = fullOf(c.parent)
	}
	if missed != nil {
		return missed
	}
	return e.exhausted(mg)
}

// lookAtFull looks at a source that is known to be full, where nobody did for long.
func (e *external) lookAtFull(ctx context.Context, p netbox.Parent, after time.Duration) (looked bool, err error) {
	s := e.connector.stocks
	key, stale := s.stale(e, p, after)
	if !stale {
		return false, nil
	}
	u, err := e.netbox.Usage(ctx, p)
	if err != nil {
		s.failed(key, false)
		return false, err
	}
	e.connector.warn(s.learn(key, p, u))
	return true, nil
}

// exhausted says which sources are full, with their numbers, and has the resource wait for them.
func (e *external) exhausted(mg *v1alpha1.NetBoxIPAddress) error {
	out := fullError{}
	w := waiter{name: types.NamespacedName{Namespace: mg.GetNamespace(), Name: mg.GetName()}}
	for _, c := range e.plan.candidates {
		full, ok := c.err.(fullError) //nolint:errorlint // As it was put there.
		if !ok {
			out.others++
			continue
		}
		w.keys = append(w.keys, stockKey{e.of.UID, c.parent.Kind, c.parent.ID})
		u, known := e.connector.stocks.usageOf(e, c.parent)
		if !known {
			u = netbox.Usage{}
		}
		out.sources = append(out.sources, c.words+fullWords(u, full))
		out.marked, out.populated = out.marked+full.marked, out.populated+full.populated
	}
	if len(out.sources) == 0 && out.others > 0 {
		return e.plan.foremost()
	}
	e.connector.stocks.wait(mg.GetUID(), w)
	return out
}
