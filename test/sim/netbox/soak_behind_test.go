package netbox_test

import (
	"context"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

const (
	// behindChance is that of a read by which a provider gets a resource as it was some writes ago, as from a cache that lags behind.
	behindChance = 0.15
	// behindMost is how many writes that are at most, and copies is how many versions of a resource are kept for it.
	behindMost, copies = 4, 8
	// ghostChance is that of a look at a resource that is gone, by a copy of when it was there.
	ghostChance = 0.2
)

// A past is what resources have been: each version of each, and nil once it was gone.
type past struct {
	mu  sync.Mutex
	all map[string]history
	// addresses are what resources that live say that they have.
	addresses addresses
}

// A history are the last versions of a resource, of which the first is the one numbered first.
type history struct {
	first int
	last  []*v1alpha1.NetBoxIPAddress
}

// newest is the number of the newest one.
func (v history) newest() int { return v.first + len(v.last) - 1 }

// at is the one of a number, or the oldest that is kept.
func (v history) at(n int) *v1alpha1.NetBoxIPAddress { return v.last[max(n-v.first, 0)] }

// funcs note what each write left.
func (p *past) funcs() interceptor.Funcs {
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return p.note(ctx, c, o, c.Create(ctx, o, opts...))
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return p.note(ctx, c, o, c.Update(ctx, o, opts...))
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
			return p.note(ctx, c, o, c.Patch(ctx, o, patch, opts...))
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return p.note(ctx, c, o, c.Delete(ctx, o, opts...))
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return p.note(ctx, c, o, c.SubResource(sub).Update(ctx, o, opts...))
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			return p.note(ctx, c, o, c.SubResource(sub).Patch(ctx, o, patch, opts...))
		},
	}
}

// note what a resource is after a write. Of two at once, the one that is noted later has seen both.
func (p *past) note(ctx context.Context, c client.Reader, o client.Object, err error) error {
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := &v1alpha1.NetBoxIPAddress{}
	if c.Get(context.WithoutCancel(ctx), client.ObjectKeyFromObject(o), now) != nil {
		now = nil
	}
	p.addresses.note(o.GetName(), now, func(name, address string) bool {
		other := &v1alpha1.NetBoxIPAddress{}
		return c.Get(context.WithoutCancel(ctx), client.ObjectKey{Namespace: o.GetNamespace(), Name: name}, other) == nil && addressOf(other) == address
	})
	v := p.all[o.GetName()]
	if v.last = append(v.last, now); len(v.last) > copies {
		v.first, v.last = v.first+1, v.last[1:]
	}
	p.all[o.GetName()] = v
	return nil
}

// ends says whether a resource is being deleted, or gone.
func (p *past) ends(name string) bool {
	v := p.of(name)
	return len(v.last) > 0 && (v.at(v.newest()) == nil || v.at(v.newest()).DeletionTimestamp != nil)
}

func (p *past) of(name string) history {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[name]
}

// A view is how far a provider has seen resources: what it reads of one isn't older than what it read of it before, nor than what it wrote in the
// same look. What it wrote in earlier ones it may not see yet.
type view struct {
	mu          sync.Mutex
	read, wrote map[string]int
}

// begin a look.
func (v *view) begin(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.wrote, name)
}

func (v *view) sees(name string, n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.read[name] = n
}

func (v *view) writes(name string, n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.wrote[name] = n
}

// oldest is the oldest version that it may see.
func (v *view) oldest(name string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return max(v.read[name], v.wrote[name])
}

// behind reads a resource as it was some writes ago, at some chance, and always where nothing is left of it; false: it's read as it is.
func (p *process) behind(name string, o client.Object) bool {
	mg, ok := o.(*v1alpha1.NetBoxIPAddress)
	v := p.past.of(name)
	if !ok || len(v.last) == 0 {
		return false
	}
	newest := v.newest()
	gone := v.at(newest) == nil
	if !gone && !p.chaos.chance(behindChance) {
		p.view.sees(name, newest)
		return false
	}
	n := max(newest-1-p.chaos.pick(behindMost), p.view.oldest(name), v.first)
	was := v.at(n)
	p.view.sees(name, n)
	if n == newest || was == nil {
		return false
	}
	was.DeepCopyInto(mg)
	p.chaos.happens("API server: a copy that is behind")
	return true
}
