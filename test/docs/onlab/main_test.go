package onlab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/able"
	"github.com/crossplane-contrib/provider-baremetal/test/docs"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
)

const (
	root = "../../.."
	// startTimeout covers a first build of Kubernetes and Crossplane on a slow machine.
	startTimeout = 45 * time.Minute
	// patience is how long something on a page may take to be seen, which takes seconds on a quiet machine.
	patience = 60 * time.Second
	// limit is how long any block may run.
	limit = 3 * time.Minute
)

// order is that in which a newcomer reads.
func order() []string {
	return []string{"first-host.md", "first-claim.md", "troubleshooting.md", "monitoring.md"}
}

// A stage is the lab, and a person at its keyboard.
type stage struct {
	*lab.Lab

	shell docs.Shell
	// filler are the addresses of a prefix that was filled, and disk what a machine hangs at.
	filler []int64
	disk   chan struct{}
	// profile is what claims ask for, and image what one of them waits for.
	profile string
	image   []byte
	done    map[string]bool
}

func TestPages(t *testing.T) {
	able.Need(t, docs.Lacking())
	pages, err := docs.Read(filepath.Join(root, "docs", "operations"))
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range pages {
		if p.Stage == "lab" && !slices.Contains(order(), name) {
			t.Errorf("nobody reads %s: put it into the order", name)
		}
	}
	s := start(t)
	for _, name := range order() {
		t.Run(name, func(t *testing.T) { s.read(t, pages[name]) })
	}
	for act := range s.acts() {
		if !s.done[act] {
			t.Errorf("no page has the act %q any more", act)
		}
	}
}

func start(t *testing.T) *stage {
	t.Helper()
	cache, err := programs.Cache()
	must(t, err)
	must(t, os.MkdirAll(cache, 0o750))
	state, err := os.MkdirTemp(cache, "docs-") //nolint:usetesting // t.TempDir would remove the logs of a failed test.
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	began := time.Now()
	l, err := lab.Start(ctx, lab.Options{StateDir: state, Say: func(s string) { fmt.Fprintln(os.Stderr, "e2e-docs:", s) }})
	must(t, err)
	t.Cleanup(func() {
		l.Stop()
		if !t.Failed() {
			_ = os.RemoveAll(state) // Logs of what went well.
		}
	})
	for _, h := range lab.DemoHosts() {
		// As machines are set up that are installed over the network: else one that is reset goes on with what its disk had before.
		h.Change = func(c *machine.Config) { c.BootOrder = []machine.Device{machine.Network, machine.LocalDisk} }
		_, err := l.AddHost(h)
		must(t, err)
	}
	s := &stage{Lab: l, done: map[string]bool{}}
	s.sit(t)
	s.shell.Transcript = transcript(t, state)
	fmt.Fprintf(os.Stderr, "e2e-docs: the lab is up after %.1fs; logs are in %s\n", time.Since(began).Seconds(), l.LogDir())
	return s
}

// sit makes a folder with what a person has: the examples, with this lab's addresses in them, and kubectl.
func (s *stage) sit(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "bin"), 0o750))
	kubectl, err := s.Plane.Kubectl(t.Context())
	must(t, err)
	must(t, os.Symlink(kubectl, filepath.Join(dir, "bin", "kubectl")))
	s.shell = docs.Shell{
		Dir: dir, Patience: patience, Limit: limit, Table: s.table(),
		Env: []string{"PATH=" + filepath.Join(dir, "bin") + ":/usr/bin:/bin", "HOME=" + dir, "KUBECONFIG=" + s.Plane.Kubeconfig(), "LANG=C"},
	}
	s.shell.As = map[string]string{"alice": filepath.Join(dir, "alice.kubeconfig")}
	must(t, s.impersonate("alice", s.shell.As["alice"]))
	must(t, os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join(root, "examples"))))
	must(t, s.edit())
}

// impersonate writes the kubeconfig of a person who has what roles she's given, and nothing else.
func (s *stage) impersonate(who, path string) error {
	c, err := clientcmd.LoadFromFile(s.Plane.Kubeconfig())
	if err != nil {
		return fmt.Errorf("cannot read the kubeconfig: %w", err)
	}
	for _, u := range c.AuthInfos {
		u.Impersonate = who
	}
	if err := clientcmd.WriteToFile(*c, path); err != nil {
		return fmt.Errorf("cannot write the kubeconfig of %s: %w", who, err)
	}
	return nil
}

// table is what there is here in place of what examples and pages make up. What is longer comes first.
func (s *stage) table() []string {
	at := func(name string) string { return s.Host(name).BMC.Addr() }
	return []string{
		// Emulated BMCs don't tire.
		"    allowedAddresses:\n      - 10.0.7.0/24", "    requestsPerSecond: 50\n    allowedAddresses:\n      - 127.0.0.0/8",
		"https://netbox.example/", s.NetBox.URL(),
		"https://images.example/installer/amd64/vmlinuz", s.Artifacts.URL(lab.KernelFile),
		"sha256:6923dd1bc0460082c5d55a831908c24a282860b7f1cd6c2b79cf1bc8857c639c", s.Artifacts.Digest(lab.KernelFile),
		"https://images.example/installer/amd64/initrd.img", s.Artifacts.URL(lab.InitrdFile),
		"sha256:09e6c018d2c8c4903308613dd1b72484d57eadf12ec50ddc8f52e5accce470f2", s.Artifacts.Digest(lab.InitrdFile),
		"https://images.example/debian-12/amd64/disk.raw", s.Artifacts.URL(lab.ImageFile),
		"sha256:6105d6cc76af400325e94d588ce511be5bfdbb73b437dc51eca43917d7a43e3d", s.Artifacts.Digest(lab.ImageFile),
		"change-me-please", lab.BMCPassword,
		"10.77.0.1/32", "127.0.0.0/8",
		"10.0.7.12", at("r7-u12"), "10.0.7.13", at("r7-u13"), "10.0.7.14", at("r7-u14"), "10.0.7.15", at("r7-u15"),
		"http://NODE-ADDRESS:8481", s.Bootds[0].Health, "NODE", s.Bootds[0].Name,
	}
}

// know makes one more thing known that a page makes up.
func (s *stage) know(word, is string) { s.shell.Table = append([]string{word, is}, s.shell.Table...) }

// edit puts what is known into the examples, as a person is asked to.
func (s *stage) edit() error {
	files, err := filepath.Glob(filepath.Join(s.shell.Dir, "examples", "*", "*.yaml"))
	if err != nil {
		return fmt.Errorf("cannot list the examples: %w", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return fmt.Errorf("cannot read an example: %w", err)
		}
		if err := os.WriteFile(f, []byte(s.shell.Fill(string(b))), 0o600); err != nil { //nolint:gosec // A copy of our own.
			return fmt.Errorf("cannot edit an example: %w", err)
		}
	}
	return nil
}

// read does what a page says, one section after the other. In a page of symptoms each section stands for itself.
func (s *stage) read(t *testing.T, p docs.Page) {
	t.Helper()
	acts := s.acts()
	failed := false // That is, what follows in its section can't be tried.
	for _, st := range p.For("lab") {
		if failed && st.Act == "" {
			continue
		}
		began := time.Now()
		s.done[st.Act] = true
		what, err := s.shell.Do(t.Context(), st, acts)
		t.Logf("%5.1fs %s:%d %s", time.Since(began).Seconds(), p.Name, st.Line, what)
		if err != nil {
			t.Errorf("%s:%d %s\n%v\n%s", p.Name, st.Line, what, err, s.Describe("team-a"))
		}
		failed = err != nil && st.Needed()
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
