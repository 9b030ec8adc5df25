package config

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A user is a resource that uses a config.
type user struct{ namespace, kind, name string }

func (u user) String() string { return u.kind + " " + u.namespace + "/" + u.name }

// shown is how many users a sentence names: a config may have thousands.
const shown = 3

// sentence names the first users, and how many more there are.
func sentence(users []user) string {
	words := make([]string, 0, shown)
	for _, u := range users[:min(shown, len(users))] {
		words = append(words, u.String())
	}
	s := strings.Join(words, ", ")
	if more := len(users) - shown; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// users are who uses a config, in an order that stays: by its usages, and by the resources that name it, whose usages may be gone
// already. A usage that nothing owns (its owner was stripped by a restore) doesn't count, nor does any in a namespace that may not use
// the config.
func (r *Resolver) users(ctx context.Context, c config) ([]user, error) {
	ref := refTo(c)
	l := &v1alpha1.ProviderConfigUsageList{}
	if err := r.kube.List(ctx, l, client.MatchingFields{fieldUsage: ref.index()}, onlyRead); err != nil {
		return nil, fmt.Errorf("cannot list the usages of %s: %w", ref, err)
	}
	named, err := r.resources(ctx, fieldConfig, ref.index())
	if err != nil {
		return nil, err
	}
	_, system := credentials(*c.spec())
	found := map[types.UID]user{}
	count := func(uid types.UID, u user) {
		if allowed(ref, *c.spec(), u.namespace, system) == nil {
			found[uid] = u
		}
	}
	for i := range l.Items {
		u := &l.Items[i]
		if owner := metav1.GetControllerOf(u); owner != nil {
			count(owner.UID, user{u.Namespace, owner.Kind, owner.Name})
		}
	}
	for _, mg := range named {
		gvk, err := apiutil.GVKForObject(mg, r.kube.Scheme())
		if err != nil {
			return nil, fmt.Errorf("cannot tell the kind of %q: %w", mg.GetName(), err)
		}
		count(mg.GetUID(), user{mg.GetNamespace(), gvk.Kind, mg.GetName()})
	}
	return slices.SortedFunc(maps.Values(found), func(a, b user) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.kind, b.kind), strings.Compare(a.name, b.name))
	}), nil
}
