package netboxipaddress

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/google/uuid"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// Provider configs of one NetBox may each name a marker's and a release field of their own, so may other clusters, and a person may rename one of them.
// So whose a record is may stand in a custom field that the provider config at hand knows nothing of. People and tenants write custom fields, too: what
// is read there never gives anybody a record. It only keeps one from being taken over, or let go.

// A trace is what a custom field that isn't this provider config's says of whose a record is.
type trace struct {
	note

	field string
	of    identity
}

// traceIn reads the value of a custom field as one. A path of four parts, as people write where a machine stands, isn't one: a marker of this cluster
// begins with its id, and one of any cluster ends with a UID.
func traceIn(value any, cluster string) (t trace, ok bool) {
	text, _ := value.(string)
	n, ok := parseNote(strings.TrimSpace(text))
	if !ok {
		return trace{}, false
	}
	t.note = n
	t.of, _ = parseMarker(n.marker)
	return t, !n.until.IsZero() || strings.EqualFold(t.of.cluster, cluster) || isUID(t.of.uid)
}

// isUID says whether a text is a UID as API servers make them, of all the ways to write one.
func isUID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }

// traces are what a record's custom fields say of whose it is, but for those of this provider config: markers of other resources, or of what they
// have kept, which look the same, and anybody's quarantines. This resource's own marker is of before the field's name was changed.
func (e *external) traces(ip netbox.IPAddress) []trace {
	var all []trace
	for _, name := range slices.Sorted(maps.Keys(ip.CustomFields)) {
		if name == e.inputs.field || name == e.inputs.note {
			continue
		}
		t, ok := traceIn(ip.CustomFields[name], e.us.cluster)
		t.field = name
		own := t.of.cluster == e.us.cluster && t.of.resource() == e.us.resource()
		if ok && (!own || !t.until.IsZero()) {
			all = append(all, t)
		}
	}
	return all
}

// markedElsewhere is the trace of a record that carries another one's marker.
func (e *external) markedElsewhere(ip netbox.IPAddress) (t trace, ok bool) {
	all := e.traces(ip)
	i := slices.IndexFunc(all, func(t trace) bool { return t.until.IsZero() })
	if i < 0 {
		return trace{}, false
	}
	return all[i], true
}

// sharedBy is the trace of a record that carries the marker of one that lives, as far as can be told: whether another cluster's does, can't.
func (e *external) sharedBy(ctx context.Context, ip netbox.IPAddress) (t trace, ok bool, err error) {
	for _, t := range e.traces(ip) {
		if !t.until.IsZero() {
			continue
		}
		if t.of.cluster != e.us.cluster {
			return t, true, nil
		}
		if live, err := e.living(ctx, t.of); live != nil || err != nil {
			return t, live != nil, err
		}
	}
	return trace{}, false, nil
}

// traceWords say whose a trace is, without naming anything of another namespace.
func (e *external) traceWords(t trace) string {
	if t.of.cluster != e.us.cluster {
		return "another cluster"
	}
	return "another resource of this cluster"
}

// sharer returns the resource whose status says that just this record is its own, as the API server has it: whatever has become of its marker in NetBox, a
// machine may be using the address. nil: there's none.
func (e *external) sharer(ctx context.Context, ip netbox.IPAddress) (*identity, error) {
	if e.connector.Holders == nil {
		return nil, nil
	}
	found, err := e.connector.Holders(ctx, ip.Address.Addr())
	if err != nil {
		return nil, err
	}
	for i := range found {
		of := identityOf(e.us.cluster, &found[i])
		if of.uid == e.us.uid || !e.has(&found[i], ip) {
			continue
		}
		live, err := e.living(ctx, of)
		if err != nil {
			return nil, err
		}
		if live != nil && e.has(live, ip) {
			return &of, nil
		}
	}
	return nil, nil
}

// has says that the status of a resource has just this record, of this NetBox.
func (e *external) has(mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) bool {
	return mg.Status.AtProvider.ID == ip.ID && e.connector.shows(mg, ip.Address.Addr(), ip.VRF) && e.sameNetBox(mg)
}

// living returns a resource of this cluster as the API server has it; nil where it's gone, is another one by now, or is being deleted and nobody holds it: as long as
// somebody does, as its claim while its machine is on, its record isn't released.
func (e *external) living(ctx context.Context, of identity) (*v1alpha1.NetBoxIPAddress, error) {
	mg := &v1alpha1.NetBoxIPAddress{}
	err := e.connector.Live.Get(ctx, of.resource(), mg)
	if err != nil && !kerrors.IsNotFound(err) {
		return nil, err //nolint:wrapcheck // It's worded by who asked.
	}
	if err != nil || string(mg.GetUID()) != of.uid || meta.WasDeleted(mg) && !held(mg) {
		return nil, nil //nolint:nilerr // It's gone, which is an answer.
	}
	return mg, nil
}

// held says that somebody beside the managed reconciler, which releases the record after all others, keeps a resource from going.
func held(mg *v1alpha1.NetBoxIPAddress) bool {
	return slices.ContainsFunc(mg.GetFinalizers(), func(f string) bool { return f != managed.FinalizerName })
}
