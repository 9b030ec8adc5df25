package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// API groups, with the only version of each.
const (
	Baremetal  = "baremetal.m.crossplane.io/v1alpha1"
	Platform   = "platform.baremetal.crossplane.io/v1alpha1"
	PlatformV2 = "platform.baremetal.m.crossplane.io/v1alpha1"
)

// Somebody who waits looks often at first, and then less and less often: each look costs the API server what those who are waited for
// need too.
const (
	oftenest = 50 * time.Millisecond
	rarest   = 400 * time.Millisecond
	// A look every twentieth part of the time that was waited so far finds the end of it soon enough.
	share = 20
)

// pause until the next look, after that long.
func pause(waited time.Duration) time.Duration { return min(max(waited/share, oftenest), rarest) }

// A Ref names an object.
type Ref struct{ APIVersion, Kind, Namespace, Name string }

// Node names a BareMetalNode claim.
func Node(namespace, name string) Ref { return Ref{Platform, "BareMetalNode", namespace, name} }

// Pool names a RackPool claim.
func Pool(namespace, name string) Ref { return Ref{Platform, "RackPool", namespace, name} }

// Kind names an object of the provider's own group.
func Kind(kind, namespace, name string) Ref { return Ref{Baremetal, kind, namespace, name} }

// RefOf names an object.
func RefOf(u *unstructured.Unstructured) Ref {
	return Ref{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}

// String is how people call an object: "BareMetalNode team-a/web-1".
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// Object is empty but for its name.
func (r Ref) Object() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(r.APIVersion)
	u.SetKind(r.Kind)
	u.SetNamespace(r.Namespace)
	u.SetName(r.Name)
	return u
}

// A Check says whether an object is as it's waited for.
type Check func(*unstructured.Unstructured) bool

// Is accepts an object whose condition has that status.
func Is(condition, status string) Check {
	return func(u *unstructured.Unstructured) bool { return ConditionOf(u, condition).Status == status }
}

// Because accepts an object whose condition has that reason.
func Because(condition, reason string) Check {
	return func(u *unstructured.Unstructured) bool { return ConditionOf(u, condition).Reason == reason }
}

// Field accepts an object whose field, a string at that path, has that value.
func Field(want string, path ...string) Check {
	return func(u *unstructured.Unstructured) bool { return StringOf(u, path...) == want }
}

// All accepts an object that every check accepts.
func All(checks ...Check) Check {
	return func(u *unstructured.Unstructured) bool {
		for _, c := range checks {
			if !c(u) {
				return false
			}
		}
		return true
	}
}

// A Condition of an object's status; the zero value where it has none.
type Condition struct{ Type, Status, Reason, Message string }

// ConditionOf that type.
func ConditionOf(u *unstructured.Unstructured, condition string) Condition {
	for _, c := range Conditions(u) {
		if c.Type == condition {
			return c
		}
	}
	return Condition{}
}

// Conditions of an object, in its own order.
func Conditions(u *unstructured.Unstructured) []Condition {
	all := list(nested(u.Object, "status"), "conditions")
	out := make([]Condition, 0, len(all))
	for _, c := range all {
		word := func(k string) string { s, _ := c[k].(string); return s }
		out = append(out, Condition{Type: word("type"), Status: word("status"), Reason: word("reason"), Message: word("message")})
	}
	return out
}

// StringOf the field at that path; "" where there is none.
func StringOf(u *unstructured.Unstructured, path ...string) string {
	s, _, err := unstructured.NestedString(u.Object, path...)
	if err != nil {
		return ""
	}
	return s
}

// Get reads an object.
func (l *Lab) Get(ctx context.Context, r Ref) (*unstructured.Unstructured, error) {
	u := r.Object()
	if err := l.Client().Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", r, err)
	}
	return u, nil
}

// Await waits until check accepts the object. When it doesn't in time, the error says what was waited for, and shows the
// object's conditions, its neighbours, events and the components' last log lines.
func (l *Lab) Await(ctx context.Context, r Ref, what string, timeout time.Duration, check Check) (*unstructured.Unstructured, error) {
	var last *unstructured.Unstructured
	err := l.until(ctx, timeout, func(ctx context.Context) error {
		u, err := l.Get(ctx, r)
		if err != nil {
			return err
		}
		last = u
		if !check(u) {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil {
		return last, fmt.Errorf("%s isn't %s after %s: %w\n%s", r, what, timeout, err, l.Describe(r.Namespace))
	}
	return last, nil
}

// AwaitGone waits until an object is gone.
func (l *Lab) AwaitGone(ctx context.Context, r Ref, timeout time.Duration) error {
	err := l.until(ctx, timeout, func(ctx context.Context) error {
		_, err := l.Get(ctx, r)
		if kerrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, errors.New("it's still there"))
	})
	if err != nil {
		return fmt.Errorf("%s isn't gone after %s: %w\n%s", r, timeout, err, l.Describe(r.Namespace))
	}
	return nil
}

// Delete asks for an object's deletion.
func (l *Lab) Delete(ctx context.Context, r Ref) error {
	if err := l.Client().Delete(ctx, r.Object()); err != nil {
		return fmt.Errorf("cannot delete %s: %w", r, err)
	}
	return nil
}

// Until waits until f returns nil. The error says what was waited for.
func (l *Lab) Until(ctx context.Context, what string, timeout time.Duration, f func(context.Context) error) error {
	if err := l.until(ctx, timeout, f); err != nil {
		return fmt.Errorf("waited %s for %s: %w\n%s", timeout, what, err, l.Describe(""))
	}
	return nil
}

// until calls f until it returns nil. A component that ended by itself ends the wait: nothing will come of it.
func (l *Lab) until(ctx context.Context, timeout time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, mostStretch*timeout)
	defer cancel()
	begin, left := time.Now(), newBudget(timeout)
	var last error
	for {
		err := f(ctx)
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err // What is said because time has run out says nothing.
		}
		if err := l.Failed(); err != nil {
			return err
		}
		if !left.spend() {
			return last
		}
		select {
		case <-ctx.Done():
			return last
		case <-time.After(pause(time.Since(begin))):
		}
	}
}
