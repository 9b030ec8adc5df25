package redfishhost

import (
	"context"
	"encoding/json"
	"slices"

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
			tls := v1alpha1.HostTLS{}
			if was := host.Spec.ForProvider.TLS; was != nil {
				tls = *was
			}
			tls.PinnedSHA256 = []string{pin}
			host.Spec.ForProvider.TLS = &tls
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
