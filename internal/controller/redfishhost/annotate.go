package redfishhost

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// annotate patches annotations onto the host, only if the host is still the one
// that was decided on: an optimistic lock makes a stale cache harmless.
func (e *external) annotate(ctx context.Context, host *v1alpha1.RedfishHost, annotations map[string]string) error {
	before := host.DeepCopy()
	after := host.DeepCopy()
	meta.AddAnnotations(after, annotations)
	if err := e.connector.Kube.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return err //nolint:wrapcheck // The caller asks whether it's a conflict, and wraps.
	}
	// Only what changed is taken over: the answer holds the old status.
	host.SetAnnotations(after.GetAnnotations())
	host.SetResourceVersion(after.GetResourceVersion())

	return nil
}
