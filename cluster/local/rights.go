package local

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SafeStart is the capability of a provider that waits for its CRDs to be there.
const SafeStart = "safe-start"

// A providerRole is one of those that Crossplane's RBAC manager makes for a provider.
type providerRole struct {
	suffix string
	labels map[string]string
	rules  []rbacv1.PolicyRule
}

// ProviderRules are what Crossplane's RBAC manager (v2.4, internal/controller/rbac/provider/roles) gives the ServiceAccount of
// a provider that brings those CRDs, each named PLURAL.GROUP, and has those capabilities. Deleting its kinds isn't among them.
func ProviderRules(crds, capabilities []string) []rbacv1.PolicyRule {
	groups, resources := byGroup(crds)
	rules := withVerbs(groups, resources, "get", "list", "watch", "update", "patch", "create")
	rules = append(rules,
		rbacv1.PolicyRule{APIGroups: groups, Resources: []string{"*/finalizers"}, Verbs: []string{"update"}},
		rbacv1.PolicyRule{
			APIGroups: []string{"", "coordination.k8s.io"},
			Resources: []string{"secrets", "configmaps", "events", "leases"},
			Verbs:     []string{"*"},
		})
	if slices.Contains(capabilities, SafeStart) {
		rules = append(rules, rbacv1.PolicyRule{
			APIGroups: []string{"apiextensions.k8s.io"},
			Resources: []string{"customresourcedefinitions"},
			Verbs:     []string{"get", "list", "watch"},
		})
	}
	return rules
}

// providerRoles are all three ClusterRoles of a provider: its own, and what people and Crossplane may do with its kinds.
func providerRoles(crds, capabilities []string) []providerRole {
	const aggregate = "rbac.crossplane.io/aggregate-to-"
	groups, resources := byGroup(crds)
	return []providerRole{
		{suffix: "system", rules: ProviderRules(crds, capabilities)},
		{
			suffix: "aggregate-to-edit",
			labels: map[string]string{aggregate + "crossplane": "true", aggregate + "admin": "true", aggregate + "edit": "true"},
			rules:  withVerbs(groups, resources, "*"),
		},
		{
			suffix: "aggregate-to-view",
			labels: map[string]string{aggregate + "view": "true"},
			rules:  withVerbs(groups, resources, "get", "list", "watch"),
		},
	}
}

// byGroup sorts names PLURAL.GROUP as the RBAC manager does, and returns for each group its resources with their status.
func byGroup(crds []string) (groups []string, resources map[string][]string) {
	sorted := slices.Clone(crds)
	sort.Slice(sorted, func(i, j int) bool {
		return strings.Replace(sorted[i], ".", "", 1) < strings.Replace(sorted[j], ".", "", 1)
	})
	resources = map[string][]string{}
	for _, name := range sorted {
		plural, group, ok := strings.Cut(name, ".")
		if !ok {
			continue // Kubernetes lets no CRD be named so.
		}
		if _, ok := resources[group]; !ok {
			groups = append(groups, group)
		}
		resources[group] = append(resources[group], plural, plural+"/status")
	}
	return groups, resources
}

func withVerbs(groups []string, resources map[string][]string, verbs ...string) []rbacv1.PolicyRule {
	rules := make([]rbacv1.PolicyRule, 0, len(groups))
	for _, g := range groups {
		rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{g}, Resources: resources[g], Verbs: verbs})
	}
	return rules
}

// ProviderServiceAccount makes the ServiceAccount that a provider runs as, in Crossplane's namespace, with exactly the rights
// that Crossplane's RBAC manager would give it.
func (p *Plane) ProviderServiceAccount(ctx context.Context, name string, crds, capabilities []string) error {
	objects := []client.Object{
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: CrossplaneNamespace, Name: name}},
	}
	for _, r := range providerRoles(crds, capabilities) {
		objects = append(objects, &rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: "crossplane:provider:" + name + ":" + r.suffix, Labels: r.labels},
			Rules:      r.rules,
		})
	}
	system := "crossplane:provider:" + name + ":system"
	objects = append(objects, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: system},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: system},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: CrossplaneNamespace, Name: name}},
	})
	for _, o := range objects {
		if err := p.kube.Create(ctx, o); err != nil {
			return fmt.Errorf("cannot create %T %q for provider %q: %w", o, o.GetName(), name, err)
		}
	}
	return nil
}
