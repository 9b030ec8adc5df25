package config

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A clockwork has done what is to be done after a while, once a test says that the while is over.
type clockwork struct {
	mu  sync.Mutex
	due []func()
}

func (c *clockwork) after(_ time.Duration, do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due = append(c.due, do)
}

// pass has it done.
func (c *clockwork) pass() {
	c.mu.Lock()
	due := c.due
	c.due = nil
	c.mu.Unlock()
	for _, do := range due {
		do()
	}
}

// A hush is NetBoxes of which those hang that a test says: until a look at them is broken off, or the test's end.
type hush struct {
	mu    sync.Mutex
	hangs map[string]bool
}

func (h *hush) probe(ctx context.Context, n NetBox) Finding {
	h.mu.Lock()
	hangs := h.hangs[n.Name]
	h.mu.Unlock()
	if !hangs {
		return Finding{Facts: v1alpha1.NetBoxFacts{Version: "4.6.8"}}
	}
	<-ctx.Done()
	return Finding{Reason: v1alpha1.ReasonUnreachable, Message: "no answer came in time"}
}

// A town is provider configs of NetBoxes, of which some hang, and their reconciler.
type town struct {
	*reconciler

	t     *testing.T
	kube  client.Client
	quiet *hush
	clock *clockwork
}

// newTown has so many configs of a namespace that hang, and a good one in the same and in another namespace.
func newTown(t *testing.T, hanging int) *town {
	t.Helper()
	c := &town{t: t, quiet: &hush{hangs: map[string]bool{}}, clock: &clockwork{}}
	objects := []client.Object{secretAt("team-a", "netbox"), secretAt("team-b", "netbox")}
	add := func(namespace, name string) {
		objects = append(objects, localConfig(namespace, netboxSpec(from("", "netbox")), func(o *v1alpha1.ProviderConfig) {
			o.Name, o.UID = name, types.UID("uid-"+name)
		}))
	}
	for i := range hanging {
		name := fmt.Sprintf("hangs-%03d", i)
		c.quiet.hangs[name] = true
		add("team-a", name)
	}
	add("team-a", "good")
	add("team-b", "better")
	c.kube = testKube(t, interceptor.Funcs{}, objects...)
	c.reconciler = &reconciler{Resolver: testResolver(c.kube), kind: v1alpha1.ProviderConfigKind, now: now}
	c.looks.after = c.clock.after
	c.ProbeNetBox(c.quiet.probe)
	t.Cleanup(func() {
		for name := range c.quiet.hangs {
			c.looks.forget(types.UID("uid-" + name))
		}
		c.looks.wait()
	})
	return c
}

// reconcile returns what a config shows afterwards.
func (c *town) reconcile(namespace, name string) xpv2.Condition {
	c.t.Helper()
	at := types.NamespacedName{Namespace: namespace, Name: name}
	res, err := c.Reconcile(c.t.Context(), reconcile.Request{NamespacedName: at})
	if err != nil || res.RequeueAfter <= 0 {
		c.t.Fatalf("%s: again in %s, %v", at, res.RequeueAfter, err)
	}
	o := &v1alpha1.ProviderConfig{}
	if err := c.kube.Get(c.t.Context(), at, o); err != nil {
		c.t.Fatal(err)
	}
	return o.Status.GetCondition(xpv2.TypeReady)
}

// underWay says whether the look at the NetBox of a config is, and doesn't wait.
func (c *town) underWay(name string) bool {
	c.looks.mu.Lock()
	defer c.looks.mu.Unlock()
	p, there := c.looks.all[types.UID("uid-"+name)]
	return there && p.in != nil
}

// ready has the time pass that a NetBox may take before it's called slow, until a config is Ready, and returns how often that was.
func (c *town) ready(namespace, name string) int {
	c.t.Helper()
	c.reconcile(namespace, name)
	for n := range 20 {
		for {
			looking := c.underWay(name)
			if c.reconcile(namespace, name).Status == corev1.ConditionTrue {
				return n
			}
			if !looking {
				break
			}
			time.Sleep(time.Millisecond)
		}
		c.clock.pass()
	}
	c.t.Fatalf("%s isn't Ready", name)
	return 0
}

// TestHangingNetBoxes: provider configs whose NetBoxes accept connections and answer nothing have nobody wait, however many they are.
func TestHangingNetBoxes(t *testing.T) {
	const hanging = 75
	c := newTown(t, hanging)
	for i := range hanging { // One worker is enough for all of them: none waits for an answer.
		if got := c.reconcile("team-a", fmt.Sprintf("hangs-%03d", i)); got.Status == corev1.ConditionTrue {
			t.Fatalf("a NetBox that says nothing is Ready: %v", got)
		}
	}
	if n := c.ready("team-b", "better"); n != 0 {
		t.Errorf("another namespace's waited %d times as long as a NetBox may take before it's called slow", n)
	}
	if n := c.ready("team-a", "good"); n > (hanging+quickOfOne-1)/quickOfOne {
		t.Errorf("one of the same namespace waited %d times as long", n)
	}
	for i := range hanging {
		name := fmt.Sprintf("hangs-%03d", i)
		if got := c.reconcile("team-a", name); got.Status == corev1.ConditionTrue || got.Reason != "" && got.Reason != v1alpha1.ReasonUnreachable {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestHangingIsCorrected: a config that is corrected, or goes, doesn't wait for the NetBox that it named before.
func TestHangingIsCorrected(t *testing.T) {
	c := newTown(t, 1)
	c.reconcile("team-a", "hangs-000")
	c.clock.pass()
	c.quiet.mu.Lock()
	c.quiet.hangs["hangs-000"] = false
	c.quiet.mu.Unlock()
	o := &v1alpha1.ProviderConfig{}
	if err := c.kube.Get(t.Context(), types.NamespacedName{Namespace: "team-a", Name: "hangs-000"}, o); err != nil {
		t.Fatal(err)
	}
	o.Generation++
	if err := c.kube.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if n := c.ready("team-a", "hangs-000"); n != 0 {
		t.Errorf("it waited %d times", n)
	}
	c.looks.wait()
	if len(c.looks.all) != 0 || c.looks.quick.n != 0 || c.looks.slow.n != 0 {
		t.Errorf("left: %+v", c.looks)
	}
}

// TestLanes: owners take turns, none has a lane for himself, and who is forgotten isn't begun.
func TestLanes(t *testing.T) {
	l := newLane(3, 2)
	all := map[string]*probe{}
	for _, name := range []string{"a1", "a2", "a3", "a4", "b1", "b2"} {
		all[name] = &probe{of: types.UID(name), owner: name[:1]}
		l.add(all[name])
	}
	all["a2"].forgotten = true
	take := func(why string, want ...string) {
		t.Helper()
		for _, name := range want {
			if p := l.take(); p == nil || string(p.of) != name {
				t.Errorf("%s: %+v, want %s", why, p, name)
			}
		}
		if p := l.take(); p != nil {
			t.Errorf("%s: %s, too", why, p.of)
		}
	}
	take("three at once", "a1", "b1", "a3")
	l.leave(all["b1"])
	take("two of one owner", "b2")
	l.leave(all["a1"])
	take("whoever is left", "a4")
	for _, name := range []string{"a3", "a4", "b2"} {
		l.leave(all[name])
	}
	take("nobody is left")
	if l.n != 0 || len(l.of)+len(l.order)+len(l.lines) != 0 {
		t.Errorf("left: %+v", l)
	}
}

// TestLookOfItsOwn: a look has the context of who asked for it, whoever's look ended before it, and one that panics is found to be of no use and has
// the others go on.
func TestLookOfItsOwn(t *testing.T) {
	type asker struct{}
	s := newProbes()
	s.after = (&clockwork{}).after
	s.quick = newLane(1, 1)
	first := make(chan struct{})
	var mu sync.Mutex
	of, found := map[string]any{}, map[string]Finding{}
	for i := range 4 {
		name := fmt.Sprint(i)
		s.begin(context.WithValue(t.Context(), asker{}, name), &probe{
			of: types.UID(name), owner: "team-a",
			look: func(ctx context.Context) Finding {
				<-first
				mu.Lock()
				of[name] = ctx.Value(asker{})
				mu.Unlock()
				if name == "1" {
					panic("boom")
				}
				return Finding{}
			},
			tell: func(f Finding, _ bool) { found[name] = f },
		}, false)
	}
	close(first)
	s.wait()
	for i := range 4 {
		name := fmt.Sprint(i)
		if of[name] != name || (found[name].Reason != "") != (name == "1") {
			t.Errorf("look %s was asked for by %v, and found %+v", name, of[name], found[name])
		}
	}
	if len(found) != 4 || len(s.all) != 0 || s.quick.n != 0 {
		t.Errorf("left: %+v", s)
	}
}
