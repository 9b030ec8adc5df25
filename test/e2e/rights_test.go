package e2e

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// ownGroup is the provider's API group.
const ownGroup = "baremetal.m.crossplane.io"

// ownKinds are all resources of the provider's API group.
func ownKinds() []string {
	return []string{
		"bootentries", "bootnetworks", "bootprofiles", "bootservers", "bootsessions", "clusterproviderconfigs", "hostclaims",
		"netboxipaddresses", "providerconfigs", "providerconfigusages", "redfishhosts",
	}
}

// looking is an env for a case that only asks: it has no namespace, whose deletion would take seconds.
func looking(t *testing.T) *env {
	t.Helper()
	return &env{Lab: labOf(t), t: t, Tenant: "anybody"}
}

// TestProgramsAreThemselves holds that provider and bootds run as their ServiceAccounts in this lab, so that every other case
// shows that those rights are enough.
func TestProgramsAreThemselves(t *testing.T) {
	t.Parallel()
	e := looking(t)
	programs := map[*proc.Process]string{e.Provider: "system:serviceaccount:" + local.CrossplaneNamespace + ":" + lab.ProviderName}
	for _, b := range e.Bootds {
		programs[b.Process] = "system:serviceaccount:" + lab.BootNamespace + ":" + lab.BootdName
	}
	for p, want := range programs {
		t.Run(p.Name(), func(t *testing.T) {
			env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID()))
			if err != nil {
				t.Skip("skipped: this system doesn't show a process's environment: ", err)
			}
			_, rest, _ := strings.Cut("\x00"+string(env), "\x00KUBECONFIG=")
			path, _, _ := strings.Cut(rest, "\x00")
			cfg, err := clientcmd.BuildConfigFromFlags("", path)
			if err != nil {
				t.Fatal(err)
			}
			c, err := client.New(cfg, client.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r := &authenticationv1.SelfSubjectReview{}
			if err := c.Create(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			if r.Status.UserInfo.Username != want {
				t.Errorf("want %s to be %q, it's %q", p.Name(), want, r.Status.UserInfo.Username)
			}
		})
	}
}

// rulesOf lists what a client may do in a namespace, as lines "GROUP/RESOURCE: VERBS", without what everybody may.
func rulesOf(t *testing.T, c client.Client, namespace string) []string {
	t.Helper()
	r := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
	if err := c.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	verbs := map[string][]string{}
	for _, rule := range r.Status.ResourceRules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				if group == "authorization.k8s.io" || group == "authentication.k8s.io" {
					continue
				}
				name := group + "/" + resource
				if len(rule.ResourceNames) > 0 {
					name += " " + strings.Join(rule.ResourceNames, ",")
				}
				verbs[name] = append(verbs[name], rule.Verbs...)
			}
		}
	}
	out := make([]string, 0, len(verbs))
	for name, v := range verbs {
		slices.Sort(v)
		out = append(out, name+": "+strings.Join(slices.Compact(v), ","))
	}
	slices.SortFunc(out, cmp.Compare[string])
	return out
}

// TestRightsAreExactly holds that provider and bootd have the rights that are written here in full, and no other: a provider's
// are those that Crossplane's RBAC manager gives any provider with these kinds.
func TestRightsAreExactly(t *testing.T) {
	t.Parallel()
	const everything, look = "create,get,list,patch,update,watch", "get,list,watch"
	e := looking(t)
	bootd := e.serviceAccount(lab.BootNamespace, lab.BootdName)
	provider := e.serviceAccount(local.CrossplaneNamespace, lab.ProviderName)

	providers := []string{"apiextensions.k8s.io/customresourcedefinitions: " + look, ownGroup + "/*/finalizers: update"}
	for _, group := range []string{"", "coordination.k8s.io"} {
		for _, resource := range []string{"secrets", "configmaps", "events", "leases"} {
			providers = append(providers, group+"/"+resource+": *")
		}
	}
	for _, kind := range ownKinds() {
		providers = append(providers, ownGroup+"/"+kind+": "+everything, ownGroup+"/"+kind+"/status: "+everything)
	}
	bootds := []string{
		ownGroup + "/bootentries: list,watch", ownGroup + "/bootnetworks: list,watch", ownGroup + "/bootprofiles: list,watch",
		ownGroup + "/bootsessions: " + look,
		ownGroup + "/bootsessions/status: update",
	}
	own := slices.Concat(bootds, []string{
		"/secrets: get", "/secrets bootd-tokens: list,watch", ownGroup + "/bootservers: create," + look, ownGroup + "/bootservers/status: update",
	})
	cases := map[string]struct {
		reason    string
		who       client.Client
		namespace string
		want      []string
	}{
		"ProviderAnywhere": {"What any provider with these kinds has.", provider, e.Tenant, providers},
		"BootdAnywhere":    {"It reads what it must serve and writes what happened.", bootd, e.Tenant, bootds},
		"BootdNearMe":      {"The operator's namespace is no other.", bootd, lab.InfraNamespace, bootds},
		"BootdNearBMCs":    {"Nor is Crossplane's, where passwords are.", bootd, local.CrossplaneNamespace, bootds},
		"BootdAtHome":      {"Its heartbeat, its keys, and what machines are given.", bootd, lab.BootNamespace, own},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			slices.Sort(tc.want)
			if diff := gocmp.Diff(tc.want, rulesOf(t, tc.who, tc.namespace)); diff != "" {
				t.Errorf("%s\nrights in %q: -want, +got:\n%s", tc.reason, tc.namespace, diff)
			}
		})
	}
}

// attributes of something that may be done or not, for reading in one line.
func attributes(verb, group, resource, namespace string) authorizationv1.ResourceAttributes {
	a := authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: resource, Namespace: namespace}
	a.Resource, a.Subresource, _ = strings.Cut(resource, "/")
	return a
}

// TestRights asks the API server what the ServiceAccounts that this lab runs its programs with, and a tenant, may do.
func TestRights(t *testing.T) {
	t.Parallel()
	const platform = "platform.baremetal.crossplane.io"
	e := newEnv(t)
	bootd := e.serviceAccount(lab.BootNamespace, lab.BootdName)
	provider := e.serviceAccount(local.CrossplaneNamespace, lab.ProviderName)
	tenant := e.as("alice")
	cases := map[string]struct {
		reason string
		who    client.Client
		what   authorizationv1.ResourceAttributes
		want   bool
	}{
		"BootdServes":          {"It reads what it serves.", bootd, attributes("list", ownGroup, "bootsessions", ""), true},
		"BootdTells":           {"It writes what happened.", bootd, attributes("update", ownGroup, "bootsessions/status", e.Tenant), true},
		"BootdGrants":          {"Only the provider writes a grant.", bootd, attributes("update", ownGroup, "bootsessions", e.Tenant), false},
		"BootdCreatesSessions": {"A session that is gone stays gone.", bootd, attributes("create", ownGroup, "bootsessions", e.Tenant), false},
		"BootdReadsTenants":    {"A tenant's Secrets come to it as copies.", bootd, attributes("get", "", "secrets", e.Tenant), false},
		"BootdReadsPasswords":  {"BMC passwords are not its business.", bootd, attributes("get", "", "secrets", local.CrossplaneNamespace), false},
		"BootdWritesSecrets":   {"Nor does it make any.", bootd, attributes("create", "", "secrets", lab.BootNamespace), false},
		"BootdSeesHosts":       {"Nor are BMCs.", bootd, attributes("get", ownGroup, "redfishhosts", lab.InfraNamespace), false},
		"BootdPlans":           {"It doesn't write what is to be served.", bootd, attributes("patch", ownGroup, "bootentries/status", e.Tenant), false},
		"BootdBecomes":         {"It can't get itself more.", bootd, attributes("create", "rbac.authorization.k8s.io", "rolebindings", lab.BootNamespace), false},
		"BootdImpersonates":    {"Nor be another.", bootd, attributes("impersonate", "", "serviceaccounts", local.CrossplaneNamespace), false},
		"ProviderTells":        {"Events tell a claim's story.", provider, attributes("create", "", "events", e.Tenant), true},
		"ProviderDeletes":      {"The RBAC manager gives no provider delete.", provider, attributes("delete", ownGroup, "bootsessions", e.Tenant), false},
		"ProviderNamespaces":   {"Nor namespaces.", provider, attributes("get", "", "namespaces", ""), false},
		"ProviderClaims":       {"Nor claims.", provider, attributes("get", platform, "baremetalnodes", e.Tenant), false},
		"ProviderNodes":        {"Nor what isn't a provider's.", provider, attributes("list", "", "pods", e.Tenant), false},
		"TenantClaims":         {"A tenant has claims.", tenant, attributes("create", platform, "baremetalnodes", e.Tenant), true},
		"TenantClaimStatus":    {"Whose status is told, not written.", tenant, attributes("patch", platform, "baremetalnodes/status", e.Tenant), false},
		"TenantElsewhere":      {"Of its own.", tenant, attributes("list", platform, "baremetalnodes", "team-a"), false},
		"TenantEntries":        {"Nothing of what they compose.", tenant, attributes("patch", ownGroup, "bootentries", e.Tenant), false},
		"TenantSessions":       {"No grant.", tenant, attributes("get", ownGroup, "bootsessions", e.Tenant), false},
		"TenantAddresses":      {"No address past its claims.", tenant, attributes("create", ownGroup, "netboxipaddresses", e.Tenant), false},
		"TenantHosts":          {"No host.", tenant, attributes("get", ownGroup, "redfishhosts", lab.InfraNamespace), false},
		"TenantHostsAtHome":    {"Not even one that a claim made.", tenant, attributes("get", ownGroup, "redfishhosts", e.Tenant), false},
		"TenantConfigs":        {"No provider config.", tenant, attributes("get", ownGroup, "clusterproviderconfigs", ""), false},
		"TenantPools":          {"No pool.", tenant, attributes("get", platform, "rackpools", lab.InfraNamespace), false},
		"TenantKeys":           {"No boot token's key.", tenant, attributes("get", "", "secrets", lab.BootNamespace), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &tc.what}}
			if err := tc.who.Create(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			if r.Status.Allowed != tc.want {
				t.Errorf("%s\nmay %s %s in %q: want %t, got %t", tc.reason, tc.what.Verb, tc.what.Resource, tc.what.Namespace, tc.want, r.Status.Allowed)
			}
		})
	}
}
