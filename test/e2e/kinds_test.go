package e2e

import (
	"strings"
	"testing"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// still is for how long nothing is to happen, which is longer than any controller waits between two looks.
const still = 8 * time.Second

// testKindsDeleted holds that who deletes our kinds, with a provider that works, switches no machine off and frees no address: it's refused,
// and past the refusal the provider doesn't take it for a wish. What is marked says so.
func testKindsDeleted(t *testing.T) {
	t.Helper()
	e := &env{Lab: labOf(t), t: t, flavour: lab.Platform, Tenant: "tenant-of-kinds"}
	e.must(e.Namespace(t.Context(), e.Tenant))
	h := e.newHost()
	node := e.newNode("web", h)
	e.ready(node)
	before := h.Machine.Status()

	kinds := []string{"hostclaims", "bootentries", "netboxipaddresses", "redfishhosts"}
	for _, kind := range kinds {
		err := e.Client().Delete(t.Context(), definition(kind))
		if !kerrors.IsForbidden(err) || !strings.Contains(err.Error(), "goes with its package") {
			t.Errorf("the deletion of %s is to be refused: %v", kind, err)
		}
	}
	e.must(e.Delete(t.Context(), lab.Ref{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingAdmissionPolicyBinding", Name: "baremetal-kinds"}))
	for _, kind := range kinds {
		e.await(lab.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: kind + "." + ownGroup}, "being deleted",
			func(u *unstructured.Unstructured) bool {
				return u.GetDeletionTimestamp() != nil || e.Client().Delete(t.Context(), definition(kind)) == nil
			})
	}
	claim := lab.Kind("HostClaim", e.Tenant, "web")
	e.says(claim, "KindDeleted", "hostclaims."+ownGroup, "nothing outside is touched", "force-release")
	e.await(hostRef(h), "marked, and saying why it stays", func(u *unstructured.Unstructured) bool {
		return u.GetDeletionTimestamp() != nil && strings.Contains(lab.ConditionOf(u, "Synced").Message, "redfishhosts."+ownGroup)
	})
	time.Sleep(still) // Nothing is waited for: nothing is to happen.
	after := h.Machine.Status()
	if !after.Powered || after.PowerOns != before.PowerOns || e.addressesOf(e.Tenant) != 1 {
		t.Errorf("the machine is on: %t, after %d switches (%d before); NetBox has %d addresses of it, want 1",
			after.Powered, after.PowerOns, before.PowerOns, e.addressesOf(e.Tenant))
	}

	// An operator's word gives the machine up as it runs.
	e.must(e.Client().Patch(t.Context(), claim.Object(), client.RawPatch("application/merge-patch+json",
		[]byte(`{"metadata":{"annotations":{"`+annotation("force-release")+`":"the cluster is given up"}}}`))))
	e.gone(claim)
	if !h.Machine.Powered() || e.addressesOf(e.Tenant) != 1 {
		t.Errorf("given up, the machine is on: %t, with %d addresses", h.Machine.Powered(), e.addressesOf(e.Tenant))
	}
}

// definition of a kind of ours.
func definition(kind string) *unstructured.Unstructured {
	return lab.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: kind + "." + ownGroup}.Object()
}
