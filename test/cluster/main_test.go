package cluster_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/able"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/guest"
)

// story is what happened when, and the figures, for whoever reads the verdict: it's printed after the tests.
var story struct {
	sync.Mutex

	lines []string
}

func tell(line string) {
	story.Lock()
	defer story.Unlock()
	story.lines = append(story.lines, line)
}

// figure notes one as all figures are printed.
func figure(t *testing.T, name string, value float64, unit string) {
	t.Helper()
	line := fmt.Sprintf(stage.FigurePrefix+"%s %.1f %s", name, value, unit)
	t.Log(line)
	tell(line)
}

// timeline notes what happens with the seconds since the start. Figures are noted as they are.
func timeline(t *testing.T) func(string) {
	t.Helper()
	start := time.Now()
	return func(s string) {
		if strings.HasPrefix(s, stage.FigurePrefix) {
			t.Log(s)
			tell(s)
			return
		}
		s = fmt.Sprintf("%5.1fs %s", time.Since(start).Seconds(), s)
		t.Log(s)
		tell("e2e-cluster: " + s)
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, line := range story.lines {
		fmt.Fprintln(os.Stdout, line)
	}
	os.Exit(code)
}

// need skips a test on a machine that can't run it, or where a person asked for those that take no time.
func need(t *testing.T, err error) {
	t.Helper()
	able.Need(t, err)
	if testing.Short() {
		t.Skip("skipped: -short, and a cluster with machines takes its time")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// cache is a folder that outlives the test.
func cache(t *testing.T) string {
	t.Helper()
	dir, err := programs.Cache()
	must(t, err)
	must(t, os.MkdirAll(dir, 0o750))
	return dir
}

// begin starts a stage, whose logs a failed test leaves behind.
func begin(t *testing.T, say func(string)) (s *stage.Stage, state string) {
	t.Helper()
	state, err := os.MkdirTemp(cache(t), "e2e-cluster-") //nolint:usetesting // t.TempDir would remove the logs of a failed test.
	must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("logs and serial ports are in %s", state)
			return
		}
		_ = os.RemoveAll(state)
	})
	s, err = stage.Start(t.Context(), stage.Options{StateDir: state, Say: say})
	must(t, err)
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s, state
}

// artifacts are what machines boot and install.
func artifacts(ctx context.Context, t *testing.T, out string) guest.Artifacts {
	t.Helper()
	a, err := guest.Builder{Cache: filepath.Join(cache(t), "guest"), Out: out}.Build(ctx)
	must(t, err)
	return a
}
