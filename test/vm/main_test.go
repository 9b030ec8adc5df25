package vm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/able"
	"github.com/crossplane-contrib/provider-baremetal/test/guest"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netns"
	"github.com/crossplane-contrib/provider-baremetal/test/vm"
)

// patience is how long a step may take of emulated processors that share two real ones with each other and a control plane.
const patience = 15 * time.Minute

// built is what all machines boot and install.
var built = sync.OnceValues(func() (guest.Artifacts, error) { return vm.Artifacts(context.Background(), scratch) })

// scratch is where it's built.
var scratch string

// TestMain gives the tests a network of their own, where bootd may have port 67. Whatever takes a network is fetched before.
func TestMain(m *testing.M) {
	os.Exit(netns.Main(inScratch{m}, prepare))
}

// inScratch runs the tests with a folder for what they have in common.
type inScratch struct{ *testing.M }

func (m inScratch) Run() int {
	dir, err := os.MkdirTemp("", "guest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot make a folder for what machines boot:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	scratch = dir
	return m.M.Run()
}

// prepare fills the caches.
func prepare() error {
	if err := vm.Missing(); err != nil {
		return err // the tests say so, each for itself; nothing has to be built for that
	}
	return errors.Join(
		vm.Prepare(context.Background(), func(s string) { fmt.Fprintln(os.Stderr, "e2e-vm:", s) }),
		vm.PrepareTests(context.Background()),
	)
}

// beside is held by a test with one machine: one of those runs beside the rack with its two. More would only make each slower, and
// firmware has timeouts.
var beside sync.Mutex

// parallel lets a test with one machine run beside the rack's.
func parallel(t *testing.T) {
	t.Helper()
	t.Parallel()
	beside.Lock()
	t.Cleanup(beside.Unlock)
}

// atOnce has machines of one site go their way at once. They aren't parallel tests: those that wait for parallel's lock would have their places.
func atOnce(t *testing.T, ways map[string]way, goes func(t *testing.T, name string, w way)) {
	t.Helper()
	var all sync.WaitGroup
	for name, w := range ways {
		all.Go(func() { t.Run(name, func(t *testing.T) { goes(t, name, w) }) })
	}
	all.Wait()
}

// needMachines skips where there can't be virtual machines on a segment of their own.
func needMachines(t *testing.T) {
	t.Helper()
	if !netns.Isolated() {
		able.Need(t, netns.Missing())
	}
	able.Need(t, vm.Missing())
	if testing.Short() {
		t.Skip("skipped: -short, and virtual machines take their time")
	}
}

func artifacts(t *testing.T) guest.Artifacts {
	t.Helper()
	a, err := built()
	able.Need(t, err)
	return a
}

// stateDir makes a folder that a failed test leaves behind.
func stateDir(t *testing.T) string {
	t.Helper()
	cache, err := programs.Cache()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(cache, 0o750); err != nil {
		t.Fatal(err)
	}
	state, err := os.MkdirTemp(cache, "e2e-vm-") //nolint:usetesting // t.TempDir would remove the logs of a failed test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("logs and serial ports are in %s", state)
			return
		}
		_ = os.RemoveAll(state)
	})
	return state
}
