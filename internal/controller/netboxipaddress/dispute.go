package netboxipaddress

import (
	"context"
	"errors"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// A dispute is that the record which a resource names isn't its own. A copy of a resource, as after a restore beside the original, may have taken
// all of its records, and nobody gives them back by himself.
type dispute struct {
	failure

	record grounds
	// near says that the look at all addresses shows the record: its marker begins as those do that the provider config has to do with.
	near bool
}

// dispute notes that a record isn't a resource's own.
func (e *external) dispute(mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress, err error) {
	all, uid := e.connector.disputes, mg.GetUID()
	d := dispute{failure: failure{err: err, at: e.connector.Now(), settings: e.namedSettings(mg), of: e.of.UID}}
	ok := errors.As(err, new(ownerError)) || errors.As(err, new(adoptError)) || errors.As(err, new(notAllowedError))
	if ok {
		d.record, ok = digest(ip)
	}
	if !ok {
		all.forget(uid)
		return
	}
	of, marked := parseMarker(ip.Marker(e.inputs.field))
	d.near = marked && of.cluster == e.us.cluster && (e.of.Namespace == "" || of.namespace == e.of.Namespace)
	all.put(uid, d)
}

// disputed is why the record that a resource names wasn't its own a while ago, as long as nothing else is seen.
func (e *external) disputed(mg *v1alpha1.NetBoxIPAddress) error {
	all := e.connector.disputes
	d, ok := all.get(mg.GetUID())
	if !ok || meta.WasDeleted(mg) || d.settings != e.namedSettings(mg) || e.connector.Now().Sub(d.at) >= e.connector.belief(all.count(e.of.UID)) {
		return nil
	}
	if e.glimpse == nil {
		if d.near {
			return nil
		}
		return d.err
	}
	if now, sure := digest(*e.glimpse); !sure || now != d.record {
		return nil
	}
	return d.err
}

// aim looks for the interface of an address that is yet to be made. Thousands may wait for devices that nobody has made in NetBox yet: what
// isn't there, or isn't fit, is looked for the less often the more of them there are.
func (e *external) aim(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	if mg.Spec.ForProvider.AssignTo == nil {
		return nil
	}
	all, uid := e.connector.unplaced, mg.GetUID()
	w, werr := e.wish(ctx, mg)
	settings := fmt.Sprintf("%s/%+v %v %s", e.settings, w, werr, e.plan.network())
	was, ok := all.get(uid, settings)
	if ok && e.connector.Now().Sub(was.at) < e.connector.patience(all.count(e.of.UID)) {
		return was.err
	}
	var err error
	if e.place, err = e.foresee(ctx, mg); err == nil || !lasts(err) {
		all.forget(uid)
		return err
	}
	all.put(uid, failure{err: err, at: e.connector.Now(), settings: settings, of: e.of.UID})
	return err
}
