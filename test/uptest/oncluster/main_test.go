package oncluster

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/able"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/uptest"
)

const root = "../../.."

func say(s string) { fmt.Fprintln(os.Stderr, "uptest:", s) }

// TestExamples tests each example with a managed resource or a claim. Those in which nothing boots run side by side, four at a time, since
// they mostly wait; machines boot in one at a time, whose processors are emulated by the same two cores. After a failure nothing more is
// begun: what it left would stand in the way of the others.
func TestExamples(t *testing.T) {
	able.Need(t, stage.Missing())
	files, err := uptest.Read(root)
	must(t, err)
	cases, err := files.Cases()
	must(t, err)
	for name := range uptest.Aside() {
		delete(files, name) // What it names isn't there.
	}
	w := start(t, files)
	must(t, w.furnish(t.Context()))
	addresses := w.inUse()
	if !t.Run("brief", func(t *testing.T) {
		for _, c := range cases {
			if !c.Boots() {
				t.Run(c.Name, func(t *testing.T) {
					t.Parallel()
					w.try(t, c)
				})
			}
		}
	}) {
		return
	}
	w.nothingIsLeft(t, addresses)
	for _, c := range cases {
		if c.Boots() && !t.Run("long/"+c.Name, func(t *testing.T) {
			w.try(t, c)
			w.nothingIsLeft(t, addresses)
		}) {
			return
		}
	}
}

// start brings up a cluster, whose logs a failed test leaves behind.
func start(t *testing.T, files uptest.Files) *world {
	t.Helper()
	cache, err := programs.Cache()
	must(t, err)
	must(t, os.MkdirAll(cache, 0o750))
	state, err := os.MkdirTemp(cache, "uptest-") //nolint:usetesting // t.TempDir would remove the logs of a failed test.
	must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("logs and serial ports are in %s", state)
			return
		}
		_ = os.RemoveAll(state)
	})
	must(t, stage.Prepare(t.Context(), say))
	finder, err := programs.Default(say)
	must(t, err)
	tools, err := finder.Find(t.Context(), programs.Uptests()...)
	must(t, err)
	s, err := stage.Start(t.Context(), stage.Options{StateDir: filepath.Join(state, "stage"), Say: say})
	must(t, err)
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return &world{Stage: s, files: files, tools: tools, state: state, cache: cache}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
