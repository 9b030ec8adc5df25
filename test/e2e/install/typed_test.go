package install_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/test/docs"
)

// A reader has a folder with dist/install in it, and types what a page says.
type reader struct {
	dir   string
	shell docs.Shell
}

// reads seats one at a control plane, with kubectl.
func (s *stage) reads(ctx context.Context, t *testing.T, dir string) *reader {
	t.Helper()
	kubectl, err := s.plane.Kubectl(ctx)
	must(t, err)
	bin := t.TempDir()
	must(t, os.Symlink(kubectl, filepath.Join(bin, "kubectl")))
	return &reader{dir: dir, shell: docs.Shell{
		Dir: dir, Patience: patience, Limit: 5 * time.Minute,
		Env: []string{"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + dir, "KUBECONFIG=" + s.plane.Kubeconfig(), "LANG=C"},
	}}
}

// types lines of a page.
func (r *reader) types(ctx context.Context, t *testing.T, lines string) {
	t.Helper()
	must(t, r.shell.Try(ctx, docs.Step{Run: &docs.Block{Text: lines}}))
}

// tried is the block of a page with these words that is tried on a cluster.
func tried(t *testing.T, page, words string) string {
	t.Helper()
	pages, err := docs.Read(filepath.Join(root, "docs", "operations"))
	must(t, err)
	for _, st := range pages[page].Steps {
		if st.Run != nil && strings.Contains(st.Run.Text, words) {
			return st.Run.Text
		}
	}
	t.Fatalf("%s has no block with %q", page, words)
	return ""
}

// TestOtherConfiguration installs configuration-baremetal-v2 in the place of configuration-baremetal, as docs/operations/install.md says:
// there are no claims then, and what keeps packages from being deleted is Ready all the same. This Crossplane activates no kinds by itself.
func TestOtherConfiguration(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	tool, dir := build(ctx, t), t.TempDir()
	s := &stage{tool: tool, registry: serve(ctx, t, tool) + "/some/path", plane: start(ctx, t)}
	run(ctx, t, tool, "push", "--registry="+s.registry, "--version="+version, "--root="+checkout(t), "--dist="+filepath.Join(dir, "dist"), "--bare", "--arch="+read)
	s.kube = s.plane.Client()
	r := s.reads(ctx, t, dir)
	r.types(ctx, t, block(t, "install.md", otherBlock))
	apply, wait, _ := strings.Cut(tried(t, "install.md", "kubectl apply -f dist/install/install.yaml"), "\n")
	r.types(ctx, t, apply)
	for kind, name := range map[string]string{"Provider": "some-path-provider-baremetal", "Function": "some-path-function-baremetal"} {
		s.deployment(ctx, t, kind, name)
	}
	s.pretend(ctx, t)
	r.types(ctx, t, wait)
	s.activation(ctx, t, r)
	r.types(ctx, t, tried(t, "install.md", "clusterusages"))

	s.await(ctx, t, object("apiextensions.crossplane.io/v1", "CompositeResourceDefinition", "", claimsV2), "an XRD", exists)
	const composites = "xbaremetalnodes.platform.baremetal.crossplane.io"
	err := s.kube.Get(ctx, client.ObjectKey{Name: composites}, composite(composites))
	if !kerrors.IsNotFound(err) {
		t.Errorf("there are claims, too: %v", err)
	}
	t.Run("Backup", func(t *testing.T) { s.backup(ctx, t, r) })
	r.types(ctx, t, tried(t, "uninstall.md", "delete clusterusages"))
}

// activationSection is what troubleshooting.md says of a provider whose kinds nobody activated.
const activationSection = "The provider waits for its kinds"

// activation types that, and then what install.md says to do about it: the kinds are there then, and the provider is to be run.
func (s *stage) activation(ctx context.Context, t *testing.T, r *reader) {
	t.Helper()
	looks := r.shell
	looks.Table = []string{"PACKAGES", "some-path"}
	var run *docs.Block
	seen := 0
	for _, b := range pages(t)["troubleshooting.md"].Other {
		switch {
		case b.Section != activationSection:
		case b.NoRun() != "":
			run = &b
		case run != nil:
			must(t, looks.Try(ctx, docs.Step{Run: run, Want: &b}))
			run = nil
			seen++
		}
	}
	if seen != 2 {
		t.Errorf("troubleshooting.md shows %d things of a provider that waits for its kinds, want 2", seen)
	}
	provider := object("pkg.crossplane.io/v1", "Provider", "", "some-path-provider-baremetal")
	r.types(ctx, t, tried(t, "install.md", "kind: ManagedResourceActivationPolicy"))
	s.await(ctx, t, definition(hosts), "there", says([]string{"Established True"}))
	s.await(ctx, t, provider, "to be run", says(healthy()))
	s.await(ctx, t, provider, "to be run", func(u *unstructured.Unstructured) bool { return !strings.Contains(conditions(u), "AwaitingActivation") })
}

const activateAll = `
apiVersion: apiextensions.crossplane.io/v1alpha1
kind: ManagedResourceActivationPolicy
metadata: {name: default}
spec: {activate: ["*"]}
`

// backup types what docs/operations/upgrade.md has a reader save: of Secrets, those that are named by provider configs and hosts, wherever
// they are, and none of Crossplane's own, which would be put over those of another cluster.
func (s *stage) backup(ctx context.Context, t *testing.T, r *reader) {
	t.Helper()
	s.apply(ctx, t, rackConfigs)
	block, _, _ := strings.Cut(tried(t, "upgrade.md", "> secrets.yaml"), "> secrets.yaml")
	r.types(ctx, t, block+"> secrets.yaml\n")
	b, err := os.ReadFile(filepath.Join(r.dir, "secrets.yaml"))
	must(t, err)
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^ +name: (.*)\n +namespace: (.*)$`).FindAllStringSubmatch(string(b), -1) {
		got = append(got, m[2]+"/"+m[1])
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"crossplane-system/netbox", "crossplane-system/netbox-hooks", "infra/r7-u12-bmc", "team-a/own"}, got); diff != "" {
		t.Errorf("Secrets that are saved, -want +got:\n%s", diff)
	}
}

const rackConfigs = `
{apiVersion: v1, kind: Namespace, metadata: {name: infra}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: team-a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {namespace: crossplane-system, name: provider-baremetal}, data: {clusterID: 0123456789abcdef}}
---
{apiVersion: v1, kind: Secret, metadata: {namespace: crossplane-system, name: crossplane-root-ca}}
---
{apiVersion: v1, kind: Secret, metadata: {namespace: crossplane-system, name: netbox}, stringData: {token: t}}
---
{apiVersion: v1, kind: Secret, metadata: {namespace: crossplane-system, name: netbox-hooks}, stringData: {secret: s}}
---
{apiVersion: v1, kind: Secret, metadata: {namespace: team-a, name: own}, stringData: {token: t}}
---
{apiVersion: v1, kind: Secret, metadata: {namespace: team-a, name: tenants}, stringData: {user-data: x}}
---
{apiVersion: v1, kind: Secret, metadata: {namespace: infra, name: r7-u12-bmc}, stringData: {username: u, password: p}}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: ClusterProviderConfig
metadata: {name: netbox}
spec:
  allowedNamespaces: {from: All}
  netbox:
    url: "https://netbox.example/"
    credentials: {source: Secret, secretRef: {namespace: crossplane-system, name: netbox}}
    webhook: {secretRef: {namespace: crossplane-system, name: netbox-hooks}}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: ProviderConfig
metadata: {namespace: team-a, name: own}
spec:
  netbox:
    url: "https://netbox.example/"
    credentials: {source: Secret, secretRef: {name: own}}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: RedfishHost
metadata: {namespace: infra, name: r7-u12}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: bmcs}
  forProvider: {address: 10.0.7.12, credentialsSecretRef: {name: r7-u12-bmc}, macs: ["52:54:00:00:07:12"]}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: RedfishHost
metadata: {namespace: infra, name: r7-u13}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: bmcs}
  forProvider: {address: 10.0.7.13, macs: ["52:54:00:00:07:13"]}
`
