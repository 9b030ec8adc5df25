package stage

import (
	"context"
	"fmt"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// installTimeout is how long packages may take until they're Healthy, on a busy machine.
const installTimeout = 4 * time.Minute

// pkg names a package that is installed.
func pkg(kind, name string) lab.Ref {
	return lab.Ref{APIVersion: "pkg.crossplane.io/v1", Kind: kind, Name: Installed(name)}
}

// InstallConfiguration installs a Configuration with Crossplane's CLI, which pulls provider and function with it, and waits until all
// three are Healthy. It returns how long that took.
func (s *Stage) InstallConfiguration(ctx context.Context, p Packages, name string) (time.Duration, error) {
	started := time.Now()
	if _, err := s.CrossplaneCLI(ctx, "xpkg", "install", "configuration", p.Ref(name)); err != nil {
		return 0, err
	}
	if err := s.AwaitHealthy(ctx, p, name); err != nil {
		return 0, err
	}
	return time.Since(started), nil
}

// AwaitHealthy waits until provider, function and a Configuration of these packages are Healthy, and all that runs is of their current
// revisions.
func (s *Stage) AwaitHealthy(ctx context.Context, p Packages, configuration string) error {
	for _, r := range []struct{ kind, name string }{
		{"Provider", ProviderPackage}, {"Function", FunctionPackage}, {"Configuration", configuration},
	} {
		u, err := s.Await(ctx, pkg(r.kind, r.name), "Healthy", installTimeout, lab.All(
			lab.Field(p.Ref(r.name), "spec", "package"), current("Installed"), current("Healthy")))
		if err != nil {
			return err
		}
		if r.kind == "Configuration" {
			continue
		}
		if err := s.awaitRevision(ctx, r.kind, lab.StringOf(u, "status", "currentRevision")); err != nil {
			return err
		}
	}
	return nil
}

// current accepts an object whose condition is True of what it's asked for now: right after a change it may be of what was before.
func current(condition string) lab.Check {
	return func(u *unstructured.Unstructured) bool {
		all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions") // No conditions: not yet.
		for _, c := range all {
			m, ok := c.(map[string]any)
			if !ok || m["type"] != condition {
				continue
			}
			seen, _ := m["observedGeneration"].(int64)
			return m["status"] == "True" && seen == u.GetGeneration()
		}
		return false
	}
}

func (s *Stage) awaitRevision(ctx context.Context, kind, revision string) error {
	r := lab.Ref{APIVersion: "pkg.crossplane.io/v1", Kind: kind + "Revision", Name: revision}
	if _, err := s.Await(ctx, r, "Healthy", installTimeout, lab.All(
		lab.Field("Active", "spec", "desiredState"), lab.Is("RevisionHealthy", "True"), lab.Is("RuntimeHealthy", "True"))); err != nil {
		return err
	}
	return s.AwaitAvailable(ctx, local.CrossplaneNamespace, revision)
}

// Apply applies files of users' manifests with kubectl, as users do.
func (s *Stage) Apply(ctx context.Context, files ...string) error {
	args := []string{"apply"}
	for _, f := range files {
		args = append(args, "-f", f)
	}
	_, err := s.Kubectl(ctx, args...)
	return err
}

// ApplyYAML applies a text as the administrator. A kind that isn't served yet is waited for.
func (s *Stage) ApplyYAML(ctx context.Context, manifest string) error {
	objects, err := local.Decode([]byte(manifest))
	if err != nil {
		return err
	}
	return local.Apply(ctx, s.Client(), objects...)
}

// Restrict sets the level of Pod Security that a namespace enforces, on pods from here on.
func (s *Stage) Restrict(ctx context.Context, namespace, level string) error {
	_, err := s.Kubectl(ctx, "label", "--overwrite", "namespace", namespace, "pod-security.kubernetes.io/enforce="+level)
	return err
}

// Names of bootd's parts, as its manifests have them.
const (
	bootd      = "bootd"
	bootdLabel = "baremetal.crossplane.io/bootd=true"
)

// InstallBootd applies bootd's manifests, with more flags than they have, labels the node, and waits until bootd is ready there.
func (s *Stage) InstallBootd(ctx context.Context, p Packages, args ...string) error {
	b, err := os.ReadFile(p.Manifest("bootd.yaml"))
	if err != nil {
		return fmt.Errorf("cannot read bootd's manifests: %w", err)
	}
	objects, err := local.Decode(b)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if o.GetKind() == "DaemonSet" {
			addArgs(o, args)
		}
	}
	if err := local.Apply(ctx, s.Client(), objects...); err != nil {
		return err
	}
	if _, err := s.Kubectl(ctx, "label", "--overwrite", "node", node.Name, bootdLabel); err != nil {
		return err
	}
	return s.AwaitBootd(ctx)
}

func addArgs(daemon *unstructured.Unstructured, args []string) {
	containers, _, _ := unstructured.NestedSlice(daemon.Object, "spec", "template", "spec", "containers") // Its container is ours.
	for _, c := range containers {
		m, ok := c.(map[string]any)
		if !ok {
			continue
		}
		all, _ := m["args"].([]any)
		for _, a := range args {
			all = append(all, a)
		}
		m["args"] = all
	}
	_ = unstructured.SetNestedSlice(daemon.Object, containers, "spec", "template", "spec", "containers") // It was one before.
}

// AwaitBootd waits until bootd runs and is ready on each of its nodes, of which there is one.
func (s *Stage) AwaitBootd(ctx context.Context) error {
	return s.Until(ctx, "bootd to be ready", installTimeout, func(ctx context.Context) error {
		d := &appsv1.DaemonSet{}
		if err := s.Client().Get(ctx, client.ObjectKey{Namespace: lab.BootNamespace, Name: bootd}, d); err != nil {
			return err
		}
		st := d.Status
		if st.ObservedGeneration != d.Generation || st.DesiredNumberScheduled != 1 || st.UpdatedNumberScheduled != 1 || st.NumberAvailable != 1 {
			return fmt.Errorf("%w: %d wanted, %d updated, %d available", errNotYet, st.DesiredNumberScheduled, st.UpdatedNumberScheduled, st.NumberAvailable)
		}
		return nil
	})
}

// Pod of a component that runs, by a label.
func (s *Stage) Pod(ctx context.Context, namespace, key, value string) (*corev1.Pod, error) {
	all := &corev1.PodList{}
	if err := s.Client().List(ctx, all, client.InNamespace(namespace), client.MatchingLabels{key: value}); err != nil {
		return nil, fmt.Errorf("cannot list pods: %w", err)
	}
	for i := range all.Items {
		if p := &all.Items[i]; p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodRunning {
			return p, nil
		}
	}
	return nil, fmt.Errorf("no pod with %s=%s runs in %s", key, value, namespace)
}
