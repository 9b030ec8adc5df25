package kubesource

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// log is a Sessions that remembers.
type log struct {
	mu    sync.Mutex
	seen  []boot.Name
	gone  []boot.Name
	err   error
	lower uint64 // What Synced caps at; 0: nothing.
}

func (l *log) Seen(r session.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, r.Name)
	return l.err
}

func (l *log) Gone(n boot.Name) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = append(l.gone, n)
}

func (l *log) Synced(revision uint64) uint64 {
	if l.lower > 0 {
		return min(l.lower, revision)
	}
	return revision
}

// clock is moved by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) get() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newSource(t *testing.T, l *log, c *clock, objects ...client.Object) *Source {
	t.Helper()
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&v1alpha1.BootSession{}, &v1alpha1.BootServer{}).
		WithIndex(&corev1.Secret{}, "metadata.name", func(o client.Object) []string { return []string{o.GetName()} }).Build()
	return New(Options{
		Kube: faked{kube}, Name: "self", Namespace: "baremetal-boot", Now: c.get, Logger: slog.New(slog.DiscardHandler),
		Advertise: func(boot.Segment) string { return "10.77.0.5" },
		Cache:     cacheReport,
	}, l, nil)
}

func bootSession(revision, grant string) *v1alpha1.BootSession {
	b := &v1alpha1.BootSession{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web", UID: "s", ResourceVersion: revision}, Spec: v1alpha1.BootSessionSpec{EntryUID: "entry"},
	}
	if grant != "" {
		b.Spec.Grant = &v1alpha1.Grant{ID: grant, EntryUID: "entry"}
	}
	return b
}

func bootServer(name string, beat time.Time, synced string) *v1alpha1.BootServer {
	at := metav1.NewMicroTime(beat)
	return &v1alpha1.BootServer{
		ObjectMeta: metav1.ObjectMeta{Namespace: "baremetal-boot", Name: name},
		Status: v1alpha1.BootServerStatus{
			LastSeen: &at, SyncedRevision: synced, Networks: []v1alpha1.BootServerNetwork{{Namespace: "infra", Name: "rack"}},
		},
	}
}

// listed gives a source tables as after a first list at a revision.
func listed(t *testing.T, s *Source, revision string, sessions, servers []any) *tables {
	t.Helper()
	tb := s.newTables()
	s.t.Store(tb)
	err := errors.Join(
		tb.networks.Replace(nil, revision), tb.entries.Replace(nil, revision),
		tb.sessions.Replace(sessions, revision), tb.servers.Replace(servers, revision),
	)
	if err != nil {
		t.Fatal(err)
	}
	beats(s)
	return tb
}

// beats is a heartbeat that the API took.
func beats(s *Source) { s.beaten = s.o.Now() }

func plan() *boot.Plan {
	return &boot.Plan{
		Entry: boot.Name{Namespace: "team", Name: "web"}, EntryUID: "entry", Network: boot.Network{Name: boot.Name{Namespace: "infra", Name: "rack"}},
	}
}

func TestSynced(t *testing.T) {
	cases := map[string]struct {
		reason  string
		servers []any
		after   time.Duration
		log     *log
		change  func(*tables)
		want    bool
	}{
		"Alone":     {reason: "nobody else is there", want: true},
		"SelfLags":  {reason: "its own record, written before, isn't asked", servers: []any{bootServer("self", t0(), "1")}, want: true},
		"Other":     {reason: "another one has it", servers: []any{bootServer("b", t0(), "100")}, want: true},
		"OtherLags": {reason: "another one hasn't", servers: []any{bootServer("b", t0(), "99")}},
		"JustFound": {
			reason:  "one whose heartbeat is old may have been running all the time, in an etcd that was restored",
			servers: []any{bootServer("b", t0().Add(-time.Hour), "99")}, after: liveFor - time.Second,
		},
		"Dead": {reason: "one that was silent for 15 s isn't waited for", servers: []any{bootServer("b", t0(), "99")}, after: liveFor, want: true},
		"Elsewhere": {
			reason: "one of another network doesn't matter", servers: []any{&v1alpha1.BootServer{ObjectMeta: metav1.ObjectMeta{Name: "b"}}}, want: true,
		},
		"OwnLog": {reason: "its own log knows better, and that isn't written back yet", log: &log{lower: 99}},
		"GrantedLater": {
			reason: "a newer grant is what counts", servers: []any{bootServer("b", t0(), "100")},
			change: func(tb *tables) {
				_ = tb.sessions.Update(bootSession("105", "g2"))
				tb.sessions.UpdateResourceVersion("105")
			},
		},
		"StatusLater": {
			reason: "what bootd itself writes later doesn't matter", servers: []any{bootServer("b", t0(), "100")},
			change: func(tb *tables) {
				_ = tb.sessions.Update(bootSession("105", "g"))
				tb.sessions.UpdateResourceVersion("105")
			}, want: true,
		},
		"NotDelivered": {
			reason: "its own watch has to have come so far",
			change: func(tb *tables) { _ = tb.sessions.Update(bootSession("105", "g2")) },
		},
		"Deleted": {reason: "no session", change: func(tb *tables) { _ = tb.sessions.Delete(bootSession("105", "g")) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &clock{now: t0()}
			if tc.log == nil {
				tc.log = &log{}
			}
			s := newSource(t, tc.log, c)
			tb := listed(t, s, "100", []any{bootSession("100", "g")}, tc.servers)
			c.add(tc.after)
			beats(s)
			if tc.change != nil {
				tc.change(tb)
			}
			if got := s.Synced(plan()); got != tc.want {
				t.Errorf("%s: %t", tc.reason, got)
			}
		})
	}
	if newSource(t, &log{}, &clock{}).Synced(plan()) {
		t.Error("before anything was listed nothing is synced")
	}
}

func TestHeartbeatKeepsAServerLive(t *testing.T) {
	c := &clock{now: t0()}
	s := newSource(t, &log{}, c)
	tb := listed(t, s, "100", []any{bootSession("100", "g")}, []any{bootServer("b", t0(), "99")})
	c.add(liveFor)
	beats(s)
	_ = tb.servers.Update(bootServer("b", t0().Add(time.Second), "99"))
	if s.Synced(plan()) {
		t.Error("its heart beat just now, whatever its clock says")
	}
}

func TestStuckLog(t *testing.T) {
	l := &log{}
	s := newSource(t, l, &clock{now: t0()})
	tb := listed(t, s, "100", nil, nil)
	l.err = errors.New("disk full")
	if err := tb.sessions.Update(bootSession("101", "g")); err == nil {
		t.Error("the error was swallowed")
	}
	tb.sessions.UpdateResourceVersion("101")
	if got, _ := tb.sessions.at(); got != 100 || !tb.sessions.isStuck() {
		t.Errorf("what wasn't compared with the log must not be announced: %d", got)
	}
	if s.Synced(plan()) {
		t.Error("no install starts")
	}
	tb.sessions.retry()
	if got, _ := tb.sessions.at(); got != 100 || !tb.sessions.isStuck() {
		t.Errorf("the disk is full as before: %d", got)
	}
	l.err = nil
	tb.sessions.retry()
	if got, _ := tb.sessions.at(); got != 101 || tb.sessions.isStuck() || !s.Synced(plan()) {
		t.Errorf("when there is room again it heals without a restart: %d", got)
	}
}

func TestStuckSessionIsDeletedOrWritten(t *testing.T) {
	for name, heal := range map[string]func(*table[session.Record]) error{
		"Deleted":  func(x *table[session.Record]) error { return x.Delete(bootSession("102", "g")) },
		"Written":  func(x *table[session.Record]) error { return x.Update(bootSession("102", "g")) },
		"Replaced": func(x *table[session.Record]) error { return x.Replace(nil, "102") },
	} {
		l := &log{err: errors.New("disk full")}
		s := newSource(t, l, &clock{now: t0()})
		tb := listed(t, s, "100", nil, nil)
		_ = tb.sessions.Update(bootSession("101", "g"))
		tb.sessions.UpdateResourceVersion("101")
		l.err = nil
		if err := heal(tb.sessions); err != nil {
			t.Fatal(err)
		}
		tb.sessions.UpdateResourceVersion("102")
		if got, _ := tb.sessions.at(); got != 102 || tb.sessions.isStuck() {
			t.Errorf("%s: %d, stuck %t", name, got, tb.sessions.isStuck())
		}
	}
}

func TestTableFollowsTheWatch(t *testing.T) {
	l := &log{}
	s := newSource(t, l, &clock{now: t0()})
	tb := listed(t, s, "100", []any{bootSession("99", "g")}, nil)
	if err := errors.Join(tb.sessions.Replace(nil, "120"), tb.sessions.Resync(), tb.sessions.Add("garbage"), tb.sessions.Delete("garbage")); err != nil {
		t.Fatal(err)
	}
	name := boot.Name{Namespace: "team", Name: "web"}
	if diff := cmp.Diff([]boot.Name{name}, l.gone); diff != "" {
		t.Errorf("what a fresh list lacks is gone: %s", diff)
	}
	if at, ok := tb.sessions.at(); at != 120 || !ok || len(tb.sessions.all()) != 0 {
		t.Errorf("at %d %t", at, ok)
	}
	tb.sessions.UpdateResourceVersion("119")
	if at, _ := tb.sessions.at(); at != 120 {
		t.Errorf("a revision never falls: %d", at)
	}
}

func TestHeartbeat(t *testing.T) {
	s := newSource(t, &log{}, &clock{now: t0()})
	tb := listed(t, s, "1", nil, nil)
	n := &v1alpha1.BootNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "rack"}, Spec: v1alpha1.BootNetworkSpec{Subnets: []v1alpha1.Subnet{{CIDR: "10.77.0.0/24"}}}}
	if err := tb.networks.Add(n); err != nil {
		t.Fatal(err)
	}
	s.beaten = time.Time{}
	if s.Lag() != -1 {
		t.Errorf("lag %f", s.Lag())
	}
	for range 2 {
		if err := s.heartbeat(t.Context(), tb); err != nil {
			t.Fatal(err)
		}
	}
	got := &v1alpha1.BootServer{}
	if err := s.o.Kube.Get(t.Context(), client.ObjectKey{Namespace: "baremetal-boot", Name: "self"}, got); err != nil {
		t.Fatal(err)
	}
	got.Status.LastSeen = nil
	want := v1alpha1.BootServerStatus{
		SyncedRevision: "1", Addresses: []string{"10.77.0.5"}, Cache: cacheShown(),
		Networks: []v1alpha1.BootServerNetwork{{Namespace: "infra", Name: "rack", Address: "10.77.0.5"}},
	}
	if diff := cmp.Diff(want, got.Status); diff != "" || s.Lag() != 0 {
		t.Errorf("lag %f, -want +got:\n%s", s.Lag(), diff)
	}
}

func TestRewound(t *testing.T) {
	s := newSource(t, &log{}, &clock{now: t0()})
	tb := listed(t, s, "1", nil, nil)
	if err := s.heartbeat(t.Context(), tb); err != nil {
		t.Fatal(err)
	}
	s.own = 1 << 40
	if err := s.heartbeat(t.Context(), tb); !errors.Is(err, errRewound) {
		t.Errorf("its own record went back: %v", err)
	}
	s.own = 0
	tb.sessions.UpdateResourceVersion(strconv.Itoa(1 << 40))
	if err := s.heartbeat(t.Context(), tb); !errors.Is(err, errRewound) {
		t.Errorf("a write got a revision from the past: %v", err)
	}
}

func TestStore(t *testing.T) {
	s := newSource(t, &log{}, &clock{}, bootSession("", "g"))
	store, name := Store{Kube: s.o.Kube}, boot.Name{Namespace: "team", Name: "web"}
	if _, err := store.Get(t.Context(), boot.Name{Name: "x"}); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("no such session: %v", err)
	}
	r, err := store.Get(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	r.Progress.Stage = boot.StageDHCP
	next, err := store.Update(t.Context(), r)
	if err != nil || next.Progress.Stage != boot.StageDHCP || next.Session.Revision == r.Session.Revision {
		t.Errorf("%+v, %v", next, err)
	}
	if next.Session.Grant == nil {
		t.Error("the provider's half was lost")
	}
	if _, err := store.Update(t.Context(), r); !errors.Is(err, session.ErrConflict) {
		t.Errorf("a stale write: %v", err)
	}
	r.Name.Name = "gone"
	if _, err := store.Update(t.Context(), r); !errors.Is(err, session.ErrConflict) {
		t.Errorf("a deleted session: %v", err)
	}
}

func TestRunReadsEverything(t *testing.T) {
	e := &v1alpha1.BootEntry{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web", UID: "entry"}}
	e.Status.AtProvider.Plan = &v1alpha1.Plan{
		Digest: "?", EntryUID: "entry", HostUID: "host", Bound: true, MACs: []string{"52-54-00-00-00-0A"},
		Network: v1alpha1.PlanNetwork{Namespace: "infra", Name: "rack", Address: "10.77.0.11/24"}, Mode: "Install", Method: "DiskImage",
	}
	n := &v1alpha1.BootNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "rack"}, Spec: v1alpha1.BootNetworkSpec{
		Subnets: []v1alpha1.Subnet{{CIDR: "10.77.0.0/24"}}, DHCP: &v1alpha1.NetworkDHCP{RouterSolicitations: v1alpha1.RouterSolicitationsAnswer},
	}}
	keys := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "baremetal-boot", Name: SecretTokens}, Data: map[string][]byte{"current": {1}, "previous": {2}}}
	s := newSource(t, &log{}, &clock{now: t0()}, e, n, keys, bootSession("", "g"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	await(t, "everything", func() bool { return s.Ready() && len(s.State().Plans()) == 1 && len(s.State().Sessions) == 1 })
	if diff := cmp.Diff([][]byte{{1}, {2}}, s.Keys()); diff != "" {
		t.Errorf("keys: %s", diff)
	}
	if g, ok := s.State().Segment(boot.Name{Namespace: "infra", Name: "rack"}); !ok || g.Advertises == nil {
		t.Errorf("no segment, or not as it's written: %+v", g)
	}
	if d, err := s.Data(t.Context(), SecretTokens); err != nil || len(d) != 2 {
		t.Errorf("data: %v %v", d, err)
	}
	if _, err := s.Data(t.Context(), "none"); err == nil {
		t.Error("a missing Secret is an error")
	}
	if err := whole(s).Delete(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	again := e.DeepCopy() // The fake API tells a watch that begins later nothing of what was before.
	await(t, "the deletion", func() bool {
		again.ResourceVersion = ""
		_ = errors.Join(s.o.Kube.Create(t.Context(), again), whole(s).Delete(t.Context(), again))
		return len(s.State().Plans()) == 0
	})
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
