package cluster_test

import (
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// rollout gives bootd's DaemonSet, as its manifest has it, three nodes more, and other images: Kubernetes' own controller replaces one pod
// after the other, and goes on to the next node only when the one before has its bootd again. (The cluster has one real node: those three
// aren't there, and what their pods are said to do isn't done. The bootd that serves machines stays as it is.)
func rollout(t *testing.T, s *stage.Stage, _ string) {
	t.Helper()
	rolls(t, s.Client(), s.Packages.Manifest("bootd.yaml"))
}

// rolls needs a scheduler and a controller manager alone.
func rolls(t *testing.T, kube client.Client, manifest string) {
	t.Helper()
	const nodes = 3
	f, err := stage.NewFleet(t.Context(), kube, nodes)
	must(t, err)
	defer func() { must(t, f.Close(t.Context())) }()
	d := aside(t, kube, manifest)
	await := func(what string, updated, available int32) {
		t.Helper()
		for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
			must(t, kube.Get(t.Context(), client.ObjectKeyFromObject(d), d))
			st := d.Status
			if st.ObservedGeneration == d.Generation && st.DesiredNumberScheduled == nodes && st.UpdatedNumberScheduled == updated && st.NumberAvailable == available {
				return
			}
			if time.Since(began) > patience {
				t.Fatalf("%s: want %d of %d updated, %d available: %+v", what, updated, nodes, available, st)
			}
		}
	}
	runs := func(image string) {
		t.Helper()
		before := d.DeepCopy()
		d.Spec.Template.Spec.Containers[0].Image = image
		must(t, kube.Patch(t.Context(), d, client.MergeFrom(before)))
	}
	oneAtATime := func(what string) {
		t.Helper()
		if n := f.Unavailable(); n != 1 {
			t.Errorf("%s: %d nodes were without bootd at once, want one", what, n)
		}
	}
	await("installed", nodes, nodes)
	f.Unavailable() // All of them, before anything was installed.
	good := d.Spec.Template.Spec.Containers[0].Image

	runs("bootd.invalid/next:1")
	await("upgraded", nodes, nodes)
	oneAtATime("upgraded")

	f.Break("bootd.invalid/broken:1")
	runs("bootd.invalid/broken:1")
	await("a bootd that doesn't get ready", 1, nodes-1)
	time.Sleep(3 * time.Duration(d.Spec.MinReadySeconds) * time.Second)
	await("nor does it later", 1, nodes-1)
	oneAtATime("stopped")

	runs(good)
	await("gone back", nodes, nodes)
	oneAtATime("gone back")
}

// aside applies the DaemonSet of bootd's manifest once more, on the fleet's nodes alone.
func aside(t *testing.T, kube client.Client, manifest string) *appsv1.DaemonSet {
	t.Helper()
	b, err := os.ReadFile(manifest)
	must(t, err)
	objects, err := local.Decode([]byte(strings.ReplaceAll(string(b), "namespace: "+lab.BootNamespace, "namespace: "+stage.FleetNamespace)))
	must(t, err)
	d := &appsv1.DaemonSet{}
	for _, o := range objects {
		switch o.GetKind() {
		case "ServiceAccount":
		case "DaemonSet":
			must(t, unstructured.SetNestedStringMap(o.Object, map[string]string{stage.FleetLabel: "true"}, "spec", "template", "spec", "nodeSelector"))
			must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, d))
		default:
			continue
		}
		must(t, local.Apply(t.Context(), kube, o))
	}
	return d
}
