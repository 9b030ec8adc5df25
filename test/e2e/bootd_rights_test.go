package e2e

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// A trespass is one thing that a bootd in a stranger's hands would try.
type trespass struct {
	reason string
	do     func(context.Context, client.Client) error
}

func secretIn(namespace, name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func mergePatch(r lab.Ref, json string) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		return c.Patch(ctx, r.Object(), client.RawPatch("application/merge-patch+json", []byte(json)))
	}
}

func mergeStatus(r lab.Ref, json string) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		return c.Status().Patch(ctx, r.Object(), client.RawPatch("application/merge-patch+json", []byte(json)))
	}
}

func remove(r lab.Ref) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error { return c.Delete(ctx, r.Object()) }
}

// reads and writes of what isn't bootd's.
func (e *env) trespasses(host string) map[string]trespass {
	of := func(kind string) lab.Ref { return lab.Kind(kind, e.Tenant, "web") }
	return map[string]trespass{
		"ReadsData": {"A tenant's Secret comes to it as a copy.", func(ctx context.Context, c client.Client) error {
			return c.Get(ctx, client.ObjectKey{Namespace: e.Tenant, Name: "web"}, &corev1.Secret{})
		}},
		"ReadsPasswords": {"BMC passwords aren't its business.", func(ctx context.Context, c client.Client) error {
			return c.Get(ctx, client.ObjectKey{Namespace: local.CrossplaneNamespace, Name: "bmc-rack-7"}, &corev1.Secret{})
		}},
		"ListsSecrets": {"Nor are those of all namespaces.", func(ctx context.Context, c client.Client) error {
			return c.List(ctx, &corev1.SecretList{})
		}},
		"ListsInfra": {"Nor the operator's.", func(ctx context.Context, c client.Client) error {
			return c.List(ctx, &corev1.SecretList{}, client.InNamespace(lab.InfraNamespace))
		}},
		"MakesSecret": {"A key of its own would make tokens.", func(ctx context.Context, c client.Client) error {
			return c.Create(ctx, secretIn(lab.BootNamespace, "forged"))
		}},
		"Grants":         {"Only the provider grants an install.", mergePatch(of("BootSession"), `{"spec":{"grant":{"generation":2}}}`)},
		"Plans":          {"It serves a plan, and doesn't make one.", mergeStatus(of("BootEntry"), `{"status":{"atProvider":{"stage":"Installed"}}}`)},
		"WritesEntry":    {"Nor what a plan is made of.", mergePatch(of("BootEntry"), `{"spec":{"forProvider":{"install":{"generation":2}}}}`)},
		"WritesRecord":   {"Nor its records.", mergePatch(of("BootEntry"), `{"metadata":{"annotations":{"`+annotation("installed")+`":"{}"}}}`)},
		"WritesClaim":    {"A claim's status is the provider's.", mergeStatus(of("HostClaim"), `{"status":{"phase":"Ready"}}`)},
		"SwitchesHost":   {"Power is the provider's.", mergePatch(lab.Kind("RedfishHost", lab.InfraNamespace, host), `{"spec":{"forProvider":{"power":"PoweredOff"}}}`)},
		"WritesHost":     {"What a BMC says is the provider's.", mergeStatus(lab.Kind("RedfishHost", lab.InfraNamespace, host), `{"status":{"phase":"Available"}}`)},
		"WritesAddress":  {"Addresses are NetBox's.", mergeStatus(lab.Kind("NetBoxIPAddress", e.Tenant, "web-boot-ipv4"), `{"status":{"atProvider":{"address":"10.77.0.9/24"}}}`)},
		"WritesNetwork":  {"What a network is, its owner says.", mergePatch(lab.Kind("BootNetwork", lab.InfraNamespace, network), `{"spec":{"domain":"x.example"}}`)},
		"WritesProfile":  {"What is booted, its owner says.", mergePatch(lab.Kind("BootProfile", lab.InfraNamespace, profile), `{"spec":{"commandLine":["init=/bin/sh"]}}`)},
		"DeletesSession": {"It deletes nothing.", remove(of("BootSession"))},
		"DeletesEntry":   {"It deletes nothing.", remove(of("BootEntry"))},
		"DeletesNode":    {"It deletes nothing.", remove(e.node("web"))},
		"DeletesServer":  {"Not even its own heartbeat.", remove(lab.Kind("BootServer", lab.BootNamespace, e.Bootds[0].Name))},
		"DeletesKeys": {"Nor the keys of its tokens.", func(ctx context.Context, c client.Client) error {
			return c.Delete(ctx, secretIn(lab.BootNamespace, "bootd-tokens"))
		}},
	}
}

// TestBootdWritesNothingElse tries, with bootd's own credentials and while a machine runs, what a bootd in a stranger's hands
// would. The machine doesn't notice.
func TestBootdWritesNothingElse(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost()
	node := e.withData("web", "data-of-web", h)
	e.ready(node)
	bootd := e.serviceAccount(lab.BootNamespace, lab.BootdName)
	before, err := e.Get(t.Context(), lab.Kind("BootSession", e.Tenant, "web"))
	e.must(err)

	for name, tc := range e.trespasses(h.Name) {
		t.Run(name, func(t *testing.T) {
			if err := tc.do(t.Context(), bootd); !kerrors.IsForbidden(err) {
				t.Errorf("%s\nwant forbidden, got %v", tc.reason, err)
			}
		})
	}

	// Through the one door that it has, a spec doesn't fit.
	e.until("a status to be written", func(ctx context.Context) error {
		s, err := e.Get(ctx, lab.Kind("BootSession", e.Tenant, "web"))
		if err != nil {
			return err
		}
		if err := unstructured.SetNestedField(s.Object, int64(9), "spec", "grant", "generation"); err != nil {
			return err
		}
		return bootd.Status().Update(ctx, s)
	})
	after, err := e.Get(t.Context(), lab.Kind("BootSession", e.Tenant, "web"))
	e.must(err)
	if before.GetGeneration() != after.GetGeneration() {
		t.Errorf("bootd changed a session's spec: %v", nestedMap(after, "spec"))
	}
	e.ready(node)
	e.installedOnce(h)
}
