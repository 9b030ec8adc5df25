package cluster_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/docs"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// quiet is for how long nobody is to touch what nobody cares for any more.
const quiet = 10 * time.Second

// uninstall takes everything away in the wrong order: the provider, its kinds, and then the configuration. Before that, it's refused.
func (u *update) uninstall(t *testing.T, s *stage.Stage, _ string) {
	t.Helper()
	need(t, u.lacks)
	refused(t, s)
	before := u.outside()
	u.removed = time.Now()
	for _, args := range []string{
		"delete clusterusages.protection.crossplane.io machines-need-the-provider machines-need-the-function machines-need-the-configuration",
		// Or the kinds couldn't be deleted.
		"delete validatingadmissionpolicybindings --ignore-not-found baremetal-kinds",
		"delete providers.pkg.crossplane.io --wait=false " + stage.Installed(stage.ProviderPackage),
	} {
		_, err := s.Kubectl(t.Context(), strings.Fields(args)...)
		must(t, err)
	}
	said(t, s, "Wrong orders")
	all := kinds(t, s)
	must(t, s.Until(t.Context(), "the kinds to be deleted", patience, func(ctx context.Context) error { // The API server hears late of bindings.
		_, err := s.Kubectl(ctx, append([]string{"delete", "customresourcedefinitions", "--wait=false", "--ignore-not-found"}, all...)...)
		return err
	}))
	_, err := s.Kubectl(t.Context(), "delete", "configurations.pkg.crossplane.io", "--wait=false", stage.Installed(stage.ConfigurationPackage))
	must(t, err)
	time.Sleep(quiet) // Nothing is waited for: nothing is to happen.
	said(t, s, "Wrong orders")
	if _, err := s.Pod(t.Context(), local.CrossplaneNamespace, "pkg.crossplane.io/provider", stage.Installed(stage.ProviderPackage)); err == nil {
		t.Error("a provider runs beside kinds that are going")
	}
	for _, name := range []string{idleName, u.older.Name} {
		must(t, s.Until(t.Context(), "claim "+name+" to be deleted, as its configuration is", patience, func(ctx context.Context) error {
			claim, err := s.Get(ctx, lab.Node(tenant, name))
			if err == nil && claim.GetDeletionTimestamp() == nil {
				err = errors.New("it isn't")
			}
			return client.IgnoreNotFound(err) // Crossplane may be quick, and have it gone.
		}))
	}
	if diff := cmp.Diff(before, u.outside(), addressesByValue()); diff != "" {
		t.Errorf("what nobody may touch, -before, +after:\n%s", diff)
	}
}

// refused holds that nothing that machines need is deleted by mistake.
func refused(t *testing.T, s *stage.Stage) {
	t.Helper()
	out, err := s.Kubectl(t.Context(), "wait", "--for=condition=Ready", "--timeout=2m", "clusterusages.protection.crossplane.io", "--all")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for kind, name := range map[string]string{"provider": stage.ProviderPackage, "function": stage.FunctionPackage, "configuration": stage.ConfigurationPackage} {
		out, err := s.Kubectl(t.Context(), "delete", "--dry-run=server", kind+"s.pkg.crossplane.io", stage.Installed(name))
		want := `"machines-need-the-` + kind + `" with reason: "machines run for claims"`
		if err == nil || !strings.Contains(out+err.Error(), want) {
			t.Errorf("the deletion of the %s is to be refused, with %s: %v\n%s", kind, want, err, out)
		}
	}
}

// kinds are the provider's that are left.
func kinds(t *testing.T, s *stage.Stage) []string {
	t.Helper()
	out, err := s.Kubectl(t.Context(), "get", "customresourcedefinitions", "-o", "name")
	must(t, err)
	var all []string
	for name := range strings.FieldsSeq(out) {
		if strings.HasSuffix(name, ".baremetal.m.crossplane.io") {
			all = append(all, strings.TrimPrefix(name, "customresourcedefinition.apiextensions.k8s.io/"))
		}
	}
	return all
}

// said runs the commands of a section of docs/operations/uninstall.md that nobody else runs, and holds what is printed against it.
func said(t *testing.T, s *stage.Stage, section string) {
	t.Helper()
	pages, err := docs.Read("../../docs/operations")
	must(t, err)
	dir := t.TempDir()
	must(t, os.Symlink(s.Program(programs.Kubectl), filepath.Join(dir, "kubectl")))
	shell := docs.Shell{
		Dir: dir, Patience: 2 * time.Minute, Limit: time.Minute,
		Env: []string{"PATH=" + dir + ":/usr/bin:/bin", "KUBECONFIG=" + s.Kubeconfig(), "LANG=C", "HOME=" + dir},
	}
	var run *docs.Block
	tried := 0
	for _, b := range pages["uninstall.md"].Other {
		switch {
		case b.Section != section:
		case b.NoRun() != "":
			run = &b
		case run != nil:
			b.Text = date.ReplaceAllString(b.Text, "…T…Z")
			must(t, shell.Try(t.Context(), docs.Step{Run: run, Want: &b}))
			run = nil
			tried++
		}
	}
	if tried == 0 {
		t.Errorf("uninstall.md has no commands under %q any more", section)
	}
}

// date is that of a page's trial.
var date = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:]+Z`)
