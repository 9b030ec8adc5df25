package stage

import (
	"strings"
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

func TestReadAudit(t *testing.T) {
	const log = `{"verb":"get","user":{"username":"u"},"objectRef":{"resource":"secrets","namespace":"n","name":"x"},"responseStatus":{"code":200}}
{"verb":"get","user":{"username":"u"},"objectRef":{"resource":"secrets","namespace":"n","name":"x"},"responseStatus":{"code":200}}
{"verb":"patch","user":{"username":"u"},"objectRef":{"resource":"bootsessions","subresource":"status","apiGroup":"g"},"responseStatus":{"code":403}}
{"verb":"get","user":{"username":"other"},"objectRef":{"resource":"secrets"},"responseStatus":{"code":200}}
{"verb":"create","user":{"username":"u"},"impersonatedUser":{"username":"v"},"objectRef":{"resource":"pods"},"responseStatus":{"code":200}}
{"verb":"get","user":{"username":"u"},"requestURI":"/healthz"}
{"verb":"get","user":{"username":"u"},"objec`
	got := map[Deed]bool{}
	if err := readAudit(strings.NewReader(log), "u", got); err != nil {
		t.Fatal(err)
	}
	want := map[Deed]bool{
		{Verb: "get", Resource: "secrets", Namespace: "n", Name: "x"}:                 true,
		{Verb: "patch", Group: "g", Resource: "bootsessions/status", Forbidden: true}: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("one user's own deeds about objects, each once: -want, +got:\n%s", diff)
	}
	if err := readAudit(strings.NewReader("no JSON\n"), "u", got); err == nil {
		t.Error("want an error for a log that isn't one")
	}
}
