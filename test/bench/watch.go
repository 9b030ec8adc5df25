package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// A sight is what is known of the addresses of a name: whether each is Ready.
type sight map[types.UID]bool

// ready counts those that are.
func (s sight) ready() (n int) {
	for _, r := range s {
		if r {
			n++
		}
	}
	return n
}

// note what a watch tells of one.
func (s sight) note(t watch.EventType, u *unstructured.Unstructured) {
	if t == watch.Deleted {
		delete(s, u.GetUID())
		return
	}
	s[u.GetUID()] = lab.ConditionOf(u, "Ready").Status == "True"
}

// watched follows the addresses of a name until they are as they're to be, and returns when that was seen. It watches, as whoever waits for many
// does: to list a thousand at each look would be a good part of what is measured.
func watched(ctx context.Context, l *lab.Lab, name, what string, done func(sight) bool) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, addressTimeout)
	defer cancel()
	c, err := client.NewWithWatch(l.Plane.Config(), client.Options{Scheme: l.Client().Scheme(), Mapper: l.Client().RESTMapper()})
	if err != nil {
		return time.Time{}, fmt.Errorf("cannot make a client that watches: %w", err)
	}
	for {
		seen, at, err := follow(ctx, l, c, name, done)
		switch {
		case ctx.Err() != nil:
			return time.Time{}, fmt.Errorf("waited %s for %s: of %d addresses %q, %d are Ready\n%s", addressTimeout, what, len(seen), name, seen.ready(), l.Describe(""))
		case err != nil || !at.IsZero():
			return at, err
		}
	}
}

// follow is one watch of them, which the API server ends whenever it likes: the zero time says that it did.
func follow(ctx context.Context, l *lab.Lab, c client.WithWatch, name string, done func(sight) bool) (sight, time.Time, error) {
	us, err := named(ctx, l, name)
	if err != nil {
		return nil, time.Time{}, err
	}
	seen := sight{}
	for i := range us.Items {
		seen.note(watch.Added, &us.Items[i])
	}
	if done(seen) {
		return seen, time.Now(), nil
	}
	w, err := c.Watch(ctx, us, client.MatchingLabels{"bench": name}, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: us.GetResourceVersion()}})
	if err != nil {
		return seen, time.Time{}, fmt.Errorf("cannot watch addresses: %w", err)
	}
	defer w.Stop()
	fails := time.NewTicker(time.Second)
	defer fails.Stop()
	for {
		select {
		case <-ctx.Done():
			return seen, time.Time{}, nil
		case <-fails.C: // A component that ended by itself ends the wait: nothing will come of it.
			if err := l.Failed(); err != nil {
				return seen, time.Time{}, err
			}
		case e, ok := <-w.ResultChan():
			u, is := e.Object.(*unstructured.Unstructured)
			if !ok || !is || e.Type == watch.Error {
				return seen, time.Time{}, nil
			}
			seen.note(e.Type, u)
			if done(seen) {
				return seen, time.Now(), nil
			}
		}
	}
}
