package bootentry

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// slow is a reader that takes a second for a list, and says in it when it began.
type slow struct {
	client.Reader

	mu    sync.Mutex
	lists int
	err   error
}

func (s *slow) List(ctx context.Context, l client.ObjectList, _ ...client.ListOption) error {
	s.mu.Lock()
	s.lists++
	s.mu.Unlock()
	began := time.Now()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return ctx.Err()
	}
	if all, ok := l.(*v1alpha1.BootEntryList); ok {
		all.Items = []v1alpha1.BootEntry{{}, {}}
		all.Items[0].Name = fmt.Sprint(began.UnixMilli())
	}
	return s.err
}

// TestTogether: a hundred that ask within a second cost two lists, and each has one that began after it asked.
func TestTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kube := &slow{}
		r := &together{Reader: kube}
		var g sync.WaitGroup
		for i := range 100 {
			g.Go(func() {
				time.Sleep(time.Duration(i) * 5 * time.Millisecond)
				asked := time.Now()
				l := &v1alpha1.BootEntryList{}
				if err := r.List(t.Context(), l); err != nil || len(l.Items) != 2 {
					t.Errorf("%d entries, %v", len(l.Items), err)
					return
				}
				if l.Items[0].Name < fmt.Sprint(asked.UnixMilli()) {
					t.Errorf("it was asked for at %d, and began at %s", asked.UnixMilli(), l.Items[0].Name)
				}
				l.Items[0] = l.Items[1] // Its own slice, which gathering changes.
			})
		}
		g.Wait()
		if kube.lists != 2 {
			t.Errorf("%d lists, want 2", kube.lists)
		}
	})
}

// TestTogetherEnds: who gives up takes nobody else's list along, an error is everybody's, and the next list is another one.
func TestTogetherEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kube := &slow{}
		r := &together{Reader: kube}
		impatient, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		var g sync.WaitGroup
		g.Go(func() {
			if err := r.List(impatient, &v1alpha1.BootEntryList{}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("it has given up: %v", err)
			}
		})
		time.Sleep(time.Microsecond)
		g.Go(func() {
			if err := r.List(t.Context(), &v1alpha1.BootEntryList{}); err != nil {
				t.Error(err)
			}
		})
		g.Wait()
		kube.err = errors.New("boom")
		if err := r.List(t.Context(), &v1alpha1.BootEntryList{}); !errors.Is(err, kube.err) {
			t.Errorf("%v is to be told", err)
		}
		kube.err = nil
		if err := r.List(t.Context(), &v1alpha1.BootEntryList{}); err != nil {
			t.Error(err)
		}
		if err := r.List(t.Context(), &v1alpha1.BootEntryList{}, client.InNamespace("x")); err != nil || kube.lists != 5 {
			t.Errorf("what is asked of one namespace is asked apart: %d lists, %v", kube.lists, err)
		}
	})
}
