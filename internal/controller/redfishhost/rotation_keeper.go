package redfishhost

import (
	"cmp"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// keepers are labels and annotations of what writes a Secret again and again as
// it has it itself, and what that is called; "" is by the value.
var keepers = []struct{ key, name string }{ //nolint:gochecknoglobals // A table.
	{key: "reconcile.external-secrets.io/managed", name: "External Secrets"},
	{key: "reconcile.external-secrets.io/created-by", name: "External Secrets"},
	{key: "argocd.argoproj.io/instance", name: "Argo CD"},
	{key: "argocd.argoproj.io/tracking-id", name: "Argo CD"},
	{key: "kustomize.toolkit.fluxcd.io/name", name: "Flux"},
	{key: "helm.toolkit.fluxcd.io/name", name: "Flux"},
	{key: "reflector.v1.k8s.emberstack.com/reflects", name: "Reflector"},
	{key: "replicator.v1.mittwald.de/replicated-at", name: "kubernetes-replicator"},
	{key: "app.kubernetes.io/managed-by"},
}

// kubectlApply keeps a Secret whose file has the password.
const kubectlApply = "a file that has the password and was written by kubectl apply"

// keeperOf names what keeps a Secret as it is, as far as the Secret tells; "" is
// nothing.
func keeperOf(s *corev1.Secret) string {
	for _, owner := range s.OwnerReferences {
		if owner.Kind != v1alpha1.RedfishHostKind { // A host writes no Secret; it's there so that the Secret goes with it.
			return fmt.Sprintf("%s %q", owner.Kind, owner.Name)
		}
	}
	for _, k := range keepers {
		for _, of := range []map[string]string{s.Labels, s.Annotations} {
			if v := of[k.key]; v != "" {
				return cmp.Or(k.name, v)
			}
		}
	}
	if appliedPassword(s.Annotations[corev1.LastAppliedConfigAnnotation]) {
		return kubectlApply
	}
	for _, m := range s.ManagedFields {
		if m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == "" && m.FieldsV1 != nil && ownsPassword(m.FieldsV1.Raw) {
			return fmt.Sprintf("what applies it as %q", m.Manager)
		}
	}

	return ""
}

// appliedPassword says whether what kubectl apply wrote last had the password. What
// can't be read may have had it.
func appliedPassword(manifest string) bool {
	if manifest == "" {
		return false
	}
	var s struct {
		Data       map[string]json.RawMessage `json:"data"`
		StringData map[string]json.RawMessage `json:"stringData"`
	}
	if err := json.Unmarshal([]byte(manifest), &s); err != nil {
		return true
	}
	_, data := s.Data[v1alpha1.SecretKeyPassword]
	_, plain := s.StringData[v1alpha1.SecretKeyPassword]

	return data || plain
}

// ownsPassword says whether somebody's fields of a Secret have the password among
// them, or all keys at once. What can't be read may have it.
func ownsPassword(fields []byte) bool {
	var f map[string]map[string]json.RawMessage
	if err := json.Unmarshal(fields, &f); err != nil {
		return true
	}
	for _, at := range []string{"f:data", "f:stringData"} {
		of, ok := f[at]
		if _, has := of["f:"+v1alpha1.SecretKeyPassword]; has || ok && len(of) == 0 {
			return true
		}
	}

	return false
}
