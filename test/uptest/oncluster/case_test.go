package oncluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
	"github.com/crossplane-contrib/provider-baremetal/test/uptest"
)

// patience is how long what was deleted may take to be gone.
const patience = 3 * time.Minute

var errLeft = errors.New("something is left")

// try runs uptest for a case: it applies, waits for the conditions, runs hooks, deletes, and waits until what it deleted is gone. What it
// doesn't look at is looked at here: that each machine was installed once.
func (w *world) try(t *testing.T, c uptest.Case) {
	t.Helper()
	tested, err := w.files.Of(c.Files...)
	must(t, err)
	beside, err := w.files.Of(c.Beside...)
	must(t, err)
	done, err := w.turns.take(slices.Concat(tested, beside))
	must(t, err)
	defer done()
	began := time.Now()
	starts := map[string]int{}
	for name, h := range w.hosts {
		starts[name] = h.Starts()
	}
	must(t, local.Apply(t.Context(), w.Client(), beside.Copy()...))
	if err := w.uptest(t.Context(), c, tested); err != nil {
		// What a reader wants to know first comes first.
		t.Fatalf("%s failed.\n%s%v\n%s", strings.Join(c.Files, ", "), w.conditions(t.Context(), tested), err, w.Describe(context.WithoutCancel(t.Context())))
	}
	w.installedOnce(t, tested, starts)
	must(t, w.remove(t.Context(), beside))
	must(t, w.remove(t.Context(), slices.DeleteFunc(tested.Copy(), func(u *unstructured.Unstructured) bool { return u.GetKind() != "Secret" })))
	if !t.Failed() {
		say(fmt.Sprintf("%s passed in %.0f s", c.Name, time.Since(began).Seconds()))
	}
}

// nothingIsLeft holds that what was tested left nothing, neither here nor in NetBox, whose number of addresses in use is what it was.
func (w *world) nothingIsLeft(t *testing.T, addresses int) {
	t.Helper()
	must(t, w.Until(t.Context(), "nothing to be left", patience, w.nothingLeft))
	if now := w.inUse(); now != addresses {
		t.Errorf("NetBox has %d addresses in use, and had %d before: %v", now, addresses, w.netbox.Addresses())
	}
}

// inUse is how many addresses NetBox has, without those in quarantine, and those that a resource made and was to keep. The node's own, which an
// example adopts, were there before.
func (w *world) inUse() int {
	return len(slices.DeleteFunc(w.netbox.Addresses(), func(a netbox.Address) bool {
		kept, _ := a.CustomFields["crossplane_released"].(string)
		return a.Status == "deprecated" || kept != "" && a.Description != nodes
	}))
}

// uptest runs it.
func (w *world) uptest(ctx context.Context, c uptest.Case, tested uptest.Objects) error {
	hooks, err := filepath.Abs(filepath.Join("..", "hooks"))
	if err != nil {
		return fmt.Errorf("cannot find the hooks: %w", err)
	}
	dir := filepath.Join(w.state, c.Name)
	if err := tested.Write(dir, hooks); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, w.tools.Path[programs.Uptest], "e2e", uptest.Manifest, //nolint:gosec // Our own arguments.
		"--test-directory="+filepath.Join(dir, "chainsaw"), "--default-timeout="+c.Patience.String(),
		// Both steps leave out what has a namespace, and the second one loads scripts from the internet: see look-again.sh.
		"--skip-update", "--skip-import",
		// It would wait for all managed resources to be gone, and does so in the namespace "default" alone.
		"--only-clean-uptest-resources",
		// It asks for traces without a namespace, and finds nothing.
		"--log-collect-interval=24h",
	)
	cmd.Dir = dir
	bin := filepath.Join(dir, "bin") // Chainsaw calls kubectl by its name.
	if err := errors.Join(os.Mkdir(bin, 0o750), os.Symlink(w.Program(programs.Kubectl), filepath.Join(bin, "kubectl"))); err != nil {
		return fmt.Errorf("cannot give chainsaw a kubectl: %w", err)
	}
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "KUBECONFIG="+w.Kubeconfig(), "HOME="+dir, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"),
		"KUBECTL="+w.Program(programs.Kubectl), "CROSSPLANE_CLI="+w.Program(programs.CrossplaneCLI), "CHAINSAW="+w.tools.Path[programs.Chainsaw],
		"LOCK="+filepath.Join(w.state, "provider.lock"), "CROSSPLANE_NAMESPACE="+local.CrossplaneNamespace, "PROVIDER=pkg.crossplane.io/provider="+stage.Installed(stage.ProviderPackage))
	out, err := cmd.CombinedOutput()
	log := filepath.Join(dir, "uptest.log")
	if werr := os.WriteFile(log, out, 0o600); werr != nil {
		return fmt.Errorf("cannot keep what uptest said: %w", werr)
	}
	if err != nil {
		return fmt.Errorf("uptest: %w\nThe end of %s:\n%s", err, log, out[max(0, len(out)-5000):])
	}
	return nil
}

// conditions of what was tested, that aren't True: in most cases they say it all.
func (w *world) conditions(ctx context.Context, tested uptest.Objects) string {
	var b strings.Builder
	for _, u := range tested {
		got, err := w.Get(context.WithoutCancel(ctx), lab.RefOf(u))
		if err != nil {
			fmt.Fprintf(&b, "%v\n", err)
			continue
		}
		for _, c := range lab.Conditions(got) {
			if c.Status != "True" {
				fmt.Fprintf(&b, "%s: %s is %s, %s: %s\n", lab.RefOf(u), c.Type, c.Status, c.Reason, c.Message)
			}
		}
	}
	return b.String()
}

// installedOnce holds that what a claim asks for was done once, whatever the hooks did.
func (w *world) installedOnce(t *testing.T, tested uptest.Objects, before map[string]int) {
	t.Helper()
	for _, name := range tested.Installed() {
		h := w.hosts[name]
		installs := strings.Count(h.Machine.Serial(), "GUEST installed\n")
		if starts := h.Starts() - before[name]; installs != 1 || starts != 1 {
			t.Errorf("%s: %d installs, %d power-ons; want 1 each", name, installs, starts)
		}
	}
}

// remove deletes objects, those that were there last first. A pool whose claims have only just gone is refused at first.
func (w *world) remove(ctx context.Context, o uptest.Objects) error {
	for _, u := range slices.Backward(o) {
		err := w.Until(ctx, lab.RefOf(u).String()+" to be gone", patience, func(ctx context.Context) error {
			if err := client.IgnoreNotFound(w.Client().Delete(ctx, u.DeepCopy())); err != nil {
				return fmt.Errorf("cannot delete it: %w", err)
			}
			if _, err := w.Get(ctx, lab.RefOf(u)); !kerrors.IsNotFound(err) {
				return errLeft
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// leftOn are hosts that an example switches on: deletion leaves a machine as it is.
func (w *world) leftOn() map[string]bool {
	out := map[string]bool{}
	for _, o := range w.files {
		for _, u := range o {
			if power, _, _ := unstructured.NestedString(u.Object, "spec", "forProvider", "power"); power == "PoweredOn" {
				out[u.GetName()] = true
			}
		}
	}
	return out
}

// nothingLeft says what there is that wasn't there before a case: objects, users' data with bootd, machines that are on.
func (w *world) nothingLeft(ctx context.Context) error {
	var left []string
	for _, kind := range []string{"BootEntry", "BootSession", "HostClaim", "NetBoxIPAddress", "ProviderConfigUsage", "RedfishHost"} {
		all := &unstructured.UnstructuredList{}
		all.SetAPIVersion(lab.Baremetal)
		all.SetKind(kind + "List")
		if err := w.Client().List(ctx, all); err != nil {
			return fmt.Errorf("cannot list objects of kind %s: %w", kind, err)
		}
		for i := range all.Items {
			left = append(left, lab.RefOf(&all.Items[i]).String())
		}
	}
	secrets := &corev1.SecretList{}
	if err := w.Client().List(ctx, secrets, client.InNamespace(lab.BootNamespace)); err != nil {
		return fmt.Errorf("cannot list bootd's Secrets: %w", err)
	}
	for _, s := range secrets.Items {
		if s.Name != "bootd-tokens" {
			left = append(left, "bootd's Secret "+s.Name)
		}
	}
	for name, h := range w.hosts {
		if h.Powered() {
			left = append(left, name+", which is on")
		}
	}
	on := w.leftOn()
	for name, m := range w.idle {
		if m.Powered() && !on[name] {
			left = append(left, name+", which is on")
		}
	}
	if len(left) > 0 {
		slices.Sort(left)
		return fmt.Errorf("%w: %s", errLeft, strings.Join(left, ", "))
	}
	return nil
}
