package examples_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// TestWhatBootdMayDo holds what docs/security.md says of bootd's pod: nothing but its two capabilities, a root that's read-only, the runtime's seccomp profile,
// and two folders of the node.
func TestWhatBootdMayDo(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "package", "bootd", "bootd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var d appsv1.DaemonSet
	for doc := range bytes.SplitSeq(text, []byte("\n---\n")) {
		if bytes.Contains(doc, []byte("kind: DaemonSet\n")) {
			if err := yaml.UnmarshalStrict(doc, &d); err != nil {
				t.Fatal(err)
			}
		}
	}
	pod := d.Spec.Template.Spec
	if len(pod.Containers) != 1 || len(pod.InitContainers) != 0 {
		t.Fatalf("%d containers, and %d before them: want one", len(pod.Containers), len(pod.InitContainers))
	}
	no, yes, root := false, true, int64(0)
	want := corev1.SecurityContext{
		RunAsUser: &root, RunAsGroup: &root, Privileged: &no, AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes,
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: []corev1.Capability{"NET_BIND_SERVICE", "NET_RAW"}},
	}
	if diff := cmp.Diff(&want, pod.Containers[0].SecurityContext); diff != "" {
		t.Errorf("the container (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}, pod.SecurityContext); diff != "" {
		t.Errorf("the pod (-want +got):\n%s", diff)
	}
	if pod.HostPID || pod.HostIPC {
		t.Error("it sees the node's processes")
	}
	folders := slices.DeleteFunc(slices.Clone(pod.Volumes), func(v corev1.Volume) bool { return v.HostPath == nil })
	if len(folders) != 2 {
		t.Errorf("%d folders of the node, want two", len(folders))
	}
}
