package kubesource

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

var errBoom = errors.New("boom")

// broken makes a source's API fail as f says.
func broken(s *Source, f interceptor.Funcs) {
	s.o.Kube = faked{interceptor.NewClient(whole(s), f)}
}

func TestHeartbeatFails(t *testing.T) {
	conflict := kerrors.NewConflict(schema.GroupResource{Resource: "bootservers"}, "self", errBoom)
	cases := map[string]struct {
		reason string
		funcs  interceptor.Funcs
		says   string
	}{
		"Read": {
			reason: "the API is away",
			funcs: interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return errBoom
			}},
			says: `cannot read or make BootServer "baremetal-boot/self"`,
		},
		"Create": {
			reason: "no right to make it",
			funcs:  interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return errBoom }},
			says:   `cannot read or make BootServer "baremetal-boot/self"`,
		},
		"Write": {
			reason: "somebody else wrote it in between",
			funcs: interceptor.Funcs{SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
				return conflict
			}},
			says: `cannot write BootServer "baremetal-boot/self"`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSource(t, &log{}, &clock{now: t0()})
			tb := listed(t, s, "1", []any{bootSession("1", "g")}, nil)
			s.beaten = time.Time{}
			broken(s, tc.funcs)
			if err := s.heartbeat(t.Context(), tb); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.says)
			}
			if s.Lag() != -1 || s.Synced(plan()) {
				t.Errorf("%s: it counts as taken", tc.reason)
			}
		})
	}
}

// TestUncertainHeartbeats: of several whose answers were lost it isn't known which arrived. Each is this bootd's own.
func TestUncertainHeartbeats(t *testing.T) {
	c := &clock{now: t0()}
	s := newSource(t, &log{}, c)
	tb := listed(t, s, "1", nil, nil)
	beat(t, s, tb)
	before, lost := s.o.Kube, 0
	broken(s, interceptor.Funcs{SubResourceUpdate: func(ctx context.Context, k client.Client, _ string, o client.Object, _ ...client.SubResourceUpdateOption) error {
		lost++
		if lost == 2 {
			_ = k.Status().Update(ctx, o) // It arrives; its answer doesn't.
		}
		return errBoom
	}})
	for range 3 {
		c.add(time.Second)
		if err := s.heartbeat(t.Context(), tb); err == nil {
			t.Fatal("the answer was lost")
		}
	}
	s.o.Kube = before
	c.add(time.Second)
	beat(t, s, tb)
	if !s.connected(c.get()) {
		t.Error("it takes itself for another")
	}
}

// TestLateHeartbeat: one that was given up may arrive yet, after a later look has found the one before.
func TestLateHeartbeat(t *testing.T) {
	c := &clock{now: t0()}
	s := newSource(t, &log{}, c)
	tb := listed(t, s, "1", nil, nil)
	beat(t, s, tb)
	before := s.o.Kube
	var late []v1alpha1.BootServerStatus
	broken(s, interceptor.Funcs{SubResourceUpdate: func(_ context.Context, _ client.Client, _ string, o client.Object, _ ...client.SubResourceUpdateOption) error {
		late = append(late, o.(*v1alpha1.BootServer).Status)
		return context.DeadlineExceeded
	}})
	for range maxTried + 4 {
		c.add(time.Second)
		if err := s.heartbeat(t.Context(), tb); err == nil {
			t.Fatal("it was given up")
		}
	}
	s.o.Kube = before
	b := &v1alpha1.BootServer{}
	if err := s.o.Kube.Get(t.Context(), types.NamespacedName{Namespace: "baremetal-boot", Name: "self"}, b); err != nil {
		t.Fatal(err)
	}
	b.Status = late[len(late)-2]
	if err := s.o.Kube.UpdateStatus(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	c.add(time.Second)
	beat(t, s, tb)
	if !s.connected(c.get()) {
		t.Error("it takes itself for another")
	}
}

func TestHeartbeatSaysWhatHoldsItBack(t *testing.T) {
	l := &log{err: errBoom}
	s := newSource(t, l, &clock{now: t0()})
	tb := listed(t, s, "1", nil, nil)
	_ = tb.sessions.Update(bootSession("2", "g"))
	beat(t, s, tb)
	got := &v1alpha1.BootServer{}
	if err := s.o.Kube.Get(t.Context(), client.ObjectKey{Namespace: "baremetal-boot", Name: "self"}, got); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.Status.Message, "can't be compared with the log") || got.Status.SyncedRevision != "1" {
		t.Errorf("%+v", got.Status)
	}
}

// TestRewoundIsReadAnew: an etcd that was put back ends one life of the watches, and begins another.
func TestRewoundIsReadAnew(t *testing.T) {
	s := newSource(t, &log{}, &clock{now: t0()})
	var deaf atomic.Bool
	broken(s, interceptor.Funcs{SubResourceUpdate: func(ctx context.Context, k client.Client, _ string, o client.Object, _ ...client.SubResourceUpdateOption) error {
		if deaf.Load() {
			return errBoom
		}
		return k.Status().Update(ctx, o)
	}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	await(t, "the first heartbeat", func() bool { return s.Lag() >= 0 })
	first := s.t.Load()
	deaf.Store(true)
	s.mu.Lock()
	s.own = 1 << 40
	s.servers[boot.Name{Name: "gone"}] = heard{}
	s.mu.Unlock()
	poke(s.beat)
	await(t, "another life", func() bool { return s.t.Load() != first })
	await(t, "its first tables", func() bool { return s.t.Load().listed() })
	if s.Lag() != -1 {
		t.Error("a heartbeat of the other time counts still")
	}
	deaf.Store(false)
	await(t, "its heartbeat", func() bool { return s.Lag() >= 0 && s.last() < 1<<40 })
	s.mu.Lock()
	if _, known := s.servers[boot.Name{Name: "gone"}]; known {
		t.Error("what was heard in the other time counts still")
	}
	s.mu.Unlock()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestKeysOutliveTheirSecret(t *testing.T) {
	s := newSource(t, &log{}, &clock{now: t0()})
	tb := listed(t, s, "1", nil, nil)
	secret := func(data map[string][]byte) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "baremetal-boot", Name: SecretTokens}, Data: data}
	}
	steps := []struct {
		reason string
		do     func() error
		want   string
	}{
		{"none yet", func() error { return nil }, ""},
		{"a Secret without a current key", func() error { return tb.keys.Add(secret(map[string][]byte{"previous": []byte("p")})) }, ""},
		{"the first", func() error { return tb.keys.Add(secret(map[string][]byte{"current": []byte("a")})) }, "a"},
		{"rotated", func() error {
			return tb.keys.Update(secret(map[string][]byte{"current": []byte("b"), "previous": []byte("a")}))
		}, "ba"},
		{"deleted by a slip", func() error { return tb.keys.Delete(secret(nil)) }, "ba"},
		{"something else", func() error { return tb.keys.Add(bootSession("1", "")) }, "ba"},
	}
	for _, x := range steps {
		if err := x.do(); err != nil {
			t.Fatal(err)
		}
		if got := string(bytes.Join(s.Keys(), nil)); got != x.want {
			t.Errorf("%s: keys %q, want %q", x.reason, got, x.want)
		}
	}
}

// TestTablesTakeTheirOwnKind: a watch that delivers something else does no harm.
func TestTablesTakeTheirOwnKind(t *testing.T) {
	s := newSource(t, &log{}, &clock{now: t0()})
	tb := listed(t, s, "1", nil, nil)
	other := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "y"}}
	for name, add := range map[string]func(any) error{
		"networks": tb.networks.Add, "entries": tb.entries.Add, "sessions": tb.sessions.Add, "servers": tb.servers.Add,
	} {
		if err := add(other); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(tb.networks.all()) + len(tb.entries.all()) + len(tb.sessions.all()) + len(tb.servers.all()); n != 0 {
		t.Errorf("%d rows of nothing", n)
	}
}
