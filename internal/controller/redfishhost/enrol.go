package redfishhost

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// enrol records, where that isn't done yet, who the machine is, which certificate
// its BMC showed first, and of a new host that whatever is asked for at this
// moment counts as done. It says whether the managed reconciler has to write
// that. It doesn't for a host that is only observed: there it's a write of our
// own, or another machine behind the address would go unnoticed.
func (e *external) enrol(ctx context.Context, host *v1alpha1.RedfishHost, pin string) (late bool, err error) {
	annotations, err := e.unrecorded(host)
	if err != nil {
		return false, err
	}
	trusted := e.target.TLS.Verify == redfish.VerifyTrustOnFirstUse && len(e.target.TLS.Pins) == 0 && pin != ""
	if allows(host, xpv2.ManagementActionLateInitialize) {
		meta.AddAnnotations(host, annotations)
		if trusted {
			host.Spec.ForProvider.TLS = &v1alpha1.HostTLS{PinnedSHA256: []string{pin}}
		}

		return trusted || len(annotations) > 0, nil
	}
	if trusted {
		annotations[v1alpha1.AnnotationTLSPin] = pin
	}
	if len(annotations) == 0 {
		return false, nil
	}
	err = e.annotate(ctx, host, annotations)
	if kerrors.IsConflict(err) {
		return false, err // The reconciler looks again.
	}

	return false, errors.Wrap(err, "cannot record which machine the host is")
}

// unrecorded are the annotations that say who the machine is, as far as the host
// doesn't have them.
func (e *external) unrecorded(host *v1alpha1.RedfishHost) (map[string]string, error) {
	annotations := map[string]string{}
	if meta.GetExternalName(host) == "" {
		annotations[meta.AnnotationKeyExternalName] = e.system.Name()
		// A host that is only observed gets no journal: what is asked for when
		// that changes counts as done by then.
		if allows(host, xpv2.ManagementActionUpdate) && parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal]) == nil {
			annotations[v1alpha1.AnnotationJournal] = adopted(wanted(host.Spec.ForProvider)).String()
		}
	}
	was, recorded := recordOf(host)
	if now := completed(was, e.system); !recorded || now != was {
		b, err := json.Marshal(now)
		if err != nil {
			return nil, errors.Wrap(err, "cannot encode the machine's identity")
		}
		annotations[v1alpha1.AnnotationIdentity] = string(b)
	}

	return annotations, nil
}

// allows says whether a host's policies have an action.
func allows(host *v1alpha1.RedfishHost, action xpv2.ManagementAction) bool {
	return slices.ContainsFunc(host.GetManagementPolicies(), func(a xpv2.ManagementAction) bool {
		return a == xpv2.ManagementActionAll || a == action
	})
}

// recordOf reads a host's record, and says whether there is one.
func recordOf(host *v1alpha1.RedfishHost) (v1alpha1.IdentityRecord, bool) {
	var r v1alpha1.IdentityRecord
	err := json.Unmarshal([]byte(host.GetAnnotations()[v1alpha1.AnnotationIdentity]), &r)

	return r, err == nil && r.URI != ""
}

// nameless says whether a machine had neither serial nor UUID.
func nameless(r v1alpha1.IdentityRecord) bool { return r.Serial == "" && r.UUID == "" }

// tracesFor is what is read of a machine besides its own words: all there is
// before it is recorded; then, where it has no name, what decides.
func tracesFor(r v1alpha1.IdentityRecord, recorded bool) redfish.Traces {
	switch {
	case !recorded:
		return redfish.Traces{Chassis: true, BMC: true}
	case !nameless(r):
		return redfish.Traces{}
	case r.ChassisSerial != "":
		return redfish.Traces{Chassis: true}
	default:
		return redfish.Traces{BMC: r.BMCUUID != ""}
	}
}

// completed is a record with what it doesn't say yet. What it says stays.
func completed(r v1alpha1.IdentityRecord, s redfish.System) v1alpha1.IdentityRecord {
	r.URI = or(r.URI, s.URI)
	r.Serial, r.UUID = or(r.Serial, s.Serial), or(r.UUID, s.UUID)
	r.ChassisSerial, r.BMCUUID = or(r.ChassisSerial, s.ChassisSerial), or(r.BMCUUID, s.BMCUUID)
	if r.Systems == 0 {
		r.Systems = s.Sharing
	}

	return r
}

// contradiction says by which name a record knows its machine, and by which one
// it is another: both "" where they are the same as far as anybody knows.
func contradiction(r v1alpha1.IdentityRecord, i redfish.Identity) (was, is string) {
	differ := func(a, b string, same func(a, b string) bool) bool { return a != "" && b != "" && !same(a, b) }
	switch {
	case differ(r.Serial, i.Serial, strings.EqualFold):
		return r.Serial, i.Serial
	case differ(r.UUID, i.UUID, redfish.SameUUID):
		return r.UUID, i.UUID
	case r.Systems > 1 && !strings.EqualFold(r.URI, i.URI):
		return r.URI, i.URI
	case nameless(r) && differ(r.ChassisSerial, i.ChassisSerial, strings.EqualFold):
		return r.ChassisSerial, i.ChassisSerial
	case nameless(r) && r.ChassisSerial == "" && differ(r.BMCUUID, i.BMCUUID, redfish.SameUUID):
		return r.BMCUUID, i.BMCUUID
	default:
		return "", ""
	}
}

// mute says whether what decides about a machine isn't told just now.
func mute(r v1alpha1.IdentityRecord, i redfish.Identity) bool {
	switch {
	case r.Serial != "":
		return i.Serial == ""
	case r.UUID != "":
		return i.UUID == ""
	case r.ChassisSerial != "":
		return i.ChassisSerial == ""
	default:
		return r.BMCUUID != "" && i.BMCUUID == ""
	}
}
