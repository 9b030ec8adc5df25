package netboxipaddress

import (
	"context"
	"errors"
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// find sets record to what is ours in NetBox, and leaves it nil where NetBox says that there is nothing.
func (e *external) find(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	pre, err := e.netbox.Preflight(ctx)
	if err != nil {
		return err
	}
	e.connector.Saw(e.of, pre.Version.String())
	e.field = pre.Field
	err = e.findByName(ctx, meta.GetExternalName(mg))
	if err != nil && (!meta.WasDeleted(mg) || !another(err)) {
		return err
	}
	if e.record != nil || e.field == netbox.FieldMissing {
		return nil // without the field no record can carry a marker
	}
	ip, err := e.netbox.FindByMarker(ctx, e.us.marker())
	if netbox.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	e.record = &ip
	return nil
}

// findByName looks at the record whose number is the external name. It must be ours: an annotation is easily written.
func (e *external) findByName(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	id, err := strconv.ParseInt(name, 10, 64)
	if err != nil || id <= 0 {
		return nameError{name}
	}
	ip, err := e.netbox.Get(ctx, id)
	if netbox.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	o := ownerOf(ip.Marker(e.inputs.field), e.us)
	if o != ownerUs && o != ownerRestored {
		return ownerError{id, o}
	}
	e.record = &ip
	return nil
}

// another says that the record of the external name is plainly somebody else's, so that a resource can go without it. A record
// that carries no marker may have lost ours, and keeps the resource until a person has looked.
func another(err error) bool {
	var o ownerError
	return errors.As(err, &o) && (o.owner == ownerOther || o.owner == ownerCluster)
}
