package examples_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestRotationIsNoTrap holds that no example has the Secret of a host whose password is rotated: applying it again would write the old one back.
func TestRotationIsNoTrap(t *testing.T) {
	type name struct{ namespace, name string }
	rotated, secrets := map[name]string{}, map[name]string{}
	for _, path := range examples(t) {
		for _, doc := range documents(t, path) {
			if doc.GetKind() == "Secret" {
				secrets[name{doc.GetNamespace(), doc.GetName()}] = path
			}
			for _, host := range hostsOf(doc) {
				if _, rotates, _ := unstructured.NestedMap(host, "credentialsRotation"); rotates {
					secret, _, _ := unstructured.NestedString(host, "credentialsSecretRef", "name")
					rotated[name{doc.GetNamespace(), secret}] = path
				}
			}
		}
	}
	if len(rotated) == 0 {
		t.Fatal("no example rotates a password")
	}
	for secret, path := range rotated {
		if secrets[secret] != "" {
			t.Errorf("%s rotates the password of Secret %s/%s, which %s would write back: leave the Secret out", path, secret.namespace, secret.name, secrets[secret])
		}
	}
}

// hostsOf are the hosts that an object describes.
func hostsOf(doc *unstructured.Unstructured) []map[string]any {
	switch doc.GetKind() {
	case "RedfishHost":
		host, _, _ := unstructured.NestedMap(doc.Object, "spec", "forProvider")

		return []map[string]any{host}
	case "RackPool":
		var out []map[string]any
		all, _, _ := unstructured.NestedSlice(doc.Object, "spec", "hosts")
		for _, h := range all {
			if m, ok := h.(map[string]any); ok {
				out = append(out, m)
			}
		}

		return out
	default:
		return nil
	}
}
