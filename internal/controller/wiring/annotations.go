package wiring

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// An annotator writes what a Create noted on its resource. Where somebody else has written the resource since, the managed reconciler's own
// would lay all annotations over it, as they were when the Create began: a process that was slow, and that another one has long taken the
// place of, would take back what that one wrote before a Create of its own, and a person's pause would end. This one lays what the Create
// changed, and nothing else, over what is there; and nothing over another resource of the same name.
type annotator struct {
	client client.Client
	pace   *pace
	// merge is Kind.Merge.
	merge func(noted, theirs map[string]string)
}

// errReplaced keeps a resource from getting what was noted on another one of its name.
var errReplaced = errors.New("another resource has the name by now")

// UpdateCriticalAnnotations writes a resource, again where that fails, and with what its Create noted where somebody else has written it.
// In that case all else that was changed of it here is lost, as with the managed reconciler's own.
func (a *annotator) UpdateCriticalAnnotations(ctx context.Context, o client.Object) error {
	n := notedSince(a.pace.begun(o.GetUID()), o.GetAnnotations())
	again := func(err error) bool { return !errors.Is(err, context.Canceled) && !errors.Is(err, errReplaced) }
	err := retry.OnError(retry.DefaultRetry, again, func() error {
		err := a.client.Update(ctx, o)
		if !kerrors.IsConflict(err) {
			return err //nolint:wrapcheck // It's wrapped below.
		}
		if rerr := a.renew(ctx, o); rerr != nil {
			return rerr
		}
		n.lay(o, a.merge)
		return err //nolint:wrapcheck // It's wrapped below.
	})
	if err != nil {
		return fmt.Errorf("cannot write what Create noted: %w", err)
	}
	return nil
}

// renew reads a resource anew.
func (a *annotator) renew(ctx context.Context, o client.Object) error {
	fresh, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("cannot copy a %T", o)
	}
	if err := a.client.Get(ctx, client.ObjectKeyFromObject(o), fresh); err != nil {
		return err //nolint:wrapcheck // The caller says what for.
	}
	if fresh.GetUID() != o.GetUID() {
		return errReplaced
	}
	reflect.ValueOf(o).Elem().Set(reflect.ValueOf(fresh).Elem())
	return nil
}

// noted is what a Create changed of a resource's annotations: those that it set, and those that it took off.
type noted struct {
	set map[string]string
	off []string
}

// notedSince compares annotations with those of before.
func notedSince(before, now map[string]string) noted {
	n := noted{set: map[string]string{}}
	for k, v := range now {
		if was, ok := before[k]; !ok || was != v {
			n.set[k] = v
		}
	}
	for k := range before {
		if _, ok := now[k]; !ok {
			n.off = append(n.off, k)
		}
	}
	return n
}

// lay what was noted over what a resource says by now.
func (n noted) lay(o client.Object, merge func(noted, theirs map[string]string)) {
	set := maps.Clone(n.set)
	if merge != nil {
		merge(set, o.GetAnnotations())
	}
	meta.RemoveAnnotations(o, n.off...)
	meta.AddAnnotations(o, set)
}

// begin notes the annotations of a resource whose Create begins.
func (p *pace) begin(o client.Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.before[o.GetUID()] = maps.Clone(o.GetAnnotations())
}

// begun returns, once, the annotations that a resource had when its Create began. Where none did, all that it has now are new.
func (p *pace) begun(uid types.UID) map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.before[uid]
	delete(p.before, uid)
	return was
}
