package platform_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
)

// A trial is one write of one person that must be refused with a sentence, or must pass.
type trial struct {
	reason string
	// who writes: a name of people.
	who string
	// do writes.
	do func(context.Context, client.Client) error
	// refused is part of the refusal's sentence; empty: it must pass.
	refused string
}

// testPolicies proves that the manifests beside the packages keep people from what isn't theirs to write.
func testPolicies(ctx context.Context, t *testing.T, plane *local.Plane) {
	t.Helper()
	as := people(ctx, t, plane)
	seed(ctx, t, plane, as["provider"])

	for name, tc := range trials() {
		t.Run(name, func(t *testing.T) {
			err := tc.do(ctx, as[tc.who])
			switch {
			case tc.refused == "" && err != nil:
				t.Errorf("%s: %v", tc.reason, err)
			case tc.refused != "" && (err == nil || !strings.Contains(err.Error(), tc.refused)):
				t.Errorf("%s: want a refusal with %q, got %v", tc.reason, tc.refused, err)
			}
		})
	}
}

// trials are every write that a policy is about, by those who may and those who may not.
func trials() map[string]trial {
	const ours = "baremetal.m.crossplane.io/"
	return map[string]trial{
		"EditorWritesClaimStatus": {
			"a namespace's editor must not call a host bound", "editor",
			status("HostClaim", "seeded", `{"status":{"phase":"Ready"}}`), "status of hostclaims is written by provider alone",
		},
		"EditorWritesEntryStatus": {
			"an editor must not make a plan", "editor",
			status("BootEntry", "seeded", `{"status":{"atProvider":{"stage":"Installed"}}}`), "written by provider alone",
		},
		"EditorWritesAddressStatus": {
			"an editor must not give himself another's address", "editor",
			status("NetBoxIPAddress", "seeded", `{"status":{"atProvider":{"address":"10.77.0.66/24"}}}`), "written by provider alone",
		},
		"AdminWritesStatus": {
			"nobody but our ServiceAccounts writes status", "admin",
			status("RedfishHost", "own", `{"status":{"phase":"Available"}}`), "written by provider alone",
		},
		"ProviderWritesStatus": {
			"the provider writes status", "provider",
			status("HostClaim", "seeded", `{"status":{"phase":"Pending"}}`), "",
		},
		"ProviderWritesSessionStatus": {
			"what really happened is bootd's to write", "provider",
			status("BootSession", "seeded", `{"status":{"boots":1}}`), "status of bootsessions is written by bootd alone",
		},
		"BootdWritesSessionStatus": {
			"bootd writes what happened", "bootd",
			updateStatus("BootSession", "seeded", map[string]any{"boots": int64(1)}), "",
		},
		"BootdWritesSession": {
			"bootd can't grant", "bootd",
			patch("BootSession", "seeded", `{"spec":{"network":"infra/other"}}`), "forbidden",
		},
		"BootdReadsTenantsSecrets": {
			"bootd can't read a Secret outside its namespace", "bootd",
			func(ctx context.Context, c client.Client) error {
				return c.Get(ctx, client.ObjectKey{Namespace: tenantNamespace, Name: "any"}, &corev1.Secret{})
			}, "forbidden",
		},
		"EditorGrants": {
			"a grant is the provider's", "editor",
			patch("BootSession", "seeded", `{"spec":{"network":"infra/other"}}`), "holds the grant",
		},
		"EditorMakesSession": {
			"a session is the provider's to make", "editor",
			create("BootSession", "stolen", map[string]any{"entryUID": "x"}), "holds the grant",
		},
		"EditorBindsHost": {
			"a binding is the provider's", "editor",
			patch("RedfishHost", "own", `{"spec":{"claimRef":{"namespace":"team-a","name":"x","uid":"y"}}}`), "spec.claimRef is the host's half",
		},
		"EditorBindsClaim": {
			"a binding is the provider's", "editor",
			patch("HostClaim", "seeded", `{"spec":{"bound":{"kind":"RedfishHost","namespace":"infra","name":"x","uid":"y"}}}`), "spec.bound is the claim's half",
		},
		"EditorMakesBoundClaim": {
			"a claim isn't born bound", "editor",
			create("HostClaim", "born-bound", map[string]any{
				"hostRef": map[string]any{"name": "x"},
				"bound":   map[string]any{"kind": "RedfishHost", "namespace": "infra", "name": "x", "uid": "y"},
			}), "spec.bound is the claim's half",
		},
		"EditorForgesRecord": {
			"records are the provider's", "editor",
			patch("BootEntry", "seeded", `{"metadata":{"annotations":{"`+ours+`installed":"forged"}}}`), "annotations " + ours + "installed record",
		},
		"EditorRemovesRecord": {
			"a missing record is as bad as a forged one", "editor",
			patch("BootEntry", "seeded", `{"metadata":{"annotations":{"`+ours+`granted":null}}}`), "annotations " + ours + "granted record",
		},
		"EditorForgesAnswer": {
			"what NetBox was asked for, and never answered, says how long an address waits for its late record", "editor",
			patch("NetBoxIPAddress", "seeded", askedFor(`"forged"`)), askedNames + " record what was done",
		},
		"EditorForgetsAsking": {
			"nor may he have it forgotten", "editor",
			patch("NetBoxIPAddress", "seeded", askedFor(`null`)), askedNames + " record what was done",
		},
		"ProviderAsks": {
			"the provider writes down what it asks for", "provider",
			patch("NetBoxIPAddress", "seeded", askedFor(`"provider"`)), "",
		},
		"EditorForcesRelease": {
			"giving up a host is an operator's to decide", "editor",
			patch("HostClaim", "seeded", `{"metadata":{"annotations":{"`+ours+`force-release":"now"}}}`), "annotations " + ours + "force-release record",
		},
		"EditorTakesFinalizer": {
			"a finalizer keeps the address until the machine is off", "editor",
			patch("HostClaim", "seeded", `{"metadata":{"finalizers":[]}}`), "this finalizer keeps",
		},
		"EditorLabels": {
			"an editor may write what isn't a record", "editor",
			patch("HostClaim", "seeded", `{"metadata":{"labels":{"a":"b"}}}`), "",
		},
		"OperatorForcesRelease": {
			"an operator may give up a host", "operator",
			patch("RedfishHost", "own", `{"metadata":{"annotations":{"`+ours+`quarantined":"burnt"}}}`), "",
		},
		"ProviderRecords": {
			"the provider records", "provider",
			patch("BootEntry", "seeded", `{"metadata":{"annotations":{"`+ours+`installed":"{}"}}}`), "",
		},
		"OperatorDeletesBoundHost": {
			"a machine that runs for a claim isn't taken away from below", "operator",
			deleteOf("bound"), "host team-a/bound runs for claim team-b/web-1 and would be powered off: delete that claim first",
		},
		"AdminDeletesBoundHost": {
			"nor by an administrator, nor with its namespace", "admin",
			deleteOf("bound"), "runs for claim team-b/web-1",
		},
		"AdminDeletesClaimsOwnHost": {
			"the host that a claim brought along goes with it", "admin",
			deleteOf("brought"), "",
		},
		"AdminDeletesFreeHost": {
			"a free host may go", "admin",
			deleteOf("free"), "",
		},
		"AdminDeletesClaimedPool": {
			"nor is a pool, with its free hosts, by a mistake", "admin",
			deletePool("claimed", 2), "RackPool team-a/claimed has 2 hosts that run for claims",
		},
		"AdminDeletesFreePool": {
			"a pool without claims may go", "admin",
			deletePool("unclaimed", 0), "",
		},
		"EditorServesSegment": {
			"who writes a segment may claim any MAC on it", "editor",
			create("BootNetwork", "stolen", segment()), "BootNetwork stolen says which machines are answered on a segment",
		},
		"EditorMakesPool": {
			"nor by a pool", "editor",
			pool("stolen"), "RackPool stolen says which machines are answered on a segment",
		},
		"OperatorServesSegment": {
			"an operator's business", "operator",
			create("BootNetwork", "served", segment()), "",
		},
		"TenantReadsClaim": {
			"a tenant reads its claims", "tenant",
			func(ctx context.Context, c client.Client) error {
				return c.List(ctx, list("platform.baremetal.crossplane.io", "BareMetalNode"), client.InNamespace(tenantNamespace))
			}, "",
		},
		"TenantReadsEntry": {
			"a tenant has claims alone", "tenant",
			func(ctx context.Context, c client.Client) error {
				return c.List(ctx, list("baremetal.m.crossplane.io", "BootEntry"), client.InNamespace(tenantNamespace))
			}, "forbidden",
		},
		"TenantReadsElsewhere": {
			"a tenant has its own namespace alone", "tenant",
			func(ctx context.Context, c client.Client) error {
				return c.List(ctx, list("platform.baremetal.crossplane.io", "BareMetalNode"), client.InNamespace("team-b"))
			}, "forbidden",
		},
		"TenantDeletesProtected": {
			"a protected node isn't deleted", "tenant",
			remove("platform.baremetal.crossplane.io"), "BareMetalNode team-a/ledger is protected: production database; remove spec.protection first",
		},
		"AdminDeletesProtected": {
			"nor by an administrator's mistake", "admin",
			remove("platform.baremetal.m.crossplane.io"), "is protected: production database",
		},
	}
}

// askedNames are the annotations that say what NetBox was asked for, as a refusal names them.
const askedNames = v1alpha1.AnnotationAsked + ", " + v1alpha1.AnnotationAnswered + ", " + v1alpha1.AnnotationUnanswered + ", " + v1alpha1.AnnotationMadeOn + ", " + v1alpha1.AnnotationGivenAway

// askedFor is a patch that gives each of askedNames a value.
func askedFor(value string) string {
	return `{"metadata":{"annotations":{"` + strings.ReplaceAll(askedNames, ", ", `":`+value+`,"`) + `":` + value + `}}}`
}

// people are clients by who uses them. The editor has what Crossplane's edit role gives: every verb on our kinds.
func people(ctx context.Context, t *testing.T, plane *local.Plane) map[string]client.Client {
	t.Helper()
	bind := func(user, role, namespace string) {
		subject := []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: user}}
		ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}
		var o client.Object = &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user}, Subjects: subject, RoleRef: ref}
		if namespace == "" {
			o = &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: user}, Subjects: subject, RoleRef: ref}
		}
		if err := plane.Client().Create(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	everyVerb := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "every-verb"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"baremetal.m.crossplane.io", "platform.baremetal.m.crossplane.io"},
		Resources: []string{
			"bootnetworks", "rackpools",
			"bootentries", "bootentries/status", "bootsessions", "bootsessions/status", "hostclaims", "hostclaims/status",
			"netboxipaddresses", "netboxipaddresses/status", "redfishhosts", "redfishhosts/status",
		},
		Verbs: []string{"*"},
	}}}
	if err := plane.Client().Create(ctx, everyVerb); err != nil {
		t.Fatal(err)
	}
	bind("editor", "every-verb", tenantNamespace)
	bind("tenant", "baremetal-tenant", tenantNamespace)
	bind("operator", "baremetal-operator", "")

	out := map[string]client.Client{"admin": plane.Client()}
	for _, user := range []string{"editor", "tenant", "operator"} {
		cfg, err := plane.UserConfig(user)
		if err != nil {
			t.Fatal(err)
		}
		if out[user], err = client.New(cfg, client.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	for who, sa := range map[string]types.NamespacedName{
		"provider": {Namespace: local.CrossplaneNamespace, Name: "provider-baremetal"},
		"bootd":    {Namespace: "baremetal-boot", Name: "bootd"},
	} {
		cfg, err := plane.ServiceAccountConfig(ctx, sa.Namespace, sa.Name)
		if err != nil {
			t.Fatal(err)
		}
		if out[who], err = client.New(cfg, client.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// seed makes what the trials write to, and waits until the policies are in force: an API server takes a moment to hear of one.
func seed(ctx context.Context, t *testing.T, plane *local.Plane, provider client.Client) {
	t.Helper()
	entry := map[string]any{"forProvider": map[string]any{
		"machine":    map[string]any{"hostClaimRef": map[string]any{"name": "seeded"}},
		"profileRef": map[string]any{"name": "x"},
		"install":    map[string]any{"generation": int64(0)},
		"networks": []any{map[string]any{
			"name": "boot", "networkRef": map[string]any{"name": "x"}, "addresses": []any{map[string]any{"ref": map[string]any{"name": "x"}}},
		}},
	}}
	for kind, spec := range map[string]map[string]any{
		"HostClaim":       {"hostRef": map[string]any{"name": "own"}},
		"BootEntry":       entry,
		"BootSession":     {"entryUID": "x"},
		"NetBoxIPAddress": {"forProvider": map[string]any{"address": "10.77.0.40/24"}},
	} {
		must(t, create(kind, "seeded", spec)(ctx, plane.Client()))
	}
	for _, name := range []string{"own", "free", "bound", "brought"} {
		host := map[string]any{"forProvider": map[string]any{"address": "10.0.0.1"}}
		if name == "bound" || name == "brought" {
			host["claimRef"] = map[string]any{"namespace": "team-b", "name": "web-1", "uid": "x"}
		}
		must(t, create("RedfishHost", name, host)(ctx, plane.Client()))
	}
	// Its owner isn't there, so that the garbage collector is after it too; the finalizer keeps it for the trial.
	must(t, patch("RedfishHost", "brought", `{"metadata":{"finalizers":["example.org/held"],"ownerReferences":[
		{"apiVersion":"platform.baremetal.crossplane.io/v1alpha1","kind":"XBareMetalNode","name":"web-1","uid":"x"}]}}`)(ctx, plane.Client()))
	must(t, patch("HostClaim", "seeded", `{"metadata":{"finalizers":["baremetal.m.crossplane.io/release"]}}`)(ctx, plane.Client()))
	must(t, patch("BootEntry", "seeded", `{"metadata":{"annotations":{"baremetal.m.crossplane.io/granted":"{}"}}}`)(ctx, plane.Client()))
	must(t, patch("NetBoxIPAddress", "seeded", askedFor(`"seeded"`))(ctx, plane.Client()))
	apply(ctx, t, plane, "examples/kinds/baremetalnode.yaml", "examples/v2/baremetalnode.yaml")

	forged := status("BootSession", "seeded", `{"status":{"boots":7}}`)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := forged(ctx, provider)
		if err != nil && strings.Contains(err.Error(), "written by bootd alone") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the policies aren't in force after a minute: %v", err)
		}
	}
}

// must ends the test on an error other than "is there already".
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil && !kerrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}
