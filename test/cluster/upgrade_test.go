package cluster_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
)

// An update is of the cluster of TestInstall, back to an older version and forth again.
type update struct {
	*site

	// lacks says why there's no older version; nil where there is.
	lacks    error
	packages stage.Packages
	// idle was claimed with this checkout's packages, as kept was; older with the older ones.
	idle  *still
	older *stage.Host
	// replaced are the providers that were.
	replaced []replacement
	// removed is when everything began to be taken away.
	removed time.Time
}

// A still machine does nothing but be on or off. It's web-1 of the pages on operations.
type still struct {
	machine *bmc.Idle
	bmc     *bmc.Server
}

// idleName is what the claim of it is called.
const idleName = "web-1"

const stillManifest = `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: RedfishHost
metadata: {namespace: infra, name: r7-u12}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: bmcs}
  allowedNamespaces: {from: Names, names: [team-a]}
  forProvider: {address: "«bmc»", system: {serial: R7U12}, macs: ["52:54:00:00:07:12"]}
---
apiVersion: platform.baremetal.crossplane.io/v1alpha1
kind: BareMetalNode
metadata: {namespace: team-a, name: web-1}
spec:
  host: {ref: {kind: RedfishHost, namespace: infra, name: r7-u12}}
  profileRef: {namespace: infra, name: tiny}
  networks: [{name: boot, networkRef: {namespace: infra, name: segment}, addresses: [{family: IPv4}]}]
`

// build puts the older packages into the registry, and claims a machine with those of this checkout.
func (u *update) build(t *testing.T, s *stage.Stage, _ string) {
	t.Helper()
	need(t, u.lacks)
	from, err := s.Older(t.Context(), stage.OlderCommit, stage.OlderVersion)
	must(t, err)
	u.packages, err = s.Push(t.Context(), from)
	must(t, err)

	u.idle = &still{machine: &bmc.Idle{}}
	mac, err := net.ParseMAC("52:54:00:00:07:12")
	must(t, err)
	u.idle.bmc, err = s.BMC(node.SegmentAddress+":0", bmc.SystemConfig{
		Model: bmc.ModelInline, Serial: "R7U12", MACs: []net.HardwareAddr{mac}, Machine: u.idle.machine,
	})
	must(t, err)
	must(t, s.ApplyYAML(t.Context(), strings.ReplaceAll(stillManifest, "«bmc»", u.idle.bmc.Addr())))
	_, err = s.Await(t.Context(), lab.Node(tenant, idleName), "Ready", patience, lab.Is("Ready", "True"))
	must(t, err)
}

// back goes to the older version: bootd first, then the packages, as docs/operations says. What was installed runs on.
func (u *update) back(t *testing.T, s *stage.Stage, _ string) {
	t.Helper()
	need(t, u.lacks)
	before := u.look(t, s)
	ready := watchReady(t, s, idleName, u.kept.Name)
	took := watchLease(t, s)
	must(t, s.InstallBootd(t.Context(), u.packages, artifactRange))
	ended := u.replace(t, s)
	must(t, s.Apply(t.Context(), u.packages.Manifest("install.yaml"), u.packages.Manifest("policies.yaml")))
	u.settle(t, s, u.packages, took)
	ended()
	ready()
	u.unharmed(t, s, before)

	older, err := u.rack.Add("older", 3, qemu.BIOS, bmc.ModelInline)
	must(t, err)
	apply(t, s, older, hostManifest)
	await(t, s, older, hostOf(older), "Available", lab.Field("Available", "status", "phase"))
	apply(t, s, older, claimManifest)
	await(t, s, older, lab.Node(tenant, older.Name), "Ready", lab.Is("Ready", "True"))
	installedOnce(t, older)
	u.older = older
}

// upgrade goes to this checkout's version: policies and packages, then bootd. What either version installed runs on.
func (u *update) upgrade(t *testing.T, s *stage.Stage, _ string) {
	t.Helper()
	need(t, u.lacks)
	before := u.look(t, s)
	ready := watchReady(t, s, idleName, u.kept.Name, u.older.Name)
	took := watchLease(t, s)
	ended := u.replace(t, s)
	must(t, s.Apply(t.Context(), s.Packages.Manifest("policies.yaml"), s.Packages.Manifest("install.yaml")))
	gap := u.settle(t, s, s.Packages, took)
	ended()
	must(t, s.InstallBootd(t.Context(), s.Packages, artifactRange))
	figure(t, "upgrade_without_provider", gap.Seconds(), "s")
	ready()
	u.unharmed(t, s, before)
}
