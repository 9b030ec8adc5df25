package kubesource

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	utilclock "k8s.io/utils/clock"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// SecretTokens holds the keys of tokens, made by the provider: current, and previous while it's rotated.
const SecretTokens = "bootd-tokens"

// run is one life of the watches.
func (s *Source) run(ctx context.Context) error {
	t := s.newTables()
	s.t.Store(t)
	g, ctx := errgroup.WithContext(ctx)
	everywhere, own := scope{}, scope{namespace: s.o.Namespace}
	keys := scope{s.o.Namespace, "metadata.name=" + SecretTokens}
	s.reflect(ctx, g, &v1alpha1.BootNetwork{}, &v1alpha1.BootNetworkList{}, everywhere, t.networks)
	s.reflect(ctx, g, &v1alpha1.BootProfile{}, &v1alpha1.BootProfileList{}, everywhere, t.profiles)
	s.reflect(ctx, g, &v1alpha1.BootEntry{}, &v1alpha1.BootEntryList{}, everywhere, t.entries)
	s.reflect(ctx, g, &v1alpha1.BootSession{}, &v1alpha1.BootSessionList{}, everywhere, t.sessions)
	s.reflect(ctx, g, &v1alpha1.BootServer{}, &v1alpha1.BootServerList{}, own, t.servers)
	s.reflect(ctx, g, &corev1.Secret{}, &corev1.SecretList{}, keys, t.keys)
	g.Go(func() error { s.await(ctx, t); return nil })
	g.Go(func() error { return s.build(ctx, t) })
	g.Go(func() error { return s.heartbeats(ctx, t) })
	return g.Wait()
}

func (s *Source) newTables() *tables {
	changed := func() { poke(s.rebuild) }
	t := &tables{
		networks: newTable(s.network, changed),
		sessions: newTable(record, func() { poke(s.rebuild); poke(s.beat) }),
		servers:  newTable(serverOf, changed),
		unserved: unserved{rows: map[boot.Name]withheld{}},
	}
	t.entries = newTable(func(o Object) (boot.Plan, bool) {
		p, served := s.plan(o)
		t.unserved.note(o, p, served)
		return p, served
	}, changed)
	t.entries.gone, t.entries.relisted = t.unserved.forget, t.unserved.keep
	t.profiles = newTable(profileFiles, func() { s.profilesChanged(t) })
	t.keys = newTable(keysOf, func() { s.takeKeys(t) })
	t.sessions.seen, t.sessions.gone = s.seenSession, s.goneSession
	t.servers.seen = s.seenServer
	return t
}

// A scope says which objects of a kind are watched: those of a namespace ("": of all), and of them those that a field selector chooses.
type scope struct{ namespace, fields string }

// reflect keeps a table up to date until ctx ends.
func (s *Source) reflect(ctx context.Context, g *errgroup.Group, o, list runtime.Object, of scope, t cache.ReflectorStore) {
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, raw metav1.ListOptions) (runtime.Object, error) {
			l := list.DeepCopyObject()
			raw.FieldSelector = of.fields
			return l, s.o.Kube.List(ctx, of.namespace, l, raw)
		},
		WatchFuncWithContext: func(ctx context.Context, raw metav1.ListOptions) (watch.Interface, error) {
			raw.FieldSelector = of.fields
			w, err := s.o.Kube.Watch(ctx, of.namespace, list, raw)
			if utilnet.IsConnectionRefused(err) || apierrors.IsTooManyRequests(err) {
				// What the reflector recognizes, it waits for by its own back-off.
				return nil, errors.New(err.Error())
			}
			return w, err
		},
	}
	r := cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(lw, s.o.Kube), o, t, cache.ReflectorOptions{})
	refused := &refusal{kind: kindName(o), most: patience(o), log: s.o.Logger}
	other := &trouble{kind: kindName(o), log: s.o.Logger, now: s.o.Now}
	// A rack that waits for an install shouldn't wait for the reflector's own back-off, made for thousands of kubelets.
	backoff := wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 6, Cap: 2 * time.Second} //nolint:mnd // As said.
	g.Go(func() error {
		_ = backoff.DelayWithReset(utilclock.RealClock{}, time.Minute).Until(ctx, true, true, func(ctx context.Context) (bool, error) {
			err := r.ListAndWatchWithContext(ctx)
			if d := refused.after(err); d > 0 {
				pause(ctx, d)
			} else if err != nil {
				other.after(ctx, err)
			}
			return false, nil
		}) // It ends with ctx alone.
		return nil
	})
}

func (s *Source) network(o Object) (network, bool) {
	n, ok := o.(*v1alpha1.BootNetwork)
	if !ok {
		return network{}, false
	}
	g, served, err := bootspec.SegmentOf(n, s.o.Node)
	if err != nil {
		s.o.Logger.Warn("a BootNetwork isn't served", "error", err.Error())
	}
	return network{g, n.Spec.AllowedProfileNamespaces}, served
}

func (s *Source) plan(o Object) (boot.Plan, bool) {
	e, ok := o.(*v1alpha1.BootEntry)
	if !ok {
		return boot.Plan{}, false
	}
	p, served, err := bootspec.PlanOf(e)
	if err != nil {
		s.o.Logger.Warn("a BootEntry isn't served", "error", err.Error())
	}
	if served && p.Digest() != e.Status.AtProvider.Plan.Digest {
		s.o.Logger.Warn("bootd and provider don't agree on a plan's digest; are they of one version?", "entry", p.Entry.String())
	}
	return p, served
}

func record(o Object) (session.Record, bool) {
	b, ok := o.(*v1alpha1.BootSession)
	if !ok {
		return session.Record{}, false
	}
	return RecordOf(b), true
}

func (s *Source) seenSession(o Object) error {
	r, ok := record(o)
	if !ok {
		return nil
	}
	id, used := "", false
	if g := r.Session.Grant; g != nil {
		id, used = g.ID, r.Session.Consumed.Covers(g)
	}
	s.mu.Lock()
	g := s.grants[r.Name]
	if g.session != r.Session.UID || g.grant != id {
		g = granted{session: r.Session.UID, grant: id, revision: session.Revision(r.Session.Revision)}
	}
	g.entry, g.used = r.Session.EntryUID, used
	s.grants[r.Name] = g
	s.mu.Unlock()
	err := s.sessions.Seen(r)
	if err != nil {
		s.o.Logger.Error("a session can't be compared with the log; no install starts until it can, which is tried again", "error", err.Error())
	}
	return err
}

func (s *Source) goneSession(n boot.Name) {
	s.mu.Lock()
	delete(s.grants, n)
	s.mu.Unlock()
	s.sessions.Gone(n)
}

func keysOf(o Object) ([][]byte, bool) {
	x, ok := o.(*corev1.Secret)
	if !ok {
		return nil, false
	}
	var keys [][]byte
	for _, k := range []string{"current", "previous"} {
		if v := x.Data[k]; len(v) > 0 {
			keys = append(keys, v)
		}
	}
	return keys, len(x.Data["current"]) > 0
}

// takeKeys remembers the newest keys. Where the Secret went, those that were known go on counting: a
// machine that boots must not hang on somebody's slip.
func (s *Source) takeKeys(t *tables) {
	if k, ok := t.keys.get(boot.Name{Namespace: s.o.Namespace, Name: SecretTokens}); ok {
		s.keys.Store(&k)
	}
	poke(s.rebuild)
}
