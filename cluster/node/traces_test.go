package node_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
	"github.com/crossplane-contrib/provider-baremetal/cluster/node/inside"
)

// traces are what a running cluster can be told by.
type traces struct {
	state      string
	namespaces []string
	cgroups    []string
}

// tracesOf looks at a running cluster by its first process.
func tracesOf(t *testing.T, pid int, state string) traces {
	t.Helper()
	out := traces{state: state, cgroups: cgroups(t, state)}
	for kind, ns := range namespacesOf(pid) {
		if own := namespacesOf(os.Getpid())[kind]; own != ns {
			out.namespaces = append(out.namespaces, ns)
		}
	}
	if len(out.namespaces) < 5 {
		t.Fatalf("process %d shares namespaces with the test: of its own it has only %v", pid, out.namespaces)
	}
	if len(out.cgroups) == 0 {
		t.Fatal("there is no control group of a cluster")
	}
	return out
}

// namespacesOf a process by their kind, as their links say.
func namespacesOf(pid int) map[string]string {
	out := map[string]string{}
	for _, kind := range []string{"net", "mnt", "pid", "uts", "ipc"} {
		// A process that has ended has none.
		if to, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/" + kind); err == nil {
			out[kind] = to
		}
	}
	return out
}

func cgroups(t *testing.T, state string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(state, "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	var plan inside.Plan
	if err := json.Unmarshal(b, &plan); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, dir := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/*"} {
		found, err := filepath.Glob(filepath.Join(dir, plan.Cgroup))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, found...)
	}
	return out
}

// gone fails the test if anything is left a few seconds after the end.
func (tr traces) gone(t *testing.T) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if left = tr.left(t); len(left) == 0 {
			return
		}
	}
	t.Errorf("left behind:\n  %s", strings.Join(left, "\n  "))
}

func (tr traces) left(t *testing.T) []string {
	t.Helper()
	left := tr.processes()
	for _, g := range tr.cgroups {
		if _, err := os.Stat(g); !errors.Is(err, fs.ErrNotExist) {
			left = append(left, "control group "+g)
		}
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, tr.state) {
			left = append(left, "mount "+line)
		}
	}
	if _, err := os.Stat(filepath.Join(tr.state, "data")); !errors.Is(err, fs.ErrNotExist) {
		left = append(left, "data in "+tr.state)
	}
	return left
}

// processes in one of the cluster's namespaces, or that were started with its state folder.
func (tr traces) processes() []string {
	var left []string
	all, _ := filepath.Glob("/proc/[0-9]*") // The pattern is right.
	for _, p := range all {
		cmdline, err := os.ReadFile(filepath.Join(p, "cmdline"))
		if err != nil {
			continue // It has ended.
		}
		line := strings.ReplaceAll(string(cmdline), "\x00", " ")
		in := slices.ContainsFunc(tr.namespaces, func(ns string) bool {
			for _, kind := range []string{"net", "mnt", "pid"} {
				if to, err := os.Readlink(filepath.Join(p, "ns", kind)); err == nil && to == ns {
					return true
				}
			}
			return false
		})
		if in || strings.Contains(line, tr.state) && p != "/proc/"+strconv.Itoa(os.Getpid()) {
			left = append(left, "process "+filepath.Base(p)+" "+line)
		}
	}
	return left
}

// TestParentKilled runs this test binary again as the one that starts a cluster and is killed: at once, and when it's up.
func TestParentKilled(t *testing.T) {
	if state := os.Getenv("NODE_TEST_STATE"); state != "" {
		parent(t, state)
		return
	}
	need(t)
	if err := node.Prepare(t.Context(), func(string) {}); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(t.TempDir(), "state")
	for _, when := range []string{"starting controllers", "up"} { // The same folder: the second one finds what the first one left.
		t.Run(when, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestParentKilled$", "-test.v") //nolint:gosec // This test binary.
			cmd.Env = append(os.Environ(), "NODE_TEST_STATE="+state)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			await(t, bufio.NewScanner(out), "SAID "+when)
			traces := tracesOf(t, firstProcess(t, state), state)
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // It was killed.
			traces.gone(t)
		})
	}
}

// parent starts a cluster, says aloud how far it is, and waits to be killed.
func parent(t *testing.T, state string) {
	t.Helper()
	say := func(s string) { fmt.Fprintln(os.Stdout, "SAID "+s) }
	if _, err := node.Start(t.Context(), node.Options{StateDir: state, Say: say}); err != nil {
		t.Fatal(err)
	}
	say("up")
	select {}
}

func await(t *testing.T, out *bufio.Scanner, want string) {
	t.Helper()
	var all []string
	for out.Scan() {
		all = append(all, out.Text())
		if strings.HasPrefix(out.Text(), want) {
			return
		}
	}
	t.Fatalf("the one that starts the cluster never said %q, but:\n%s", want, strings.Join(all, "\n"))
}

// firstProcess of the cluster with that state folder.
func firstProcess(t *testing.T, state string) int {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		b, err := os.ReadFile(f)
		if err != nil || !strings.Contains(string(b), "\x00init\x00"+state+"/") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if err != nil {
			t.Fatal(err)
		}
		return pid
	}
	t.Fatalf("there is no first process of %s", state)
	return 0
}
