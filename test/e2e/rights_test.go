package e2e

import (
	"context"
	"errors"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// attributes of something that may be done or not, for reading in one line.
func attributes(verb, group, resource, namespace string) authorizationv1.ResourceAttributes {
	return authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: resource, Namespace: namespace}
}

// TestRights holds what the ServiceAccounts of bootd and provider, which this lab runs them with, may not do.
func TestRights(t *testing.T) {
	const own = "baremetal.m.crossplane.io"
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
		"BootdServes":          {"It reads what it serves.", bootd, attributes("list", own, "bootsessions", ""), true},
		"BootdGrants":          {"Only the provider writes a grant.", bootd, attributes("update", own, "bootsessions", e.Tenant), false},
		"BootdCreatesSessions": {"A session that is gone stays gone.", bootd, attributes("create", own, "bootsessions", e.Tenant), false},
		"BootdReadsTenants":    {"A tenant's Secrets come to it as copies.", bootd, attributes("get", "", "secrets", e.Tenant), false},
		"BootdReadsPasswords":  {"BMC passwords are not its business.", bootd, attributes("get", "", "secrets", local.CrossplaneNamespace), false},
		"BootdSeesHosts":       {"Nor are BMCs.", bootd, attributes("get", own, "redfishhosts", lab.InfraNamespace), false},
		"BootdPlans":           {"It doesn't write what is to be served.", bootd, attributes("patch", own, "bootentries/status", e.Tenant), false},
		"ProviderDeletes":      {"The RBAC manager gives no provider delete.", provider, attributes("delete", own, "bootsessions", e.Tenant), false},
		"ProviderNamespaces":   {"Nor namespaces.", provider, attributes("get", "", "namespaces", ""), false},
		"ProviderClaims":       {"Nor claims.", provider, attributes("get", "platform.baremetal.crossplane.io", "baremetalnodes", e.Tenant), false},
		"TenantClaims":         {"A tenant has claims.", tenant, attributes("create", "platform.baremetal.crossplane.io", "baremetalnodes", e.Tenant), true},
		"TenantElsewhere":      {"Of its own.", tenant, attributes("list", "platform.baremetal.crossplane.io", "baremetalnodes", "team-a"), false},
		"TenantEntries":        {"Nothing of what they compose.", tenant, attributes("patch", own, "bootentries", e.Tenant), false},
		"TenantHosts":          {"No host.", tenant, attributes("get", own, "redfishhosts", lab.InfraNamespace), false},
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

// TestBootdWritesNothingElse tries what a bootd in a stranger's hands would.
func TestBootdWritesNothingElse(t *testing.T) {
	e := newEnv(t)
	node := e.newNode("web", e.newHost())
	e.ready(node)
	bootd := e.serviceAccount(lab.BootNamespace, lab.BootdName)
	session := lab.Kind("BootSession", e.Tenant, "web").Object()
	steal := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"grant":{"generation":2}}}`))
	if err := bootd.Patch(t.Context(), session, steal); !kerrors.IsForbidden(err) {
		t.Errorf("bootd grants an install: want forbidden, got %v", err)
	}
	err := bootd.List(t.Context(), &corev1.SecretList{}, client.InNamespace(lab.InfraNamespace))
	if !kerrors.IsForbidden(err) {
		t.Errorf("bootd lists the operator's Secrets: want forbidden, got %v", err)
	}

	e.patch(node, `{"spec":{"power":"PoweredOff"}}`)
	h := e.Host(e.hosts[0])
	e.until("the machine to be off", func(context.Context) error {
		if h.Machine.Powered() {
			return errors.New("it's on")
		}
		return nil
	})
	if s := h.Machine.Status(); s.Installs != 1 {
		t.Errorf("want one install, got %d", s.Installs)
	}
}
