package oncluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
	"github.com/crossplane-contrib/provider-baremetal/test/able"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/docs"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// firstUpgrade installs the version before by its manifests, claims a machine with it, upgrades, and goes back. Nothing of ours is in the cluster
// before, as the last page has seen to: what only this version has, its kinds and its fields, its policies and its records, isn't there. The cluster
// of test/cluster has it, and so has that of upgrade.md, whose next version is the same by another name.
func (c *cluster) firstUpgrade(t *testing.T) {
	ctx := t.Context()
	able.Need(t, stage.Reaches(ctx, stage.OlderCommit))
	from, err := c.Older(ctx, stage.OlderCommit, stage.OlderVersion)
	must(t, err)
	older, err := c.Push(ctx, from)
	must(t, err)
	must(t, c.Apply(ctx, older.Manifest("policies.yaml"), older.Manifest("install.yaml")))
	must(t, c.AwaitHealthy(ctx, older, stage.ConfigurationPackage))
	must(t, c.InstallBootd(ctx, older))
	must(t, c.claimed(ctx))
	before := c.address(t)
	c.tidy(t, "configmap/"+oldWriters)

	must(t, c.Apply(ctx, c.Packages.Manifest("policies.yaml"), c.Packages.Manifest("install.yaml")))
	must(t, c.AwaitHealthy(ctx, c.Packages, stage.ConfigurationPackage))
	must(t, c.InstallBootd(ctx, c.Packages))
	c.asBefore(t, before)
	c.tidy(t, "")

	must(t, c.goBack(ctx, older))
	c.asBefore(t, before)

	_, err = c.Kubectl(ctx, "delete", "baremetalnodes.platform.baremetal.crossplane.io", "-n", web().Namespace, web().Name, "--timeout="+ready.String())
	must(t, err)
	must(t, c.givenBack(ctx))
}

// oldWriters is the ConfigMap that the older version's policies read.
const oldWriters = "baremetal-writers"

// tidy types what upgrade.md says of that ConfigMap, and holds what is left of it.
func (c *cluster) tidy(t *testing.T, left string) {
	t.Helper()
	must(t, c.typed(t.Context(), "delete configmap "+oldWriters))
	out, err := c.Kubectl(t.Context(), "-n", local.CrossplaneNamespace, "get", "configmap", oldWriters, "--ignore-not-found", "-o", "name")
	must(t, err)
	if got := strings.TrimSpace(out); got != left {
		t.Errorf("after what upgrade.md says there's %q, want %q", got, left)
	}
}

// goBack types what upgrade.md says of the way back, where the manifests of both versions lie as a reader of the page has them, and waits until
// packages and bootd of the older version work.
func (c *cluster) goBack(ctx context.Context, older stage.Packages) error {
	for dir, p := range map[string]stage.Packages{"previous": older, manifests: c.Packages} {
		dir = filepath.Join(c.shell.Dir, dir)
		if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(p.Manifests))); err != nil {
			return fmt.Errorf("cannot lay out the manifests of %s: %w", p.Version, err)
		}
	}
	if err := errors.Join(c.typed(ctx, "apply -f previous/bootd.yaml"), c.AwaitHealthy(ctx, older, stage.ConfigurationPackage), c.AwaitBootd(ctx)); err != nil {
		return err
	}
	return c.Until(ctx, "bootd of the older version to say who it is", patience, func(ctx context.Context) error {
		server, err := c.Get(ctx, lab.Kind("BootServer", lab.BootNamespace, node.Name))
		if err == nil && lab.StringOf(server, "status", "version") != older.Version {
			err = fmt.Errorf("it says that it's %q, and %q was installed", lab.StringOf(server, "status", "version"), older.Version)
		}
		return err
	})
}

// typed runs the block of upgrade.md that has these words, as a reader does.
func (c *cluster) typed(ctx context.Context, words string) error {
	pages, err := docs.Read(filepath.Join(root, "docs", "operations"))
	if err != nil {
		return fmt.Errorf("cannot read what upgrade.md says: %w", err)
	}
	steps := pages["upgrade.md"].Steps
	at := slices.IndexFunc(steps, func(s docs.Step) bool { return s.Run != nil && strings.Contains(s.Run.Text, words) })
	if at < 0 {
		return fmt.Errorf("upgrade.md has no block with %q any more", words)
	}
	return c.shell.Try(ctx, steps[at])
}

// asBefore waits until the provider that was installed last works, and holds that the claim's machine is as it was, with its address.
func (c *cluster) asBefore(t *testing.T, address string) {
	t.Helper()
	ctx := t.Context()
	must(t, c.lookedAt(ctx))
	_, err := c.Await(ctx, web(), "Ready", ready, lab.Is("Ready", "True"))
	must(t, err)
	must(t, c.untouched(ctx))
	if now := c.address(t); now != address {
		t.Errorf("the machine has the address %s by now, and had %s", now, address)
	}
}

// address of the claim's machine.
func (c *cluster) address(t *testing.T) string {
	t.Helper()
	out, err := c.Kubectl(t.Context(), "get", "baremetalnodes.platform.baremetal.crossplane.io", "-n", web().Namespace, web().Name, "-o", "jsonpath={.status.addresses[0].address}")
	must(t, err)
	if out == "" {
		t.Fatal("the claim has no address")
	}
	return out
}

// lookedAt waits until the provider that runs now works, and has looked at the machine's BMC and at its address in NetBox.
func (c *cluster) lookedAt(ctx context.Context) error {
	provider := lab.Ref{APIVersion: "pkg.crossplane.io/v1", Kind: "Provider", Name: stage.Installed(stage.ProviderPackage)}
	if err := c.Until(ctx, "the provider that was installed last to work", patience, func(ctx context.Context) error {
		p, err := c.Get(ctx, provider)
		if err != nil {
			return err
		}
		lease, err := c.Get(ctx, lab.Ref{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: local.CrossplaneNamespace, Name: "crossplane-leader-election-provider-baremetal"})
		if err != nil {
			return err
		}
		revision, holder := lab.StringOf(p, "status", "currentRevision"), lab.StringOf(lease, "spec", "holderIdentity")
		if revision == "" || !strings.HasPrefix(holder, revision+"-") { // A pod is called by its revision.
			return fmt.Errorf("%q works, and isn't of %q", holder, revision)
		}
		return nil
	}); err != nil {
		return err
	}
	began := time.Now()
	looked := map[string]lab.Ref{
		"redfishhosts": lab.Kind("RedfishHost", "infra", "r7-u12"), "netboxipaddresses": lab.Kind("NetBoxIPAddress", web().Namespace, "web-1-boot-ipv4"),
	}
	for resource, r := range looked {
		if _, err := c.Kubectl(ctx, "annotate", "--overwrite", "-n", r.Namespace, resource+".baremetal.m.crossplane.io", r.Name,
			"crossplane.io/reconcile-requested-at="+strconv.FormatInt(began.UnixNano(), 10)); err != nil {
			return err
		}
	}
	// Not every version says on the object that it has done what was asked for: those who were asked know.
	if err := c.Until(ctx, "BMC and NetBox to be asked", patience, func(context.Context) error {
		if all := c.host.Requests(); len(all) == 0 || !all[len(all)-1].At.After(began) {
			return errors.New("the BMC wasn't asked")
		}
		if all := c.host.netbox.Requests(); len(all) == 0 || !all[len(all)-1].At.After(began) {
			return errors.New("NetBox wasn't asked")
		}
		return nil
	}); err != nil {
		return err
	}
	for _, r := range looked {
		if _, err := c.Await(ctx, r, "as it should be", patience, lab.All(lab.Is("Synced", "True"), lab.Is("Ready", "True"))); err != nil {
			return err
		}
	}
	return nil
}
