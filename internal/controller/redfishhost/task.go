package redfishhost

import (
	"context"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// follow asks the BMC, once a look, how the task is that it made of the act on
// its way. What it can't tell now it may tell at the next look; it's never
// believed that a task which is done, or gone, has brought about what it was for.
func (e *external) follow(ctx context.Context, bmc BMC, host *v1alpha1.RedfishHost) error {
	j := parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal])
	if !j.pending() || j.newer() || j.Act.Task == "" {
		return nil
	}
	watch := e.connector.watch
	if l := watch.look(host.GetUID(), *j.Act); l.task.Over() || l.age >= taskPatience {
		return nil
	}
	p, err := bmc.Task(ctx, redfish.ReceiptAt(j.Act.Task))
	if redfish.IsUnauthorized(err) {
		return err //nolint:wrapcheck // The caller asks for its kind.
	}
	if err == nil {
		watch.told(host.GetUID(), *j.Act, p)
	}

	return nil
}
