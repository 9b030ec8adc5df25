package node

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
)

const (
	crossplaneRepository = "crossplane/crossplane"
	// crossplaneTimeout is how long Crossplane may take until its pods are ready, on a busy machine.
	crossplaneTimeout = 4 * time.Minute
)

// InstallCrossplane installs stock Crossplane as users do, with Helm from its own chart, RBAC manager and all, and waits until
// its Deployments are Available. args are added to "helm install", for example --set=args={--debug}.
func (c *Cluster) InstallCrossplane(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, crossplaneTimeout)
	defer cancel()
	c.opts.Say("installing Crossplane")
	// Its chart gets its version when it's packaged, as in Crossplane's own build.
	version := strings.TrimPrefix(programs.CrossplaneVersion, "v")
	source := filepath.Join(c.set.CrossplaneModule, "cluster", "charts", "crossplane")
	if _, err := c.Helm(ctx, "package", source, "--version", version, "--app-version", version, "--destination", c.data()); err != nil {
		return err
	}
	install := []string{
		"install", "crossplane", c.data("crossplane-" + version + ".tgz"),
		"--namespace", local.CrossplaneNamespace, "--create-namespace",
		"--set", "image.repository=" + Registry + "/" + crossplaneRepository,
	}
	if _, err := c.Helm(ctx, append(install, args...)...); err != nil {
		return err
	}
	if err := c.AwaitAvailable(ctx, local.CrossplaneNamespace); err != nil {
		return err
	}
	c.opts.Say("Crossplane is Available")
	return nil
}

// Helm runs Helm against the cluster and returns what it printed.
func (c *Cluster) Helm(ctx context.Context, args ...string) (string, error) {
	return c.tool(ctx, programs.Helm, args)
}

// Kubectl runs kubectl against the cluster and returns what it printed.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) (string, error) {
	return c.tool(ctx, programs.Kubectl, args)
}

// CrossplaneCLI runs Crossplane's CLI against the cluster and returns what it printed.
func (c *Cluster) CrossplaneCLI(ctx context.Context, args ...string) (string, error) {
	return c.tool(ctx, programs.CrossplaneCLI, args)
}

func (c *Cluster) tool(ctx context.Context, name string, args []string) (string, error) {
	cmd := exec.CommandContext(ctx, c.Program(name), args...) //nolint:gosec // Our own programs.
	// A home of its own: whatever a person configured or cached isn't ours to use or change.
	cmd.Env = append(os.Environ(),
		"KUBECONFIG="+c.Kubeconfig(), "HOME="+c.data(), "XDG_CACHE_HOME="+c.data("cache"), "XDG_CONFIG_HOME="+c.data("config"),
		"XDG_DATA_HOME="+c.data("share"), "DO_NOT_TRACK=1",
	)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}
