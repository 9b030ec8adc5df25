package redfishhost

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestKeeperOf: whoever would write the old password back is known, as far as the Secret tells.
func TestKeeperOf(t *testing.T) {
	const applied = "kubectl.kubernetes.io/last-applied-configuration"
	labels := func(key, value string) corev1.Secret {
		return corev1.Secret{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{key: value}}}
	}
	annotated := func(key, value string) corev1.Secret {
		return corev1.Secret{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{key: value}}}
	}
	owned := func(kind string) corev1.Secret {
		return corev1.Secret{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: "x"}}}}
	}
	fields := func(op metav1.ManagedFieldsOperationType, raw string) corev1.Secret {
		return corev1.Secret{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "gitops", Operation: op, FieldsV1: &metav1.FieldsV1{Raw: []byte(raw)}},
		}}}
	}
	cases := map[string]struct {
		reason string
		secret corev1.Secret
		want   string
	}{
		"Nobody":       {reason: "kubectl create secret leaves nothing.", secret: fields(metav1.ManagedFieldsOperationUpdate, `{"f:data":{".":{},"f:password":{},"f:username":{}},"f:type":{}}`)},
		"Owner":        {reason: "An owner that isn't a controller writes, too.", secret: owned("VaultStaticSecret"), want: `VaultStaticSecret "x"`},
		"OwnHost":      {reason: "A Secret that goes with its host.", secret: owned("RedfishHost")},
		"Argo":         {reason: "A name that a table has.", secret: labels("argocd.argoproj.io/instance", "racks"), want: "Argo CD"},
		"Vault":        {reason: "A name that the label itself has.", secret: labels("app.kubernetes.io/managed-by", "hashicorp-vso"), want: "hashicorp-vso"},
		"Empty":        {reason: "No name.", secret: labels("app.kubernetes.io/managed-by", "")},
		"Reflector":    {reason: "A copy of another one.", secret: annotated("reflector.v1.k8s.emberstack.com/reflects", "infra/bmc"), want: "Reflector"},
		"Replicator":   {reason: "The same.", secret: annotated("replicator.v1.mittwald.de/replicated-at", "2026-01-01T00:00:00Z"), want: "kubernetes-replicator"},
		"Applied":      {reason: "kubectl apply sends stringData each time.", secret: annotated(applied, `{"kind":"Secret","stringData":{"password":"p"}}`), want: kubectlApply},
		"AppliedData":  {reason: "And data.", secret: annotated(applied, `{"data":{"password":"cA=="}}`), want: kubectlApply},
		"AppliedUser":  {reason: "A file without the password leaves it as it is.", secret: annotated(applied, `{"stringData":{"username":"u"}}`)},
		"AppliedOdd":   {reason: "What can't be read may have it.", secret: annotated(applied, `all its data`), want: kubectlApply},
		"ServerSide":   {reason: "Who owns the key writes it again.", secret: fields(metav1.ManagedFieldsOperationApply, `{"f:data":{"f:password":{}}}`), want: `what applies it as "gitops"`},
		"ServerPlain":  {reason: "The same by stringData.", secret: fields(metav1.ManagedFieldsOperationApply, `{"f:stringData":{"f:password":{}}}`), want: `what applies it as "gitops"`},
		"ServerAll":    {reason: "And who owns all keys at once.", secret: fields(metav1.ManagedFieldsOperationApply, `{"f:data":{}}`), want: `what applies it as "gitops"`},
		"ServerLabels": {reason: "Not who owns something else.", secret: fields(metav1.ManagedFieldsOperationApply, `{"f:data":{"f:username":{}},"f:metadata":{"f:labels":{"f:a":{}}}}`)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := keeperOf(&tc.secret); got != tc.want {
				t.Errorf("%s\nkeeperOf(...): %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
