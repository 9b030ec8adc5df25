package stage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

const ours = "baremetal.m.crossplane.io"

func TestUnused(t *testing.T) {
	did := []Deed{
		{Verb: "get", Group: ours, Resource: "bootentries", Namespace: "a", Name: "x"},
		{Verb: "update", Group: ours, Resource: "bootentries/finalizers"},
		{Verb: "list", Resource: "secrets", Name: "bootd-tokens"},
	}
	cases := map[string]struct {
		reason string
		right  Right
		used   bool
	}{
		"Used":         {"It was done.", Right{Verb: "get", Group: ours, Resource: "bootentries"}, true},
		"Verb":         {"Another verb is another right.", Right{Verb: "list", Group: ours, Resource: "bootentries"}, false},
		"Group":        {"So is another group.", Right{Verb: "get", Resource: "bootentries"}, false},
		"Subresource":  {"So is a subresource.", Right{Verb: "get", Group: ours, Resource: "bootentries/status"}, false},
		"AnyVerb":      {"A star is any verb.", Right{Verb: "*", Group: ours, Resource: "bootentries"}, true},
		"AnyResource":  {"Or any resource.", Right{Verb: "get", Group: "*", Resource: "*"}, true},
		"AnyFinalizer": {"Or any resource's part.", Right{Verb: "update", Group: ours, Resource: "*/finalizers"}, true},
		"AnyStatus":    {"Of the same name.", Right{Verb: "update", Group: ours, Resource: "*/status"}, false},
		"Named":        {"An object's name counts.", Right{Verb: "list", Resource: "secrets", Name: "bootd-tokens"}, true},
		"OtherName":    {"Another's doesn't.", Right{Verb: "list", Resource: "secrets", Name: "others"}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := len(Unused([]Right{tc.right}, did)) == 0; got != tc.used {
				t.Errorf("%s\n%s: want used %t, got %t", tc.reason, tc.right, tc.used, got)
			}
		})
	}
}

func TestRulesAsRights(t *testing.T) {
	got := RulesAsRights([]rbacv1.PolicyRule{
		{APIGroups: []string{ours}, Resources: []string{"b", "a"}, Verbs: []string{"get"}},
		{APIGroups: []string{ours}, Resources: []string{"a"}, Verbs: []string{"get"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"x"}, Verbs: []string{"list"}},
	})
	want := []Right{{"list", "", "secrets", "x"}, {"get", ours, "a", ""}, {"get", ours, "b", ""}}
	want = sorted(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("each right once, in order: -want, +got:\n%s", diff)
	}
}
