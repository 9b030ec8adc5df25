package bootentry

import (
	"context"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// listPatience is how long a list of all entries may take, whoever waits for it.
const listPatience = 30 * time.Second

// together reads all entries for everybody who asks while it reads: those of a large site are megabytes, and many grants are decided at once. A
// list that began after it was asked for is as live as one of one's own; those who come while one is on its way share the next.
type together struct {
	client.Reader

	mu            sync.Mutex
	running, next *listing
}

// listing is one list of all entries, which nobody changes once it's done.
type listing struct {
	done  chan struct{}
	items []v1alpha1.BootEntry
	err   error
}

// List shares those of all entries of all namespaces alone. Its items are a slice of the caller's own, of objects that are everybody's.
func (r *together) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	all, ok := l.(*v1alpha1.BootEntryList)
	o := (&client.ListOptions{}).ApplyOptions(opts)
	if !ok || o.Namespace != "" || o.LabelSelector != nil || o.FieldSelector != nil || o.Limit != 0 || o.Continue != "" || o.Raw != nil {
		return r.Reader.List(ctx, l, opts...) //nolint:wrapcheck // It's passed on as it is.
	}
	x := r.join(ctx)
	select {
	case <-x.done:
		all.Items = slices.Clone(x.items)
		return x.err
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // As above.
	}
}

// join gives a list that hasn't begun yet, or begins now.
func (r *together) join(ctx context.Context) *listing {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = &listing{done: make(chan struct{})}
		if r.running == nil {
			r.begin(ctx)
			return r.running
		}
	}
	return r.next
}

// begin makes the next list the running one. Who asked first may give up; the others still want it.
func (r *together) begin(ctx context.Context) {
	x := r.next
	r.running, r.next = x, nil
	base := context.WithoutCancel(ctx)
	go func() {
		own, cancel := context.WithTimeout(base, listPatience)
		defer cancel()
		l := &v1alpha1.BootEntryList{}
		x.err = r.Reader.List(own, l)
		x.items = l.Items
		close(x.done)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.running = nil; r.next != nil {
			r.begin(base)
		}
	}()
}
