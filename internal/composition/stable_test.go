package composition

import (
	"maps"
	"slices"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
)

const (
	ownNode = `
apiVersion: platform.baremetal.crossplane.io/v1alpha1
kind: XBareMetalNode
metadata: {name: web-1-abcde}
spec:
  claimRef: {namespace: team-a, name: web-1}
  host: {bmc: {address: 10.0.9.21, providerConfigRef: {kind: ProviderConfig, name: mine}}}
  profileRef: {namespace: infra, name: debian-12}
  networks: [{name: boot, networkRef: {namespace: infra, name: rack-7}, addresses: [{family: IPv4}]}]
`
	dualNode = `
apiVersion: platform.baremetal.crossplane.io/v1alpha1
kind: XBareMetalNode
metadata: {name: web-1-abcde}
spec:
  claimRef: {namespace: team-a, name: web-1}
  host: {bmc: {address: 10.0.9.21, providerConfigRef: {kind: ProviderConfig, name: mine}}}
  profileRef: {namespace: infra, name: debian-12}
  networks: [{name: boot, networkRef: {namespace: infra, name: rack-7}, addresses: [{family: IPv6}, {family: IPv4}]}]
`
	aPoolOf2 = `
apiVersion: platform.baremetal.crossplane.io/v1alpha1
kind: XRackPool
metadata: {name: rack-7-abcde}
spec:
  claimRef: {namespace: infra, name: rack-7}
  defaults: {redfishProviderConfigRef: {name: bmc}}
  hosts: [{name: a, address: 10.0.0.1}, {name: b, address: 10.0.0.2, unschedulable: true}]
  network: {subnets: [{cidr: 10.77.0.0/24}]}
`
	bothRack7 = `
metadata: {namespace: infra, name: rack-7}
spec:
  allowedNamespaces: {from: Names, names: [team-a]}
  subnets:
  - cidr: 10.77.0.0/24
    addressesFrom: {netboxProviderConfigRef: {name: netbox}, sources: [{prefix: {cidr: 10.77.0.0/24}}]}
  - cidr: fd00:77::/64
    addressesFrom: {netboxProviderConfigRef: {name: netbox}, sources: [{prefix: {cidr: "fd00:77::/64"}}]}
`
	nobodys = `
metadata: {namespace: infra, name: rack-7}
spec: {allowedNamespaces: {from: None}, subnets: [{cidr: 10.77.0.0/24}]}
`
)

// shapes are states in which a composed resource may be seen: just made, half made, written by a newer version, being deleted, and
// moved to another namespace by who may do that.
var shapes = []string{
	"{}",
	"{metadata: {namespace: team-a, name: web-1}, spec: {forProvider: {}}, status: {}}",
	"{metadata: {namespace: team-a, name: web-1}, spec: {later: 1}, status: {phase: Later, reason: Later, conditions: [{type: Ready, status: Later}]}}",
	`{metadata: {namespace: team-a, name: web-1, deletionTimestamp: "2026-08-01T10:00:00Z"}, status: {phase: Releasing, conditions: [{type: Ready, status: "False"}]}}`,
	"{metadata: {namespace: elsewhere, name: other}}",
}

// TestNothingIsDropped proves that no input that is missing, half made, forbidden or being deleted takes away what was composed:
// Crossplane deletes what is observed and not desired any more.
func TestNothingIsDropped(t *testing.T) {
	keys := []string{"host-claim", "boot-entry", "host", "address-boot-ipv4"}
	t.Run("One", func(t *testing.T) { nothingDropped(t, ownNode, keys) })
	t.Run("Both", func(t *testing.T) { nothingDropped(t, dualNode, append(keys, "address-boot-ipv6")) })
}

func nothingDropped(t *testing.T, composite string, keys []string) {
	t.Helper()
	networks := map[string]map[string]string{
		"Unanswered": nil, "Missing": {"network-boot": ""}, "Forbidden": {"network-boot": nobodys}, "Usable": {"network-boot": rack7},
	}
	for name, required := range networks {
		for subset := range 1 << len(keys) {
			for i, shape := range shapes {
				observed := map[string]string{}
				for k, key := range keys {
					if subset&(1<<k) != 0 {
						observed[key] = shape
					}
				}
				rsp := run(t, request(t, composite, observed, required))
				if len(rsp.GetResults()) > 0 {
					t.Fatalf("network %s, observed %v in shape %d: %v", name, slices.Sorted(maps.Keys(observed)), i, rsp.GetResults())
				}
				for key := range observed {
					if _, ok := rsp.GetDesired().GetResources()[key]; !ok {
						t.Errorf("network %s, observed %v in shape %d: %s is dropped", name, slices.Sorted(maps.Keys(observed)), i, key)
					}
				}
				for key, r := range rsp.GetDesired().GetResources() {
					if ns := r.GetResource().AsMap()["metadata"].(map[string]any)["namespace"]; ns != "team-a" {
						t.Errorf("network %s, shape %d: %s is in namespace %v", name, i, key, ns)
					}
				}
			}
		}
	}
}

// TestSettles proves that the answer stays the same once what is desired is observed: a field that was rendered one way before it was
// observed and another way after would change its object, and so the composite, at each pass.
func TestSettles(t *testing.T) {
	for name, tc := range map[string]struct {
		composite string
		required  map[string]string
	}{
		"Named":     {claimedNode, map[string]string{"network-boot": rack7}},
		"Modern":    {modernNode, map[string]string{"network-boot": rack7}},
		"Both":      {dualNode, map[string]string{"network-boot": bothRack7}},
		"HalfBoth":  {dualNode, map[string]string{"network-boot": rack7}},
		"OwnBMC":    {ownNode, map[string]string{"network-boot": rack7}},
		"Forbidden": {ownNode, map[string]string{"network-boot": nobodys}},
		"Missing":   {ownNode, map[string]string{"network-boot": ""}},
		"Pool":      {aPoolOf2, nil},
	} {
		t.Run(name, func(t *testing.T) {
			req := request(t, tc.composite, nil, tc.required)
			first := run(t, req)
			second := run(t, after(t, req, first))
			if diff := cmp.Diff(composed(first), composed(second), protocmp.Transform()); diff != "" {
				t.Errorf("what is composed changed once it was observed (-first +second):\n%s", diff)
			}
			third := run(t, after(t, req, second))
			if diff := cmp.Diff(second, third, protocmp.Transform()); diff != "" {
				t.Errorf("the answer doesn't settle (-second +third):\n%s", diff)
			}
		})
	}
}

// after is the request that follows an answer: what was desired is observed now, as an API server returns it, without status.
func after(t *testing.T, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) *fnv1.RunFunctionRequest {
	t.Helper()
	next := &fnv1.RunFunctionRequest{
		Meta: req.GetMeta(), RequiredResources: req.GetRequiredResources(),
		Observed: &fnv1.State{Composite: req.GetObserved().GetComposite(), Resources: map[string]*fnv1.Resource{}},
	}
	for name, r := range rsp.GetDesired().GetResources() {
		doc := r.GetResource().AsMap()
		meta := doc["metadata"].(map[string]any)
		meta["uid"] = "uid-" + name
		labels, _ := meta["labels"].(map[string]any)
		meta["labels"] = map[string]any{"crossplane.io/composite": "web-1-abcde"}
		maps.Copy(meta["labels"].(map[string]any), labels)
		s, err := structpb.NewStruct(doc)
		if err != nil {
			t.Fatal(err)
		}
		next.Observed.Resources[name] = &fnv1.Resource{Resource: s}
	}
	return next
}

// composed are the objects of an answer.
func composed(rsp *fnv1.RunFunctionResponse) map[string]*structpb.Struct {
	out := map[string]*structpb.Struct{}
	for name, r := range rsp.GetDesired().GetResources() {
		out[name] = r.GetResource()
	}
	return out
}
