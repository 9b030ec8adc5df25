package cluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
		"list " + group + "bootprofiles": fallback,
		"list " + group + "bootservers":  fallback,
		"list " + group + "bootsessions": fallback,
		"list /secrets bootd-tokens":     fallback,
	}
}

// leaseRights are those of rbac.yaml's Role provider-baremetal-lease. All ServiceAccounts of Crossplane's namespace have them, since nobody
// knows the provider's beforehand; the policy baremetal-lease leaves the provider alone with the one that writes (docs/adr/0020).
func leaseRights() []stage.Right {
	r := stage.Right{Group: "coordination.k8s.io", Resource: "leases", Name: leaseName}
	get, update := r, r
	get.Verb, update.Verb = "get", "update"
	return []stage.Right{get, update}
}

// rights compares what each program may do, in any namespace, with what it did while a machine went from claim to Ready and back: nothing
// that it asked for was forbidden, and beyond what Crossplane gives every provider it may do nothing that it has no use for.
func (w *site) rights(t *testing.T, s *stage.Stage, _ string) {
	t.Helper()
	leaseIsTheProviders(t, s)
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
		for _, namespace := range []string{lab.InfraNamespace, lab.BootNamespace, local.CrossplaneNamespace} {
			may, err := s.Rights(t.Context(), account, namespace)
			must(t, err)
			if namespace == local.CrossplaneNamespace && account.Namespace == namespace {
				may = without(t, may, leaseRights())
			}
			compare(t, s, c, namespace, may, deeds)
		}
	}
}

// compare what a component may do in a namespace with what it's to be able to.
func compare(t *testing.T, s *stage.Stage, c stage.Component, namespace string, may []stage.Right, deeds []stage.Deed) {
	t.Helper()
	switch c.Name {
	case "provider":
		if diff := cmp.Diff(everyProviders(t, s), may); diff != "" {
			t.Errorf("a provider's rights in %s, -what Crossplane's RBAC manager gives, +what it has:\n%s", namespace, diff)
		}
	case "function":
		if len(may) > 0 || len(deeds) > 0 {
			t.Errorf("the function is pure, and may %v in %s, and did %v", may, namespace, deeds)
		}
	case "bootd":
		for _, r := range stage.Unused(may, deeds) {
			if needless()[r.String()] == "" {
				t.Errorf("bootd may %q in %s and never did", r, namespace)
			}
		}
	default:
		t.Errorf("nobody says what %s may do", c.Name)
	}
}

// without takes rights away that must be among those.
func without(t *testing.T, rights, known []stage.Right) []stage.Right {
	t.Helper()
	for _, k := range known {
		if !slices.Contains(rights, k) {
			t.Errorf("%q isn't granted", k)
		}
	}
	return slices.DeleteFunc(rights, func(r stage.Right) bool { return slices.Contains(known, r) })
}

// leaseIsTheProviders holds that nobody but the provider can become its leader, or take the leader's lease away, whatever RBAC gives.
func leaseIsTheProviders(t *testing.T, s *stage.Stage) {
	t.Helper()
	accounts := map[string]client.ObjectKey{"crossplane": {Namespace: local.CrossplaneNamespace, Name: "crossplane"}}
	for _, c := range stage.Components() {
		account, err := s.Account(t.Context(), c)
		must(t, err)
		accounts[c.Name] = account
	}
	const policy = "the provider's lease is its own"
	update := func(c client.Client, lease *unstructured.Unstructured) error {
		return c.Update(t.Context(), lease, client.DryRunAll)
	}
	remove := func(c client.Client, lease *unstructured.Unstructured) error {
		return c.Delete(t.Context(), lease, client.DryRunAll)
	}
	for name, tc := range map[string]struct {
		reason, who string
		does        func(client.Client, *unstructured.Unstructured) error
		want        string
	}{
		"Provider":       {"It renews it.", "provider", update, ""},
		"Function":       {"It's of the same namespace, for which the Role is.", "function", update, policy},
		"Crossplane":     {"It has every Lease, as every provider has.", "crossplane", update, policy},
		"CrossplaneEnds": {"Nor may it make the leader another one by that.", "crossplane", remove, policy},
		"Bootd":          {"It's of another namespace.", "bootd", update, "cannot update resource"},
	} {
		t.Run(name, func(t *testing.T) {
			as, err := s.As(accounts[tc.who])
			must(t, err)
			err = retry.RetryOnConflict(retry.DefaultRetry, func() error { // Who holds it renews it meanwhile.
				lease, err := s.Get(t.Context(), leaseRef())
				must(t, err)
				return tc.does(as, lease)
			})
			if got := fmt.Sprint(err); (tc.want == "") != (err == nil) || err != nil && !strings.Contains(got, tc.want) {
				t.Errorf("%s\nas %s: want %q, got %s", tc.reason, accounts[tc.who], tc.want, got)
			}
		})
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
