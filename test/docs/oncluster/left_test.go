package oncluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// What install.md sets in the manifests, as arguments of pods.
const (
	denied   = "--denied-targets=10.43.0.0/16,10.42.0.0/16"
	artifact = "--artifact-range=10.0.7.0/24"
	https    = "--https-listen=0.0.0.0:8483"
	// authorities is what air-gapped.md sets, as the variable's value.
	authorities = "/etc/bootd/ca"
)

// settingsKept fails where the provider or bootd runs without what the reader set: manifests that are made anew don't have it.
func (c *cluster) settingsKept(ctx context.Context) error {
	for _, p := range []struct{ namespace, label, set string }{
		{local.CrossplaneNamespace, "pkg.crossplane.io/provider=" + stage.Installed(stage.ProviderPackage), denied},
		{lab.BootNamespace, "app.kubernetes.io/name=bootd", artifact},
		{lab.BootNamespace, "app.kubernetes.io/name=bootd", https},
		{lab.BootNamespace, "app.kubernetes.io/name=bootd", authorities},
	} {
		if err := c.Until(ctx, p.label+" to run with "+p.set, patience, func(ctx context.Context) error {
			out, err := c.Kubectl(ctx, "-n", p.namespace, "get", "pods", "-l", p.label, "-o", `jsonpath={range .items[*]}{.spec.containers[0].args}{.spec.containers[0].env}{"\n"}{end}`)
			if err != nil {
				return err
			}
			pods := strings.Fields(out)
			if len(pods) == 0 || slices.ContainsFunc(pods, func(args string) bool { return !strings.Contains(args, `"`+p.set+`"`) }) {
				return fmt.Errorf("pods with %s have %q: the upgrade lost what was set", p.label, pods)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// kept are the Secrets of the two racks, the README's and the other pages', which uninstall.md leaves to whoever made them, and the two
// objects that it names.
func kept() []string {
	return []string{
		"configmap/provider-baremetal", "lease.coordination.k8s.io/crossplane-leader-election-provider-baremetal",
		"secret/bmc-rack-7", "secret/bmcs", "secret/netbox",
	}
}

// namespaces are those of the racks of the README and of the other pages, which uninstall.md leaves too.
func namespaces() []string {
	return []string{"namespace/infra", "namespace/team-a", "namespace/team-b"}
}

// onlyNamedLeft fails where there's more in crossplane-system, or of what belongs to no namespace, than before the reader began and than
// uninstall.md names, or the node has other labels.
func (c *cluster) onlyNamedLeft(ctx context.Context) error {
	return c.Until(ctx, "nothing but what the page names to be left", patience, func(ctx context.Context) error {
		all, err := c.inventory(ctx)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(kept(), c.more(all)); diff != "" {
			return fmt.Errorf("what is left in %s, -named +left:\n%s", local.CrossplaneNamespace, diff)
		}
		all, err = c.clusterwide(ctx)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(namespaces(), c.more(all)); diff != "" {
			return fmt.Errorf("what is left of what belongs to no namespace, -named +left:\n%s", diff)
		}
		labels, err := c.nodeLabels(ctx)
		if err == nil && labels != c.labels {
			err = fmt.Errorf("the node has the labels %s, and had %s", labels, c.labels)
		}
		if err != nil {
			return err
		}
		return nil
	})
}

// more than there was when the reader began.
func (c *cluster) more(now []string) []string {
	return slices.DeleteFunc(now, func(name string) bool {
		// Crossplane may have got its own leases after we looked.
		crossplanes := strings.HasPrefix(name, "lease.") && !strings.Contains(name, "baremetal")
		return crossplanes || slices.Contains(c.before, name)
	})
}

// look names what there is where the reader's things come and go.
func (c *cluster) look(ctx context.Context) ([]string, error) {
	inside, err := c.inventory(ctx)
	if err != nil {
		return nil, err
	}
	outside, err := c.clusterwide(ctx)
	return append(inside, outside...), err
}

// clusterwide names all that belongs to no namespace, of every kind that there is, but what Kubernetes itself makes when it likes.
func (c *cluster) clusterwide(ctx context.Context) ([]string, error) {
	kinds, err := c.Kubectl(ctx, "api-resources", "--namespaced=false", "--verbs=list", "-o", "name")
	if err != nil {
		return nil, err
	}
	asked := slices.DeleteFunc(strings.Fields(kinds), func(kind string) bool {
		return slices.Contains([]string{"certificatesigningrequests.certificates.k8s.io", "componentstatuses", "ipaddresses.networking.k8s.io"}, kind)
	})
	out, err := c.Kubectl(ctx, "get", strings.Join(asked, ","), "-o", "name")
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(out) {
		if name := strings.TrimSpace(line); strings.Contains(name, "/") && !strings.Contains(name, " ") { // Warnings have words.
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

func (c *cluster) nodeLabels(ctx context.Context) (string, error) {
	return c.Kubectl(ctx, "get", "node", node.Name, "-o", "jsonpath={.metadata.labels}")
}

// inventory names all that is in crossplane-system but pods and what belongs to them.
func (c *cluster) inventory(ctx context.Context) ([]string, error) {
	kinds := []string{
		"configmaps", "secrets", "services", "serviceaccounts", "leases.coordination.k8s.io", "deployments.apps", "networkpolicies.networking.k8s.io",
		"roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io",
	}
	out, err := c.Kubectl(ctx, "-n", local.CrossplaneNamespace, "get", strings.Join(kinds, ","), "-o", "name")
	names := strings.Fields(out)
	if err == nil && len(names) == 0 {
		err = errors.New("there's nothing in " + local.CrossplaneNamespace + ", where Crossplane is")
	}
	slices.Sort(names)
	return names, err
}
