package stage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// poll is how often something is looked at that somebody waits for.
const poll = 100 * time.Millisecond

var errNotYet = errors.New("not yet")

// Get reads an object.
func (s *Stage) Get(ctx context.Context, r lab.Ref) (*unstructured.Unstructured, error) {
	u := r.Object()
	if err := s.Client().Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", r, err)
	}
	return u, nil
}

// Await waits until check accepts the object. When it doesn't in time, the error says what was waited for and describes the cluster.
func (s *Stage) Await(ctx context.Context, r lab.Ref, what string, timeout time.Duration, check lab.Check) (*unstructured.Unstructured, error) {
	var last *unstructured.Unstructured
	err := s.Until(ctx, r.String()+" to be "+what, timeout, func(ctx context.Context) error {
		u, err := s.Get(ctx, r)
		if err != nil {
			return err
		}
		last = u
		if !check(u) {
			return fmt.Errorf("%w: %s", errNotYet, conditions(u))
		}
		return nil
	})
	return last, err
}

// AwaitGone waits until an object is gone.
func (s *Stage) AwaitGone(ctx context.Context, r lab.Ref, timeout time.Duration) error {
	return s.Until(ctx, r.String()+" to be gone", timeout, func(ctx context.Context) error {
		u, err := s.Get(ctx, r)
		if kerrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return fmt.Errorf("%w: %s", errNotYet, conditions(u))
	})
}

// Until waits until ask returns nil. The error says what was waited for, and what the cluster looks like.
func (s *Stage) Until(ctx context.Context, what string, timeout time.Duration, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	var last error
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err // What is said because time has run out says nothing.
		}
		if err := s.Failed(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited %s for %s: %w\n%s", timeout, what, last, s.Describe(context.WithoutCancel(ctx)))
		case <-tick.C:
		}
	}
}

// conditions of an object in one line.
func conditions(u *unstructured.Unstructured) string {
	var out []string
	for _, c := range lab.Conditions(u) {
		out = append(out, strings.TrimSpace(c.Type+"="+c.Status+" "+c.Reason+" "+c.Message))
	}
	return strings.Join(out, "; ")
}

// Describe shows a person who has to find out why something doesn't happen what there is, and what was said last.
func (s *Stage) Describe(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var b strings.Builder
	for _, args := range []string{
		"get pods -A -o wide",
		"get pkg,pkgrev",
		"get crossplane -A -o wide",
		"get baremetalnodes.platform.baremetal.crossplane.io,bootsessions.baremetal.m.crossplane.io,bootservers.baremetal.m.crossplane.io -A -o wide",
		"get events -A --field-selector=type=Warning --sort-by=.lastTimestamp",
		"-n crossplane-system logs -l pkg.crossplane.io/provider --tail=15",
		"-n baremetal-boot logs -l app.kubernetes.io/name=bootd --tail=15",
	} {
		out, _ := s.Kubectl(ctx, strings.Fields(args)...) // What it prints says what was wrong.
		fmt.Fprintf(&b, "$ kubectl %s\n%s\n", args, tail(out))
	}
	return b.String()
}

// tail of a long text.
func tail(text string) string {
	const longest = 6000
	return text[max(0, len(text)-longest):]
}
