package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// applyTimeout bounds how long an object is tried whose kind or webhook isn't served yet.
const applyTimeout = 3 * time.Minute

// Decode reads the objects of a YAML stream.
func Decode(b []byte) ([]*unstructured.Unstructured, error) {
	d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(b), 4096)
	var out []*unstructured.Unstructured
	for {
		u := &unstructured.Unstructured{}
		err := d.Decode(&u.Object)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot decode object %d: %w", len(out)+1, err)
		}
		if len(u.Object) > 0 {
			out = append(out, u)
		}
	}
}

// Load reads the objects of YAML files, and of those in folders, in the order given and then by name. A package's own
// crossplane.yaml isn't for a cluster and is left out.
func Load(paths ...string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, path := range paths {
		files, err := expand(path)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				return nil, fmt.Errorf("cannot read %q: %w", f, err)
			}
			us, err := Decode(b)
			if err != nil {
				return nil, fmt.Errorf("cannot understand %q: %w", f, err)
			}
			out = append(out, us...)
		}
	}
	return out, nil
}

func expand(path string) ([]string, error) {
	i, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read %q: %w", path, err)
	}
	if !i.IsDir() {
		return []string{path}, nil
	}
	var files []string
	all, err := filepath.Glob(filepath.Join(path, "*.yaml"))
	for _, f := range all {
		if filepath.Base(f) != "crossplane.yaml" {
			files = append(files, f)
		}
	}
	sort.Strings(files)
	return files, err
}

// Apply applies objects as the administrator, in their order. A kind that isn't served yet is waited for.
func (p *Plane) Apply(ctx context.Context, objects ...*unstructured.Unstructured) error {
	return Apply(ctx, p.kube, objects...)
}

// Apply applies objects to any cluster, in their order. A kind that isn't served yet is waited for.
func Apply(ctx context.Context, kube client.Client, objects ...*unstructured.Unstructured) error {
	for _, u := range objects {
		if err := apply(ctx, kube, u); err != nil {
			return err
		}
	}
	return nil
}

func apply(ctx context.Context, kube client.Client, u *unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(ctx, applyTimeout)
	defer cancel()
	for {
		err := kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(fieldManager), client.ForceOwnership)
		if err == nil {
			return nil
		}
		if !meta.IsNoMatchError(err) || wait(ctx, 50*time.Millisecond) != nil {
			return fmt.Errorf("cannot apply %s %q: %w", u.GetKind(), u.GetName(), err)
		}
	}
}

// Established waits until CRDs or XRDs are served: their condition Established is True.
func (p *Plane) Established(ctx context.Context, objects ...*unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(ctx, applyTimeout)
	defer cancel()
	for _, o := range objects {
		if err := p.established(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plane) established(ctx context.Context, o *unstructured.Unstructured) error {
	u := o.DeepCopy()
	for {
		if err := p.kube.Get(ctx, client.ObjectKeyFromObject(o), u); err != nil {
			return fmt.Errorf("cannot read %s %q: %w", o.GetKind(), o.GetName(), err)
		}
		if isTrue(u, "Established") {
			return nil
		}
		if err := wait(ctx, 25*time.Millisecond); err != nil {
			return fmt.Errorf("%s %q doesn't get established: %w", o.GetKind(), o.GetName(), err)
		}
	}
}

func isTrue(u *unstructured.Unstructured, condition string) bool {
	cs, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions") // No conditions is false.
	for _, c := range cs {
		m, ok := c.(map[string]any)
		if ok && m["type"] == condition {
			return m["status"] == "True"
		}
	}
	return false
}
