// Package install_test proves, with a real Crossplane, a real API server and a registry, what happens when people install: which names
// things get, and that what would run passes admission. There's no kubelet here, so nothing does run.
package install_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
)

const (
	root    = "../../.."
	version = "v0.1.0-rc.1"
	// patience is for a busy machine.
	patience = 2 * time.Minute
)

func TestInstall(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Minute)
	defer cancel()
	tool := build(ctx, t)
	s := &stage{tool: tool, registry: publish(ctx, t, tool), plane: start(ctx, t)}
	s.kube = s.plane.Client()
	t.Run("Dependencies", func(t *testing.T) { s.dependencies(ctx, t) })
	t.Run("Restricted", func(t *testing.T) { s.restricted(ctx, t) })
	t.Run("Commented", func(t *testing.T) { s.commented(ctx, t) })
	t.Run("Manifests", func(t *testing.T) { s.manifests(ctx, t) })
	t.Run("Lease", func(t *testing.T) { s.lease(ctx, t) })
	t.Run("Kinds", func(t *testing.T) { s.kinds(ctx, t) })
	t.Run("BadInput", func(t *testing.T) { s.badInput(ctx, t) })
}

// build builds the program behind "make packages".
func build(ctx context.Context, t *testing.T) string {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "packages")
	run(ctx, t, "go", "build", "-C", filepath.Join(root, "tools", "packages"), "-o", tool, ".")
	return tool
}

// publish pushes this checkout's packages to a registry on loopback, and gives REGISTRY. Nobody runs the programs in them, so they are ones
// that are built in no time.
func publish(ctx context.Context, t *testing.T, tool string) string {
	t.Helper()
	registry := serve(ctx, t, tool) + "/some/path"
	run(ctx, t, tool, "push", "--registry="+registry, "--version="+version, "--root="+checkout(t), "--dist="+t.TempDir(), "--bare")
	return registry
}

// checkout is a copy of this one, with other programs.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range []string{"package", "examples"} {
		must(t, os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(root, folder))))
	}
	licence, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	must(t, err)
	files := map[string]string{"LICENSE": string(licence), "go.mod": "module example.org/programs\n\ngo 1.26.0\n"}
	for _, p := range []string{"provider", "function", "bootd"} {
		files["cmd/"+p+"/main.go"] = "package main\n\nfunc main() {}\n"
	}
	for name, data := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o750))
		must(t, os.WriteFile(path, []byte(data), 0o600))
	}
	return dir
}

// command runs a program that may fail, and gives all that it said.
func command(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput() //nolint:gosec // Programs that the test built.
	return string(out), err                                                      //nolint:wrapcheck // The test compares it.
}

func run(ctx context.Context, t *testing.T, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // Programs that the test built, and go itself.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, stderr.String())
	}
	return out
}

// serve runs a registry until the test ends, and gives its address.
func serve(ctx context.Context, t *testing.T, tool string) string {
	t.Helper()
	cmd := exec.CommandContext(ctx, tool, "registry")
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // It has nothing to save.
		_ = cmd.Wait()         // Its exit code says that it was killed.
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	return strings.TrimSpace(address)
}

// start starts a control plane whose Crossplane makes the Deployments of packages, as it does in a cluster.
func start(ctx context.Context, t *testing.T) *local.Plane {
	t.Helper()
	say := func(line string) { t.Log(line) }
	finder, err := programs.Default(say)
	must(t, err)
	ports, err := proc.NewPorts(filepath.Join(finder.Cache, "ports"))
	must(t, err)
	t.Cleanup(ports.Close)
	plane, err := local.Start(ctx, local.Options{
		StateDir: filepath.Join(t.TempDir(), "plane"), Programs: finder, Ports: ports, Say: say,
		CrossplaneArgs: []string{"--package-runtime=Provider=Deployment;Function=Deployment"},
	})
	must(t, err)
	t.Cleanup(plane.Stop)
	return plane
}

// A stage is a control plane beside a registry with our packages.
type stage struct {
	plane *local.Plane
	kube  client.Client
	// tool is the program behind "make packages".
	tool, registry string
}

// dependencies installs the two configurations alone, and sees what Crossplane makes of them.
func (s *stage) dependencies(ctx context.Context, t *testing.T) {
	t.Helper()
	s.apply(ctx, t, `
apiVersion: apiextensions.crossplane.io/v1alpha1
kind: ManagedResourceActivationPolicy
metadata: {name: default}
spec: {activate: ["*"]}
---
apiVersion: pkg.crossplane.io/v1
kind: Configuration
metadata: {name: some-path-configuration-baremetal}
spec: {package: REGISTRY/configuration-baremetal:VERSION}
---
apiVersion: pkg.crossplane.io/v1
kind: Configuration
metadata: {name: some-path-configuration-baremetal-v2}
spec: {package: REGISTRY/configuration-baremetal-v2:VERSION}
`)
	const function = "some-path-function-baremetal"
	for kind, name := range map[string]string{"Provider": "some-path-provider-baremetal", "Function": function} {
		want := s.registry + "/" + strings.TrimPrefix(name, "some-path-") + ":" + version
		s.await(ctx, t, object("pkg.crossplane.io/v1", kind, "", name), "pulled by dependency as "+want, func(u *unstructured.Unstructured) bool {
			return text(u, "spec", "package") == want
		})
		revision := s.revision(ctx, t, kind, name)
		s.await(ctx, t, object("apps/v1", "Deployment", local.CrossplaneNamespace, revision), "a Deployment", exists)
		s.await(ctx, t, object("pkg.crossplane.io/v1", kind+"Revision", "", revision), "objects established", func(u *unstructured.Unstructured) bool {
			refs, _, err := unstructured.NestedSlice(u.Object, "status", "objectRefs")
			return err == nil && (kind == "Function" || len(refs) >= 11)
		})
	}
	for _, name := range []string{"xbaremetalnodes.platform.baremetal.crossplane.io", "baremetalnodes.platform.baremetal.m.crossplane.io"} {
		s.await(ctx, t, object("apiextensions.crossplane.io/v1", "CompositeResourceDefinition", "", name), "an XRD", exists)
		s.await(ctx, t, object("apiextensions.crossplane.io/v1", "Composition", "", name), "asks for the function by its name", func(u *unstructured.Unstructured) bool {
			steps, _, err := unstructured.NestedSlice(u.Object, "spec", "pipeline")
			if err != nil || len(steps) != 1 {
				return false
			}
			step, ok := steps[0].(map[string]any)
			return ok && text(&unstructured.Unstructured{Object: step}, "functionRef", "name") == function
		})
	}
}

// revision of a package that Crossplane made.
func (s *stage) revision(ctx context.Context, t *testing.T, kind, name string) string {
	t.Helper()
	var out string
	s.await(ctx, t, object("pkg.crossplane.io/v1", kind, "", name), "a revision", func(u *unstructured.Unstructured) bool {
		out = text(u, "status", "currentRevision")
		return out != ""
	})
	return out
}

// apply applies a YAML text in which REGISTRY and VERSION stand for themselves.
func (s *stage) apply(ctx context.Context, t *testing.T, yaml string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := local.Decode([]byte(strings.NewReplacer("REGISTRY", s.registry, "VERSION", version).Replace(yaml)))
	must(t, err)
	for _, o := range objects {
		must(t, s.kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("test"), client.ForceOwnership))
	}
	return objects
}

// await waits until an object is as it should be, and says what it was like where it doesn't get so.
func (s *stage) await(ctx context.Context, t *testing.T, u *unstructured.Unstructured, what string, ok func(*unstructured.Unstructured) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	key := client.ObjectKeyFromObject(u)
	for {
		err := s.kube.Get(ctx, key, u)
		if err == nil && ok(u) {
			return
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("%s %s doesn't get there (%s): %v\n%v", u.GetKind(), key, what, errors.Join(err, ctx.Err()), u.Object)
		}
	}
}

func object(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

func exists(*unstructured.Unstructured) bool { return true }

// text at a path, or nothing.
func text(u *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(u.Object, path...) // What isn't a text is none.
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
