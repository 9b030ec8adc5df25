package oncluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// acts are what happens beside the commands of the pages, by their words there.
func (c *cluster) acts() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"the reader's own rack":                               c.ownRack,
		"the reader's rack is taken down":                     c.rackDown,
		"without bootd":                                       c.withoutBootd,
		"bootd by the manifest":                               c.bootdByManifest,
		"a machine runs":                                      c.machineRuns,
		"the next version":                                    c.nextVersion,
		"what the reader had set is still set":                c.settingsKept,
		"the machine is as it was":                            c.untouched,
		"the machine was given back":                          c.givenBack,
		"what is left is what the page names":                 c.onlyNamedLeft,
		"images that nodes cannot pull":                       c.imagesGone,
		"nodes can pull the images":                           c.imagesBack,
		"a node loses the label of bootd":                     c.unlabelled,
		"a certificate of the reader's own":                   c.ownCertificate,
		"bootd serves HTTPS":                                  c.servesHTTPS,
		"the certificate is renewed":                          c.renewed,
		"bootd serves the renewed certificate":                c.servesHTTPS,
		"the mirror has a certificate of the reader's own CA": c.ownMirror,
		"bootd fetches from that mirror":                      c.fetchesFromMirror,
	}
}

var errNoMachine = errors.New("there's no machine: an earlier page failed")

// A host is a BMC whose machine does nothing but be on or off: nothing here is about what it boots.
type host struct {
	*bmc.Server

	machine *bmc.Idle
	netbox  *stage.NetBox
	// boots and addresses are how many there were when it was claimed.
	boots, addresses int
}

func (c *cluster) withoutBootd(ctx context.Context) error {
	_, err := c.Kubectl(ctx, "-n", lab.BootNamespace, "delete", "daemonset,poddisruptionbudget,networkpolicy,serviceaccount,role,rolebinding", "--all", "--wait")
	if err == nil {
		_, err = c.Kubectl(ctx, "delete", "clusterrole,clusterrolebinding", "baremetal-bootd")
	}
	return err
}

func (c *cluster) bootdByManifest(ctx context.Context) error {
	if _, err := c.Kubectl(ctx, "apply", "-f", filepath.Join(c.manifests(), "bootd.yaml")); err != nil {
		return err
	}
	return c.AwaitBootd(ctx)
}

// operator is what there is before a claim, and claim one that installs nothing.
const operator = `
{apiVersion: v1, kind: Namespace, metadata: {name: infra}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: team-a}}
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
  netbox:
    url: "«netbox»"
    credentials: {source: Secret, secretRef: {namespace: crossplane-system, name: netbox, key: token}}
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
metadata: {namespace: infra, name: debian-12}
spec:
  allowedNamespaces: {from: All}
  mode: Install
  method: DiskImage
  artifacts:
  - arch: amd64
    kernel: {url: "https://images.example/vmlinuz", digest: "«digest»"}
    initrds: [{url: "https://images.example/initrd.img", digest: "«digest»"}]
    image: {url: "https://images.example/disk.raw", digest: "«digest»", format: Raw, compression: None}
---
apiVersion: platform.baremetal.crossplane.io/v1alpha1
kind: RackPool
metadata: {namespace: infra, name: rack-7}
spec:
  allowedNamespaces: {from: Names, names: [team-a]}
  defaults: {redfishProviderConfigRef: {kind: ClusterProviderConfig, name: bmcs}}
  hosts: [{name: r7-u12, address: "«bmc»", macs: ["52:54:00:00:07:12"]}]
  network:
    allowedNamespaces: {from: Names, names: [team-a]}
    subnets:
    - cidr: «segment»
      gateway: «gateway»
      addressesFrom:
        netboxProviderConfigRef: {kind: ClusterProviderConfig, name: netbox}
        sources: [{prefix: {cidr: «segment»}}]
    dhcp: {mode: Authoritative, leaseDuration: 12h}
---
apiVersion: platform.baremetal.crossplane.io/v1alpha1
kind: BareMetalNode
metadata: {namespace: team-a, name: web-1}
spec:
  host: {ref: {kind: RedfishHost, namespace: infra, name: r7-u12}}
  profileRef: {namespace: infra, name: debian-12}
  networks: [{name: boot, networkRef: {namespace: infra, name: rack-7}, addresses: [{family: IPv4}]}]
`

const ready = 3 * time.Minute

func web() lab.Ref { return lab.Node("team-a", "web-1") }

// machineRuns is a claim whose machine is on. NetBox may tell the provider of changes: docs/netbox.md says how, and no page here does.
func (c *cluster) machineRuns(ctx context.Context) error {
	if err := c.claimed(ctx); err != nil {
		return err
	}
	return c.Apply(ctx, filepath.Join(c.manifests(), "netbox-webhook.yaml"))
}

// claimed waits until the machine is on for its claim.
func (c *cluster) claimed(ctx context.Context) error {
	h, err := c.surroundings()
	if err != nil {
		return err
	}
	if err := c.ApplyYAML(ctx, strings.NewReplacer(
		"«token»", lab.NetBoxToken, "«user»", lab.BMCUser, "«password»", lab.BMCPassword, "«netbox»", h.netbox.Address, "«bmc»", h.Addr(),
		"«segment»", node.SegmentPrefix, "«gateway»", node.SegmentAddress, "«digest»", "sha256:"+strings.Repeat("ab", 32),
	).Replace(operator)); err != nil {
		return err
	}
	if _, err := c.Await(ctx, web(), "Ready", ready, lab.Is("Ready", "True")); err != nil {
		return err
	}
	h.boots, h.addresses = len(h.machine.Boots()), len(h.netbox.Addresses())
	return nil
}

// nextVersion pushes this checkout as another version, and writes its manifests where "make push" does: over those of the version before.
func (c *cluster) nextVersion(ctx context.Context) error {
	p, err := c.Push(ctx, stage.Source{Root: root, Version: next})
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(c.manifests()), os.CopyFS(c.manifests(), os.DirFS(p.Manifests))); err != nil {
		return fmt.Errorf("cannot write the next manifests: %w", err)
	}
	return nil
}

// untouched fails where the machine isn't on, was switched on again, or has another number of addresses than when it was claimed.
func (c *cluster) untouched(context.Context) error {
	h := c.host
	if h == nil {
		return errNoMachine
	}
	boots, addresses := len(h.machine.Boots()), len(h.netbox.Addresses())
	if !h.machine.Powered() || boots != h.boots || addresses != h.addresses {
		return fmt.Errorf("the machine was touched: on %t, %d boots and %d addresses, and it had %d and %d", h.machine.Powered(), boots, addresses, h.boots, h.addresses)
	}
	return nil
}

// givenBack fails where the machine stays on, or NetBox still has an address of its claim.
func (c *cluster) givenBack(ctx context.Context) error {
	if c.host == nil {
		return errNoMachine
	}
	return c.freed(ctx, c.host.addresses-1)
}

// freed waits for a machine that is off, and for NetBox to have so many addresses. A deleted claim that is gone doesn't say that by itself: a
// cluster's garbage collector learns of new kinds every 30 seconds, and until then doesn't hold a claim back for what was made for it.
func (c *cluster) freed(ctx context.Context, addresses int) error {
	if c.host == nil {
		return errNoMachine
	}
	return c.Until(ctx, "the machine to be given back", patience, func(context.Context) error {
		if n := len(c.host.netbox.Addresses()); c.host.machine.Powered() || n != addresses {
			return fmt.Errorf("on %t, and NetBox has %d addresses, not %d", c.host.machine.Powered(), n, addresses)
		}
		return nil
	})
}
