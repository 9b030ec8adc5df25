package cluster_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/guest"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
)

const (
	// patience is how long a step may take of a machine whose emulated processor shares two real ones with a cluster.
	patience = 6 * time.Minute
	// everything is how long it may take from nothing but warm caches until machines were Ready and one was given back.
	everything = 8 * time.Minute
	tenant     = "team-a"
)

// operator is what an operator applies once.
const operator = `
apiVersion: v1
kind: Namespace
metadata: {name: infra}
---
apiVersion: v1
kind: Namespace
metadata: {name: team-a}
---
apiVersion: v1
kind: Secret
metadata: {namespace: crossplane-system, name: netbox}
stringData: {token: "«token»"}
---
apiVersion: v1
kind: Secret
metadata: {namespace: crossplane-system, name: bmcs}
stringData: {username: "«user»", password: "«password»"}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: ClusterProviderConfig
metadata: {name: netbox}
spec:
  allowedNamespaces: {from: All}
  netbox: {url: "«netbox»", credentials: {source: Secret, secretRef: {namespace: crossplane-system, name: netbox, key: token}}}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: ClusterProviderConfig
metadata: {name: bmcs}
spec:
  allowedNamespaces: {from: Names, names: [infra]}
  redfish:
    credentials: {source: Secret, secretRef: {namespace: crossplane-system, name: bmcs}}
    allowedAddresses: ["«segment»"]
    tls: {verify: TrustOnFirstUse}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootProfile
metadata: {namespace: infra, name: tiny}
spec:
  allowedNamespaces: {from: All}
  mode: Install
  method: DiskImage
  userDataFormat: CloudInit
  artifacts:
  - arch: amd64
    kernel: {url: "«files»vmlinuz", digest: "«kernel»"}
    initrds: [{url: "«files»initrd.img", digest: "«initrd»"}]
    image: {url: "«files»disk.img", digest: "«image»", format: Raw, compression: None}
  commandLine: ["«commandLine»"]
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootNetwork
metadata: {namespace: infra, name: segment}
spec:
  allowedNamespaces: {from: All}
  subnets:
  - cidr: «segment»
    gateway: «gateway»
    addressesFrom:
      netboxProviderConfigRef: {kind: ClusterProviderConfig, name: netbox}
      sources: [{prefix: {cidr: «segment»}}]
  dhcp: {mode: Authoritative, leaseDuration: 12h}
`

// hostManifest is what an operator applies for each machine, and claimManifest what a tenant asks for.
const (
	hostManifest = `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: RedfishHost
metadata: {namespace: infra, name: «name»}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: bmcs}
  allowedNamespaces: {from: Names, names: [team-a]}
  forProvider: {address: "«bmc»", system: {serial: «serial»}, macs: ["«mac»"], powerOff: {grace: 20s, then: Force}}
`
	claimManifest = `
apiVersion: v1
kind: Secret
metadata: {namespace: team-a, name: «name»}
stringData: {userData: "#cloud-config\nhostname: «name»\n"}
---
apiVersion: platform.baremetal.crossplane.io/v1alpha1
kind: BareMetalNode
metadata: {namespace: team-a, name: «name»}
spec:
  host: {ref: {kind: RedfishHost, namespace: infra, name: «name»}}
  installGeneration: 1
  profileRef: {namespace: infra, name: tiny}
  userDataSecretRef: {name: «name», key: userData}
  networks: [{name: boot, networkRef: {namespace: infra, name: segment}, addresses: [{family: IPv4}]}]
`
)

// A site is what is outside of a cluster.
type site struct {
	// began is when the test did, with warm caches.
	began  time.Time
	netbox *stage.NetBox
	rack   *stage.Rack
	// kept was installed by this checkout's packages, and runs on while they are replaced.
	kept *stage.Host
	// released is when the last machine was given back.
	released time.Time
}

// outside makes one, and gives the cluster what an operator applies once.
func (w *site) outside(t *testing.T, s *stage.Stage, state string) {
	t.Helper()
	a := artifacts(t.Context(), t, filepath.Join(state, "artifacts"))
	var err error
	w.netbox, err = s.NetBox()
	must(t, err)
	files, err := s.Files(filepath.Join(state, "artifacts"))
	must(t, err)
	w.rack, err = s.Rack()
	must(t, err)
	must(t, s.ApplyYAML(t.Context(), strings.NewReplacer(
		"«token»", lab.NetBoxToken, "«user»", lab.BMCUser, "«password»", lab.BMCPassword, "«netbox»", w.netbox.Address,
		"«segment»", node.SegmentPrefix, "«gateway»", node.SegmentAddress, "«files»", files,
		"«kernel»", a.Kernel.Digest, "«initrd»", a.Initrd.Digest, "«image»", a.Image.Digest, "«commandLine»", guest.CommandLine,
	).Replace(operator)))
}

// machines go from a claim to Ready and one of them back: with real firmware, BIOS and UEFI at once, they broadcast on the node's
// segment, and bootd hears them. The other one runs on.
func (w *site) machines(t *testing.T, s *stage.Stage, state string) {
	t.Helper()
	w.outside(t, s, state)
	var hosts []*stage.Host
	for _, m := range []struct {
		name     string
		number   byte
		firmware qemu.Firmware
		model    bmc.Model
	}{{"bios", 1, qemu.BIOS, bmc.ModelInline}, {"uefi", 2, qemu.UEFI, bmc.ModelActionInfo}} {
		h, err := w.rack.Add(m.name, m.number, m.firmware, m.model)
		must(t, err)
		hosts = append(hosts, h)
	}
	for _, h := range hosts {
		apply(t, s, h, hostManifest)
		await(t, s, h, hostOf(h), "Available", lab.Field("Available", "status", "phase"))
	}
	addresses := len(w.netbox.Addresses())

	claimed := time.Now()
	for _, h := range hosts {
		apply(t, s, h, claimManifest)
	}
	for _, h := range hosts {
		await(t, s, h, lab.Node(tenant, h.Name), "Ready", lab.Is("Ready", "True"))
		figure(t, "cluster_claim_to_ready_"+h.Name, time.Since(claimed).Seconds(), "s")
		installedOnce(t, h)
	}
	if n := len(w.netbox.Addresses()); n != addresses+len(hosts) {
		t.Errorf("NetBox has %d addresses, and had %d before %d claims: %v", n, addresses, len(hosts), w.netbox.Addresses())
	}
	w.giveBack(t, s, hosts[0])
	w.released, w.kept = time.Now(), hosts[1]
	must(t, s.Until(t.Context(), "nothing to be left of "+hosts[0].Name, patience, func(ctx context.Context) error { return left(ctx, s, w.kept) }))
	took := time.Since(w.began)
	figure(t, "cluster_packages_machine", took.Seconds(), "s")
	if took > everything {
		t.Errorf("cluster, packages and machines took %.0f s, and should take %.0f at most", took.Seconds(), everything.Seconds())
	}
}

// returned gives back what was installed by this checkout's packages and ran under the older ones meanwhile.
func (w *site) returned(t *testing.T, s *stage.Stage, _ string) {
	t.Helper()
	w.giveBack(t, s, w.kept)
}

// giveBack deletes a machine's claim: then the machine is off, its host is free, and so is its address.
func (w *site) giveBack(t *testing.T, s *stage.Stage, h *stage.Host) {
	t.Helper()
	addresses, released := len(w.netbox.Addresses()), time.Now()
	must(t, s.Client().Delete(t.Context(), lab.Node(tenant, h.Name).Object()))
	must(t, s.AwaitGone(t.Context(), lab.Node(tenant, h.Name), patience))
	// That doesn't say that what was made for it is gone: a cluster's garbage collector learns of new kinds every 30 seconds, and until then doesn't
	// hold a claim back for it.
	await(t, s, h, hostOf(h), "Available again", lab.Field("Available", "status", "phase"))
	if h.Powered() {
		t.Errorf("%s is still on, and its host is free", h.Name)
	}
	must(t, s.Until(t.Context(), "the address of "+h.Name+" to be free", patience, func(context.Context) error {
		if n := len(w.netbox.Addresses()); n != addresses-1 {
			return fmt.Errorf("NetBox has %d addresses, and had %d with that one: %v", n, addresses, w.netbox.Addresses())
		}
		return nil
	}))
	t.Logf("%s was released after %.0f s", h.Name, time.Since(released).Seconds())
}

func hostOf(h *stage.Host) lab.Ref { return lab.Kind("RedfishHost", lab.InfraNamespace, h.Name) }

func apply(t *testing.T, s *stage.Stage, h *stage.Host, manifest string) {
	t.Helper()
	must(t, s.ApplyYAML(t.Context(), strings.NewReplacer(
		"«name»", h.Name, "«serial»", h.Serial, "«mac»", h.MAC.String(), "«bmc»", h.BMC.Addr()).Replace(manifest)))
}

// await waits until an object is as wanted. When it doesn't become so, the machine's serial port is shown too.
func await(t *testing.T, s *stage.Stage, h *stage.Host, r lab.Ref, what string, check lab.Check) {
	t.Helper()
	if _, err := s.Await(t.Context(), r, what, patience, check); err != nil {
		serial := h.Machine.Serial()
		t.Fatalf("%v\nthe serial port of %s ends with:\n%s", err, h.Name, serial[max(0, len(serial)-3000):])
	}
}

// installedOnce counts on the serial port what the machine did.
func installedOnce(t *testing.T, h *stage.Host) {
	t.Helper()
	serial := h.Machine.Serial()
	installs, boots := strings.Count(serial, "GUEST installed\n"), strings.Count(serial, "GUEST running from disk")
	if installs != 1 || boots != 1 || h.Starts() != 1 {
		t.Errorf("%s: %d installs, %d boots from disk, %d power-ons; want 1 each", h.Name, installs, boots, h.Starts())
	}
	if !strings.Contains(serial, "GUEST user data: ") {
		t.Errorf("%s: the installer fetched no user data", h.Name)
	}
}

// left says, by an error, what there is in a tenant's namespace beside what belongs to a claim that is still there, and what bootd has of somebody
// else's data.
func left(ctx context.Context, s *stage.Stage, kept *stage.Host) error {
	belongs := map[types.UID]bool{}
	data := map[string]bool{"bootd-tokens": true}
	// Owners come before what they own.
	for _, kind := range []string{"HostClaim", "RedfishHost", "NetBoxIPAddress", "BootEntry", "BootSession", "ProviderConfigUsage"} {
		all := &unstructured.UnstructuredList{}
		all.SetAPIVersion(lab.Baremetal)
		all.SetKind(kind + "List")
		if err := s.Client().List(ctx, all, client.InNamespace(tenant)); err != nil {
			return fmt.Errorf("cannot list %s: %w", kind, err)
		}
		for _, u := range all.Items {
			owned := slices.ContainsFunc(u.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return belongs[r.UID] })
			if !owned && u.GetLabels()["crossplane.io/claim-name"] != kept.Name {
				return fmt.Errorf("%s %s is left in the tenant's namespace", kind, u.GetName())
			}
			belongs[u.GetUID()] = true
			data["entry-"+string(u.GetUID())] = true
		}
	}
	if len(belongs) == 0 {
		return fmt.Errorf("%s is claimed, and nothing belongs to it", kept.Name)
	}
	secrets := &corev1.SecretList{}
	if err := s.Client().List(ctx, secrets, client.InNamespace(lab.BootNamespace)); err != nil {
		return fmt.Errorf("cannot list bootd's Secrets: %w", err)
	}
	for _, secret := range secrets.Items {
		if !data[secret.Name] {
			return fmt.Errorf("secret %s, of what the machine was given, is left with bootd", secret.Name)
		}
	}
	return nil
}
