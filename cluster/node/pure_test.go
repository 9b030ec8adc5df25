package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/cluster/node/inside"
)

func TestStateDir(t *testing.T) {
	cases := map[string]struct {
		reason, dir, err string
	}{
		"Fine":   {reason: "An absolute path is one.", dir: "/tmp/state"},
		"None":   {reason: "Nothing would be the working folder, and it would be emptied.", dir: "", err: "names none"},
		"Hidden": {reason: "What the node hides isn't there for its programs.", dir: "/var/lib/x", err: "/var/lib of its own"},
		"Beside": {reason: "A name that only starts so isn't hidden.", dir: "/var/library"},
		"Long":   {reason: "A socket's path is bounded.", dir: "/" + strings.Repeat("x", 103), err: "107 bytes"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := stateDir(tc.dir)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s\nstateDir(%q): want an error with %q, got %v", tc.reason, tc.dir, tc.err, err)
			}
		})
	}
}

// TestHiddenCache holds that a cache that the node can't see is said to be one, before anything is built into it.
func TestHiddenCache(t *testing.T) {
	if err := Missing(); err != nil {
		t.Skipf("skipped: %v", err)
	}
	t.Setenv("XDG_CACHE_HOME", "/var/cache/somebody")
	if err := Prepare(t.Context(), func(string) {}); err == nil || !strings.Contains(err.Error(), "set XDG_CACHE_HOME") {
		t.Errorf("want an error that says what to do, got %v", err)
	}
}

func TestFilesParse(t *testing.T) {
	for path, content := range files(layout{state: "/state"}, debian{root: "/debian"}) {
		var into any
		var err error
		switch filepath.Ext(path) {
		case ".yaml":
			err = yaml.UnmarshalStrict([]byte(content), &into)
		case ".conflist":
			err = json.Unmarshal([]byte(content), &into)
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", path, err, content)
		}
		if strings.Contains(content, "%!") {
			t.Errorf("%s: a value is missing or too many:\n%s", path, content)
		}
	}
}

// TestStagesAwaitTheirOwn holds that whatever is waited for was started before.
func TestStagesAwaitTheirOwn(t *testing.T) {
	p := planner{layout: layout{state: "/state"}, last: Image{Name: "a/b:c"}}
	started := map[string]bool{}
	for _, s := range p.plan().Stages {
		for _, c := range s.Start {
			started[c.Name] = true
		}
		for _, r := range s.Await {
			if !started[r.Process] {
				t.Errorf("stage %q waits for %q, which wasn't started", s.Say, r.Process)
			}
			if r.Process == programs.Registry && r.URL != "http://10.120.0.1:5000/v2/a/b/manifests/c" {
				t.Errorf("the registry is ready with its last image, not with %q", r.URL)
			}
		}
	}
}

// TestStateFoldersShareNothing holds that what two clusters have outside their namespaces depends on the folder alone.
func TestStateFoldersShareNothing(t *testing.T) {
	plan := func(state string) inside.Plan { return planner{layout: layout{state: state}}.plan() }
	one, again, two := plan("/one"), plan("/one"), plan("/two")
	if diff := cmp.Diff(one, again); diff != "" {
		t.Errorf("the same folder: -first, +second:\n%s", diff)
	}
	if one.Cgroup == two.Cgroup || one.Socket == two.Socket || one.Scratch[0] == two.Scratch[0] {
		t.Errorf("two folders share a control group, a socket or scratch: %v, %v", one, two)
	}
}

func TestUnavailable(t *testing.T) {
	deployment := func(name string, generation, observed int64, status corev1.ConditionStatus) appsv1.Deployment {
		return appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: name, Generation: generation},
			Status: appsv1.DeploymentStatus{
				ObservedGeneration: observed,
				Conditions:         []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: status}},
			},
		}
	}
	yes, no := deployment("yes", 1, 1, corev1.ConditionTrue), deployment("no", 1, 1, corev1.ConditionFalse)
	stale := deployment("stale", 2, 1, corev1.ConditionTrue)
	cases := map[string]struct {
		reason string
		all    []appsv1.Deployment
		names  []string
		want   string
	}{
		"All":     {reason: "All are there.", all: []appsv1.Deployment{yes}},
		"None":    {reason: "An empty namespace isn't ready: its Deployments are still to come.", want: "there is none"},
		"One":     {reason: "What isn't named doesn't matter.", all: []appsv1.Deployment{yes, no}, names: []string{"yes"}},
		"Missing": {reason: "What is named must be there.", all: []appsv1.Deployment{yes}, names: []string{"other"}, want: "other"},
		"Not":     {reason: "Without names all count.", all: []appsv1.Deployment{yes, no}, want: "no"},
		"Stale":   {reason: "What was true before a change says nothing.", all: []appsv1.Deployment{stale}, want: "stale"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := unavailable(tc.all, tc.names)
			if (err == nil) != (tc.want == "") || err != nil && !strings.HasSuffix(err.Error(), tc.want) {
				t.Errorf("%s\nunavailable: want %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestHostPathsAreItsOwn holds that where pods have host paths by custom, none is one of this machine's.
func TestHostPathsAreItsOwn(t *testing.T) {
	mounts := planner{layout: layout{state: "/state"}}.plan().Mounts
	for _, dir := range []string{"/run", "/var/cache", "/var/lib", "/var/log"} {
		if !slices.ContainsFunc(mounts, func(m inside.Mount) bool { return m.To == dir }) {
			t.Errorf("%s of the node is this machine's", dir)
		}
	}
}

func TestLockState(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "state")
	lock, err := lockState(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	released := make(chan struct{})
	go func() {
		defer close(released)
		again, err := lockState(t.Context(), dir)
		if err != nil {
			t.Errorf("the lock was given back: %v", err)
			return
		}
		_ = again.Close()
	}()
	select {
	case <-released:
		t.Error("two clusters have the same folder")
	default:
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
	<-released
	if _, err := os.Stat(dir + ".lock"); err != nil {
		t.Error(err)
	}
}

func TestNewest(t *testing.T) {
	cache := t.TempDir()
	if dir, ok := newest(cache); ok {
		t.Errorf("there is nothing: got %q", dir)
	}
	want := filepath.Join(cache, "debian-1")
	if err := os.Mkdir(want, 0o700); err != nil {
		t.Fatal(err)
	}
	if dir, ok := newest(cache); !ok || dir != want {
		t.Errorf("want %q, got %q, %t", want, dir, ok)
	}
}
