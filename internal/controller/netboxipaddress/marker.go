package netboxipaddress

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// An identity is who a record in NetBox belongs to. As its marker it reads CLUSTER/NAMESPACE/NAME/UID.
type identity struct {
	cluster, namespace, name, uid string
}

// markerParts is the number of parts of a marker. None of them can hold a slash.
const markerParts = 4

func identityOf(cluster string, mg *v1alpha1.NetBoxIPAddress) identity {
	return identity{cluster: cluster, namespace: mg.GetNamespace(), name: mg.GetName(), uid: string(mg.GetUID())}
}

// marker is what stands in the custom field.
func (i identity) marker() string {
	return strings.Join([]string{i.cluster, i.namespace, i.name, i.uid}, "/")
}

// resource is its name.
func (i identity) resource() types.NamespacedName {
	return types.NamespacedName{Namespace: i.namespace, Name: i.name}
}

// parseMarker reads a marker; ok is false for what isn't one.
func parseMarker(marker string) (of identity, ok bool) {
	p := strings.Split(marker, "/")
	if len(p) != markerParts || slices.Contains(p, "") {
		return identity{}, false
	}
	return identity{cluster: p[0], namespace: p[1], name: p[2], uid: p[3]}, true
}

// hadAs says that a status is of a record that a resource had: its marker is the resource's, or that of before the resource was restored from a backup,
// by which it got another UID, and maybe its cluster another id. What is only observed is shown without one.
func hadAs(o v1alpha1.NetBoxIPAddressObservation, us identity) bool {
	of, ok := parseMarker(o.Marker)
	return ok && of.resource() == us.resource()
}

// hadHere is that for a marker of this cluster's id: what a copy beside its living original shows is the original's.
func hadHere(o v1alpha1.NetBoxIPAddressObservation, us identity) bool {
	is := ownerOf(o.Marker, us)
	return is == ownerUs || is == ownerRestored
}

// An owner says whose a record is.
type owner string

const (
	// ownerUs: it carries our marker.
	ownerUs owner = "us"
	// ownerRestored: it carries the marker of a resource of our cluster, namespace and name with another UID, and we had never marked it:
	// ours was restored from a backup, as far as can be told, and the record is its own.
	ownerRestored owner = "restored"
	// ownerTwin: the same, though we had marked it: the other one isn't what ours was before, but lives.
	ownerTwin owner = "twin"
	// ownerOther: it carries the marker of another resource of our cluster.
	ownerOther owner = "other"
	// ownerCluster: it carries the marker of a resource of another cluster.
	ownerCluster owner = "cluster"
	// ownerReleased: it carries no marker, and a note that we let it go.
	ownerReleased owner = "released"
	// ownerNobody: it carries no marker, or something that isn't one.
	ownerNobody owner = "nobody"
)

// ownerOf compares a record's marker with who we are.
func ownerOf(marker string, us identity) owner {
	of, ok := parseMarker(marker)
	switch {
	case marker == us.marker():
		return ownerUs
	case !ok:
		return ownerNobody
	case of.cluster != us.cluster:
		return ownerCluster
	case of.namespace != us.namespace || of.name != us.name:
		return ownerOther
	}
	return ownerRestored
}
