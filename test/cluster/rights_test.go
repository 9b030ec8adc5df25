package cluster_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// needless are rights that a boot from claim to Ready doesn't use, and what uses them.
func needless() map[string]string {
	const fallback = "an API server that can't stream a list, as those before Kubernetes 1.34 may not, is asked for it plainly"
	const group = "baremetal.m.crossplane.io/"
	return map[string]string{
		"list " + group + "bootentries":  fallback,
		"list " + group + "bootnetworks": fallback,
		"list " + group + "bootservers":  fallback,
		"list " + group + "bootsessions": fallback,
		"list /secrets bootd-tokens":     fallback,
	}
}

// rights compares what each program may do with what it did while a machine went from claim to Ready and back: nothing that it asked
// for was forbidden, and beyond what Crossplane gives every provider it may do nothing that it has no use for.
func (w *site) rights(t *testing.T, s *stage.Stage, _ string) {
	t.Helper()
	time.Sleep(time.Until(w.released.Add(stage.AuditDelay)))
	for _, c := range stage.Components() {
		account, err := s.Account(t.Context(), c)
		must(t, err)
		deeds, err := s.Deeds(stage.User(account))
		must(t, err)
		for _, d := range deeds {
			if d.Forbidden {
				t.Errorf("%s was forbidden what it asked for: %+v", c.Name, d)
			}
		}
		anywhere, err := s.Rights(t.Context(), account, lab.InfraNamespace)
		must(t, err)
		switch c.Name {
		case "provider":
			if diff := cmp.Diff(everyProviders(t, s), anywhere); diff != "" {
				t.Errorf("a provider's rights, -what Crossplane's RBAC manager gives, +what it has:\n%s", diff)
			}
		case "function":
			if len(anywhere) > 0 || len(deeds) > 0 {
				t.Errorf("the function is pure, and may %v, and did %v", anywhere, deeds)
			}
		case "bootd":
			home, err := s.Rights(t.Context(), account, lab.BootNamespace)
			must(t, err)
			for _, r := range stage.Unused(slices.Concat(anywhere, home), deeds) {
				if needless()[r.String()] == "" {
					t.Errorf("bootd may %q and never did", r)
				}
			}
		}
	}
}

// everyProviders are the rights of a provider with our kinds.
func everyProviders(t *testing.T, s *stage.Stage) []stage.Right {
	t.Helper()
	all := &unstructured.UnstructuredList{}
	all.SetAPIVersion("apiextensions.k8s.io/v1")
	all.SetKind("CustomResourceDefinitionList")
	must(t, s.Client().List(t.Context(), all))
	var names []string
	for _, u := range all.Items {
		if strings.HasSuffix(u.GetName(), ".baremetal.m.crossplane.io") && !strings.HasSuffix(u.GetName(), ".platform.baremetal.m.crossplane.io") {
			names = append(names, u.GetName())
		}
	}
	return stage.RulesAsRights(local.ProviderRules(names, []string{local.SafeStart}))
}
