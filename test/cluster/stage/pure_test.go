package stage

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
)

func TestCurrent(t *testing.T) {
	cases := map[string]struct {
		reason, object string
		want           bool
	}{
		"Now":    {"It's True of this generation.", "metadata: {generation: 2}\nstatus: {conditions: [{type: Healthy, status: 'True', observedGeneration: 2}]}", true},
		"Before": {"It was True before the last change.", "metadata: {generation: 2}\nstatus: {conditions: [{type: Healthy, status: 'True', observedGeneration: 1}]}", false},
		"False":  {"It isn't True.", "metadata: {generation: 2}\nstatus: {conditions: [{type: Healthy, status: 'False', observedGeneration: 2}]}", false},
		"Other":  {"Another one is.", "metadata: {generation: 2}\nstatus: {conditions: [{type: Installed, status: 'True', observedGeneration: 2}]}", false},
		"None":   {"Nobody has looked yet.", "metadata: {generation: 2}", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			// As a client reads it, numbers are whole.
			b, err := yaml.YAMLToJSON([]byte("kind: X\n" + tc.object))
			u := &unstructured.Unstructured{}
			if err = errors.Join(err, u.UnmarshalJSON(b)); err != nil {
				t.Fatal(err)
			}
			if got := current("Healthy")(u); got != tc.want {
				t.Errorf("%s\nwant %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestAddArgs(t *testing.T) {
	decode := func(s string) map[string]any {
		objects, err := local.Decode([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		addArgs(objects[0], []string{"--more=1"})
		return objects[0].Object
	}
	got := decode("kind: DaemonSet\nspec: {template: {spec: {containers: [{name: bootd, args: [--one=1]}]}}}")
	want := map[string]any{"kind": "DaemonSet", "spec": map[string]any{"template": map[string]any{"spec": map[string]any{
		"containers": []any{map[string]any{"name": "bootd", "args": []any{"--one=1", "--more=1"}}},
	}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestProcessOf looks for a pod's program among others in a /proc of its own.
func TestProcessOf(t *testing.T) {
	proc := t.TempDir()
	for pid, files := range map[string][2]string{
		"1":   {"0::/\n", "Name:\tinit\nVmRSS:\t     100 kB\n"},
		"200": {"5:memory:/x/kubepods/pod-a/1\n", "Name:\tpause\nVmRSS:\t     100 kB\n"},
		"201": {"5:memory:/x/kubepods/pod-a/2\n", "Name:\tprovider\nVmRSS:\t    2048 kB\n"},
		"300": {"5:memory:/x/kubepods/pod-b/2\n", "Name:\tprovider\nVmRSS:\t    4096 kB\n"},
	} {
		dir := filepath.Join(proc, pid)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"cgroup", "status"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(files[i]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	status, err := processOf(proc, "pod-a", "provider")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(status, "2048 kB") {
		t.Errorf("it's another one's: %q", status)
	}
	if _, err := processOf(proc, "pod-c", "provider"); !errors.Is(err, errNoProcess) {
		t.Errorf("of a pod without processes: %v", err)
	}
}

func TestFigures(t *testing.T) {
	got := figures("built x\nfigure image_mb_bootd_amd64 23.4 MB\n  figure of speech\npushed y\n")
	if diff := cmp.Diff([]string{"figure image_mb_bootd_amd64 23.4 MB"}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestReaches asks for a commit that nobody has.
func TestReaches(t *testing.T) {
	err := Reaches(t.Context(), strings.Repeat("0", 40))
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "commit 000000000000 isn't to be had") {
		t.Errorf("want one line that says so, got %v", err)
	}
}
