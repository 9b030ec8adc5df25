// Package demo_test types what README says about "make demo".
package demo_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/able"
	"github.com/crossplane-contrib/provider-baremetal/test/vm"
)

// patience is how long one line may take where nothing is built for it any more.
const patience = 10 * time.Minute

// TestDemo types README's lines about the demo, one after the other.
func TestDemo(t *testing.T) {
	for _, tc := range []struct {
		reason, line string
		says         []string
		vm           bool
	}{
		{reason: "The first thing that anybody does.", line: "make demo", says: []string{"demo: 4/4 machines Ready in "}},
		{reason: "It's left running.", line: "make demo KEEP=1", says: []string{"demo: 4/4 machines Ready in ", "export KUBECONFIG="}},
		{reason: "And ended.", line: "make demo-down"},
		{reason: "The same with real firmware.", line: "make demo VM=1", says: []string{"demo: 2/2 machines Ready in "}, vm: true},
	} {
		t.Run(tc.line, func(t *testing.T) {
			if tc.vm {
				if os.Geteuid() != 0 {
					able.Need(t, errors.New("it takes root"))
				}
				able.Need(t, vm.Missing())
			}
			out, err := typed(t, tc.line)
			if err != nil {
				t.Fatalf("%s\n%s: %v\n%s", tc.reason, tc.line, err, out)
			}
			for _, w := range tc.says {
				if !strings.Contains(out, w) {
					t.Errorf("%s\n%s: it's to say %q:\n%s", tc.reason, tc.line, w, out)
				}
			}
		})
	}
}

// typed runs a line in the checkout, without what the make around it would tell it.
func typed(t *testing.T, line string) (string, error) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out bytes.Buffer
	words := strings.Fields(line)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // Lines of this file.
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = root, &out, &out, time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "MAKE") && name != "MFLAGS" && name != "RUN" {
			cmd.Env = append(cmd.Env, v)
		}
	}
	err = cmd.Run()
	return out.String(), err
}
