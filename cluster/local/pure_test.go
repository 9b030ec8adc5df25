package local

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

func TestProviderRules(t *testing.T) {
	own := []string{"get", "list", "watch", "update", "patch", "create"}
	extra := rbacv1.PolicyRule{
		APIGroups: []string{"", "coordination.k8s.io"},
		Resources: []string{"secrets", "configmaps", "events", "leases"},
		Verbs:     []string{"*"},
	}
	cases := map[string]struct {
		reason             string
		crds, capabilities []string
		want               []rbacv1.PolicyRule
	}{
		"Plain": {
			reason: "Kinds are sorted, each has its status, and there is no delete.",
			crds:   []string{"b.example.org", "a.example.org"},
			want: []rbacv1.PolicyRule{
				{APIGroups: []string{"example.org"}, Resources: []string{"a", "a/status", "b", "b/status"}, Verbs: own},
				{APIGroups: []string{"example.org"}, Resources: []string{"*/finalizers"}, Verbs: []string{"update"}},
				extra,
			},
		},
		"SafeStart": {
			reason: "A provider that waits for its CRDs must see them. Groups have a rule each.",
			crds:   []string{"a.one.org", "b.two.org", "notacrd"}, capabilities: []string{SafeStart},
			want: []rbacv1.PolicyRule{
				{APIGroups: []string{"one.org"}, Resources: []string{"a", "a/status"}, Verbs: own},
				{APIGroups: []string{"two.org"}, Resources: []string{"b", "b/status"}, Verbs: own},
				{APIGroups: []string{"one.org", "two.org"}, Resources: []string{"*/finalizers"}, Verbs: []string{"update"}},
				extra,
				{
					APIGroups: []string{"apiextensions.k8s.io"},
					Resources: []string{"customresourcedefinitions"},
					Verbs:     []string{"get", "list", "watch"},
				},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ProviderRules(tc.crds, tc.capabilities)); diff != "" {
				t.Errorf("%s\nProviderRules: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNothingIsHardCoded(t *testing.T) {
	one := ports{etcd: 1, etcdPeer: 2, apiserver: 3}
	two := ports{etcd: 11, etcdPeer: 12, apiserver: 13}
	args := func(p ports, dir string) []string {
		k := &pki{dir: dir + "/pki"}
		return slices.Concat(etcdArgs(p, dir+"/etcd"), apiServerArgs(p, k))
	}
	a, b := args(one, "/one"), args(two, "/two")
	for i := range a {
		if a[i] == b[i] && (strings.Contains(a[i], "port=") && !strings.HasSuffix(a[i], "port=0") || strings.Contains(a[i], "-dir=")) {
			t.Errorf("two control planes would share %q", a[i])
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"b.yaml":          "kind: B\n---\n---\nkind: C\n",
		"a.yaml":          "kind: A\n",
		"crossplane.yaml": "kind: Provider\n",
		"README.md":       "nothing",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		reason string
		path   string
		want   string
		err    string
	}{
		"Folder":  {reason: "A folder's YAML files by name, without the package's own.", path: dir, want: "ABC"},
		"File":    {reason: "A file by itself.", path: filepath.Join(dir, "b.yaml"), want: "BC"},
		"Broken":  {reason: "What isn't YAML is named.", path: filepath.Join(dir, "README.md"), err: "README.md"},
		"Missing": {reason: "What isn't there is named.", path: filepath.Join(dir, "c.yaml"), err: "c.yaml"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			us, err := Load(tc.path)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s\nLoad: want an error with %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			var got strings.Builder
			for _, u := range us {
				got.WriteString(u.GetKind())
			}
			if diff := cmp.Diff(tc.want, got.String()); diff != "" || err != nil {
				t.Errorf("%s\nLoad: %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("kind: A\n---\nkind: B\n"))
	f.Add([]byte("- a\n"))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		us, err := Decode(b)
		if err != nil && us != nil {
			t.Error("both objects and an error")
		}
		for _, u := range us {
			if len(u.Object) == 0 {
				t.Error("an empty object")
			}
		}
	})
}
