package cluster_test

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// people are who is given the roles of the manifests, and nothing else: alice is a tenant, olga an operator.
const people = `
apiVersion: v1
kind: Namespace
metadata: {name: team-b}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {namespace: team-a, name: tenants}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: baremetal-tenant}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: alice}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: operators}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: baremetal-operator}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: olga}]
`

// roles holds that people have on a stock cluster what the manifests say, beside what Crossplane's RBAC manager makes of the same kinds:
// each asks the API server for the thing itself, as kubectl does.
func roles(t *testing.T, s *stage.Stage, _ string) {
	t.Helper()
	must(t, s.ApplyYAML(t.Context(), people))
	const claims = "baremetalnodes.platform.baremetal.crossplane.io"
	cases := map[string]struct {
		reason, who string
		what        []string
		want        bool
	}{
		"Claims":        {"A tenant has the claims of its namespace.", "alice", []string{"get", claims, "-n", tenant}, true},
		"Story":         {"And what happened to them.", "alice", []string{"get", "events", "-n", tenant}, true},
		"ClaimsOfAll":   {"Not everybody's.", "alice", []string{"get", claims, "--all-namespaces"}, false},
		"ClaimsOfOther": {"Nor another tenant's.", "alice", []string{"get", claims, "-n", "team-b"}, false},
		"Composites":    {"Nor what a claim is bound to.", "alice", []string{"get", "xbaremetalnodes.platform.baremetal.crossplane.io"}, false},
		"Hosts":         {"A tenant doesn't see the rack.", "alice", []string{"get", "redfishhosts", "-n", lab.InfraNamespace}, false},
		"HostsAtHome":   {"Not even where it may claim.", "alice", []string{"get", "redfishhosts", "-n", tenant}, false},
		"Passwords":     {"Nor passwords of BMCs.", "alice", []string{"get", "secret", "bmcs", "-n", local.CrossplaneNamespace}, false},
		"Keys":          {"Nor the keys of boot tokens.", "alice", []string{"get", "secrets", "-n", lab.BootNamespace}, false},
		"Grants":        {"Nor what may be installed.", "alice", []string{"get", "bootsessions", "-n", tenant}, false},
		"Parts":         {"Nor parts of its claims.", "alice", []string{"get", "bootentries,hostclaims,netboxipaddresses", "-n", tenant}, false},
		"Packages":      {"Nor what is installed in the cluster.", "alice", []string{"get", "providers.pkg.crossplane.io"}, false},

		"Rack":         {"An operator sees the rack.", "olga", []string{"get", "redfishhosts,bootnetworks,bootprofiles", "--all-namespaces"}, true},
		"AllClaims":    {"And who has which machine.", "olga", []string{"get", claims + ",hostclaims,bootentries,bootsessions", "--all-namespaces"}, true},
		"Pools":        {"And pools of both flavours, of which one is installed here.", "olga", []string{"get", "rackpools.platform.baremetal.crossplane.io", "--all-namespaces"}, true},
		"OperatorsKey": {"A password isn't read by whoever uses it.", "olga", []string{"get", "secret", "bmcs", "-n", local.CrossplaneNamespace}, false},
		"BootKeys":     {"Nor is a boot token's key.", "olga", []string{"get", "secrets", "-n", lab.BootNamespace}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, err := s.Kubectl(t.Context(), append(tc.what, "--as="+tc.who)...)
			if tc.want && err != nil {
				t.Errorf("%s\n%s can't: %v", tc.reason, tc.who, err)
			}
			if !tc.want && (err == nil || !strings.Contains(out, "Forbidden") && !strings.Contains(out, "forbidden")) {
				t.Errorf("%s\n%s isn't forbidden it: %v\n%s", tc.reason, tc.who, err, out)
			}
		})
	}
}
