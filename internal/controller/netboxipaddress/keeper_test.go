package netboxipaddress

import (
	"context"
	"testing"
	"time"

	xpevent "github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// recorded are objects and events of a recorder.
type recorded struct {
	xpevent.Recorder

	object client.Object
	event  xpevent.Event
}

func (r *recorded) Event(o runtime.Object, e xpevent.Event) {
	r.object, r.event = o.(client.Object), e
}

// settle looks at all sources that are due.
func (k *keeper) settle(ctx context.Context) {
	for {
		k.round(ctx)
		k.looks.Wait()
		select {
		case <-k.connector.stocks.hurry: // One look has ended: others may have waited for it.
		default:
			return
		}
	}
}

// TestWarner: the warning is on the provider config, in its namespace where it has one.
func TestWarner(t *testing.T) {
	for kind, want := range map[string]client.Object{v1alpha1.ClusterProviderConfigKind: &v1alpha1.ClusterProviderConfig{}, v1alpha1.ProviderConfigKind: &v1alpha1.ProviderConfig{}} {
		r := &recorded{}
		id := config.Identity{UID: "u"}
		id.Kind, id.Namespace, id.Name = kind, "ns", "netbox"
		warner(r, eventNearlyFull)(id, "it is about to be full")
		if _, cluster := r.object.(*v1alpha1.ClusterProviderConfig); cluster != (kind == v1alpha1.ClusterProviderConfigKind) {
			t.Errorf("%T, want %T", r.object, want)
		}
		if o := r.object; o.GetName() != "netbox" || o.GetNamespace() != "ns" || o.GetUID() != "u" || r.event.Type != xpevent.TypeWarning || r.event.Message != "it is about to be full" {
			t.Errorf("%+v: %+v", r.object, r.event)
		}
	}
}

// TestKeeperRuns: it looks at once where that's asked for, wakes who waits, and ends.
func TestKeeperRuns(t *testing.T) {
	f := newFake()
	h := newHarness(f)
	mg := newAddress()
	e := h.connect(t, mg)
	e.plan.candidates = []candidate{{words: "p", parent: f.prefixes[0], err: fullError{}}}
	h.stocks.empty(e, f.prefixes[0], "u2")
	_ = e.exhausted(mg)
	h.now = h.now.Add(fullMost)
	wake := make(chan event.GenericEvent)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- (&keeper{connector: h.Connector, unused: time.Hour, wake: wake, log: logging.NewNopLogger()}).Start(ctx)
	}()
	h.stocks.hurry <- struct{}{}
	if ev := <-wake; ev.Object.GetName() != "web-1" || ev.Object.GetNamespace() != "team-a" {
		t.Errorf("woken: %+v", ev.Object)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestSourceGone: a source that isn't there any more is let go of, and one that can't be read is looked at later.
func TestSourceGone(t *testing.T) {
	f := newFake()
	h := newHarness(f)
	e := h.connect(t, newAddress())
	h.stocks.heard(e, netbox.Parent{Kind: netbox.ParentPrefix, ID: 77, Prefix: f.prefixes[0].Prefix})
	h.stocks.heard(e, netbox.Parent{Kind: netbox.ParentRange, ID: 12, Prefix: f.prefixes[0].Prefix})
	k := &keeper{connector: h.Connector, unused: time.Hour, log: logging.NewNopLogger()}
	h.now = h.now.Add(idleLook)
	k.settle(t.Context())
	if l := h.stocks.levels(); len(h.stocks.all) != 1 || len(l) != 1 || l[0].source != "10.77.0.100-10.77.0.109/24" || l[0].free != 10 {
		t.Errorf("%d sources, levels %+v", len(h.stocks.all), l)
	}
	f.fail["Usage"] = kind(netbox.KindUnreachable)
	h.now = h.now.Add(idleLook)
	k.settle(t.Context())
	k.settle(t.Context())
	if n := f.called("Usage"); n != 2 || len(h.stocks.all) != 1 {
		t.Errorf("%d looks, %d sources", n, len(h.stocks.all))
	}
}

// A mute NetBox doesn't answer when it's asked how full a source is.
type mute struct {
	*fakeNetBox

	asked chan struct{}
}

func (m mute) Usage(ctx context.Context, _ netbox.Parent) (netbox.Usage, error) {
	m.asked <- struct{}{}
	<-ctx.Done()
	return netbox.Usage{}, kind(netbox.KindUnreachable)
}

// TestKeeperHangs: a NetBox that doesn't answer has so many looks under way and no more, and who waits for another's space is woken all the
// same; what isn't being looked at can be looked at by whoever needs it.
func TestKeeperHangs(t *testing.T) {
	f := newFake()
	h := newHarness(f)
	dead := mute{f, make(chan struct{}, 100)}
	for i := range 40 {
		e := h.connect(t, newAddress())
		e.of.UID, e.netbox = "dead", dead
		h.stocks.empty(e, inPrefix(int64(100+i), "10.88.0.0/24"), "u")
	}
	mg := newAddress()
	e := h.connect(t, mg)
	e.plan.candidates = []candidate{{words: "p", parent: f.prefixes[0], err: fullError{}}}
	h.stocks.empty(e, f.prefixes[0], "u2")
	_ = e.exhausted(mg)
	h.now = h.now.Add(fullStale)
	wake := make(chan event.GenericEvent)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- (&keeper{connector: h.Connector, unused: time.Hour, wake: wake, log: logging.NewNopLogger()}).Start(ctx)
	}()
	h.stocks.hurry <- struct{}{}
	select {
	case <-wake:
	case <-time.After(3 * time.Second):
		t.Error("who waits for a free address isn't woken")
	}
	if n := len(dead.asked); n > keeperAtOnce {
		t.Errorf("%d looks at once", n)
	}
	e.of.UID, e.netbox = "dead", dead
	if _, stale := h.stocks.stale(e, inPrefix(139, "10.88.0.0/24"), fullStale); !stale {
		t.Error("a source that nobody looks at yet isn't one that somebody looks at")
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
