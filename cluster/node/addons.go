package node

import (
	"context"
	_ "embed" // Manifests.
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
)

//go:embed manifests/addons.yaml
var addons string

const (
	kubeSystem = "kube-system"
	coreDNS    = "coredns"
)

// bringUp installs what makes a node a cluster, and waits for it.
func (c *Cluster) bringUp(ctx context.Context) error {
	if err := c.outside(); err != nil { //nolint:contextcheck // What is forwarded outlives this call.
		return err
	}
	c.opts.Say("installing CoreDNS")
	objects, err := local.Decode([]byte(strings.NewReplacer(
		"$REGISTRY", Registry, "$COREDNS_VERSION", programs.CoreDNSVersion, "$DNS_IP", dnsIP, "$DOMAIN", domain,
	).Replace(addons)))
	if err != nil {
		return err
	}
	if err := local.Apply(ctx, c.kube, objects...); err != nil {
		return err
	}
	if err := c.awaitNode(ctx); err != nil {
		return err
	}
	c.opts.Say("the node is Ready")
	if err := c.AwaitAvailable(ctx, kubeSystem, coreDNS); err != nil {
		return err
	}
	c.opts.Say("CoreDNS is Available")
	return nil
}
