package e2e

import (
	"context"
	"encoding/json"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// patient is how long something may take that is tried again at long intervals.
const patient = 3 * time.Minute

// An ownEnv is an env with objects of the operator's that are this case's alone: credentials, networks, profiles.
type ownEnv struct {
	*env

	// id is in the names of these objects.
	id    string
	owned []lab.Ref
}

// newOwnEnv makes a tenant for a case, and gives the case's own objects back after that tenant is gone.
func newOwnEnv(t *testing.T) *ownEnv {
	t.Helper()
	o := &ownEnv{id: "own-" + strconv.FormatInt(numbers.Add(1), 10)}
	t.Cleanup(func() { o.clear(t) })
	o.env = newEnv(t)
	return o
}

// clear deletes the newest first: what uses something else comes after it.
func (o *ownEnv) clear(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	for _, r := range slices.Backward(o.owned) {
		err := o.Delete(ctx, r)
		if client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	}
}

// own applies YAML of the operator's exactly as it is, «id» filled in, and deletes it after the case.
func (o *ownEnv) own(manifest string, values ...string) {
	o.t.Helper()
	objects, err := local.Decode([]byte(o.fill(manifest, append(values, "id", o.id)...)))
	o.must(err)
	for _, u := range objects {
		o.owned = append(o.owned, lab.RefOf(u))
	}
	o.must(o.Plane.Apply(o.t.Context(), objects...))
}

// account makes credentials and a provider config for BMCs, which the operator's namespace and this tenant may use.
func (o *ownEnv) account(user, password, allowed string) {
	o.t.Helper()
	o.own(`
apiVersion: v1
kind: Secret
metadata: {namespace: crossplane-system, name: «id»}
stringData: {username: "«user»", password: "«password»"}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: ClusterProviderConfig
metadata: {name: «id»}
spec:
  allowedNamespaces: {from: Names, names: [infra, «tenant»]}
  redfish:
    credentials: {source: Secret, secretRef: {namespace: crossplane-system, name: «id»}}
    allowedAddresses: ["«allowed»"]
    tls: {verify: TrustOnFirstUse}
    requestsPerSecond: 50
`, "user", user, "password", password, "allowed", allowed)
}

// register makes a RedfishHost of the operator's, which this tenant may claim. It goes with the case.
func (o *ownEnv) register(name, config, address string) lab.Ref {
	o.t.Helper()
	o.hosts = append(o.hosts, name)
	o.apply(`
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: RedfishHost
metadata: {namespace: infra, name: «host»}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: «config»}
  allowedNamespaces: {from: Names, names: [«tenant»]}
  forProvider: {address: "«address»"}
`, "host", name, "config", config, "address", address)
	return lab.Kind("RedfishHost", lab.InfraNamespace, name)
}

// says waits until a claim's own status says a reason, in a sentence with each of those words.
func (e *env) says(claim lab.Ref, reason string, words ...string) {
	e.t.Helper()
	e.await(claim, "telling "+reason, func(u *unstructured.Unstructured) bool {
		return lab.StringOf(u, "status", "reason") == reason && containsAll(lab.StringOf(u, "status", "message"), words)
	})
}

func containsAll(s string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}

// logs are what provider and bootds have written so far.
func (e *env) logs() map[string]string {
	e.t.Helper()
	out := map[string]string{}
	paths := []string{e.Provider.Log(), e.Function.Log()}
	for _, b := range e.Bootds {
		paths = append(paths, b.Log())
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		e.must(err)
		out[p] = string(b)
	}
	return out
}

// tenantReads is everything that the tenant's role lets a user read in the tenant's namespace, as JSON by what it is.
func (e *env) tenantReads(claim lab.Ref) map[string]string {
	e.t.Helper()
	c, out := e.as("alice"), map[string]string{}
	u := claim.Object()
	e.must(c.Get(e.t.Context(), client.ObjectKeyFromObject(u), u))
	events := &corev1.EventList{}
	e.must(c.List(e.t.Context(), events, client.InNamespace(e.Tenant)))
	for what, o := range map[string]any{"claim": u.Object, "events": events.Items} {
		b, err := json.Marshal(o)
		e.must(err)
		out[what] = string(b)
	}
	return out
}

// silentAbout fails the case where a text contains a secret.
func (e *env) silentAbout(texts, secrets map[string]string) {
	e.t.Helper()
	for where, text := range texts {
		for what, secret := range secrets {
			if secret != "" && strings.Contains(text, secret) {
				e.t.Errorf("%s tells %s", where, what)
			}
		}
	}
}

// prefixOf the n-th network of a case's own: of a range that no other case uses.
func prefixOf(n int64) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 78, byte(n), 0}), 29) //nolint:gosec // A few.
}

// allMessages of an object's conditions.
func allMessages(u *unstructured.Unstructured) string {
	var b strings.Builder
	for _, c := range lab.Conditions(u) {
		b.WriteString(c.Message + "\n")
	}
	return b.String()
}

// nestedMap of an object at that path; nil where there is none.
func nestedMap(u *unstructured.Unstructured, path ...string) map[string]any {
	if u == nil {
		return nil
	}
	m, _, err := unstructured.NestedMap(u.Object, path...)
	if err != nil {
		return nil
	}
	return m
}
