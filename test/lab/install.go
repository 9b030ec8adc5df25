package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
)

// install applies what a package manager would, and the manifests that an administrator applies beside the packages.
func (l *Lab) install(ctx context.Context) error {
	for _, ns := range []string{InfraNamespace, BootNamespace} {
		if err := l.Namespace(ctx, ns); err != nil {
			return err
		}
	}
	crds, err := local.Load(l.path("package", "provider", "crds"))
	if err != nil {
		return err
	}
	if err := l.Plane.Apply(ctx, crds...); err != nil {
		return err
	}
	if err := l.providerAccount(ctx, crds); err != nil {
		return err
	}
	manifests, err := local.Load(l.path("package", "manifests"))
	if err != nil {
		return err
	}
	if err := l.Plane.Apply(ctx, manifests...); err != nil {
		return err
	}
	if err := l.installConfigurations(ctx); err != nil {
		return err
	}
	return l.Plane.Established(ctx, crds...)
}

// installConfigurations applies XRDs and Compositions of both flavours.
func (l *Lab) installConfigurations(ctx context.Context) error {
	objects, err := local.Load(l.path("package", "configuration"), l.path("package", "configuration-v2"))
	if err != nil {
		return err
	}
	if err := l.Plane.Apply(ctx, objects...); err != nil {
		return err
	}
	xrds := slices.DeleteFunc(objects, func(u *unstructured.Unstructured) bool { return u.GetKind() != "CompositeResourceDefinition" })
	return l.Plane.Established(ctx, xrds...)
}

// providerAccount gives the provider exactly the rights that Crossplane's RBAC manager would.
func (l *Lab) providerAccount(ctx context.Context, crds []*unstructured.Unstructured) error {
	b, err := os.ReadFile(l.path("package", "provider", "crossplane.yaml"))
	if err != nil {
		return fmt.Errorf("cannot read the provider package: %w", err)
	}
	var pkg struct {
		Spec struct {
			Capabilities []string `json:"capabilities"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(b, &pkg); err != nil {
		return fmt.Errorf("cannot understand the provider package: %w", err)
	}
	names := make([]string, 0, len(crds))
	for _, c := range crds {
		names = append(names, c.GetName())
	}
	return l.Plane.ProviderServiceAccount(ctx, ProviderName, names, pkg.Spec.Capabilities)
}

// Namespace makes a namespace where it isn't there.
func (l *Lab) Namespace(ctx context.Context, name string) error {
	err := l.Client().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if err != nil && !kerrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot make namespace %q: %w", name, err)
	}
	return nil
}

// path in the checkout.
func (l *Lab) path(elem ...string) string { return filepath.Join(append([]string{l.root}, elem...)...) }
