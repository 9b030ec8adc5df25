package netboxipaddress

import (
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// allocated tells of a record that was made for a resource: once, with the address.
func (e *external) allocated(mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) {
	e.connector.Recorder.Event(mg, event.Normal("Allocated", fmt.Sprintf("address %s is record %d of the NetBox of %s", ip.Address, ip.ID, e.inputs.config)))
}

// released tells of a record that was given up.
func (e *external) released(mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) {
	e.connector.Recorder.Event(mg, event.Normal("Released", fmt.Sprintf("address %s, record %d of the NetBox of %s, was given up", ip.Address, ip.ID, e.inputs.config)))
}
