package install_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
)

// A badPackage is one that can't be installed.
type badPackage struct {
	reason, kind, spec string
	// want are parts of what its conditions say.
	want []string
	// lock are parts of what the Lock's conditions say, which is where a dependency that can't be had is explained.
	lock []string
	// runs are the packages whose programs are run for it, of those that it pulls.
	runs []string
	// everybody says the same while it's there: what was there before too, which runs on.
	everybody bool
}

func badPackages(wrong wrongs) map[string]badPackage {
	controlled := []string{"Healthy False", "cannot establish control of object", "is already controlled by"}
	return map[string]badPackage{
		"not-there": {
			reason: "The version isn't in the registry.", kind: "Provider", spec: `package: "REGISTRY/provider-baremetal:v9.9.9"`,
			want: []string{"Installed False", "cannot resolve", "MANIFEST_UNKNOWN"},
		},
		"crossplane": {
			reason: "It's for a Crossplane that this one isn't.", kind: "Provider", spec: `package: "` + wrong.newer + `/provider-baremetal:VERSION"`,
			want: []string{"Healthy False", "incompatible Crossplane version"},
		},
		"architecture": {
			reason: "It's for arm64 alone, and Crossplane reads packages from their images for amd64.", kind: "Provider", spec: `package: "` + wrong.foreign + `/provider-baremetal:VERSION"`,
			want: []string{"Installed False", "no child with platform"},
		},
		"password": {
			reason: "The registry asks for a password, and is given another.", kind: "Provider",
			spec: `package: "` + wrong.closed + `/provider-baremetal:VERSION"` + "\n  packagePullSecrets: [{name: registry}]",
			want: []string{"Installed False", "UNAUTHORIZED"},
		},
		"two-versions": {
			reason: "Another version of the provider is installed by another name.", kind: "Provider", spec: `package: "REGISTRY/provider-baremetal:` + second + `"`,
			want: []string{"Healthy False", "packages in the lock", "/provider-baremetal already exists"}, everybody: true,
		},
		"second-provider": {
			reason: "There's another provider with these kinds.", kind: "Provider", spec: `package: "` + wrong.other + `/provider-baremetal:VERSION"`,
			want: controlled,
		},
		"second-xrds": {
			reason: "There's another configuration with these composites. It pulls a provider, which conflicts as well, and a function, which nobody asks.",
			kind:   "Configuration", spec: `package: "` + wrong.other + `/configuration-baremetal:VERSION"`,
			want: controlled, runs: []string{"other-function-baremetal"},
		},
		"no-function": {
			reason: "The function that its compositions need isn't in its registry.", kind: "Configuration",
			spec: `package: "` + wrong.partial + `/configuration-baremetal:VERSION"`,
			want: []string{"Healthy False", "missing dependencies", "/partial/function-baremetal"}, lock: []string{"Resolved False", "NAME_UNKNOWN"},
		},
	}
}

// badInput installs what can't be installed, and holds that each package says why, that none of its programs is run, and that what was
// there before stays as it was.
func (s *stage) badInput(ctx context.Context, t *testing.T) {
	t.Helper()
	wrong := publishWrong(ctx, t, s.tool, s.registry)
	host, _, _ := strings.Cut(wrong.closed, "/")
	s.login(ctx, t, "registry", host, "wrong")
	runs := s.running(ctx, t)
	s.pretend(ctx, t)
	s.originalsSay(ctx, t, healthy())
	for name, tc := range badPackages(wrong) {
		t.Run(name, func(t *testing.T) {
			before := s.health(ctx, t)
			s.apply(ctx, t, "apiVersion: pkg.crossplane.io/v1\nkind: "+tc.kind+"\nmetadata: {name: "+name+"}\nspec:\n  "+tc.spec+"\n")
			t.Cleanup(func() { s.onlyOriginals(context.WithoutCancel(ctx), t) })
			o := object("pkg.crossplane.io/v1", tc.kind, "", name)
			s.await(ctx, t, o, tc.reason+" It's to say "+strings.Join(tc.want, ", "), says(tc.want))
			s.await(ctx, t, object("pkg.crossplane.io/v1beta1", "Lock", "", "lock"), "the Lock is to say why", says(tc.lock))
			t.Log(conditions(o))
			for _, pulled := range tc.runs {
				revision := s.revision(ctx, t, "Function", pulled)
				s.await(ctx, t, object("apps/v1", "Deployment", local.CrossplaneNamespace, revision), "a Deployment", exists)
			}
			want, got := maps.Clone(runs), s.running(ctx, t)
			for _, pulled := range tc.runs {
				want[pulled] = got[pulled]
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("what runs, -want +got:\n%s", diff)
			}
			if tc.everybody {
				s.originalsSay(ctx, t, tc.want)
			} else if diff := cmp.Diff(before, s.health(ctx, t)); diff != "" {
				t.Errorf("what was there before isn't as it was, -before +after:\n%s", diff)
			}
		})
	}
}

// originals are the packages that were there before, by kind.
func originals() map[string][]string {
	return map[string][]string{
		"Provider":      {"some-path-provider-baremetal"},
		"Function":      {"some-path-function-baremetal"},
		"Configuration": {"some-path-configuration-baremetal", "some-path-configuration-baremetal-v2"},
	}
}

// running are the Deployments of packages, by the package, with their UIDs.
func (s *stage) running(ctx context.Context, t *testing.T) map[string]string {
	t.Helper()
	all := &unstructured.UnstructuredList{}
	all.SetAPIVersion("apps/v1")
	all.SetKind("DeploymentList")
	must(t, s.kube.List(ctx, all, client.InNamespace(local.CrossplaneNamespace)))
	out := map[string]string{}
	for _, d := range all.Items {
		out[d.GetName()[:strings.LastIndex(d.GetName(), "-")]] = string(d.GetUID())
	}
	return out
}

// pretend says of the Deployments that are there what a cluster with nodes would, so that their packages can be Healthy.
func (s *stage) pretend(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, kind := range []string{"Provider", "Function"} {
		for _, name := range originals()[kind] {
			d := object("apps/v1", "Deployment", local.CrossplaneNamespace, s.revision(ctx, t, kind, name))
			status := []byte(`{"status": {"conditions": [{"type": "Available", "status": "True", "reason": "Pretended", "message": "there are no nodes here"}]}}`)
			must(t, s.kube.Status().Patch(ctx, d, client.RawPatch("application/merge-patch+json", status)))
		}
	}
}

// originalsSay waits until the conditions of everything that was there before say that.
func (s *stage) originalsSay(ctx context.Context, t *testing.T, want []string) {
	t.Helper()
	for kind, names := range originals() {
		for _, name := range names {
			s.await(ctx, t, object("pkg.crossplane.io/v1", kind, "", name), "It's to say "+strings.Join(want, ", "), says(want))
		}
	}
}

func healthy() []string { return []string{"Healthy True", "Installed True"} }

// health of what was there before, and since when it's so.
func (s *stage) health(ctx context.Context, t *testing.T) map[string]any {
	t.Helper()
	out := map[string]any{}
	for kind, names := range originals() {
		for _, name := range names {
			o := object("pkg.crossplane.io/v1", kind, "", name)
			must(t, s.kube.Get(ctx, client.ObjectKeyFromObject(o), o))
			all, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
			must(t, err)
			for _, c := range all {
				if m := toMap(c); m["type"] == "Healthy" {
					out[kind+" "+name] = m
				}
			}
		}
	}
	return out
}

// onlyOriginals deletes all other packages, and waits until what was there before is Healthy. What one of them asks for is pulled again
// as long as that one isn't gone.
func (s *stage) onlyOriginals(ctx context.Context, t *testing.T) {
	t.Helper()
	s.await(ctx, t, object("pkg.crossplane.io/v1beta1", "Lock", "", "lock"), "only of what was there before", func(u *unstructured.Unstructured) bool {
		all, _, err := unstructured.NestedSlice(u.Object, "packages")
		return s.deleteOthers(ctx, t) == 0 && err == nil && len(all) == 4
	})
	s.originalsSay(ctx, t, healthy())
}

// deleteOthers than the originals, and say how many there were.
func (s *stage) deleteOthers(ctx context.Context, t *testing.T) int {
	t.Helper()
	others := 0
	for _, kind := range []string{"Configuration", "Provider", "Function"} {
		all := &unstructured.UnstructuredList{}
		all.SetAPIVersion("pkg.crossplane.io/v1")
		all.SetKind(kind + "List")
		must(t, s.kube.List(ctx, all))
		for i := range all.Items {
			if o := &all.Items[i]; !slices.Contains(originals()[kind], o.GetName()) {
				others++
				must(t, client.IgnoreNotFound(s.kube.Delete(ctx, o, client.PropagationPolicy("Foreground"))))
			}
		}
	}
	return others
}

// says accepts an object whose conditions have all of these.
func says(want []string) func(*unstructured.Unstructured) bool {
	return func(u *unstructured.Unstructured) bool {
		said := conditions(u)
		return !slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(said, w) })
	}
}

// conditions of an object, one a line.
func conditions(u *unstructured.Unstructured) string {
	var out strings.Builder
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions") // None: nothing said yet.
	for _, c := range all {
		m := &unstructured.Unstructured{Object: toMap(c)}
		out.WriteString(text(m, "type") + " " + text(m, "status") + " " + text(m, "reason") + " " + text(m, "message") + "\n")
	}
	return out.String()
}
