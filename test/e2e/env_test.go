package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

const (
	// bootds of the lab: two, so that every case also shows that both give the same answers.
	bootds = 2
	// soon is how long something may take that takes a few seconds on a quiet machine.
	soon = 60 * time.Second
	// What furnish makes and every case may use, in the operator's namespace.
	network, profile = "rack-e2e", "debian-12"
)

// furnish applies what all cases share: credentials, provider configs and the profile of examples/demo, and one network that
// every namespace may use.
func furnish(ctx context.Context, l *lab.Lab) error {
	if err := l.ApplyExample(ctx, "demo/00-namespaces.yaml", "demo/10-secrets.yaml", "demo/20-clusterproviderconfigs.yaml",
		"demo/30-bootprofiles.yaml"); err != nil {
		return err
	}
	return l.Apply(ctx, `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootNetwork
metadata: {namespace: infra, name: `+network+`}
spec:
  allowedNamespaces: {from: All}
  allowedProfileNamespaces: {from: All}
  subnets:
  - cidr: `+lab.Prefix+`
    gateway: 10.77.0.1
    dns: [10.77.0.2]
    addressesFrom:
      netboxProviderConfigRef: {kind: ClusterProviderConfig, name: netbox}
      sources: [{prefix: {cidr: `+lab.Prefix+`}}]
  dhcp: {mode: Authoritative, relays: [127.0.0.0/8], leaseDuration: 12h}
`)
}

// numbers makes names that no other case of this run has.
var numbers atomic.Int64

// An env is what one case works with: a lab and a tenant of its own.
type env struct {
	*lab.Lab

	t *testing.T
	// Tenant is the namespace of this case's claims. It's deleted, with all that is in it, when the case ends.
	Tenant string

	// flavour is the API version of its nodes: claims, or composites that have no claim in front.
	flavour string
	hosts   []string
	// told says that what is known was shown already.
	told bool
}

// labOf a case. The first one waits until it's up.
func labOf(t *testing.T) *lab.Lab {
	t.Helper()
	p := calm
	for begins, its := range map[string]*place{killed: deadly, alone: rough, doomed: last} {
		if strings.HasPrefix(t.Name(), begins) {
			p = its
		}
	}
	l, err := p.up()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// newEnv makes a tenant for a case. When the case fails, it shows what is known of that namespace.
func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{Lab: labOf(t), t: t, flavour: flavourOf(t), Tenant: fmt.Sprintf("tenant-%d", numbers.Add(1))}
	e.must(e.Namespace(t.Context(), e.Tenant))
	t.Cleanup(func() { e.leave(t.Failed()) })
	return e
}

// leave gives the case's machines back. What can't be released would disturb the next case and fails this one. Each wait has its
// own time: one that takes long leaves the next one enough.
func (e *env) leave(failed bool) {
	ctx := context.Background() // The case's own has ended.
	ns := lab.Ref{APIVersion: "v1", Kind: "Namespace", Name: e.Tenant}
	if failed && !e.told {
		e.t.Log(e.Describe(e.Tenant))
	}
	if err := client.IgnoreNotFound(e.Delete(ctx, ns)); err != nil {
		e.t.Error(err)
		return
	}
	// The namespace itself goes some seconds after what is in it, and nobody needs to wait for that. An address that was asked for by
	// a provider that died then is looked for two minutes longer.
	if err := e.Until(ctx, "the tenant's claims to be gone", 3*soon, e.emptied); err != nil && !failed {
		e.t.Errorf("the case leaves something behind: %v", err)
	}
	for _, h := range e.hosts {
		if err := client.IgnoreNotFound(e.Delete(ctx, lab.Kind("RedfishHost", lab.InfraNamespace, h))); err != nil {
			e.t.Error(err)
		}
	}
	for _, h := range e.hosts {
		if err := e.AwaitGone(ctx, lab.Kind("RedfishHost", lab.InfraNamespace, h), soon); err != nil && !failed {
			e.t.Errorf("a machine can't be taken out of the rack: %v", err)
		}
		e.RemoveHost(h)
	}
}

// emptied says, by an error, what is still in the tenant.
func (e *env) emptied(ctx context.Context) error {
	for kind, version := range map[string]string{
		"BareMetalNode": e.flavour, "HostClaim": lab.Baremetal, "BootEntry": lab.Baremetal, "NetBoxIPAddress": lab.Baremetal, "RedfishHost": lab.Baremetal,
	} {
		all := &unstructured.UnstructuredList{}
		all.SetAPIVersion(version)
		all.SetKind(kind + "List")
		if err := e.Client().List(ctx, all, client.InNamespace(e.Tenant)); err != nil {
			return fmt.Errorf("cannot list %s: %w", kind, err)
		}
		if len(all.Items) > 0 {
			return fmt.Errorf("%s %s/%s is still there", kind, e.Tenant, all.Items[0].GetName())
		}
	}
	return nil
}

// must ends the case on an error.
func (e *env) must(err error) {
	e.t.Helper()
	if err != nil {
		e.told = true
		e.t.Fatal(err)
	}
}

// apply applies YAML as the administrator; every «NAME» in it is the value that follows NAME in values, else what fill knows.
func (e *env) apply(manifest string, values ...string) {
	e.t.Helper()
	e.must(e.Apply(e.t.Context(), e.fill(manifest, values...)))
}

// fill fills values in. What they don't say is the case's own namespace, and the network and profile that all cases share.
func (e *env) fill(manifest string, values ...string) string {
	values = append(values, "tenant", e.Tenant, "network", network, "profile", profile, "profiles", lab.InfraNamespace)
	pairs := make([]string, 0, len(values))
	for i := 0; i+1 < len(values); i += 2 {
		pairs = append(pairs, "«"+values[i]+"»", values[i+1])
	}
	pairs = append(pairs, lab.Platform, e.flavour)
	return strings.NewReplacer(pairs...).Replace(manifest) // Of two values for a name the first one counts.
}

// newHost emulates a machine of this case's own, registers it in the operator's namespace and waits until it's Available. It
// goes with the case.
func (e *env) newHost(change ...func(*lab.HostSpec)) *lab.Host {
	e.t.Helper()
	spec := lab.HostSpec{Name: fmt.Sprintf("host-%d", numbers.Add(1))}
	for _, c := range change {
		c(&spec)
	}
	h, err := e.AddHost(spec)
	e.must(err)
	e.hosts = append(e.hosts, h.Name)
	e.apply(`
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: RedfishHost
metadata: {namespace: infra, name: «host»}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: bmc-rack-7}
  allowedNamespaces: {from: Names, names: [«tenant»]}
  forProvider:
    address: «address»
    system: {serial: «serial»}
    macs: ["«mac»"]
`, "host", h.Name, "address", h.BMC.Addr(), "serial", h.Serial, "mac", h.MAC.String())
	e.await(lab.Kind("RedfishHost", lab.InfraNamespace, h.Name), "Available", lab.Field("Available", "status", "phase"))
	return h
}

// nodeManifest is the claim of newNode, for cases that change it.
const nodeManifest = `
apiVersion: platform.baremetal.crossplane.io/v1alpha1
kind: BareMetalNode
metadata: {namespace: «tenant», name: "«name»"}
spec:
  host: {ref: {kind: RedfishHost, namespace: infra, name: «host»}}
  installGeneration: 1
  profileRef: {namespace: «profiles», name: «profile»}
  networks: [{name: boot, networkRef: {namespace: infra, name: «network»}, addresses: [{family: IPv4}]}]
`

// node names a node of the case's tenant.
func (e *env) node(name string) lab.Ref {
	return lab.Ref{APIVersion: e.flavour, Kind: "BareMetalNode", Namespace: e.Tenant, Name: name}
}

// newNode claims a host and returns the claim's name.
func (e *env) newNode(name string, h *lab.Host) lab.Ref {
	e.t.Helper()
	e.apply(nodeManifest, "name", name, "host", h.Name)
	return e.node(name)
}

// ready waits until a claim is Ready.
func (e *env) ready(r lab.Ref) *unstructured.Unstructured {
	e.t.Helper()
	return e.await(r, "Ready", lab.Is("Ready", "True"))
}

// await waits until an object is as wanted, and ends the case with all that is known if it doesn't become so soon.
func (e *env) await(r lab.Ref, what string, check lab.Check) *unstructured.Unstructured {
	e.t.Helper()
	u, err := e.Await(e.t.Context(), r, what, soon, check)
	e.must(err)
	return u
}

// gone waits until an object is gone.
func (e *env) gone(r lab.Ref) {
	e.t.Helper()
	e.must(e.AwaitGone(e.t.Context(), r, soon))
}

// deleted deletes an object and waits until it's gone. Of a claim that says nothing about what was made for it, which a garbage collector that has
// much to do takes away later: nothingLeft and releasedWhole wait for that.
func (e *env) deleted(r lab.Ref) {
	e.t.Helper()
	e.must(e.Delete(e.t.Context(), r))
	e.gone(r)
}

// patch merges JSON into an object.
func (e *env) patch(r lab.Ref, merge string) {
	e.t.Helper()
	e.must(e.Client().Patch(e.t.Context(), r.Object(), client.RawPatch("application/merge-patch+json", []byte(merge))))
}

// until waits for something that isn't an object's.
func (e *env) until(what string, f func(context.Context) error) {
	e.t.Helper()
	e.must(e.Until(e.t.Context(), what, soon, f))
}

// as is a client of a user of the case's tenant: one who may do there what the package's tenant role allows, and nothing else.
func (e *env) as(user string) client.Client {
	e.t.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.Tenant, Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "baremetal-tenant"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	}
	e.must(client.IgnoreAlreadyExists(e.Client().Create(e.t.Context(), binding)))
	cfg, err := e.Plane.UserConfig(user, "tenants")
	e.must(err)
	c, err := client.New(cfg, client.Options{})
	e.must(err)
	return c
}

// serviceAccount is a client with a ServiceAccount's own rights.
func (e *env) serviceAccount(namespace, name string) client.Client {
	e.t.Helper()
	cfg, err := e.Plane.ServiceAccountConfig(e.t.Context(), namespace, name)
	e.must(err)
	c, err := client.New(cfg, client.Options{})
	e.must(err)
	return c
}

// addressesOf a namespace, by their markers in NetBox.
func (e *env) addressesOf(namespace string) int {
	n := 0
	for marker := range e.NetBox.Markers("crossplane_claim") {
		if strings.Contains(marker, "/"+namespace+"/") {
			n++
		}
	}
	return n
}

// count is how many objects of a kind are in the tenant.
func (e *env) count(kind string) int {
	e.t.Helper()
	all := &unstructured.UnstructuredList{}
	all.SetAPIVersion(lab.Baremetal)
	all.SetKind(kind + "List")
	e.must(e.Client().List(e.t.Context(), all, client.InNamespace(e.Tenant)))
	return len(all.Items)
}
