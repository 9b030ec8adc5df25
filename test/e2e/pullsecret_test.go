package e2e

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

const (
	registryManifest = `
apiVersion: v1
kind: Secret
metadata: {namespace: «tenant», name: registry}
type: kubernetes.io/dockerconfigjson
stringData: {.dockerconfigjson: '«config»'}
`
	pullProfile = `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootProfile
metadata: {namespace: «tenant», name: «name»}
spec:
  mode: Live
  method: Kernel
  pullSecretRef: {name: registry}
  artifacts:
  - arch: amd64
    kernel: {url: "https://images.invalid/vmlinuz", digest: "sha256:abababababababababababababababababababababababababababababababab"}
    initrds: [{url: "https://images.invalid/initrd.img", digest: "sha256:cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"}]
`
	// Two of what a registry may be told.
	robotOne = `{"auths":{"images.invalid":{"username":"robot","password":"one"}}}`
	robotTwo = `{"auths":{"images.invalid":{"username":"robot","password":"another"}}}`
)

// pulled waits until bootd's namespace has a copy of the tenant's Secret that says so; "": none at all.
func (e *env) pulled(what, want string) {
	e.t.Helper()
	at := client.ObjectKey{Namespace: lab.BootNamespace, Name: boot.PullSecretName(e.Tenant, "registry")}
	e.until(what, func(ctx context.Context) error {
		s := &corev1.Secret{}
		err := e.Client().Get(ctx, at, s)
		switch {
		case kerrors.IsNotFound(err) && want == "":
			return nil
		case err != nil:
			return fmt.Errorf("cannot read the copy: %w", err)
		case s.DeletionTimestamp != nil || s.Type != corev1.SecretTypeDockerConfigJson || len(s.Data) != 1 || string(s.Data[boot.KeyPullSecret]) != want:
			return fmt.Errorf("the copy is of type %s and says %q, want %q", s.Type, s.Data, want)
		}
		return nil
	})
}

// TestPullSecretIsCopied holds that bootd is given the passwords that a profile names, as they are now, and for as long as one names them: by an API
// server, and with the rights that the provider has.
func TestPullSecretIsCopied(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	one, two := lab.Kind("BootProfile", e.Tenant, "one"), lab.Kind("BootProfile", e.Tenant, "two")
	source := lab.Ref{APIVersion: "v1", Kind: "Secret", Namespace: e.Tenant, Name: "registry"}
	copied := lab.Ref{APIVersion: "v1", Kind: "Secret", Namespace: lab.BootNamespace, Name: boot.PullSecretName(e.Tenant, "registry")}

	e.apply(pullProfile, "name", one.Name)
	e.await(one, "missing its Secret", lab.Because("Ready", "NotFound"))
	e.apply(registryManifest, "config", robotOne)
	e.pulled("the copy of what a profile names", robotOne)
	e.await(one, "Ready", lab.Is("Ready", "True"))
	e.apply(registryManifest, "config", robotTwo)
	e.pulled("the copy to follow", robotTwo)
	e.must(e.Delete(t.Context(), copied))
	e.pulled("the copy to be made again", robotTwo)

	e.must(e.Delete(t.Context(), source))
	e.pulled("a password that was taken back to be gone", "")
	e.await(one, "missing its Secret again", lab.Because("Ready", "NotFound"))
	e.apply(registryManifest, "config", robotOne)
	e.pulled("the copy of a Secret that is back", robotOne)

	e.apply(pullProfile, "name", two.Name)
	e.await(two, "Ready", lab.Is("Ready", "True"))
	e.deleted(one)
	e.apply(registryManifest, "config", robotTwo)
	e.pulled("the copy to stay for the other profile, and to follow", robotTwo)
	e.patch(two, `{"spec":{"pullSecretRef":null}}`)
	e.pulled("what no profile names to go", "")
	e.patch(two, `{"spec":{"pullSecretRef":{"name":"registry"}}}`)
	e.pulled("the copy of what is named again", robotTwo)
	e.deleted(two)
	e.pulled("what no profile is left for to go", "")
}
