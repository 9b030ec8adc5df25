package redfishhost

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// moodyGate lets those in for whom it has time.
type moodyGate struct {
	bmc  BMC
	busy *bool
	lane *gate.Lane
}

func (g moodyGate) Do(ctx context.Context, t gate.Target, f func(context.Context, BMC) error) error {
	if t.Lane == gate.Inventory {
		return &gate.BusyError{} // It's read beside what is tested here.
	}
	*g.lane = t.Lane
	if *g.busy {
		return notCalledError{&gate.BusyError{}}
	}

	return f(ctx, g.bmc)
}

func (moodyGate) Forget(context.Context, string) error { return nil }

func (moodyGate) Distrust(string) {}

// TestPostponed: a look that had to be put off changes nothing that is known, is no error, and is made up for soon.
func TestPostponed(t *testing.T) {
	var busy bool
	var lane gate.Lane
	h := enrolled(&journal{})
	h.Spec.ForProvider.Power = v1alpha1.Unmanaged
	c := NewConnector(Options{
		Kube: kubeWith(t, h, interceptor.Funcs{}), Gates: moodyGate{bmc: &fakeBMC{system: off()}, busy: &busy, lane: &lane},
		Resolve: func(context.Context, *v1alpha1.RedfishHost) (config.Redfish, error) { return config.Redfish{}, nil },
	})
	look := func() error {
		e, err := c.Connect(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		o, err := e.Observe(t.Context(), h)
		if err == nil && (!o.ResourceExists || !o.ResourceUpToDate) {
			t.Errorf("Observe(...): %+v, want nothing to do", o)
		}

		return err
	}
	if err := look(); err != nil || c.Pending(h) {
		t.Fatalf("Observe(...): %v; pending %t", err, c.Pending(h))
	}
	was := h.DeepCopy()
	busy = true
	if err := look(); err != nil || !c.Pending(h) {
		t.Errorf("Observe(...) of a BMC that has no time: %v; pending %t, want no error, and soon again", err, c.Pending(h))
	}
	if diff := cmp.Diff(was, h); diff != "" {
		t.Errorf("what was known changed: -before, +after:\n%s", diff)
	}
	busy = false
	if err := look(); err != nil || c.Pending(h) {
		t.Errorf("Observe(...) afterwards: %v; pending %t", err, c.Pending(h))
	}
	busy = true
	now := metav1.NewTime(t0)
	h.SetDeletionTimestamp(&now)
	h.Annotations[v1alpha1.AnnotationJournal] = (&journal{Override: "Pxe"}).String()
	if err := look(); !gate.IsBusy(err) {
		t.Errorf("Observe(...) of a host that is being deleted: got %v, want busy: it is tried again, and isn't given up for that", err)
	}
}

// TestBusyIsNoAttempt: an act for which the BMC has no time wasn't attempted, whatever it is.
func TestBusyIsNoAttempt(t *testing.T) {
	var busy bool
	var lane gate.Lane
	h := enrolled(&journal{})
	kube := kubeWith(t, h, interceptor.Funcs{})
	c := NewConnector(Options{
		Kube: kube, Gates: moodyGate{bmc: &fakeBMC{system: off()}, busy: &busy, lane: &lane},
		Resolve: func(context.Context, *v1alpha1.RedfishHost) (config.Redfish, error) { return config.Redfish{}, nil },
	})
	e, err := c.Connect(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	if o, err := e.Observe(t.Context(), h); err != nil || o.ResourceUpToDate || lane != gate.Look {
		t.Fatalf("Observe(...): %+v, %v, lane %d", o, err, lane)
	}
	busy = true
	if _, err := e.Update(t.Context(), h); err == nil || lane != gate.Act {
		t.Errorf("Update(...): got %v in lane %d, want an error in that of acts", err, lane)
	}
	j := parseJournal(h.GetAnnotations()[v1alpha1.AnnotationJournal])
	if j.pending() {
		t.Errorf("journal: %s, want an act that is begun anew", j)
	}
}

// TestNotCalled: what keeps an act from being called is told from what its call found.
func TestNotCalled(t *testing.T) {
	dead := &redfish.Error{Kind: redfish.Unreachable}
	g := gate.New(func(context.Context, redfish.Config) (*redfish.Client, error) { return nil, dead })
	err := Gates{g}.Do(t.Context(), gate.Target{Config: redfish.Config{Address: "10.0.0.1"}}, func(context.Context, BMC) error {
		t.Error("called")

		return nil
	})
	if !notCalled(err) || !answered(err) || !errors.Is(err, dead) || !redfish.IsUnreachable(err) {
		t.Errorf("Do(...): got %v: not called %t, answered %t", err, notCalled(err), answered(err))
	}
}

// TestPostponedObserved: one that is only observed is looked at again soon, too, and no more often than that.
func TestPostponedObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		woken := 0
		c := &Connector{Options: Options{Wake: func(types.NamespacedName) { woken++ }}}
		h := enrolled(&journal{})
		c.soonAgain(h)
		h.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
		c.soonAgain(h)
		time.Sleep(2 * observedAgain)
		synctest.Wait()
		if woken != 1 {
			t.Errorf("woken %d times, want once", woken)
		}
	})
}
