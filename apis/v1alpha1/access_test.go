package v1alpha1_test

import (
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

func TestAllows(t *testing.T) {
	names := &v1alpha1.AllowedNamespaces{From: v1alpha1.AllowedFromNames, Names: []string{"team-a"}}
	cases := map[string]struct {
		reason    string
		a         *v1alpha1.AllowedNamespaces
		namespace string
		owner     string
		fallback  v1alpha1.AllowedFrom
		want      bool
	}{
		"AbsentSame":  {"Nothing said: the fallback.", nil, "infra", "infra", v1alpha1.AllowedFromSame, true},
		"AbsentOther": {"Nothing said, and somebody else asks.", nil, "team-a", "infra", v1alpha1.AllowedFromSame, false},
		"AbsentNone":  {"Nothing said of a password: nobody.", nil, "team-a", "", v1alpha1.AllowedFromNone, false},
		"AbsentAll":   {"Nothing said of a NetBox: all.", nil, "team-a", "", v1alpha1.AllowedFromAll, true},
		"Named":       {"A named namespace may.", names, "team-a", "infra", v1alpha1.AllowedFromNone, true},
		"NotNamed":    {"Another may not.", names, "team-b", "infra", v1alpha1.AllowedFromAll, false},
		"Owner":       {"The owner always may use its own.", names, "infra", "infra", v1alpha1.AllowedFromNone, true},
		"ClusterWide": {"A cluster-scoped thing is in no namespace.", names, "", "", v1alpha1.AllowedFromNone, false},
		"None":        {"None is nobody, the owner included.", &v1alpha1.AllowedNamespaces{From: v1alpha1.AllowedFromNone}, "infra", "infra", v1alpha1.AllowedFromAll, false},
		"All":         {"All is all.", &v1alpha1.AllowedNamespaces{From: v1alpha1.AllowedFromAll}, "x", "infra", v1alpha1.AllowedFromNone, true},
		"Unknown":     {"A word that isn't known allows nobody.", &v1alpha1.AllowedNamespaces{From: "Everybody"}, "x", "infra", v1alpha1.AllowedFromAll, false},
	}
	for name, tc := range cases {
		if got := tc.a.Allows(tc.namespace, tc.owner, tc.fallback); got != tc.want {
			t.Errorf("%s: %s\nAllows(%q, %q) = %t", name, tc.reason, tc.namespace, tc.owner, got)
		}
	}
}
