package local

import (
	"context"
	"crypto/x509/pkix"
	"fmt"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/keys"
)

// fieldManager is who applies what this package applies.
const fieldManager = "localplane"

// FunctionCertificate writes what a composition function serves with into dir: tls.crt and tls.key for 127.0.0.1, signed by
// the authority that Crossplane trusts, and that authority as ca.crt.
func (p *Plane) FunctionCertificate(ctx context.Context, dir string) error {
	s := &corev1.Secret{}
	if err := p.kube.Get(ctx, client.ObjectKey{Namespace: CrossplaneNamespace, Name: rootSecret}, s); err != nil {
		return fmt.Errorf("cannot read Crossplane's authority: %w", err)
	}
	ca, err := keys.Read(s.Data["tls.crt"], s.Data["tls.key"])
	if err != nil {
		return fmt.Errorf("cannot use Crossplane's authority: %w", err)
	}
	c, err := ca.Issue(pkix.Name{CommonName: "function"}, []string{"127.0.0.1", "localhost"}, time.Now())
	if err != nil {
		return err
	}
	if err := keys.WriteFile(filepath.Join(dir, "ca.crt"), ca.PEM); err != nil {
		return err
	}
	return c.Write(dir, "tls")
}

// RegisterFunction makes compositions that name the function call endpoint, a HOST:PORT. There is no package: the revision is
// paused, so that Crossplane's package manager leaves it alone, and its status is written here.
func (p *Plane) RegisterFunction(ctx context.Context, name, endpoint string) error {
	rev := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "pkg.crossplane.io/v1",
		"kind":       "FunctionRevision",
		"metadata": map[string]any{
			"name":        name + "-local",
			"labels":      map[string]any{"pkg.crossplane.io/package": name},
			"annotations": map[string]any{"crossplane.io/paused": "true"},
		},
		"spec": map[string]any{"desiredState": "Active", "image": "local.invalid/" + name + ":dev", "revision": int64(1)},
	}}
	if err := apply(ctx, p.kube, rev); err != nil {
		return err
	}
	before := rev.DeepCopy()
	_ = unstructured.SetNestedField(rev.Object, endpoint, "status", "endpoint")                          // A fresh map.
	_ = unstructured.SetNestedStringSlice(rev.Object, []string{"composition"}, "status", "capabilities") // A fresh map.
	if err := p.kube.Status().Patch(ctx, rev, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("cannot register function %q: %w", name, err)
	}
	return nil
}
