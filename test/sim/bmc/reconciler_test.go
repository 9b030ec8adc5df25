package bmc_test

import (
	"testing"

	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpfake "github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// A manager whose events nobody reads.
type manager struct{ xpfake.Manager }

// GetEventRecorderFor implements cluster.Cluster.
func (*manager) GetEventRecorderFor(string) record.EventRecorder { return &record.FakeRecorder{} }

// runtimeOf is Crossplane's own reconciler around the lab's connector, set up
// as the provider's wiring does.
func (l *lab) runtimeOf() func() {
	o := wiring.Options{Options: xpcontroller.DefaultOptions()}
	o.Features.Enable(feature.EnableBetaManagementPolicies)
	r := wiring.NewReconciler(&manager{xpfake.Manager{Client: l.kube, Scheme: l.kube.Scheme()}}, o, wiring.Kind[*v1alpha1.RedfishHost]{
		GVK: v1alpha1.RedfishHostGroupVersionKind, Connector: l.connector, Pending: redfishhost.PollSoon,
	}, o.ForController().RateLimiter)

	return func() {
		l.t.Helper()
		if _, err := r.Reconcile(l.t.Context(), reconcile.Request{NamespacedName: hostKey}); err != nil {
			l.t.Fatalf("Reconcile(...): %v", err)
		}
		l.connector.Settle()
	}
}

// TestChanges counts the changes of a host that its composite sees on the way:
// Crossplane lets it see fifty at once, and then one in two seconds.
func TestChanges(t *testing.T) {
	for name, model := range models() {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, model)
			reconcileOnce := l.runtimeOf()
			changes := func() int {
				l.changes = 0
				for range 8 {
					reconcileOnce()
				}

				return l.changes
			}
			registered := changes()
			l.edit(func(h *v1alpha1.RedfishHost) {
				h.Spec.ForProvider.Boot, h.Spec.ForProvider.Power = once(1), v1alpha1.PoweredOn
			})
			booted := changes()
			if len(l.m.Boots()) != 1 || registered > 3 || booted > 4 {
				t.Errorf("registered with %d changes, booted with %d (boots %v); want at most 3 (recorded, shown, with its inventory) and 4", registered, booted, l.m.Boots())
			}
			t.Logf("registered with %d changes, booted with %d", registered, booted)
		})
	}
}

func TestRuntimeBoots(t *testing.T) {
	for name, model := range models() {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, model)
			reconcileOnce := l.runtimeOf()
			for range 3 {
				reconcileOnce()
			}
			h := l.get()
			if h.Status.Phase != v1alpha1.HostAvailable || meta.GetExternalName(h) != serial || l.emu.Counters().Writes != 0 {
				t.Fatalf("registered: phase %q, external name %q, %d writes", h.Status.Phase, meta.GetExternalName(h), l.emu.Counters().Writes)
			}
			l.edit(func(h *v1alpha1.RedfishHost) {
				h.Spec.ForProvider.Boot, h.Spec.ForProvider.Power = once(1), v1alpha1.PoweredOn
			})
			// The override and power are one step.
			for range 2 {
				reconcileOnce()
			}
			h = l.get()
			if diff := cmp.Diff([]bmc.BootTarget{bmc.BootPxe}, l.m.Boots()); diff != "" {
				t.Errorf("boots after two steps: -want, +got:\n%s", diff)
			}
			if h.Status.AtProvider.Power != v1alpha1.PoweredOn || h.Status.AtProvider.Boot.OnceGeneration != 1 || condition(h, xpv2.TypeSynced)[0] != "True" {
				t.Errorf("status after the last step: %+v, %v", h.Status.AtProvider, h.Status.Conditions)
			}
		})
	}
}

// TestRuntimeWritesNothing holds that pause, observe-only and orphan deletion
// are really without writes, whatever the spec asks for.
func TestRuntimeWritesNothing(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*v1alpha1.RedfishHost)
		delete bool
		phase  v1alpha1.HostPhase
	}{
		"Paused": {reason: "A paused host isn't even looked at.", change: func(h *v1alpha1.RedfishHost) {
			meta.AddAnnotations(h, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
		}},
		"NoPolicies": {reason: "No policy at all is a pause.", change: func(h *v1alpha1.RedfishHost) {
			h.Spec.ManagementPolicies = xpv2.ManagementPolicies{}
		}},
		"ObserveOnly": {reason: "Looked at, and nothing else.", phase: v1alpha1.HostAvailable, change: func(h *v1alpha1.RedfishHost) {
			h.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
		}},
		"Orphan": {reason: "A host that is let go keeps its power and override.", delete: true, change: func(h *v1alpha1.RedfishHost) {
			h.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate}
			h.Finalizers = []string{managed.FinalizerName}
			h.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: "team-a", Name: "web-1", UID: "claim"}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, bmc.ModelInline)
			_ = l.m.On(bmc.BootNormal)
			l.edit(func(h *v1alpha1.RedfishHost) {
				h.Spec.ForProvider.Power, h.Spec.ForProvider.ResetGeneration, h.Spec.ForProvider.Boot = v1alpha1.PoweredOff, 5, once(5)
				tc.change(h)
			})
			if tc.delete {
				if err := l.kube.Delete(t.Context(), l.get()); err != nil {
					t.Fatal(err)
				}
			}
			reconcileOnce := l.runtimeOf()
			for range 4 {
				reconcileOnce()
			}
			if c := l.emu.Counters(); c.Writes != 0 || !l.m.Powered() {
				t.Errorf("\n%s\n%d writes, powered %v", tc.reason, c.Writes, l.m.Powered())
			}
			if tc.delete {
				return
			}
			if h := l.get(); h.Status.Phase != tc.phase {
				t.Errorf("\n%s\nphase: got %q, want %q", tc.reason, h.Status.Phase, tc.phase)
			}
		})
	}
}
