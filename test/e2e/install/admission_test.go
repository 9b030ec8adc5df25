package install_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
)

// restricted asks an API server whether pods as Crossplane makes them pass Pod Security's level "restricted": not as they come, but with
// the runtime configurations of the examples.
func (s *stage) restricted(ctx context.Context, t *testing.T) {
	t.Helper()
	s.namespace(ctx, t, "restricted", "restricted")
	packages := map[string]string{"Provider": "provider-baremetal", "Function": "function-baremetal"}
	for kind, name := range packages {
		err := s.pod(ctx, "restricted", s.template(ctx, t, kind, "some-path-"+name, ""))
		if err == nil || !strings.Contains(err.Error(), "PodSecurity") {
			t.Errorf("the %s as Crossplane runs it by default was expected to be refused (then say less in the README): %v", kind, err)
		}
	}
	b, err := os.ReadFile(filepath.Join(root, "examples", "install", "runtime.yaml"))
	must(t, err)
	s.apply(ctx, t, string(b))
	// A change of the object itself is a new revision to Crossplane, which an ImageConfig isn't.
	for kind, name := range packages {
		s.apply(ctx, t, `
apiVersion: pkg.crossplane.io/v1beta1
kind: ImageConfig
metadata: {name: `+name+`}
spec:
  matchImages: [{type: Prefix, prefix: "REGISTRY/`+name+`"}]
  runtime: {configRef: {apiVersion: pkg.crossplane.io/v1beta1, kind: DeploymentRuntimeConfig, name: `+name+`}}
`)
		tpl := s.template(ctx, t, kind, "some-path-"+name, name)
		if err := s.pod(ctx, "restricted", tpl); err != nil {
			t.Errorf("%s with its runtime configuration: %v", kind, err)
		}
		if got, want := tpl.Spec.Containers[0].Image, s.registry+"/"+name+":"+version; got != want {
			t.Errorf("%s runs %s, want %s", kind, got, want)
		}
	}
}

// commented takes away the # of what the runtime configurations have commented out, change logs and NetBox's webhooks, and asks the API server
// whether the provider's pod would pass then, and the provider whether it knows the flags.
func (s *stage) commented(ctx context.Context, t *testing.T) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "examples", "install", "runtime.yaml"))
	must(t, err)
	all := regexp.MustCompile(`(?m)^( +)# ( *(?:- |[A-Za-z]+:(?: |$)).*)$`).ReplaceAllString(string(b), "$1$2")
	objects, err := local.Decode([]byte(all))
	must(t, err)
	for _, o := range objects {
		must(t, s.kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("test"), client.ForceOwnership, client.DryRunAll))
		if o.GetName() != "provider-baremetal" {
			continue
		}
		raw, _, err := unstructured.NestedMap(o.Object, "spec", "deploymentTemplate", "spec", "template")
		must(t, err)
		tpl := &corev1.PodTemplateSpec{}
		must(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(raw, tpl, true))
		cs := tpl.Spec.Containers
		if len(cs) != 2 || len(tpl.Spec.Volumes) != 1 || len(cs[0].VolumeMounts) != 1 || len(cs[1].VolumeMounts) != 1 || len(cs[0].Ports) != 3 {
			t.Fatalf("not all of it is there: %v", tpl.Spec)
		}
		if !slices.Contains(cs[0].Args, "--enable-changelogs") || !slices.Contains(cs[0].Args, "--netbox-webhook-address=:9444") ||
			!slices.Contains(cs[0].Args, "--redfish-events-address=:9445") {
			t.Errorf("the provider would be given %v", cs[0].Args)
		}
		cs[0].Image = "provider" // Crossplane fills it in.
		if err := s.pod(ctx, "restricted", tpl); err != nil {
			t.Errorf("the provider with all that is commented out: %v", err)
		}
		bin := filepath.Join(t.TempDir(), "provider")
		run(ctx, t, "go", "build", "-C", root, "-o", bin, "./cmd/provider")
		if out, err := command(t, bin, append(cs[0].Args, "--version")...); err != nil {
			t.Errorf("the provider doesn't know its flags: %v, %s", err, out)
		}
	}
}

// template of a package's pods. Its label app.kubernetes.io/name says by which runtime configuration it was made, if any.
func (s *stage) template(ctx context.Context, t *testing.T, kind, name, config string) *corev1.PodTemplateSpec {
	t.Helper()
	revision := s.revision(ctx, t, kind, name)
	d := &appsv1.Deployment{}
	s.await(ctx, t, object("apps/v1", "Deployment", local.CrossplaneNamespace, revision), "made by "+config, func(u *unstructured.Unstructured) bool {
		must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, d))
		return d.Spec.Template.Labels["app.kubernetes.io/name"] == config
	})
	return &d.Spec.Template
}

// namespace with a level of Pod Security, and the ServiceAccount that pods need.
func (s *stage) namespace(ctx context.Context, t *testing.T, name, level string) {
	t.Helper()
	s.apply(ctx, t, `
apiVersion: v1
kind: Namespace
metadata: {name: `+name+`, labels: {pod-security.kubernetes.io/enforce: `+level+`}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {namespace: `+name+`, name: default}
`)
}

// pod asks for a pod that isn't made.
func (s *stage) pod(ctx context.Context, namespace string, tpl *corev1.PodTemplateSpec) error {
	spec := *tpl.Spec.DeepCopy()
	spec.ServiceAccountName, spec.DeprecatedServiceAccount = "", ""
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "asked"}, Spec: spec}
	return s.kube.Create(ctx, p, client.DryRunAll) //nolint:wrapcheck // It's what's asked for.
}

// podMonitors is the file of a kind that isn't ours, and that the API server must know.
const podMonitors = "testdata/podmonitors.yaml"

// manifests asks an API server for all that people apply, and compares the plain ones with the chart.
func (s *stage) manifests(ctx context.Context, t *testing.T) {
	t.Helper()
	plain, err := local.Load(filepath.Join(root, "package", "manifests", "bootd.yaml"), filepath.Join(root, "package", "bootd"))
	must(t, err)
	s.apply(ctx, t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: baremetal-boot, labels: {pod-security.kubernetes.io/enforce: privileged}}\n")
	crd, err := os.ReadFile(podMonitors)
	must(t, err)
	s.await(ctx, t, s.apply(ctx, t, string(crd))[0], "established", func(u *unstructured.Unstructured) bool { return strings.Contains(conditions(u), "Established True") })
	others, err := local.Load(filepath.Join(root, "examples", "install"))
	must(t, err)
	var daemons int
	for _, o := range append(plain, others...) {
		if from, ok, _ := unstructured.NestedString(o.Object, "spec", "package"); ok {
			filled := strings.NewReplacer("REGISTRY", s.registry, "VERSION", version).Replace(from) // As "make release" does.
			must(t, unstructured.SetNestedField(o.Object, filled, "spec", "package"))
		}
		err := s.kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("kubectl"), client.ForceOwnership, client.DryRunAll)
		if err != nil {
			t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
		if o.GetKind() != "DaemonSet" {
			continue
		}
		daemons++
		d := &appsv1.DaemonSet{}
		must(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, d, true))
		s.namespace(ctx, t, "privileged", "privileged")
		if err := s.pod(ctx, "privileged", &d.Spec.Template); err != nil {
			t.Errorf("bootd's pod: %v", err)
		}
	}
	if daemons != 1 {
		t.Errorf("want one DaemonSet, got %d", daemons)
	}
	s.selected(ctx, t, plain, others)
}

// selected holds that NetworkPolicies and PodMonitors choose the pods that they're about: those of Crossplane by labels that it gives itself,
// whatever runtime configuration there is.
func (s *stage) selected(ctx context.Context, t *testing.T, plain, others []*unstructured.Unstructured) {
	t.Helper()
	pods := map[string][]corev1.PodTemplateSpec{}
	for kind, name := range map[string]string{"Provider": "provider-baremetal", "Function": "function-baremetal"} {
		tpl := s.template(ctx, t, kind, "some-path-"+name, name).DeepCopy()
		delete(tpl.Labels, "app.kubernetes.io/name") // It's of our runtime configuration, which not everybody applies.
		pods[local.CrossplaneNamespace] = append(pods[local.CrossplaneNamespace], *tpl)
	}
	for _, o := range plain {
		if o.GetKind() == "DaemonSet" {
			d := &appsv1.DaemonSet{}
			must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, d))
			pods[o.GetNamespace()] = append(pods[o.GetNamespace()], d.Spec.Template)
		}
	}
	for kind, path := range map[string]string{"NetworkPolicy": "podSelector", "PodMonitor": "selector"} {
		want := map[string]int{"NetworkPolicy": 4, "PodMonitor": 3}[kind]
		for _, o := range others {
			if o.GetKind() != kind {
				continue
			}
			want--
			by, _, err := unstructured.NestedStringMap(o.Object, "spec", path, "matchLabels")
			must(t, err)
			for k, v := range by { // As "make release" fills it in.
				by[k] = strings.Replace(v, "crossplane-contrib-", "some-path-", 1)
			}
			chosen := 0
			for _, tpl := range pods[o.GetNamespace()] {
				if len(by) > 0 && labels.SelectorFromSet(by).Matches(labels.Set(tpl.Labels)) {
					chosen++
				}
			}
			if chosen != 1 {
				t.Errorf("%s %s chooses pods by %v: that's %d of ours, want one", kind, o.GetName(), by, chosen)
			}
		}
		if want != 0 {
			t.Errorf("there are %d %s too few in examples/install", want, kind)
		}
	}
}
