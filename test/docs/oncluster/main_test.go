package oncluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/keys"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
	"github.com/crossplane-contrib/provider-baremetal/test/able"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/docs"
)

const (
	root = "../../.."
	// patience is how long something on a page may take to be seen, limit how long any block may run.
	patience = 2 * time.Minute
	limit    = 10 * time.Minute
	// next is the version that is upgraded to: the same programs by another name, with another minor.
	next = "v0.3.0-e2e.1"
	// manifests is where "make push" writes them, in the reader's folder.
	manifests = "dist/install"
)

// order is that in which they are tried: what is taken away comes last.
func order() []string {
	return []string{"README.md", "install.md", "first-host.md", "first-claim.md", "troubleshooting.md", "monitoring.md", "air-gapped.md", "upgrade.md", "uninstall.md"}
}

// A cluster with a person at its keyboard.
type cluster struct {
	*stage.Stage

	shell docs.Shell
	done  map[string]bool
	host  *host
	// before is what crossplane-system had in it when the reader began, and what belonged to no namespace, and labels what its node had.
	before []string
	labels string
	// image is bootd's, while it has another one.
	image string
	// authority is the reader's own, and certificate what bootd is to serve with.
	authority   *keys.Authority
	certificate *keys.Certificate
}

func TestPages(t *testing.T) {
	able.Need(t, errors.Join(stage.Missing(), docs.Lacking()))
	pages, err := docs.Read(filepath.Join(root, "docs", "operations"))
	must(t, err)
	for name, p := range pages {
		if p.Stage == "cluster" && !slices.Contains(order(), name) {
			t.Errorf("nobody reads %s: put it into the order", name)
		}
	}
	first, err := readme()
	must(t, err)
	pages[first.Name] = first
	c := start(t)
	for _, name := range order() {
		t.Run(name, func(t *testing.T) { c.read(t, pages[name]) })
	}
	for act := range c.acts() {
		if len(c.done) > 0 && !c.done[act] { // RUN may have left all pages out, to have what comes after them alone.
			t.Errorf("no page has the act %q any more", act)
		}
	}
	if !t.Failed() { // Nothing of ours is there any more.
		t.Run("FirstUpgrade", c.firstUpgrade)
	}
}

func start(t *testing.T) *cluster {
	t.Helper()
	cache, err := programs.Cache()
	must(t, err)
	must(t, os.MkdirAll(cache, 0o750))
	state, err := os.MkdirTemp(cache, "e2e-docs-") //nolint:usetesting // t.TempDir would remove the logs of a failed test.
	must(t, err)
	say := func(s string) { fmt.Fprintln(os.Stderr, "e2e-docs:", s) }
	must(t, stage.Prepare(t.Context(), say))
	s, err := stage.Start(t.Context(), stage.Options{StateDir: state, Say: say})
	must(t, err)
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
		if !t.Failed() {
			_ = os.RemoveAll(state) // Logs of what went well.
		}
	})
	c := &cluster{Stage: s, done: map[string]bool{}}
	must(t, c.sit(t.TempDir()))
	c.before, err = c.look(t.Context())
	must(t, err)
	c.labels, err = c.nodeLabels(t.Context())
	must(t, err)
	c.shell.Transcript = transcript(t, state)
	return c
}

// sit makes a folder with what a person has: a checkout's examples and manifests, kubectl, Helm and Crossplane's CLI.
func (c *cluster) sit(dir string) error {
	bin := filepath.Join(dir, "bin")
	errs := []error{os.Mkdir(bin, 0o750)}
	for name, program := range map[string]string{"kubectl": programs.Kubectl, "helm": programs.Helm, "crossplane": programs.CrossplaneCLI} {
		errs = append(errs, os.Symlink(c.Program(program), filepath.Join(bin, name)))
	}
	errs = append(errs,
		os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join(root, "examples"))),
		os.CopyFS(filepath.Join(dir, manifests), os.DirFS(c.Packages.Manifests)),
	)
	via, err := c.Forward(node.Registry)
	errs = append(errs, err)
	c.shell = docs.Shell{
		Dir: dir, Patience: patience, Limit: limit,
		Table: []string{
			// Helm pulls on this machine, pods on the node.
			"oci://HOST/PATH", "oci://" + via + "/" + stage.Organisation, "--version 0.1.0", "--plain-http --version " + strings.TrimPrefix(c.Packages.Version, "v"),
			"server=HOST", "server=" + node.Registry, "HOST/PATH", c.Packages.Registry, "PACKAGES", stage.Organisation,
			"v0.1.0-mine.1", c.Packages.Version, "v0.1.0", c.Packages.Version, "v0.2.0", next, "NODE", node.Name,
		},
		Env: []string{"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + dir, "KUBECONFIG=" + c.Kubeconfig(), "LANG=C"},
	}
	return errors.Join(errs...)
}

// manifests are the reader's own, with what the reader set in them.
func (c *cluster) manifests() string { return filepath.Join(c.shell.Dir, manifests) }

// read does what a page says, one step after the other.
func (c *cluster) read(t *testing.T, p docs.Page) {
	t.Helper()
	acts := c.acts()
	for _, st := range p.For("cluster") {
		began := time.Now()
		c.done[st.Act] = true
		what, err := c.shell.Do(t.Context(), st, acts)
		t.Logf("%5.1fs %s:%d %s", time.Since(began).Seconds(), p.Name, st.Line, what)
		if err == nil {
			continue
		}
		t.Errorf("%s:%d %s\n%v\n%s", p.Name, st.Line, what, err, c.Describe(context.WithoutCancel(t.Context())))
		if st.Needed() {
			return
		}
	}
}

// transcript is where all that is typed and printed is written down.
func transcript(t *testing.T, state string) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(state, "transcript.txt"))
	must(t, err)
	t.Cleanup(func() { _ = f.Close() }) // A page that fails shows its own part.
	return f
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
