package redfishhost

import (
	"context"
	"net/http"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// find reads the System, by the URI of last time where it is known. For the
// record all of them are read: it tells whether others have the same name.
func (e *external) find(ctx context.Context, bmc BMC, host *v1alpha1.RedfishHost) (redfish.System, error) {
	r, recorded := recordOf(host)
	want, err := selectorOf(host.Spec.ForProvider)
	if err != nil {
		return redfish.System{}, err
	}
	known, hint := or(host.Status.AtProvider.Identity.SystemURI, r.URI), ""
	uncounted := recorded && r.Systems == 0 && !e.connector.counted.has(host.GetUID())
	if recorded && !uncounted {
		hint = known
	}
	s, err := bmc.Find(ctx, want, hint)
	if hint == "" && known != "" && byOthers(err) {
		// A host of an older version, whose BMC shows more Systems since, or one
		// that can't be read: what is wrong with another machine isn't ours.
		s, err = bmc.Find(ctx, want, known)
	}
	if recorded && want.Serial != "" && strings.EqualFold(want.Serial, r.Serial) && redfish.IsNoSystem(err) {
		// It may only not tell its serial just now: who it is gets judged by the record.
		want.Serial = ""
		s, err = bmc.Find(ctx, want, known)
	}
	if uncounted && err == nil {
		e.connector.counted.put(host.GetUID())
	}
	if err != nil {
		return s, err //nolint:wrapcheck // The caller asks for its kind.
	}

	return traced(ctx, bmc, host, s)
}

// traced adds to what a machine says of itself what else tells it from another.
func traced(ctx context.Context, bmc BMC, host *v1alpha1.RedfishHost, s redfish.System) (redfish.System, error) {
	r, recorded := recordOf(host)
	var err error
	if traces := tracesFor(r, recorded, s.Identity); traces != (redfish.Traces{}) {
		s, err = bmc.Trace(ctx, s, traces)
	}
	s.Identity = vouched(r, s.Identity)

	return s, err //nolint:wrapcheck // The caller asks for its kind.
}

// byOthers says whether err may be about another System of the BMC than the one
// that is looked for. A refused password isn't: another log-in would count.
func byOthers(err error) bool {
	switch redfish.KindOf(err) {
	case redfish.Ambiguous, redfish.Refused, redfish.Forbidden, redfish.Protocol:
		return true
	default:
		return statusOf(err) >= http.StatusInternalServerError
	}
}
