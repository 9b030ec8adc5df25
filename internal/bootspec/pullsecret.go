package bootspec

import (
	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// PullSecretType is the type that the Secret of a profile's pullSecretRef must have.
const PullSecretType = "kubernetes.io/dockerconfigjson" //nolint:gosec // A type's name.

// PullSecretOf is the name of the copy of the Secret that a profile's files are fetched by; "": it names none.
func PullSecretOf(p *v1alpha1.BootProfile) string {
	if p.Spec.PullSecretRef == nil {
		return ""
	}
	return boot.PullSecretName(p.Namespace, p.Spec.PullSecretRef.Name)
}

// CheckPullSecret says what is wrong with the Secret that a profile names, by its type and its data; nil: nothing. data is nil where it isn't
// there. What it holds isn't quoted.
func CheckPullSecret(p *v1alpha1.BootProfile, kind string, data map[string][]byte) *boot.Problem {
	name := p.Spec.PullSecretRef.Name
	switch {
	case data == nil:
		return no(v1alpha1.ReasonNotFound, "Secret %q isn't there; create it, of type %s, or name another in pullSecretRef", name, PullSecretType)
	case kind != PullSecretType || len(data[boot.KeyPullSecret]) == 0:
		return no(v1alpha1.ReasonInvalid, "Secret %q of pullSecretRef must be of type %s, with the key %s", name, PullSecretType, boot.KeyPullSecret)
	}
	return nil
}
