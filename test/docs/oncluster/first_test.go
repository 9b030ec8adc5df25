package oncluster

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/test/able"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/docs"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// firstUpgrade installs the version before by its manifests, claims a machine with it, and upgrades. Nothing of ours is in the cluster
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

	_, err = c.Kubectl(ctx, "delete", "baremetalnodes.platform.baremetal.crossplane.io", "-n", web().Namespace, web().Name, "--timeout="+ready.String())
	must(t, err)
	must(t, c.givenBack(ctx))
}

// oldWriters is the ConfigMap that the older version's policies read.
const oldWriters = "baremetal-writers"

// tidy types what upgrade.md says of that ConfigMap, and holds what is left of it.
func (c *cluster) tidy(t *testing.T, left string) {
	t.Helper()
	pages, err := docs.Read(filepath.Join(root, "docs", "operations"))
	must(t, err)
	steps := pages["upgrade.md"].Steps
	at := slices.IndexFunc(steps, func(s docs.Step) bool {
		return s.Run != nil && strings.Contains(s.Run.Text, "delete configmap "+oldWriters)
	})
	if at < 0 {
		t.Fatalf("upgrade.md says nothing of %s any more", oldWriters)
	}
	must(t, c.shell.Try(t.Context(), steps[at]))
	out, err := c.Kubectl(t.Context(), "-n", local.CrossplaneNamespace, "get", "configmap", oldWriters, "--ignore-not-found", "-o", "name")
	must(t, err)
	if got := strings.TrimSpace(out); got != left {
		t.Errorf("after what upgrade.md says there's %q, want %q", got, left)
	}
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
	asked := strconv.FormatInt(time.Now().UnixNano(), 10)
	for resource, r := range map[string]lab.Ref{
		"redfishhosts": lab.Kind("RedfishHost", "infra", "r7-u12"), "netboxipaddresses": lab.Kind("NetBoxIPAddress", web().Namespace, "web-1-boot-ipv4"),
	} {
		if _, err := c.Kubectl(ctx, "annotate", "--overwrite", "-n", r.Namespace, resource+".baremetal.m.crossplane.io", r.Name, "crossplane.io/reconcile-requested-at="+asked); err != nil {
			return err
		}
		if _, err := c.Await(ctx, r, "looked at", patience, lab.All(
			lab.Field(asked, "status", "lastHandledReconcileAt"), lab.Is("Synced", "True"), lab.Is("Ready", "True"))); err != nil {
			return err
		}
	}
	return nil
}
