package oncluster

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/uptest"
)

const root = "../../.."

func say(s string) { fmt.Fprintln(os.Stderr, "uptest:", s) }

// TestExamples tests each example with a managed resource or a claim. The first one that fails is the last: what it left would stand in the
// way of the others.
func TestExamples(t *testing.T) {
	if err := stage.Missing(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("cannot run here, and under CI=true that is a failure: %v", err)
		}
		t.Skipf("skipped: %v", err)
	}
	files, err := uptest.Read(root)
	must(t, err)
	cases, err := files.Cases()
	must(t, err)
	w := start(t, files)
	must(t, w.furnish(t.Context()))
	for _, c := range cases {
		began := time.Now()
		if !t.Run(c.Name, func(t *testing.T) { w.try(t, c) }) {
			return
		}
		say(fmt.Sprintf("%s passed in %.0f s", c.Name, time.Since(began).Seconds()))
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
