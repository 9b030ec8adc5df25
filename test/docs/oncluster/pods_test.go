package oncluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

const (
	// runtimeConfig is how the provider runs, and runtimeImage where that may name an image for it.
	runtimeConfig = "deploymentruntimeconfigs.pkg.crossplane.io/provider-baremetal"
	runtimeImage  = "/spec/deploymentTemplate/spec/template/spec/containers/0/image"
	bootdSet      = "daemonset/bootd"
)

// imagesGone has the provider and bootd run from images that their registry doesn't have. The provider that works goes on.
func (c *cluster) imagesGone(ctx context.Context) error {
	was, err := c.Kubectl(ctx, "-n", lab.BootNamespace, "get", bootdSet, "-o", "jsonpath={.spec.template.spec.containers[0].image}")
	if err != nil {
		return err
	}
	if c.image = strings.TrimSpace(was); !strings.HasPrefix(c.image, c.Packages.Registry+"/") {
		return fmt.Errorf("bootd's image is %q, and should be of %s", c.image, c.Packages.Registry)
	}
	gone := stage.Packages{Registry: c.Packages.Registry, Version: "gone"}
	_, err = c.Kubectl(ctx, "-n", lab.BootNamespace, "set", "image", bootdSet, "bootd="+gone.Ref("baremetal-bootd"))
	if err != nil {
		return err
	}
	return c.patchRuntime(ctx, fmt.Sprintf(`[{"op":"add","path":%q,"value":%q}]`, runtimeImage, gone.Ref(stage.ProviderPackage)))
}

// imagesBack takes that back, and waits until all is as it was.
func (c *cluster) imagesBack(ctx context.Context) error {
	if c.image == "" {
		return errors.New("bootd has the image that it had: an earlier step failed")
	}
	if err := c.patchRuntime(ctx, fmt.Sprintf(`[{"op":"remove","path":%q}]`, runtimeImage)); err != nil {
		return err
	}
	if _, err := c.Kubectl(ctx, "-n", lab.BootNamespace, "set", "image", bootdSet, "bootd="+c.image); err != nil {
		return err
	}
	if err := c.AwaitHealthy(ctx, c.Packages, stage.ConfigurationPackage); err != nil {
		return err
	}
	return c.AwaitBootd(ctx)
}

func (c *cluster) patchRuntime(ctx context.Context, patch string) error {
	_, err := c.Kubectl(ctx, "patch", runtimeConfig, "--type=json", "-p", patch)
	return err
}

// unlabelled takes the node from bootd.
func (c *cluster) unlabelled(ctx context.Context) error {
	_, err := c.Kubectl(ctx, "label", "node", node.Name, "baremetal.crossplane.io/bootd-")
	return err
}
