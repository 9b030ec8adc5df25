package netboxipaddress

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// IndexHost is the index of addresses by what their status says that they have.
const IndexHost = "baremetal.host"

// HostOf is the value of that index: an address without its mask, whatever its table.
func HostOf(o client.Object) []string {
	mg, ok := o.(*v1alpha1.NetBoxIPAddress)
	if !ok {
		return nil
	}
	a, _, seen := lastSeen(mg.Status.AtProvider)
	if !seen {
		return nil
	}
	return []string{a.Addr().String()}
}

// A former is a resource that had an address which another one was given, or is to be, and the record that it had it by.
type former struct {
	of     identity
	record int64
	// given is when it got the address last; nil where that isn't known.
	given *metav1.MicroTime
	// marker is what that record carries, where it's another one than the resource's own: of before the resource was restored from a backup. "": its own.
	marker string
	// role is the one that it has or had the address with: some are shared.
	role string
	// joins says that it has the address beside this resource, which had it, too, as its own spec says: neither takes it from the other. adopts says
	// that a person named its record.
	joins, adopts bool
	// offers says that it shares the address by its own spec, whether or not this resource had it.
	offers bool
	// created is when its record was, as its annotations say; a backup has these without a status, too.
	created time.Time
	// field is the marker's, where that is known: a NetBox may have several provider configs, each with a field of its own. "": any may carry it.
	field string
	// elsewhere says that it may have had it in another NetBox: by all that is known, but for what its own provider config's NetBox says, which
	// may be anybody's.
	elsewhere bool
	// unlogged is until when NetBox's log may be shown without what became of that record.
	unlogged time.Time
}

// displace has the resource looked at, at once, whose record was last seen with the address that this one's was just given: NetBox gives nobody
// what a record has, so somebody deleted or moved that one since, and its resource is Ready of what was seen before. Where both may have the address
// that says nothing.
func (e *external) displace(mg *v1alpha1.NetBoxIPAddress, by netbox.IPAddress) {
	if f, ok := e.displaced(by); ok && !shares(mg.Spec.ForProvider, f.role) {
		e.rouse(f.of)
	}
}

// shares says that a resource may have an address beside one that has or had it with a role. Its own role alone allows nothing: one that is allocated is
// nobody else's, and whose address was lost may never have thought of sharing it.
func shares(p v1alpha1.NetBoxIPAddressParameters, role string) bool {
	switch {
	case p.Address == "":
		return false
	case p.Duplicates == v1alpha1.DuplicatesAllow:
		return true
	}
	return p.Duplicates == v1alpha1.DuplicatesSharedRole && sharesRole(deref(p.Role)) && sharesRole(role)
}

// displaced is whose record was last seen with a record's address. The connection tells that once: it's remembered until it's known that the
// address isn't that one's any more, whoever asks for it then, and however often that can't be told.
func (e *external) displaced(by netbox.IPAddress) (f former, ok bool) {
	if was, told := e.netbox.Displaced(by); told {
		if of, ours := parseMarker(was.Marker(e.inputs.field)); ours && of.cluster == e.us.cluster && of.uid != e.us.uid {
			e.connector.formers.put(e.hostKey(by.Address.Addr(), by.VRF), former{of: of, record: was.ID, role: was.Role, field: e.inputs.field})
		}
	}
	return e.remembered(by.Address.Addr(), by.VRF)
}

// remembered is who was seen to have been displaced from an address, another than this resource.
func (e *external) remembered(address netip.Addr, vrf *netbox.VRF) (f former, ok bool) {
	key := e.hostKey(address, vrf)
	f, ok = e.connector.formers.get(key)
	if !ok || f.of.uid == e.us.uid {
		return former{}, false
	}
	e.connector.formers.put(key, f) // It's of use yet.
	return f, true
}

// hostKey is what a former is noted by: an address of a table of a NetBox. By a namespace's own provider config that is nobody else's: whoever
// answers it may say of any address that a resource had it.
func (e *external) hostKey(address netip.Addr, vrf *netbox.VRF) types.UID {
	of := strings.TrimRight(e.url, "/")
	if e.of.Namespace != "" {
		of = e.of.Namespace + "/" + e.of.Name + " " + of
	}
	return types.UID(fmt.Sprintf("%s %d %s", of, tableRef(vrf).ID, address))
}

// rouse has a resource looked at, at once, by what NetBox says now.
func (e *external) rouse(of identity) {
	uid := types.UID(of.uid)
	e.connector.displaced.put(uid, true)
	e.connector.doubt(uid)
	e.connector.Again(of.resource(), e.connector.Now())
}

// loser returns the resource that has lost an address which NetBox has just given this one's record: somebody deleted the record that it had, and a
// machine may be using the address. nil: there's none. An error says that it can't be told.
func (e *external) loser(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, by netbox.IPAddress) (*identity, error) {
	e.displace(mg, by)
	return e.loserOf(ctx, mg.Spec.ForProvider, by.Address.Addr(), by.VRF)
}

// loserOf is that for an address that is to be asked for.
func (e *external) loserOf(ctx context.Context, p v1alpha1.NetBoxIPAddressParameters, address netip.Addr, vrf *netbox.VRF) (*identity, error) {
	all, err := e.formers(ctx, address, vrf, deref(p.Role))
	if err != nil {
		return nil, err
	}
	if f, ok := e.remembered(address, vrf); ok && !slices.ContainsFunc(all, func(o former) bool { return o.of.uid == f.of.uid }) {
		all = append(all, f)
	}
	passed := false
	for _, f := range all {
		if shares(p, f.role) || f.joins || e.hadAfter(f, address) {
			passed = true // Who doesn't share with it is to know of it yet.
			continue
		}
		if lost, err := e.lostBy(ctx, p, f, address, vrf); lost || err != nil {
			e.rouse(f.of)
			return &f.of, err
		}
	}
	if !passed {
		e.connector.formers.forget(e.hostKey(address, vrf))
	}
	return nil, nil
}

// hadAfter says that this resource was given an address after a former, and shows it: nobody takes it from its machine any more.
func (e *external) hadAfter(f former, address netip.Addr) bool {
	return e.record != nil && e.held.shown && e.held.address.Addr() == address && f.given.Before(e.was.Given)
}

// since says, in words, who was given an address after this resource, as far as is known, shows it yet, and isn't there by its record: somebody moved that
// one's away, or deleted it. A machine may be using the address as that one's. "": nobody.
func (e *external) since(ctx context.Context, p v1alpha1.NetBoxIPAddressParameters, address netip.Addr, vrf *netbox.VRF) (string, error) {
	all, err := e.formers(ctx, address, vrf, deref(p.Role))
	if err != nil {
		return "", err
	}
	for _, f := range all {
		if f.given.Before(e.was.Given) || shares(p, f.role) || f.joins {
			continue
		}
		if f.elsewhere { // What carries its marker here is its own, and who is held back harms nobody.
			f.field = e.inputs.field
		}
		is, err := e.netbox.Get(ctx, f.record)
		away := err == nil && f.carries(is.CustomFields) && !shares(p, is.Role)
		if netbox.IsNotFound(err) || err == nil && !f.carries(is.CustomFields) {
			away, err = e.lostBy(ctx, p, f, address, vrf)
		}
		if err != nil {
			return "", err
		}
		if away {
			return e.whoseWords(f.of), nil
		}
	}
	return "", nil
}

// joinedBy says that another one shares an address with this resource's record by its spec, whether this one's role is by spec or a person's.
func (e *external) joinedBy(p v1alpha1.NetBoxIPAddressParameters, role string) bool {
	return shares(p, role) || e.record != nil && shares(p, e.record.Role)
}

// formers are the resources whose status says that they have an address of a table of this NetBox, as the cache has them. role is the one that spec asks
// for.
func (e *external) formers(ctx context.Context, address netip.Addr, vrf *netbox.VRF, role string) ([]former, error) {
	if e.connector.Holders == nil {
		return nil, nil
	}
	found, err := e.connector.Holders(ctx, address)
	if err != nil {
		return nil, err
	}
	var all []former
	for i := range found {
		mg := &found[i]
		if of := identityOf(e.us.cluster, mg); of.uid != e.us.uid && e.connector.shows(mg, address, vrf) {
			f := former{
				of: of, record: mg.Status.AtProvider.ID, given: mg.Status.AtProvider.Given, marker: mg.Status.AtProvider.Marker, role: deref(mg.Spec.ForProvider.Role),
				elsewhere: !e.sameNetBox(mg), unlogged: e.connector.unlogged(mg), adopts: mg.Spec.ForProvider.Adopt == v1alpha1.AdoptExternalName,
				offers: e.joinedBy(mg.Spec.ForProvider, role), created: meta.GetExternalCreateSucceeded(mg),
			}
			// One of a pair that people made is beside this one by its time: it was given the address when the other one's record was there.
			f.joins = e.hadIt(address) && (f.offers || e.named && f.adopts && f.given != nil && f.given.Equal(e.was.Given))
			if e.sameConfig(mg) {
				f.field = e.inputs.field
			}
			all = append(all, f)
		}
	}
	latest(all)
	return all, nil
}

// hadIt says that this resource had an address: by its status, or by its record, where it was restored without that.
func (e *external) hadIt(address netip.Addr) bool {
	if e.held.shown {
		return e.held.address.Addr() == address
	}
	return e.restored() && e.record.Address.Addr() == address
}

// sameNetBox says whether it's sure that a resource's record is in this one's NetBox: by its provider config, or by its page. What a page is, its
// NetBox says: that of another namespace's own provider config, which anybody may have set up, is believed nothing.
func (e *external) sameNetBox(mg *v1alpha1.NetBoxIPAddress) bool {
	if e.sameConfig(mg) {
		return true
	}
	ref := mg.GetProviderConfigReference()
	if ref == nil || ref.Kind != v1alpha1.ClusterProviderConfigKind && e.us.namespace != mg.GetNamespace() {
		return false
	}
	base, _, ok := strings.Cut(mg.Status.AtProvider.URL, "/ipam/ip-addresses/")
	return ok && strings.TrimSuffix(base, "/api") == strings.TrimRight(e.url, "/")
}

// sameConfig says that a resource goes by this one's provider config.
func (e *external) sameConfig(mg *v1alpha1.NetBoxIPAddress) bool {
	ref := mg.GetProviderConfigReference()
	return ref != nil && ref.Kind == e.of.Kind && ref.Name == e.of.Name && (ref.Kind == v1alpha1.ClusterProviderConfigKind || e.of.Namespace == mg.GetNamespace())
}

// lostBy says whether the record of a resource is gone from NetBox though that lives, and nobody has released it: a resource that was looked at after
// its record was seen to be gone, and isn't being deleted, wasn't then, either. That is asked of the API server itself: by a copy that is behind
// what was released is lost. One that doesn't name a record yet may be about to name this one: it's waited for. So is it asked of NetBox, as far as
// can be seen: a record that is its own, and has the address, had it. A record of its number that doesn't carry its marker isn't its own: once a backup is restored NetBox gives numbers again, the first of them to whom it gives the first address.
func (e *external) lostBy(ctx context.Context, p v1alpha1.NetBoxIPAddressParameters, f former, address netip.Addr, vrf *netbox.VRF) (bool, error) {
	is, err := e.netbox.Get(ctx, f.record)
	own := err == nil && f.owns(is)
	if own && isAt(is, address, vrf) {
		if shares(p, is.Role) { // A role that its spec doesn't name may be a person's, or of when it was adopted.
			return false, nil
		}
		return false, behindError{record: f.record, address: address}
	}
	if own || err == nil && f.elsewhere || err != nil && !netbox.IsNotFound(err) {
		return false, err
	}
	if f.elsewhere {
		if here, err := e.deletedHere(ctx, f, address, vrf); !here || err != nil {
			return false, err
		}
	}
	mg, err := e.living(ctx, f.of)
	if mg == nil {
		return false, err
	}
	if recordOf(mg) == 0 && e.connector.underWay(mg) {
		return false, underWayError{f.record, address}
	}
	a, _, seen := lastSeen(mg.Status.AtProvider)
	switch {
	case seen && a.Addr() != address:
		return false, nil
	case recordOf(mg) == f.record:
		return true, nil
	case !seen || mg.Status.AtProvider.ID != f.record:
		return false, nil
	}
	return e.misnamed(ctx, f, recordOf(mg))
}

// misnamed says of a resource whose status has a record that is gone, and whose external name is another one, that this isn't its own: somebody wrote
// that. Its own is what it was given since, and doesn't show yet.
func (e *external) misnamed(ctx context.Context, f former, named int64) (bool, error) {
	if named == 0 {
		return true, nil
	}
	is, err := e.netbox.Get(ctx, named)
	if err != nil && !netbox.IsNotFound(err) {
		return false, err
	}
	return err != nil || !f.carries(is.CustomFields), nil //nolint:nilerr // Nobody's is none of its own.
}
