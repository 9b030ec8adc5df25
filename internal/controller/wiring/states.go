package wiring

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
)

// addMetrics records, again and again, how many resources of a kind there are, and how many of them are ready and synced.
func addMetrics(mgr ctrl.Manager, o Options, newList func() resource.ManagedList) error {
	if o.MetricOptions == nil || o.MetricOptions.MRStateMetrics == nil {
		return nil
	}
	// The runtime's recorder keeps its list until the next count: each count has a recorder of its own, or all resources would stay in
	// memory a second time.
	count := func(ctx context.Context) {
		r := statemetrics.NewMRStateRecorder(sharing{mgr.GetClient()}, o.Logger, o.MetricOptions.MRStateMetrics, newList(), o.MetricOptions.PollStateMetricInterval)
		if err := r.Record(ctx); err != nil {
			o.Logger.Debug("Cannot count resources by their state", "error", err)
		}
	}
	err := mgr.Add(ctrlmanager.RunnableFunc(func(ctx context.Context) error {
		wait.UntilWithContext(ctx, count, o.MetricOptions.PollStateMetricInterval)
		return nil
	}))
	if err != nil {
		return fmt.Errorf("cannot record the metrics of %T: %w", newList(), err)
	}
	return nil
}

// sharing lists the cache's own objects, for who only reads them.
type sharing struct{ client.Client }

// List doesn't copy.
func (s sharing) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	return s.Client.List(ctx, l, append(opts, client.UnsafeDisableDeepCopy)...) //nolint:wrapcheck // A client wraps nothing.
}
