package controller

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

func silent() logr.Logger { return logr.FromSlogHandler(slog.DiscardHandler) }

func TestFarewells(t *testing.T) {
	errBoom := errors.New("boom")
	f := &farewells{}
	met := make(chan struct{})
	f.add(func(ctx context.Context) error {
		select {
		case <-met:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	f.add(func(context.Context) error { close(met); return errBoom })
	if err := f.run(t.Context()); !errors.Is(err, errBoom) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("run(...) = %v: want only the error of the one that failed, for they run at once", err)
	}
	if err := (&farewells{}).run(t.Context()); err != nil {
		t.Errorf("run(...) = %v: nothing to do is no trouble", err)
	}
}

func TestFailure(t *testing.T) {
	errBoom := errors.New("boom")
	cases := map[string]struct {
		reason string
		end    func(outer, inner context.CancelCauseFunc)
		want   error
	}{
		"Running": {reason: "Nothing failed yet.", end: func(context.CancelCauseFunc, context.CancelCauseFunc) {}},
		"Told":    {reason: "To be told to stop is no failure.", end: func(outer, _ context.CancelCauseFunc) { outer(nil) }},
		"Failed":  {reason: "A controller that can't be set up ends the process with its error.", end: func(_, inner context.CancelCauseFunc) { inner(errBoom) }, want: errBoom},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, outer := context.WithCancelCause(t.Context())
			defer outer(nil)
			ctx, inner := context.WithCancelCause(ctx)
			defer inner(nil)
			tc.end(outer, inner)
			if got := failure(ctx); !errors.Is(got, tc.want) {
				t.Errorf("%s\nfailure(...) = %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestManagerOptions(t *testing.T) {
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	if !scheme.Recognizes(v1alpha1.RedfishHostGroupVersionKind) || !scheme.Recognizes(corev1.SchemeGroupVersion.WithKind("Secret")) {
		t.Error("the scheme must know our kinds and Secrets")
	}
	o := managerOptions(Settings{Namespace: "crossplane-system", LeaderElection: true, Sync: time.Hour}, scheme)
	if o.GracefulShutdownTimeout == nil || *o.GracefulShutdownTimeout+farewell >= 30*time.Second {
		t.Error("a pod is given 30 s to end: reconciles and what is done after them must be over before")
	}
	if o.LeaderElectionNamespace != "crossplane-system" || !o.LeaderElection {
		t.Errorf("leader election %v in namespace %q: want it in the provider's own, for it has rights to no other by nature", o.LeaderElection, o.LeaderElectionNamespace)
	}
	live := map[string]bool{}
	for _, d := range o.Client.Cache.DisableFor {
		switch d.(type) {
		case *corev1.Secret:
			live["Secret"] = true
		case *corev1.ConfigMap:
			live["ConfigMap"] = true
		}
	}
	if !live["Secret"] || !live["ConfigMap"] {
		t.Errorf("read past the cache: %v: want Secrets and ConfigMaps, or the cache would hold the whole cluster's", live)
	}
	var stripped int
	for obj, by := range o.Cache.ByObject {
		if _, ok := obj.(*corev1.Secret); ok && by.Transform != nil {
			stripped++
		}
	}
	if stripped != 1 {
		t.Error("a Secret's metadata must be stripped")
	}
}

func TestStripSecret(t *testing.T) {
	m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: "bmc", ResourceVersion: "7", Finalizers: []string{"x"},
		Annotations:   map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "all its data"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
	}}
	got, err := stripSecret(m)
	o, ok := got.(client.Object)
	if err != nil || !ok {
		t.Fatalf("stripSecret(...) = %T, %v", got, err)
	}
	if o.GetAnnotations() != nil || o.GetManagedFields() != nil {
		t.Error("annotations hold a Secret's data, and managed fields are of no use")
	}
	if o.GetResourceVersion() != "7" || len(o.GetFinalizers()) != 1 {
		t.Error("what says that a Secret changed, and that it's held, must stay")
	}
	if got, err := stripSecret("tombstone"); got != "tombstone" || err != nil {
		t.Error("what isn't an object passes as it is")
	}
}

func TestRuntimeOptions(t *testing.T) {
	o, err := runtimeOptions(Settings{
		Log: silent(), Poll: time.Minute, MaxReconcileRate: 7, ManagementPolicies: true, ChangeLogs: true, ChangeLogsSocket: "/nowhere.sock",
	})
	if err != nil {
		t.Fatal(err)
	}
	if o.MaxConcurrentReconciles != 7 || o.PollInterval != time.Minute || o.Gate == nil || o.MetricOptions == nil {
		t.Errorf("%+v: want the settings' rate and poll interval, a gate, and metrics", o)
	}
	if !o.Features.Enabled(feature.EnableBetaManagementPolicies) || !o.Features.Enabled(feature.EnableAlphaChangeLogs) || o.ChangeLogOptions == nil {
		t.Error("both features were asked for")
	}
	if _, err := runtimeOptions(Settings{MaxReconcileRate: 1}); err == nil {
		t.Error("metrics are of the process: a second provider in it must be refused, not shown in the first one's")
	}
}

func TestRunWithoutAPIServer(t *testing.T) {
	err := Run(t.Context(), Settings{
		Log: silent(), Kube: &rest.Config{Host: "https://127.0.0.1:1", Timeout: time.Second}, Namespace: "crossplane-system",
		MetricsAddress: "0", ProbeAddress: "0", MaxReconcileRate: 1, Sync: time.Hour, Poll: time.Minute,
	})
	if err == nil {
		t.Error("a provider that can't reach its API server must end, so that it's started again")
	}
}

func TestKinds(t *testing.T) {
	if got := len(kinds()); got != 6 {
		t.Errorf("%d set-ups: every kind's controller must be in the list", got)
	}
}
