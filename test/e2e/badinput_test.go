package e2e

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// untouched fails the case if a machine was switched on, or anything was written to its disk.
func (e *env) untouched(h *lab.Host) {
	e.t.Helper()
	if s := h.Machine.Status(); s.Powered || s.PowerOns != 0 || s.Erased != 0 {
		e.t.Errorf("machine %s was touched: %+v", h.Name, s.Counters)
	}
}

// installedOnce fails the case unless a machine was installed exactly once.
func (e *env) installedOnce(h *lab.Host) {
	e.t.Helper()
	if s := h.Machine.Status(); s.Installs != 1 || s.Erased != 1 {
		e.t.Errorf("machine %s: want one install, got %+v", h.Name, s.Counters)
	}
}

// TestPrefixFull holds that a claim whose prefix is full waits and says so, and goes on when an address is freed.
func TestPrefixFull(t *testing.T) {
	t.Parallel()
	o := newOwnEnv(t)
	prefix := prefixOf(numbers.Add(1))
	id := o.NetBox.AddCIDR(prefix.String())
	t.Cleanup(func() { o.NetBox.RemovePrefix(id) })
	var taken []int64
	link := prefix.Addr().Next()
	for a := link; prefix.Contains(a.Next()); a = a.Next() {
		taken = append(taken, o.NetBox.AddAddress(netbox.Address{Address: netip.PrefixFrom(a, prefix.Bits()), Status: "active"}))
	}
	t.Cleanup(func() {
		for _, n := range taken {
			o.NetBox.RemoveAddress(n)
		}
	})
	o.own(`
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootNetwork
metadata: {namespace: infra, name: «id»}
spec:
  allowedNamespaces: {from: Names, names: [«tenant»]}
  allowedProfileNamespaces: {from: Same}
  subnets:
  - cidr: «cidr»
    gateway: «link»
    addressesFrom:
      netboxProviderConfigRef: {kind: ClusterProviderConfig, name: netbox}
      sources: [{prefix: {cidr: «cidr»}}]
  dhcp: {mode: Authoritative, relays: [127.0.0.0/8], leaseDuration: 12h}
`, "cidr", prefix.String(), "link", link.String())
	h := o.newHost(func(s *lab.HostSpec) { s.Change = func(c *machine.Config) { c.Relay.Link = link } })
	o.apply(nodeManifest, "name", "full", "host", h.Name, "network", o.id)
	node := o.node("full")

	o.says(node, "Exhausted", "no address is free", prefix.String(), "free one in NetBox")
	o.untouched(h)
	if n := o.addressesOf(o.Tenant); n != 0 {
		t.Errorf("want no address taken while there is none, got %d", n)
	}

	o.NetBox.RemoveAddress(taken[2])
	o.readyAgain(node)
	o.installedOnce(h)
	if n := o.addressesOf(o.Tenant); n != 1 {
		t.Errorf("want one address, got %d", n)
	}
}

// TestWrongPassword holds that a wrong BMC password is tried exactly once, since BMCs lock accounts, and that mending the Secret
// is all there is to do.
func TestWrongPassword(t *testing.T) {
	t.Parallel()
	o := newOwnEnv(t)
	const wrong = "not-the-password-7c1f"
	o.account(lab.BMCUser, wrong, "127.0.0.0/8")
	h, err := o.AddHost(lab.HostSpec{Name: o.id})
	o.must(err)
	host := o.register(h.Name, o.id, h.BMC.Addr())
	node := o.newNode("locked", h)

	o.says(node, "Unauthorized", h.Name, "refused the credentials", "operator must mend the Secret")
	o.await(host, "saying which Secret", func(u *unstructured.Unstructured) bool {
		return strings.Contains(lab.ConditionOf(u, "Ready").Message+lab.ConditionOf(u, "Synced").Message+lab.ConditionOf(u, "Reachable").Message, "password")
	})
	// Whatever wakes the host's reconciler tempts it to try again.
	for i := range 3 {
		o.patch(host, fmt.Sprintf(`{"metadata":{"labels":{"nudge":"%d"}}}`, i))
		o.patch(host, fmt.Sprintf(`{"spec":{"forProvider":{"unschedulable":%t}}}`, i == 1))
		o.await(host, "observed again", func(u *unstructured.Unstructured) bool { return lab.ConditionOf(u, "Reachable").Status == "False" })
	}
	o.untouched(h)
	if c := h.BMC.Counters(); c.FailedLogins != 1 {
		t.Errorf("want exactly one try of the wrong password, got %+v", c)
	}
	o.silentAbout(o.tenantReads(node), map[string]string{"the password": wrong, "the BMC's address": h.BMC.Addr()})
	o.silentAbout(o.logs(), map[string]string{"the wrong password": wrong})

	o.mend(lab.BMCPassword)
	o.readyAgain(node)
	o.installedOnce(h)
	if c := h.BMC.Counters(); c.FailedLogins != 1 {
		t.Errorf("want still one failed login, got %+v", c)
	}
}

// mend corrects the password of the case's own account.
func (o *ownEnv) mend(password string) {
	o.t.Helper()
	secret := lab.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "crossplane-system", Name: o.id}
	o.patch(secret, fmt.Sprintf(`{"stringData":{"password":%q}}`, password))
}

// TestDuplicateBMC holds that the second host object of one machine is refused and never writes to it, and becomes usable when
// the first one goes.
func TestDuplicateBMC(t *testing.T) {
	t.Parallel()
	o := newOwnEnv(t)
	h := o.newHost()
	second := o.register(o.id, "bmc-rack-7", h.BMC.Addr())
	o.apply(nodeManifest, "name", "twice", "host", o.id)
	node := o.node("twice")

	o.says(node, "Duplicate", o.id, "another host object is the same machine", "remove one")
	o.await(second, "naming the other", func(u *unstructured.Unstructured) bool {
		return strings.Contains(allMessages(u), `RedfishHost "`+h.Name+`"`)
	})
	o.untouched(h)
	if u, err := o.Get(t.Context(), second); err != nil || len(nestedMap(u, "spec", "claimRef")) != 0 {
		t.Errorf("a duplicate must not be bound: %v, %v", nestedMap(u, "spec", "claimRef"), err)
	}

	o.deleted(lab.Kind("RedfishHost", lab.InfraNamespace, h.Name))
	o.readyAgain(node)
	o.installedOnce(h)
}

// TestMissingSecret holds that a claim whose user data isn't there waits with its machine off, and that making the Secret is
// all there is to do.
func TestMissingSecret(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost()
	const data = "#cloud-config\n# late but here\n"
	e.apply(nodeManifest+"  userDataSecretRef: {name: late, key: userData}\n", "name", "patient", "host", h.Name)
	node := e.node("patient")

	e.says(node, "NotFound", `Secret "late"`, "create it", "userDataSecretRef")
	e.untouched(h)
	e.apply("{apiVersion: v1, kind: Secret, metadata: {namespace: «tenant», name: late}, stringData: {other: x}}")
	e.says(node, "NotFound", `Secret "late" has no key "userData"`, "add it")
	e.untouched(h)

	e.patch(lab.Ref{APIVersion: "v1", Kind: "Secret", Namespace: e.Tenant, Name: "late"}, fmt.Sprintf(`{"stringData":{"userData":%q}}`, data))
	e.readyAgain(node)
	e.installedOnce(h)
	if got := h.Machine.Status().Disk.UserData; got != data {
		t.Errorf("want the machine to have the user data that came late, got %q", got)
	}
}

// TestWrongDigest holds that an artifact with other bytes than its profile says is given to no machine, and that serving the
// right ones is all there is to do.
func TestWrongDigest(t *testing.T) {
	t.Parallel()
	o := newOwnEnv(t)
	image, right := o.id+".raw", bytes.Repeat([]byte("right image\n"), 64<<10)
	o.Artifacts.Put(image, right)
	digest := o.Artifacts.Digest(image)
	o.Artifacts.Put(image, bytes.Repeat([]byte("wrong image\n"), 64<<10)) // Before bootd sees the profile, and fetches its files.
	o.own(`
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootProfile
metadata: {namespace: infra, name: «id»}
spec:
  allowedNamespaces: {from: Names, names: [«tenant»]}
  mode: Install
  method: DiskImage
  artifacts:
  - arch: amd64
    kernel: {url: "«kernel»", digest: "«kernelDigest»"}
    initrds: [{url: "«initrd»", digest: "«initrdDigest»"}]
    image: {url: "«image»", digest: "«imageDigest»", format: Raw, compression: None}
`, "kernel", o.Artifacts.URL(lab.KernelFile), "kernelDigest", o.Artifacts.Digest(lab.KernelFile),
		"initrd", o.Artifacts.URL(lab.InitrdFile), "initrdDigest", o.Artifacts.Digest(lab.InitrdFile),
		"image", o.Artifacts.URL(image), "imageDigest", digest)
	h := o.newHost()
	o.apply(nodeManifest, "name", "picky", "host", h.Name, "profile", o.id)
	node := o.node("picky")

	o.says(node, "DigestMismatch", "sha256:", "correct the URL or the digest in the BootProfile")
	if s := h.Machine.Status(); s.Erased != 0 || s.Kernels != 0 {
		t.Errorf("want nothing started with a wrong image, got %+v", s.Counters)
	}

	o.Artifacts.Put(image, right)
	o.readyAgain(node)
	o.installedOnce(h)
}

// readyAgain waits longer than usual: what failed is tried again at growing intervals.
func (e *env) readyAgain(r lab.Ref) {
	e.t.Helper()
	_, err := e.Await(e.t.Context(), r, "Ready", patient, lab.Is("Ready", "True"))
	e.must(err)
}
