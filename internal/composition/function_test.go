package composition

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"
)

// structOf reads a YAML document as Crossplane sends it.
func structOf(t *testing.T, doc string) *structpb.Struct {
	t.Helper()
	m := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(doc), &m); err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	s, err := structpb.NewStruct(m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// request is one for a composite, with what is observed and required by name.
func request(t *testing.T, composite string, observed, required map[string]string) *fnv1.RunFunctionRequest {
	t.Helper()
	req := &fnv1.RunFunctionRequest{
		Meta:     &fnv1.RequestMeta{Tag: "t"},
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: structOf(t, composite)}, Resources: map[string]*fnv1.Resource{}},
	}
	for name, doc := range observed {
		req.Observed.Resources[name] = &fnv1.Resource{Resource: structOf(t, doc)}
	}
	for name, doc := range required {
		if req.RequiredResources == nil {
			req.RequiredResources = map[string]*fnv1.Resources{}
		}
		req.RequiredResources[name] = &fnv1.Resources{}
		if doc != "" {
			req.RequiredResources[name].Items = []*fnv1.Resource{{Resource: structOf(t, doc)}}
		}
	}
	return req
}

const (
	nodeSpec = `
  host: {ref: {namespace: infra, name: r7-u12}, rebindGeneration: 0}
  installGeneration: 1
  profileRef: {name: debian-12}
  networks: [{name: boot, networkRef: {namespace: infra, name: rack-7}, addresses: [{family: IPv4}]}]
  power: PoweredOn
  reclaimPolicy: Release
`
	claimedNode = `
apiVersion: platform.baremetal.crossplane.io/v1alpha1
kind: XBareMetalNode
metadata: {name: web-1-abcde}
spec:
  claimRef: {namespace: team-a, name: web-1}` + nodeSpec
	modernNode = `
apiVersion: platform.baremetal.m.crossplane.io/v1alpha1
kind: BareMetalNode
metadata: {namespace: team-a, name: web-1}
spec:` + nodeSpec
	rack7 = `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootNetwork
metadata: {namespace: infra, name: rack-7}
spec:
  allowedNamespaces: {from: All}
  domain: rack7.example
  subnets:
  - cidr: 10.77.0.0/24
    addressesFrom: {netboxProviderConfigRef: {name: netbox}, sources: [{prefix: {cidr: 10.77.0.0/24}}]}
`
)

// run calls the function as Crossplane does.
func run(t *testing.T, req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	t.Helper()
	rsp, err := New(logging.NewNopLogger()).RunFunction(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return rsp
}

// TestFlavours proves that claim and namespaced composite are composed of the same.
func TestFlavours(t *testing.T) {
	required := map[string]string{"network-boot": rack7}
	claim, modern := run(t, request(t, claimedNode, nil, required)), run(t, request(t, modernNode, nil, required))
	if diff := cmp.Diff(claim, modern, protocmp.Transform()); diff != "" {
		t.Errorf("the flavours differ (-claim +namespaced):\n%s", diff)
	}
	want := []string{"address-boot-ipv4", "boot-entry", "host-claim"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(claim.GetDesired().GetResources()))); diff != "" {
		t.Errorf("composed resources (-want +got):\n%s", diff)
	}
	for name, r := range claim.GetDesired().GetResources() {
		if ns := r.GetResource().AsMap()["metadata"].(map[string]any)["namespace"]; ns != "team-a" {
			t.Errorf("%s is in namespace %v: a namespaced kind without its claim's namespace wedges the composite", name, ns)
		}
		if r.GetReady() != fnv1.Ready_READY_FALSE {
			t.Errorf("%s is %s though nothing was observed", name, r.GetReady())
		}
	}
}

// TestPure proves that the same request has the same answer, and that the composite's own status is no fact.
func TestPure(t *testing.T) {
	required := map[string]string{"network-boot": rack7}
	first := run(t, request(t, claimedNode, nil, required))
	if diff := cmp.Diff(first, run(t, request(t, claimedNode, nil, required)), protocmp.Transform()); diff != "" {
		t.Errorf("the second answer differs:\n%s", diff)
	}
	forged := claimedNode + `
status:
  phase: Ready
  host: {kind: RedfishHost, namespace: infra, name: forged}
  addresses: [{network: boot, family: IPv4, address: 10.77.0.66/24}]
  conditions: [{type: HostBound, status: "True", reason: Forged, lastTransitionTime: "2026-08-01T10:00:00Z"}]
`
	if diff := cmp.Diff(first, run(t, request(t, forged, nil, required)), protocmp.Transform()); diff != "" {
		t.Errorf("the composite's own status changed the answer:\n%s", diff)
	}
}

// TestRequirement proves that the network is asked for by namespace and name in each answer: a requirement that isn't repeated is
// dropped.
func TestRequirement(t *testing.T) {
	ns := "infra"
	want := &fnv1.Requirements{Resources: map[string]*fnv1.ResourceSelector{"network-boot": {
		ApiVersion: "baremetal.m.crossplane.io/v1alpha1", Kind: "BootNetwork", Namespace: &ns,
		Match: &fnv1.ResourceSelector_MatchName{MatchName: "rack-7"},
	}}}
	for name, required := range map[string]map[string]string{"Before": nil, "After": {"network-boot": rack7}, "Missing": {"network-boot": ""}} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, run(t, request(t, claimedNode, nil, required)).GetRequirements(), protocmp.Transform()); diff != "" {
				t.Errorf("requirements (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFatal proves that what can't be read changes nothing: a fatal result leaves everything composed as it is, where an empty answer
// would delete it.
func TestFatal(t *testing.T) {
	edit := func(from, to string) string { return strings.Replace(claimedNode, from, to, 1) }
	for name, tc := range map[string]struct {
		reason    string
		composite string
		observed  map[string]string
		required  map[string]string
		says      string
	}{
		"NoClaim": {
			reason:    "there is no namespace to compose in",
			composite: edit("claimRef: {namespace: team-a, name: web-1}", "a: b"),
			says:      "it has no claim",
		},
		"OtherKind": {
			reason:    "another composition named this function",
			composite: edit("XBareMetalNode", "XWidget"),
			says:      `cannot compose kind "XWidget"`,
		},
		"Pools": {
			reason:    "admission refuses a claim by pool; one that got past isn't guessed at",
			composite: edit("ref: {namespace: infra, name: r7-u12}", "claim: {poolRefs: [{name: x}]}"),
			says:      "exactly one of host.ref and host.bmc",
		},
		"NoNetwork": {
			reason:    "admission refuses that too",
			composite: edit("[{name: boot, networkRef: {namespace: infra, name: rack-7}, addresses: [{family: IPv4}]}]", "[]"),
			says:      "exactly one network",
		},
		"WrongType": {
			reason:    "a spec of another schema",
			composite: edit("installGeneration: 1", "installGeneration: one"),
			says:      "cannot read composite",
		},
		"ObservedNonsense": {
			reason:    "an observed resource of another schema",
			composite: claimedNode,
			observed:  map[string]string{"host-claim": "{spec: 1}"},
			says:      `cannot read composed resource "host-claim"`,
		},
		"RequiredNonsense": {
			reason:    "a network of another schema",
			composite: claimedNode,
			required:  map[string]string{"network-boot": "{spec: 1}"},
			says:      `cannot read required resource "network-boot"`,
		},
		"PoolHostWithoutConfig": {
			reason: "a host without credentials can't be made",
			composite: `
apiVersion: platform.baremetal.crossplane.io/v1alpha1
kind: XRackPool
metadata: {name: rack-7-abcde}
spec: {claimRef: {namespace: infra, name: rack-7}, hosts: [{name: a, address: 10.0.0.1}]}`,
			says: "has no redfishProviderConfigRef",
		},
	} {
		t.Run(name, func(t *testing.T) {
			rsp := run(t, request(t, tc.composite, tc.observed, tc.required))
			if len(rsp.GetResults()) != 1 || rsp.GetResults()[0].GetSeverity() != fnv1.Severity_SEVERITY_FATAL {
				t.Fatalf("%s: want one fatal result, got %v", tc.reason, rsp.GetResults())
			}
			if got := rsp.GetResults()[0].GetMessage(); !strings.Contains(got, tc.says) {
				t.Errorf("%s: want %q, got %q", tc.reason, tc.says, got)
			}
		})
	}
}

// TestNewerFields proves that an object with fields that this version doesn't know is read all the same.
func TestNewerFields(t *testing.T) {
	observed := map[string]string{"host-claim": "{metadata: {name: web-1}, spec: {later: 1}, status: {phase: Booting, reason: WaitingForDHCP, later: {a: b}}}"}
	rsp := run(t, request(t, claimedNode, observed, nil))
	status := rsp.GetDesired().GetComposite().GetResource().AsMap()["status"].(map[string]any)
	if status["phase"] != "Booting" {
		t.Errorf("phase is %v", status["phase"])
	}
}

// FuzzCompose proves that no composite breaks the function.
func FuzzCompose(f *testing.F) {
	for _, doc := range []string{claimedNode, modernNode, rack7, "{}", "kind: XRackPool", "{kind: RackPool, metadata: {namespace: a, name: b}, spec: {hosts: [{}]}}"} {
		f.Add(doc)
	}
	fn := New(logging.NewNopLogger())
	f.Fuzz(func(t *testing.T, doc string) {
		m := map[string]any{}
		if yaml.Unmarshal([]byte(doc), &m) != nil {
			t.Skip()
		}
		s, err := structpb.NewStruct(m)
		if err != nil {
			t.Skip()
		}
		req := &fnv1.RunFunctionRequest{Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: s}}}
		if _, err := fn.RunFunction(t.Context(), req); err != nil {
			t.Error(err)
		}
	})
}
