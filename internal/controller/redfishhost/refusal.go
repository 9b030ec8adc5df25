package redfishhost

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
)

// annotationRefused names, by fingerprints, the version of a credential that the
// host's BMC refused, and which of its two passwords, where it has two: several
// are apart by a space. The gatekeeper remembers that for as long as the
// process lives; a provider that is restarted, or crashes again and again, must
// not try the same password each time: BMCs lock accounts.
const annotationRefused = v1alpha1.Group + "/refused-credential"

// refusal is the fingerprint of a version of a credential at one BMC. It is of
// the Secret's UID and resourceVersion, never of what is in it.
func refusal(t gate.Target) string {
	const length = 8
	endpoint, err := redfish.Endpoint(t.Address)
	if err != nil || t.CredentialVersion == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(endpoint + " " + t.CredentialVersion))

	return hex.EncodeToString(sum[:length])
}

// refused is the error that the BMC answered to this version of the credential
// before, or nil.
func refused(host *v1alpha1.RedfishHost, t gate.Target) error {
	if r := refusal(t); r == "" || !slices.Contains(strings.Fields(host.GetAnnotations()[annotationRefused]), r) {
		return nil
	}

	return &redfish.Error{Kind: redfish.Unauthorized, Status: http.StatusUnauthorized}
}

// rememberRefusal writes a refusal down, once. It returns err, or why it
// couldn't be written. One in other words than a 401 may be something else: the
// gatekeeper alone remembers it, for a while.
func (e *external) rememberRefusal(ctx context.Context, host *v1alpha1.RedfishHost, err error) error {
	r := refusal(e.target)
	if !redfish.IsUnauthorized(err) || !redfish.IsPlainRefusal(err) || r == "" || refused(host, e.target) != nil {
		return err
	}
	if e.own.used && slices.Contains(strings.Fields(host.GetAnnotations()[annotationRefused]), e.own.first) {
		r = e.own.first + " " + r // Both passwords of this version of the Secret.
	}
	if writeErr := e.annotate(ctx, host, map[string]string{annotationRefused: r}); kerrors.IsConflict(writeErr) {
		return writeErr // The reconciler looks again: the gatekeeper remembers until then.
	} else if writeErr != nil {
		return errors.Wrap(writeErr, "cannot note that the BMC refused the credentials")
	}

	return err
}
