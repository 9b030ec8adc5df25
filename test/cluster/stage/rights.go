package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Right to do one thing with one kind of object. Each word may be "*"; Name is empty where any object is meant.
type Right struct {
	Verb, Group string
	// Resource with its subresource, as "bootsessions/status".
	Resource string
	Name     string
}

// String is how a Right is read: "get baremetal.m.crossplane.io/bootentries".
func (r Right) String() string {
	s := r.Verb + " " + r.Group + "/" + r.Resource
	if r.Name != "" {
		s += " " + r.Name
	}
	return s
}

// covers says whether a deed rests on the right.
func (r Right) covers(d Deed) bool {
	word := func(want, got string) bool { return want == "*" || want == got }
	resource := word(r.Resource, d.Resource)
	if part, ok := strings.CutPrefix(r.Resource, "*/"); ok {
		_, sub, _ := strings.Cut(d.Resource, "/")
		resource = sub == part
	}
	return resource && word(r.Verb, d.Verb) && word(r.Group, d.Group) && (r.Name == "" || r.Name == d.Name)
}

// A Deed is what somebody asked of the API server, and whether it was forbidden.
type Deed struct {
	Verb, Group string
	// Resource with its subresource.
	Resource, Namespace, Name string
	Forbidden                 bool
}

// Unused are the rights that no deed rests on, in order.
func Unused(rights []Right, deeds []Deed) []Right {
	var out []Right
	for _, r := range rights {
		if !slices.ContainsFunc(deeds, r.covers) {
			out = append(out, r)
		}
	}
	return out
}

// RulesAsRights takes rules apart, in order.
func RulesAsRights(rules []rbacv1.PolicyRule) []Right {
	var out []Right
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range names {
						out = append(out, Right{Verb: verb, Group: group, Resource: resource, Name: name})
					}
				}
			}
		}
	}
	return sorted(out)
}

func sorted(rights []Right) []Right {
	slices.SortFunc(rights, func(a, b Right) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(rights)
}

// Rights that a ServiceAccount has in a namespace, by its own name or as one of its namespace, without those that every ServiceAccount
// of any namespace has.
func (s *Stage) Rights(ctx context.Context, account client.ObjectKey, namespace string) ([]Right, error) {
	// In the account's own namespace there may be rights for all of that namespace, which aren't everybody's.
	everybodys, err := s.rights(ctx, client.ObjectKey{Namespace: "nowhere", Name: "nobody-in-particular"}, namespace)
	if err != nil {
		return nil, err
	}
	own, err := s.rights(ctx, account, namespace)
	return slices.DeleteFunc(own, func(r Right) bool { return slices.Contains(everybodys, r) }), err
}

// As is a client of the API server that asks as a ServiceAccount.
func (s *Stage) As(account client.ObjectKey) (client.Client, error) {
	cfg := s.Config()
	cfg.Impersonate = rest.ImpersonationConfig{
		UserName: User(account), Groups: []string{"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:" + account.Namespace},
	}
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		return nil, fmt.Errorf("cannot ask as %s: %w", account, err)
	}
	return c, nil
}

func (s *Stage) rights(ctx context.Context, account client.ObjectKey, namespace string) ([]Right, error) {
	c, err := s.As(account)
	if err != nil {
		return nil, err
	}
	review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
	if err := c.Create(ctx, review); err != nil {
		return nil, fmt.Errorf("cannot ask what %s may do in %q: %w", account, namespace, err)
	}
	var rules []rbacv1.PolicyRule
	for _, r := range review.Status.ResourceRules {
		rules = append(rules, rbacv1.PolicyRule{APIGroups: r.APIGroups, Resources: r.Resources, Verbs: r.Verbs, ResourceNames: r.ResourceNames})
	}
	return RulesAsRights(rules), nil
}

// User that a ServiceAccount is.
func User(account client.ObjectKey) string {
	return "system:serviceaccount:" + account.Namespace + ":" + account.Name
}

// Account that a component's pod runs as.
func (s *Stage) Account(ctx context.Context, c Component) (client.ObjectKey, error) {
	pod, err := s.Pod(ctx, c.namespace, c.label, c.value)
	if err != nil {
		return client.ObjectKey{}, err
	}
	return client.ObjectKey{Namespace: pod.Namespace, Name: pod.Spec.ServiceAccountName}, nil
}
