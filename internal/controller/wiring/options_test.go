package wiring

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/gate"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

func TestGated(t *testing.T) {
	errBoom := errors.New("boom")
	host, entry := v1alpha1.RedfishHostGroupVersionKind, v1alpha1.BootEntryGroupVersionKind

	t.Run("WithoutGate", func(t *testing.T) {
		o := Options{Options: xpcontroller.DefaultOptions()}
		if err := o.Gated(func() error { return errBoom }, host); !errors.Is(err, errBoom) {
			t.Errorf("Gated(...) = %v: without a gate a set-up runs at once, and its error is returned", err)
		}
	})
	t.Run("Waits", func(t *testing.T) {
		g := new(gate.Gate[schema.GroupVersionKind])
		o := Options{Options: xpcontroller.DefaultOptions()}
		o.Gate = g
		ran := make(chan struct{})
		if err := o.Gated(func() error { close(ran); return nil }, host, entry); err != nil {
			t.Fatal(err)
		}
		g.Set(host, true)
		select {
		case <-ran:
			t.Fatal("a set-up must wait for all CRDs it needs")
		case <-time.After(20 * time.Millisecond): // Nothing can be awaited: nothing is to happen.
		}
		g.Set(entry, true)
		<-ran
	})
	t.Run("Fails", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		g := new(gate.Gate[schema.GroupVersionKind])
		o := Options{Options: xpcontroller.DefaultOptions(), Cancel: cancel}
		o.Gate = g
		if err := o.Gated(func() error { return errBoom }, host); err != nil {
			t.Fatal(err)
		}
		g.Set(host, true)
		<-ctx.Done()
		if err := context.Cause(ctx); !errors.Is(err, errBoom) {
			t.Errorf("the manager ends with %v: want the set-up's error", err)
		}
	})
}

// A shyMapper knows a kind only when it's asked for the third time.
type shyMapper struct {
	meta.RESTMapper

	asked atomic.Int32
}

func (m *shyMapper) RESTMapping(gk schema.GroupKind, _ ...string) (*meta.RESTMapping, error) {
	if m.asked.Add(1) < 3 {
		return nil, &meta.NoKindMatchError{GroupKind: gk}
	}
	return &meta.RESTMapping{}, nil
}

func TestGatedUntilServed(t *testing.T) {
	g := new(gate.Gate[schema.GroupVersionKind])
	m := &shyMapper{}
	o := Options{Options: xpcontroller.DefaultOptions(), Mapper: m}
	o.Gate = g
	ran := make(chan int32, 1)
	if err := o.Gated(func() error { ran <- m.asked.Load(); return nil }, v1alpha1.RedfishHostGroupVersionKind); err != nil {
		t.Fatal(err)
	}
	g.Set(v1alpha1.RedfishHostGroupVersionKind, true)
	if asked := <-ran; asked != 3 {
		t.Errorf("set up after %d looks: want 3, because an established CRD isn't served at once", asked)
	}
}

func TestOptionsWithoutExtras(t *testing.T) {
	o := Options{Options: xpcontroller.DefaultOptions()}
	o.Fail("anything")
	o.AtShutdown(func(context.Context) error { return nil })
	if d := time.Since(o.Clock()); d < 0 || d > time.Minute {
		t.Errorf("the clock is off by %s", d)
	}
	fixed := time.Date(2026, 9, 1, 10, 0, 0, 0, time.UTC)
	o.Now = func() time.Time { return fixed }
	if !o.Clock().Equal(fixed) {
		t.Errorf("Clock() = %s: want the injected one's %s", o.Clock(), fixed)
	}
	limit := o.ForController().RateLimiter
	first := limit.When(reconcile.Request{})
	for range 20 {
		limit.When(reconcile.Request{})
	}
	if last := limit.When(reconcile.Request{}); first != 200*time.Millisecond || last != 30*time.Second {
		t.Errorf("retries after %s and at last %s: want 200ms and 30s", first, last)
	}
}

func TestDenied(t *testing.T) {
	cluster := netip.MustParsePrefix("10.96.0.0/12")
	cases := map[string]struct {
		reason string
		host   string
		want   []netip.Prefix
	}{
		"Address": {"The API server's address is the cluster's, named or not.", "https://10.0.0.1:443", []netip.Prefix{cluster, netip.MustParsePrefix("10.0.0.1/32")}},
		"IPv6":    {"In either family.", "https://[2001:db8::1]", []netip.Prefix{cluster, netip.MustParsePrefix("2001:db8::1/128")}},
		"Local":   {"Loopback has its own rule.", "https://127.0.0.1:6443", []netip.Prefix{cluster}},
		"Name":    {"A name isn't looked up.", "https://kubernetes.example", []netip.Prefix{cluster}},
		"Broken":  {"Nor is nonsense.", ":", []netip.Prefix{cluster}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := Options{DeniedTargets: make([]netip.Prefix, 1, 4)}
			o.DeniedTargets[0] = cluster
			if got := o.Denied(tc.host); !slices.Equal(got, tc.want) {
				t.Errorf("%s\nDenied(%q) = %v, want %v", tc.reason, tc.host, got, tc.want)
			}
		})
	}
}

func TestConflicted(t *testing.T) {
	resource := schema.GroupResource{Group: v1alpha1.Group, Resource: "bootentries"}
	cases := map[string]struct {
		reason string
		err    error
		want   bool
	}{
		"Conflict":  {"it's written again at once", kerrors.NewConflict(resource, "web", errors.New(conflict)), true},
		"Wrapped":   {"whatever was about to be written", fmt.Errorf("cannot update managed resource: %w", kerrors.NewConflict(resource, "web", errors.New(conflict))), true},
		"Forbidden": {"somebody must do something", kerrors.NewForbidden(resource, "web", errors.New("no")), false},
		"Other":     {"a conflict of another kind", kerrors.NewConflict(resource, "web", errors.New("uid mismatch")), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := conflicted(nil, event.Warning("CannotUpdateManagedResource", tc.err)); got != tc.want {
				t.Errorf("%s: conflicted(%v) = %t", tc.reason, tc.err, got)
			}
		})
	}
}
