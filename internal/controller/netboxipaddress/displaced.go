package netboxipaddress

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// displace has the resource looked at, at once, whose record was last seen with the address that this one's was just given: NetBox gives nobody
// what a record has, so somebody deleted or moved that one since, and its resource is Ready of what was seen before. Where an address is to be
// had more than once that says nothing.
func (e *external) displace(mg *v1alpha1.NetBoxIPAddress, by netbox.IPAddress) {
	if mg.Spec.ForProvider.Duplicates == v1alpha1.DuplicatesAllow || sharesRole(by.Role) {
		return
	}
	was, ok := e.netbox.Displaced(by)
	if !ok {
		return
	}
	of, ok := parseMarker(was.Marker(e.inputs.field))
	if !ok || of.cluster != e.us.cluster {
		return
	}
	uid := types.UID(of.uid)
	e.connector.displaced.put(uid, true)
	e.connector.doubt(uid)
	e.connector.Again(types.NamespacedName{Namespace: of.namespace, Name: of.name}, e.connector.Now())
}
