package node

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/cluster/node/inside"
)

// startTimeout is how long a cluster may take from its first process to a Ready node, on a busy machine.
const startTimeout = 4 * time.Minute

// Options of a cluster.
type Options struct {
	// StateDir holds everything that the cluster writes. Start empties it; after Stop, configuration and logs are left.
	StateDir string
	// Say is called with one line of progress at a time.
	Say func(string)
	// Images are served by the registry beside the cluster's own.
	Images []Image
}

// A Cluster is running. Stop ends it.
type Cluster struct {
	layout

	opts   Options
	set    programs.Set
	keeper *exec.Cmd
	life   io.Closer // The keeper's standard input.
	admin  *rest.Config
	kube   client.Client

	running, done chan struct{}

	mu       sync.Mutex
	pid      int
	failed   []error
	left     string
	forwards []io.Closer
}

// Start brings up a cluster and returns when its node is Ready and its DNS answers. What it started is ended again when it
// fails.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	if err := Missing(); err != nil {
		return nil, err
	}
	dir, err := stateDir(o.StateDir)
	if err != nil {
		return nil, err
	}
	p, keeper, err := prepare(ctx, o, layout{state: dir})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	lock, err := lockState(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer lock.Close() // The keeper holds it from here on.
	c := &Cluster{opts: o, layout: p.layout, set: p.set, running: make(chan struct{}), done: make(chan struct{})}
	if err := c.write(p); err != nil {
		return nil, err
	}
	if err := c.run(ctx, keeper, lock); err != nil {
		return nil, err
	}
	if err := c.bringUp(ctx); err != nil {
		return nil, errors.Join(err, c.Failed(), c.Stop())
	}
	return c, nil
}

// Prepare fills the caches with all that takes a network: programs and Debian packages. Start does so too.
func Prepare(ctx context.Context, say func(string)) error {
	if err := Missing(); err != nil {
		return err
	}
	_, _, err := prepare(ctx, Options{Say: say}, layout{})
	return err
}

// prepare finds or builds all programs; keeper is the path of the one that runs the others.
func prepare(ctx context.Context, o Options, l layout) (p planner, keeper string, err error) {
	p.layout = l
	finder, err := programs.Default(o.Say)
	if err != nil {
		return p, "", err
	}
	if by := hidden(finder.Cache); by != "" {
		return p, "", fmt.Errorf("cannot run programs from %q: the node has a %s of its own; set XDG_CACHE_HOME to a folder elsewhere", finder.Cache, by)
	}
	if p.debian, err = unpackDebian(ctx, filepath.Join(finder.Cache, "node"), o.Say); err != nil {
		return p, "", err
	}
	if p.set, err = finder.Find(ctx, programs.Node()...); err != nil {
		return p, "", err
	}
	keeper = filepath.Join(finder.Cache, "bin", "keeper")
	build := exec.CommandContext(ctx, "go", "build", "-o", keeper, "./cluster/node/cmd/keeper") //nolint:gosec // Our own program.
	build.Dir = filepath.Join(finder.Source, "..", "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return p, "", fmt.Errorf("cannot build the keeper: %w\n%s", err, out)
	}
	return p, keeper, nil
}

// write writes all files and the plan, which is made of them.
func (c *Cluster) write(p planner) error {
	if err := os.RemoveAll(c.state); err != nil {
		return fmt.Errorf("cannot empty the state folder: %w", err)
	}
	for _, dir := range []string{c.data("etcd"), c.data("registry"), c.in("logs", "var")} {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return fmt.Errorf("cannot make a folder of the state: %w", err)
		}
	}
	var err error
	if c.admin, err = writeKeys(c.layout, time.Now()); err != nil {
		return err
	}
	if err := writeFiles(c.layout, p.debian); err != nil {
		return err
	}
	images := append(ownImages(p.set), c.opts.Images...)
	p.last = images[len(images)-1]
	if err := writeImages(c.images(), images); err != nil {
		return err
	}
	return p.plan().Write(c.plan())
}

// run starts the keeper and waits until all programs run.
func (c *Cluster) run(ctx context.Context, program string, lock *os.File) error {
	log, err := os.Create(c.log("keeper"))
	if err != nil {
		return fmt.Errorf("cannot open the keeper's log: %w", err)
	}
	defer log.Close() // The keeper writes to a descriptor of its own.
	c.keeper = inside.Command(ctx, program, c.plan(), lock)
	c.keeper.Stderr = log
	life, lifeErr := c.keeper.StdinPipe()
	reports, reportsErr := c.keeper.StdoutPipe()
	if err := errors.Join(lifeErr, reportsErr); err != nil {
		return fmt.Errorf("cannot talk to the keeper: %w", err)
	}
	c.life = life
	if err := c.keeper.Start(); err != nil {
		return fmt.Errorf("cannot start the keeper: %w", err)
	}
	go c.listen(reports)
	select {
	case <-c.running:
		return nil
	case <-c.done:
		err = errors.New("the cluster didn't come up")
	case <-ctx.Done():
		err = fmt.Errorf("the cluster didn't come up: %w", ctx.Err())
	}
	return errors.Join(err, c.Stop(), c.Failed())
}

// listen takes the keeper's reports until it ends.
func (c *Cluster) listen(reports io.Reader) {
	defer close(c.done)
	s := bufio.NewScanner(reports)
	s.Buffer(nil, 1<<20) // Last words may be long.
	for s.Scan() {
		var r inside.Report
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			r = inside.Report{Say: s.Text()} // Not a report, but somebody's last words.
		}
		c.take(r)
	}
	_ = c.keeper.Wait() // What it had to say it has.
}

func (c *Cluster) take(r inside.Report) {
	if r.Say != "" {
		c.opts.Say(r.Say)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.PID != 0 {
		c.pid = r.PID
	}
	if r.Failed != "" {
		c.failed = append(c.failed, errors.New(r.Failed))
	}
	if r.Left != "" {
		c.left = r.Left
	}
	if r.Running {
		close(c.running)
	}
}

// Stop ends everything. Its error says what couldn't be removed.
func (c *Cluster) Stop() error {
	_ = c.life.Close() // Already closed is as good.
	c.mu.Lock()
	forwards := c.forwards
	c.forwards = nil
	c.mu.Unlock()
	for _, f := range forwards {
		_ = f.Close() // Nobody listens any more, in whatever way.
	}
	<-c.done
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left != "" {
		return fmt.Errorf("the cluster left something behind: %s", c.left)
	}
	return nil
}

// Failed says which program of the node ended by itself; nil: none did.
func (c *Cluster) Failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.failed...)
}

// PID of the first process of the node, whose namespaces (/proc/PID/ns) are the node's.
func (c *Cluster) PID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pid
}

// Client of the administrator, who may do everything.
func (c *Cluster) Client() client.Client { return c.kube }

// Config of the administrator, who may do everything.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.admin) }

// Kubeconfig is the path of the administrator's kubeconfig, for use outside.
func (c *Cluster) Kubeconfig() string { return c.in("kubeconfig") }

// Program is the path of a program that belongs to the cluster, by its name in package programs.
func (c *Cluster) Program(name string) string { return c.set.Path[name] }

// LogDir is the folder of the programs' logs, among them audit.log of the API server.
func (c *Cluster) LogDir() string { return c.in("logs") }

// Tail are the last lines of a program's log.
func (c *Cluster) Tail(name string, lines int) string { return proc.Tail(c.log(name), lines) }

// outside makes the administrator's access usable outside.
func (c *Cluster) outside() error {
	address, err := c.Forward(at(Address, apiPort))
	if err != nil {
		return err
	}
	c.admin.Host = "https://" + address
	if err := local.WriteKubeconfig(c.Kubeconfig(), c.admin); err != nil {
		return err
	}
	if c.kube, err = client.New(c.admin, client.Options{}); err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	return nil
}
