package wiring

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// addMetrics records how many resources of a kind there are, and how many of them are ready and synced.
func addMetrics(mgr ctrl.Manager, o Options, list resource.ManagedList) error {
	if o.MetricOptions == nil || o.MetricOptions.MRStateMetrics == nil {
		return nil
	}
	rec := statemetrics.NewMRStateRecorder(sharing{mgr.GetClient()}, o.Logger, o.MetricOptions.MRStateMetrics, list, o.MetricOptions.PollStateMetricInterval)
	if err := mgr.Add(rec); err != nil {
		return fmt.Errorf("cannot record the metrics of %T: %w", list, err)
	}
	return nil
}

// sharing lists the cache's own objects, for who only reads them: the recorder keeps its list until the next one, which would be a copy of
// all there are.
type sharing struct{ client.Client }

// List doesn't copy.
func (s sharing) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	return s.Client.List(ctx, l, append(opts, client.UnsafeDisableDeepCopy)...) //nolint:wrapcheck // A client wraps nothing.
}
