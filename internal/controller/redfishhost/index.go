package redfishhost

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// fieldMachine is the index of hosts by what may be one machine: the BMC that
// they name, what theirs was seen to be, the BMC that they are recorded with, and
// the Secrets that they name. Two thousand hosts that each look at all of them once
// a minute would be four million looks.
const fieldMachine = "machine"

// Index makes hosts findable by their machines. Setup does it for the manager's
// cache; whoever else runs the controller must before the first look.
func Index(ctx context.Context, i client.FieldIndexer) error {
	if err := i.IndexField(ctx, &v1alpha1.RedfishHost{}, fieldMachine, machinesOf); err != nil {
		return fmt.Errorf("cannot index RedfishHosts by their machines: %w", err)
	}

	return nil
}

// machinesOf are the values of a host in the index.
func machinesOf(o client.Object) []string {
	host, ok := o.(*v1alpha1.RedfishHost)
	if !ok {
		return nil
	}
	was := host.Status.AtProvider.Identity
	out := append(namesIndexed(redfish.Identity{Serial: was.Serial, UUID: was.UUID}), bmcIndexed(host)...)
	out = append(out, managerIndexed(host)...)
	for _, at := range secretsOf(host) {
		out = append(out, secretIndexed(at))
	}

	return out
}

// secretIndexed is the value of a Secret that a host names.
func secretIndexed(at types.NamespacedName) string { return "secret " + at.String() }

// managerIndexed is the value of the BMC that a host's machine is recorded with, by
// whatever address.
func managerIndexed(host *v1alpha1.RedfishHost) []string {
	if r, ok := recordOf(host); ok && r.BMCUUID != "" {
		return []string{"manager " + redfish.UUIDKey(r.BMCUUID)}
	}

	return nil
}

// bmcIndexed is the value of the BMC that a host names, if it can be used.
func bmcIndexed(host *v1alpha1.RedfishHost) []string {
	if key := bmcOf(host); key != "" {
		return []string{"bmc " + key}
	}

	return nil
}

// namesIndexed are the values of a machine's own names, in one spelling.
func namesIndexed(i redfish.Identity) []string {
	var out []string
	if i.Serial != "" {
		out = append(out, "serial "+strings.ToLower(i.Serial))
	}
	if i.UUID != "" {
		out = append(out, "uuid "+redfish.UUIDKey(i.UUID))
	}

	return out
}
