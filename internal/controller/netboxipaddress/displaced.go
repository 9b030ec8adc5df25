package netboxipaddress

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// setAsides is how many addresses of one source a resource leaves to those who lost them, before it keeps the next one.
const setAsides = 3

// displace has the resource looked at, at once, whose record was last seen with the address that this one's was just given: NetBox gives nobody
// what a record has, so somebody deleted or moved that one since, and its resource is Ready of what was seen before. Where an address is to be
// had more than once that says nothing.
func (e *external) displace(mg *v1alpha1.NetBoxIPAddress, by netbox.IPAddress) (was netbox.IPAddress, of identity, ok bool) {
	if mg.Spec.ForProvider.Duplicates == v1alpha1.DuplicatesAllow || sharesRole(by.Role) {
		return was, of, false
	}
	if was, ok = e.netbox.Displaced(by); !ok {
		return was, of, false
	}
	if of, ok = parseMarker(was.Marker(e.inputs.field)); !ok || of.cluster != e.us.cluster {
		return was, of, false
	}
	e.rouse(of)
	return was, of, true
}

// rouse has a resource looked at, at once, by what NetBox says now.
func (e *external) rouse(of identity) {
	uid := types.UID(of.uid)
	e.connector.displaced.put(uid, true)
	e.connector.doubt(uid)
	e.connector.Again(of.resource(), e.connector.Now())
}

// allocateUnused asks a source for an address until it gives one that no machine of another resource may be using.
func (e *external) allocateUnused(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, c candidate) (netbox.IPAddress, error) {
	for try := 0; ; try++ {
		ip, err := e.allocate(ctx, c, mg.Spec.ForProvider)
		if err != nil || try == setAsides {
			return ip, err
		}
		was, of, ok := e.displace(mg, ip)
		if !ok || !e.lostBy(ctx, was, of) {
			return ip, nil
		}
		if err := e.setAside(ctx, ip, of); err != nil {
			return netbox.IPAddress{}, err
		}
	}
}

// lostBy says whether a record is gone from NetBox whose resource lives, and knows of no other one. What can't be read says nothing.
func (e *external) lostBy(ctx context.Context, was netbox.IPAddress, of identity) bool {
	if _, err := e.netbox.Get(ctx, was.ID); !netbox.IsNotFound(err) {
		return false
	}
	mg := &v1alpha1.NetBoxIPAddress{}
	if err := e.connector.Kube.Get(ctx, of.resource(), mg); err != nil {
		return false
	}
	return string(mg.GetUID()) == of.uid && !meta.WasDeleted(mg) && recordOf(mg) == was.ID && e.netbox.EnsureReleaseField(ctx) == nil
}

// setAside leaves a record that was just made to the resource that had its address: in quarantine, as if that had released it. Nobody gets the
// address as long as its machine may be using it, and whenLost: Restore finds it. What fails here is found by its marker, and stays ours.
func (e *external) setAside(ctx context.Context, ip netbox.IPAddress, of identity) error {
	n := note{marker: of.marker(), until: e.connector.Now().Add(quarantine).Truncate(time.Second)}
	err := e.netbox.Release(ctx, ip, netbox.Release{Marker: e.us.marker(), Note: n.String(), Retire: true})
	if err == nil {
		e.connector.Due(n.until)
		e.rouse(of) // It may have looked in between, and seen another one's record.
	}
	return err
}
