package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// annotation of the provider's own.
func annotation(name string) string { return "baremetal.m.crossplane.io/" + name }

// hostRef names a machine's RedfishHost.
func hostRef(h *lab.Host) lab.Ref { return lab.Kind("RedfishHost", lab.InfraNamespace, h.Name) }

// leftovers are what there is of this case's claims anywhere: nothing once they are gone.
func (e *env) leftovers(ctx context.Context) (out []string, err error) {
	for _, r := range []lab.Ref{
		{APIVersion: lab.Baremetal, Kind: "HostClaim"}, {APIVersion: lab.Baremetal, Kind: "BootEntry"},
		{APIVersion: lab.Baremetal, Kind: "BootSession"}, {APIVersion: lab.Baremetal, Kind: "NetBoxIPAddress"},
		{APIVersion: lab.Baremetal, Kind: "RedfishHost"}, {APIVersion: lab.Baremetal, Kind: "ProviderConfigUsage"},
		{APIVersion: lab.Platform, Kind: "XBareMetalNode"},
	} {
		all := &unstructured.UnstructuredList{}
		all.SetAPIVersion(r.APIVersion)
		all.SetKind(r.Kind + "List")
		if err := e.Client().List(ctx, all); err != nil {
			return nil, err
		}
		for i := range all.Items {
			u := &all.Items[i]
			if u.GetNamespace() == e.Tenant || lab.StringOf(u, "spec", "claimRef", "namespace") == e.Tenant && r.Kind == "XBareMetalNode" {
				out = append(out, r.Kind+" "+u.GetName())
			}
		}
	}
	copies := &corev1.SecretList{}
	if err := e.Client().List(ctx, copies, client.InNamespace(lab.BootNamespace)); err != nil {
		return nil, err
	}
	for i := range copies.Items {
		if strings.HasPrefix(copies.Items[i].Annotations[annotation("entry")], e.Tenant+"/") {
			out = append(out, "Secret "+copies.Items[i].Name+" in bootd's namespace")
		}
	}
	return out, nil
}

// traces are what a host still has of a claim: nothing once it's released.
func traces(host *unstructured.Unstructured) (out []string) {
	for _, path := range [][]string{{"spec", "claimRef"}, {"spec", "forProvider", "boot"}} {
		if _, found, _ := unstructured.NestedMap(host.Object, path...); found {
			out = append(out, strings.Join(path, "."))
		}
	}
	if p := lab.StringOf(host, "spec", "forProvider", "power"); p != "" && p != "Unmanaged" {
		out = append(out, "power "+p)
	}
	for _, a := range []string{"granted", "installed", "quarantined"} {
		if v := host.GetAnnotations()[annotation(a)]; v != "" {
			out = append(out, a+" "+v)
		}
	}
	return out
}

// releasedWhole waits until nothing is left of this case's claims, and the operator's hosts are off and free.
func (e *env) releasedWhole(hosts ...*lab.Host) {
	e.t.Helper()
	e.nothingLeft()
	if n := e.addressesOf(e.Tenant); n != 0 {
		e.t.Errorf("%d addresses are left in NetBox", n)
	}
	for _, h := range hosts {
		if h.Machine.Powered() {
			e.t.Errorf("%s is still on", h.Name)
		}
		host := e.await(hostRef(h), "free, not cleaned", lab.All(lab.Field("Available", "status", "phase"), lab.Because("Cleaned", "NoCleaning"), lab.Is("Cleaned", "False")))
		if left := traces(host); len(left) > 0 {
			e.t.Errorf("%s still has %s", h.Name, strings.Join(left, ", "))
		}
	}
}

// nothingLeft waits until no object of the tenant is left, nor what was made for it elsewhere.
func (e *env) nothingLeft() {
	e.t.Helper()
	e.until("everything of "+e.Tenant+" to go", func(ctx context.Context) error {
		left, err := e.leftovers(ctx)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("there is %s", strings.Join(left, ", "))
		}
		return err
	})
}

// TestReleasedAndClaimedAgain holds that a claim's deletion gives the machine back, revoked first and seen off before its address
// goes, and that another claim can have and install it.
func TestReleasedAndClaimedAgain(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost()
	e.apply(`{apiVersion: v1, kind: Secret, metadata: {namespace: «tenant», name: web}, stringData: {userData: "#cloud-config\n"}}`)
	e.apply(changed("installGeneration: 1", "installGeneration: 1\n  userDataSecretRef: {name: web, key: userData}"), "name", "web", "host", h.Name)
	node := e.node("web")
	e.ready(node)
	record := recordOf(e.ready(lab.Kind("NetBoxIPAddress", e.Tenant, "web-boot-ipv4")))
	e.deleted(node)
	e.releasedWhole(h)
	e.wantActs(h, "a release", acts{Installs: 1, Erased: 1, Ons: 1, Offs: 1})
	deletion := slices.IndexFunc(e.writesTo(record), func(r netbox.Request) bool { return r.Method == http.MethodDelete })
	if off := lastOff(h); deletion < 0 || off.IsZero() || e.writesTo(record)[deletion].At.Before(off) {
		t.Errorf("want its address to go after the machine was off at %s, got %v", off, e.writesTo(record))
	}

	next := e.newNode("db", h)
	e.ready(next)
	e.wantActs(h, "another claim", acts{Installs: 2, Erased: 2, Ons: 2, Offs: 1})
	e.deleted(next)
	e.releasedWhole(h)
}

// lastOff is when a machine lost its power.
func lastOff(h *lab.Host) (at time.Time) {
	for _, v := range h.Machine.Events() {
		if v.Stage == machine.StageOff {
			at = v.At
		}
	}
	return at
}

// shortGrace makes a machine that doesn't hear its power button lose power after a second, not after minutes.
func (e *env) shortGrace(r lab.Ref) {
	e.t.Helper()
	e.patch(r, `{"spec":{"forProvider":{"powerOff":{"grace":"1s","then":"Force"}}}}`)
}

// testBootPlaneFirst holds the order with the boot plane: a machine is powered on only when a bootd has seen its grant, and powered
// off for its release only when one has acknowledged that nothing is granted any more.
func testBootPlaneFirst(t *testing.T) {
	t.Helper()
	e := newEnv(t)
	h := e.newHost()
	e.healsBootds()
	e.pausesAll()
	node := e.newNode("web", h)
	e.says(node, "WaitingForBootServer", "no boot server of BootNetwork")
	e.wantActs(h, "a grant that nobody has seen", acts{})
	e.resumesAll()
	e.ready(node)
	want := acts{Installs: 1, Erased: 1, Ons: 1}
	e.wantActs(h, "a grant that was seen", want)

	// Kubernetes takes the session away with its owner, at a moment of its own; one that is gone nobody needs to acknowledge.
	session := lab.Kind("BootSession", e.Tenant, "web")
	e.patch(session, `{"metadata":{"finalizers":["example.org/held"]}}`)
	e.pausesAll()
	e.must(e.Delete(t.Context(), node))
	e.says(lab.Kind("HostClaim", e.Tenant, "web"), "WaitingForRevocation", "waiting for a boot server to acknowledge")
	e.wantActs(h, "a revocation that nobody acknowledged", want)
	e.resumesAll()
	e.await(hostRef(h), "off", lab.Field("PoweredOff", "status", "atProvider", "power"))
	e.patch(session, `{"metadata":{"finalizers":null}}`)
	e.gone(node)
	e.releasedWhole(h)
}

// pausesAll freezes the boot plane.
func (e *env) pausesAll() {
	e.t.Helper()
	for _, b := range e.Bootds {
		e.pauses(b)
	}
}

// resumesAll lets it go on.
func (e *env) resumesAll() {
	for _, b := range e.Bootds {
		b.Resume()
	}
}

// TestReleasedWhileInstalling holds that a claim can be deleted while its machine writes the disk: nothing goes on afterwards.
func TestReleasedWhileInstalling(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost()
	e.shortGrace(hostRef(h))
	h.Machine.Inject(machine.Fault{Stage: machine.StageWriting, Action: machine.Hang, Times: 1})
	node := e.newNode("web", h)
	e.reaches(h, "the first byte on its disk", func(s machine.Status) bool { return s.Stage == machine.StageWriting })
	e.await(node, "Installing", lab.Field("Installing", "status", "phase"))
	e.deleted(node)
	e.releasedWhole(h)
	if a := actsOf(h); a.Installs != 0 || a.Erased != 1 || a.Ons != 1 {
		t.Errorf("want one install begun and none ended, got %+v", a)
	}
}

// ownBMC is a tenant's own credential.
const ownBMC = `
apiVersion: v1
kind: Secret
metadata: {namespace: «tenant», name: own-bmc}
stringData: {username: "` + lab.BMCUser + `", password: "` + lab.BMCPassword + `"}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: ProviderConfig
metadata: {namespace: «tenant», name: own-bmc}
spec:
  redfish:
    credentials: {source: Secret, secretRef: {name: own-bmc}}
    allowedAddresses: [127.0.0.0/8]
    tls: {verify: TrustOnFirstUse}
`

// newOwn emulates a machine of the tenant's own and claims it by its BMC. It goes with the case.
func (e *env) newOwn(name string) (lab.Ref, *lab.Host) {
	e.t.Helper()
	h, err := e.AddHost(lab.HostSpec{Name: fmt.Sprintf("own-%d", numbers.Add(1))})
	e.must(err)
	e.hosts = append(e.hosts, h.Name)
	e.apply(ownBMC)
	e.apply(changed("ref: {kind: RedfishHost, namespace: infra, name: «host»}", `bmc: {address: "«bmc»", providerConfigRef: {kind: ProviderConfig, name: own-bmc}, system: {serial: «serial»}, macs: ["«mac»"]}`),
		"name", name, "bmc", h.BMC.Addr(), "serial", h.Serial, "mac", h.MAC.String())
	return e.node(name), h
}

// TestOwnBMCReleased holds that a claim that names its BMC makes its host and takes it away again, off, with nobody logged in.
func TestOwnBMCReleased(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	node, h := e.newOwn("own")
	e.ready(node)
	e.wantActs(h, "an own machine", acts{Installs: 1, Erased: 1, Ons: 1})
	e.deleted(node)
	e.releasedWhole()
	e.wantActs(h, "its release", acts{Installs: 1, Erased: 1, Ons: 1, Offs: 1})
	if h.Machine.Powered() {
		t.Error("the machine is still on")
	}
	e.until("nobody to be logged in at its BMC", func(context.Context) error {
		if c := h.BMC.Counters(); c.Logins != c.Logouts {
			return fmt.Errorf("%d logins, %d logouts", c.Logins, c.Logouts)
		}
		return nil
	})
}

// TestNamespaceDeleted holds that the deletion of a whole namespace gives every machine back, those with credentials in the same
// namespace too.
func TestNamespaceDeleted(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost()
	shared := e.newNode("web", h)
	own, o := e.newOwn("own")
	e.ready(shared)
	e.ready(own)
	ns := lab.Ref{APIVersion: "v1", Kind: "Namespace", Name: e.Tenant}
	e.must(e.Delete(t.Context(), ns))
	e.must(e.AwaitGone(t.Context(), ns, late)) // Kubernetes looks at it again after ever longer pauses.
	e.releasedWhole(h)
	if o.Machine.Powered() {
		t.Error("the tenant's own machine is still on")
	}
}
