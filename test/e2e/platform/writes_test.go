package platform_test

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// named is an object of the provider's group in the tenant's namespace.
func named(kind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: "baremetal.m.crossplane.io", Version: "v1alpha1", Kind: kind})
	u.SetNamespace(tenantNamespace)
	u.SetName(name)
	return u
}

// list is an empty list of a kind.
func list(group, kind string) *unstructured.UnstructuredList {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1alpha1", Kind: kind + "List"})
	return l
}

// status merges a patch into an object's status.
func status(kind, name, body string) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		return c.Status().Patch(ctx, named(kind, name), client.RawPatch(types.MergePatchType, []byte(body)))
	}
}

// updateStatus replaces fields of an object's status, as a program does that has read it.
func updateStatus(kind, name string, fields map[string]any) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		u := named(kind, name)
		if err := c.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
			return err
		}
		for k, v := range fields {
			if err := unstructured.SetNestedField(u.Object, v, "status", k); err != nil {
				return err
			}
		}
		return c.Status().Update(ctx, u)
	}
}

// patch merges a patch into an object.
func patch(kind, name, body string) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		return c.Patch(ctx, named(kind, name), client.RawPatch(types.MergePatchType, []byte(body)))
	}
}

// create makes an object.
func create(kind, name string, spec map[string]any) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		u := named(kind, name)
		u.Object["spec"] = spec
		return c.Create(ctx, u)
	}
}

// remove deletes the protected node of a flavour, which the examples hold.
func remove(group string) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		l := list(group, "BareMetalNode")
		if err := c.List(ctx, l, client.InNamespace(tenantNamespace)); err != nil {
			return err
		}
		if len(l.Items) != 1 {
			return errors.New("there isn't exactly one protected node")
		}
		return c.Delete(ctx, &l.Items[0])
	}
}

// deleteOf deletes a host.
func deleteOf(name string) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error { return c.Delete(ctx, named("RedfishHost", name)) }
}

// pool makes one that Crossplane leaves alone.
func pool(name string) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error { return c.Create(ctx, paused(name)) }
}

// deletePool makes a pool that says how many of its hosts are claimed, and deletes it.
func deletePool(name string, claimed int64) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		u := paused(name)
		if err := c.Create(ctx, u); err != nil {
			return err
		}
		claims := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"status":{"claimed":%d}}`, claimed))
		if err := c.Status().Patch(ctx, u, claims); err != nil {
			return err
		}
		return c.Delete(ctx, u)
	}
}

// paused is an empty pool that Crossplane leaves alone.
func paused(name string) *unstructured.Unstructured {
	u := named("RackPool", name)
	u.SetAPIVersion("platform.baremetal.m.crossplane.io/v1alpha1")
	u.SetAnnotations(map[string]string{"crossplane.io/paused": "true"})
	u.Object["spec"] = map[string]any{}
	return u
}

// segment is that of a BootNetwork.
func segment() map[string]any {
	return map[string]any{"subnets": []any{map[string]any{"cidr": "10.77.0.0/24"}}}
}
