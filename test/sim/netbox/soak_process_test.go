package netbox_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	netboxclient "github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxipaddress"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
)

const (
	// killChance is that of a kill at any one point between two steps of the provider.
	killChance = 0.009
	// apiChance is that of the API server failing one write, before or after its effect.
	apiChance = 0.01
	// killedAt is before the point in the table.
	killedAt = "killed at "
	// bothChance is that of a look by both of two providers at the same moment, which is bothAtOnce in the table, and leftChance that the one's
	// isn't waited for, and life goes on meanwhile.
	bothChance, leftChance = 0.5, 0.5
	bothAtOnce             = "two providers at one resource in one moment"
	// madeChance is that of a process that shows at once what it made, as the provider does; others show what the next look finds.
	madeChance = 0.5
	// stallChance is that of one of two being held up between two steps for a while, and stillChance right before it asks for an address, for
	// stillFor: longer than anybody waits for that.
	stallChance, stillChance = 0.05, 0.06
	stillFor                 = soakAsking + soakOutstanding + 1500*time.Millisecond
	stoodStill               = "a provider that stands still, and another one goes on"
)

// A process is one life of the provider: what it remembers goes with it.
type process struct {
	chaos      *chaos
	ctx        context.Context
	end        context.CancelFunc
	dead       atomic.Bool
	reconciler reconcile.Reconciler
	// two says whether there is another one, and busy at which resources it looks: at each by one thread, as a controller does.
	two  func() bool
	busy map[string]bool
	// past is what it may read, and view how far it has seen.
	past *past
	view view
}

// newProcess starts a provider.
func (k *soak) newProcess() *process {
	p := &process{chaos: k.chaos, two: k.two, busy: map[string]bool{}, past: &k.past, view: view{read: map[string]int{}, wrote: map[string]int{}}}
	p.ctx, p.end = context.WithCancel(k.t.Context())
	kube := interceptor.NewClient(k.kube, p.funcs())
	pool := netboxclient.NewPool(netboxclient.WithClock(k.clock))
	context.AfterFunc(p.ctx, pool.Close)
	c := netboxipaddress.NewConnector(netboxipaddress.Options{
		Resolve: func(context.Context, *v1alpha1.NetBoxIPAddress) (config.NetBox, error) { return k.config, nil },
		Client: func(of config.Identity, cfg netboxclient.Config) (netboxipaddress.NetBox, error) {
			cfg.Timeout = soakTimeout
			return pool.Client(string(of.UID), cfg)
		},
		ClusterID: clusterID, Failpoint: p.failpoint, MaxAge: 2 * time.Minute, Now: k.clock, Kube: kube, Live: k.kube, Holders: holders(k.kube), Recorder: ear{p, &k.told},
		Outstanding: soakOutstanding, Asking: soakAsking, Hidden: soakHidden,
	})
	o := wiring.Options{Options: xpcontroller.DefaultOptions(), Namespace: "crossplane-system", Failpoint: p.failpoint}
	o.Features.Enable(feature.EnableBetaManagementPolicies)
	made := func(*v1alpha1.NetBoxIPAddress) bool { return false }
	if k.chaos.chance(madeChance) {
		made = c.Made
	}
	p.reconciler = wiring.NewReconciler(&manager{Manager: fake.Manager{Client: kube, Scheme: k.kube.Scheme()}}, o, wiring.Kind[*v1alpha1.NetBoxIPAddress]{
		GVK: v1alpha1.NetBoxIPAddressGroupVersionKind, Connector: c, Made: made, Merge: netboxipaddress.StillTrue, DeterministicExternalName: true, CreationGrace: time.Nanosecond,
	}, o.ForController().RateLimiter)
	return p
}

// killed says whether a process is dead, of which it may die here. All of its threads are then: what they ask for ends, and their next
// steps fail.
func (p *process) killed(at string) bool {
	if !p.dead.Load() && p.chaos.chance(killChance) && p.dead.CompareAndSwap(false, true) {
		p.chaos.happens(killedAt + at)
		p.end()
	}
	return p.dead.Load()
}

// failpoint ends a thread between two steps of its external client, or holds it up there.
func (p *process) failpoint(name string) {
	switch {
	case !p.two():
	case name == "netboxipaddress.create.before" && p.chaos.chance(stillChance):
		p.chaos.happens(stoodStill)
		time.Sleep(stillFor)
	case p.chaos.chance(stallChance):
		time.Sleep(time.Duration(p.chaos.pick(int(soakTimeout))))
	}
	if p.killed(name) {
		panic(crashed(name))
	}
}

// write is one write to the API server, which may fail before or after its effect.
func (p *process) write(what string, o client.Object, do func() error) error {
	if p.killed("API " + what + ".before") {
		return context.Canceled
	}
	if p.chaos.chance(apiChance) {
		p.chaos.happens("API server: timeout before the effect")
		return kerrors.NewTimeoutError("the request timed out", 1)
	}
	err := do()
	if p.killed("API " + what + ".after") {
		return context.Canceled
	}
	if err == nil && p.chaos.chance(apiChance) {
		p.chaos.happens("API server: timeout after the effect")
		return kerrors.NewTimeoutError("the request timed out", 1)
	}
	if kerrors.IsConflict(err) {
		p.chaos.happens("API server: somebody else wrote first")
	}
	if err == nil {
		p.view.writes(o.GetName(), p.past.of(o.GetName()).newest())
	}
	return err
}

func (p *process) funcs() interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if p.killed("API get") {
				return context.Canceled
			}
			if p.behind(key.Name, o) {
				return nil
			}
			return c.Get(ctx, key, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return p.write("update", o, func() error { return c.Update(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
			return p.write("update", o, func() error { return c.Patch(ctx, o, patch, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return p.write(sub, o, func() error { return c.SubResource(sub).Update(ctx, o, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			return p.write(sub, o, func() error { return c.SubResource(sub).Patch(ctx, o, patch, opts...) })
		},
	}
}

// reconcile looks at one resource, and says whether the process lives on.
func (p *process) reconcile(name string) (alive bool) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case crashed:
			alive = false
		default:
			panic(r)
		}
	}()
	if p.dead.Load() {
		return false
	}
	p.view.begin(name)
	_, _ = p.reconciler.Reconcile(p.ctx, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team-a", Name: name}})
	return !p.dead.Load()
}

// reconcile is done by the provider, or for the middle fifth by one of two, or by both at once: one that has lost its lease may not know it yet, nor
// end before the other has let the resource go. One that was killed is started anew.
func (k *soak) reconcile(name string) {
	looking := k.looking(name)
	if len(looking) == 0 {
		time.Sleep(soakTicks)
	}
	var wg sync.WaitGroup
	for i, p := range looking {
		wait := &wg
		if i > 0 && k.chaos.chance(leftChance) {
			wait = &k.left
		}
		wait.Go(func() {
			alive := p.reconcile(name)
			k.looked(p, name, alive)
		})
	}
	wg.Wait()
}

// looking are those who look at a resource now, of those who don't yet.
func (k *soak) looking(name string) []*process {
	k.mu.Lock()
	defer k.mu.Unlock()
	progress := k.released + k.kept
	k.lag(progress)
	if two := progress > soakTotal*2/5 && progress < soakTotal*3/5; two && len(k.processes) == 1 {
		k.processes = append(k.processes, k.newProcess())
		k.chaos.happens("a second provider at once")
	} else if !two {
		k.processes = k.processes[:1]
	}
	who := slices.Clone(k.processes)
	if len(who) > 1 {
		k.lives[name].shared = true
		i := int(k.now.Load()/int64(time.Second)) % len(who)
		who[0], who[i] = who[i], who[0]
		if !k.chaos.chance(bothChance) {
			who = who[:1]
		}
	}
	who = slices.DeleteFunc(who, func(p *process) bool { return p.busy[name] })
	for _, p := range who {
		p.busy[name] = true
	}
	if len(who) > 1 {
		k.chaos.happens(bothAtOnce)
	}
	return who
}

// looked is the end of a look. A process that didn't live that long is replaced, unless somebody has done so, or it isn't wanted any more.
func (k *soak) looked(p *process, name string, alive bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(p.busy, name)
	if i := slices.Index(k.processes, p); i >= 0 && !alive {
		k.processes[i] = k.newProcess()
	}
}

// two says whether two providers run.
func (k *soak) two() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.processes) > 1
}
