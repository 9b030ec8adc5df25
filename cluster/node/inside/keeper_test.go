package inside

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/able"
)

// TestMain lets this test binary be the keeper, the init and the runner.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && slices.Contains([]string{roleKeeper, roleInit, roleRunner}, os.Args[1]) {
		if err := Main(os.Args[1:]); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// need skips a test without root.
func need(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		able.Need(t, errors.New("namespaces need root"))
	}
}

// small is a plan with one process that only sleeps, in the control group.
func small(t *testing.T) Plan {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "scratch", "file"), "")
	put(t, filepath.Join(dir, "resolv.conf"), "# inside\n")
	// As resolv.conf is where systemd-resolved writes it: a link into a folder that is hidden inside.
	if err := os.Symlink(filepath.Join("..", "..", "..", "..", "run", "hidden", "target"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	cgroup := "baremetal-test-" + strconv.Itoa(os.Getpid())
	join := "for g in /sys/fs/cgroup/" + cgroup + " /sys/fs/cgroup/*/" + cgroup + "; do" +
		" if [ -d $g ]; then mkdir -p $g/pods; echo $$ >$g/cgroup.procs; fi; done; "
	return Plan{
		Hostname: "inside", Cgroup: cgroup,
		Mounts: []Mount{
			{To: "/run"}, {From: filepath.Join(dir, "resolv.conf"), To: "/etc/resolv.conf"},
			{From: filepath.Join(dir, "scratch"), To: "/run/below/scratch"},
			{From: filepath.Join(dir, "resolv.conf"), To: filepath.Join(dir, "link")},
		},
		Links:   []Link{{Name: "one", Kind: Veth, Address: "192.0.2.1/24", Routes: []string{"203.0.113.0/24"}}, {Name: "two", Kind: Bridge, Address: "198.51.100.1/24"}},
		Sysctls: map[string]string{"net/ipv4/ip_forward": "1"},
		Stages: []Stage{{Say: "sleeping", Start: []Process{{
			Name: "sleeper", Path: "/bin/sh", Log: filepath.Join(dir, "log"),
			Args: []string{"-c", join + "hostname; cat /etc/resolv.conf " + filepath.Join(dir, "link") + "; ls /run; cat /proc/sys/net/ipv4/ip_forward; grep -o 'one.007100CB' /proc/net/route; echo done; sleep 1000 & wait"},
		}}}},
		Socket:  filepath.Join(dir, "dial"),
		Scratch: []string{filepath.Join(dir, "scratch")},
	}
}

// A kept keeper runs a plan, and this test has its other end.
type kept struct {
	*exec.Cmd

	life    io.Closer
	reports *bufio.Scanner
}

func start(t *testing.T, p Plan) kept {
	t.Helper()
	plan := filepath.Join(t.TempDir(), "plan")
	if err := p.Write(plan); err != nil {
		t.Fatal(err)
	}
	lock, err := os.Create(plan + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	k := kept{Cmd: Command(t.Context(), os.Args[0], plan, lock)}
	k.Stderr = os.Stderr
	life, lifeErr := k.StdinPipe()
	reports, reportsErr := k.StdoutPipe()
	if err := errors.Join(lifeErr, reportsErr, k.Start()); err != nil {
		t.Fatal(err)
	}
	k.life, k.reports = life, bufio.NewScanner(reports)
	t.Cleanup(func() {
		_ = k.life.Close()
		_ = k.Wait()
	})
	return k
}

// until returns the first report that is wanted.
func (k kept) until(t *testing.T, want func(Report) bool) Report {
	t.Helper()
	var all []string
	for k.reports.Scan() {
		all = append(all, k.reports.Text())
		var r Report
		if err := json.Unmarshal(k.reports.Bytes(), &r); err != nil {
			t.Fatalf("not a report: %s", k.reports.Text())
		}
		if want(r) {
			return r
		}
	}
	t.Fatalf("the wanted report isn't among:\n%s", strings.Join(all, "\n"))
	return Report{}
}

// eventually fails the test when something doesn't become true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not true after a while", what)
		}
	}
}

func groups(t *testing.T, name string) int {
	t.Helper()
	roots, err := hierarchies(cgroupRoot)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range roots {
		if _, err := os.Stat(filepath.Join(r, name)); err == nil {
			n++
		}
	}
	return n
}

func gone(pid int) func() bool {
	return func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
}

func TestKeeper(t *testing.T) {
	need(t)
	p := small(t)
	k := start(t, p)
	pid := k.until(t, func(r Report) bool { return r.PID != 0 }).PID
	k.until(t, func(r Report) bool { return r.Running })
	for _, kind := range []string{"net", "mnt", "pid", "uts", "ipc"} {
		own, ownErr := os.Readlink("/proc/self/ns/" + kind)
		its, itsErr := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, kind))
		if own == its || ownErr != nil || itsErr != nil {
			t.Errorf("namespace %s: ours %s, the node's %s, %v", kind, own, its, errors.Join(ownErr, itsErr))
		}
	}
	log := p.Stages[0].Start[0].Log
	eventually(t, "the process says all", func() bool { b, _ := os.ReadFile(log); return strings.Contains(string(b), "done\n") })
	b, err := os.ReadFile(log)
	if want := "inside\n# inside\n# inside\nbelow\nhidden\n1\none\t007100CB\ndone\n"; string(b) != want || err != nil {
		t.Errorf("a process inside sees %q, want %q, %v", b, want, err)
	}
	if _, err := Dial(t.Context(), p.Socket, "192.0.2.1:9"); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("the node's address is its own, where nobody serves: %v", err)
	}
	if groups(t, p.Cgroup) == 0 {
		t.Error("there is no control group")
	}
	if err := k.life.Close(); err != nil {
		t.Error(err)
	}
	for k.reports.Scan() {
		t.Errorf("unasked: %s", k.reports.Text())
	}
	if err := k.Wait(); err != nil {
		t.Errorf("the keeper: %v", err)
	}
	if n := groups(t, p.Cgroup); n != 0 || !gone(pid)() {
		t.Errorf("%d control groups are left; process gone: %t", n, gone(pid)())
	}
	if _, err := os.Stat(p.Scratch[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the scratch folder is left: %v", err)
	}
}

// TestKeeperKilled kills the one that cleans up: the kernel ends the rest, and the next keeper removes what is left.
func TestKeeperKilled(t *testing.T) {
	need(t)
	p := small(t)
	k := start(t, p)
	pid := k.until(t, func(r Report) bool { return r.PID != 0 }).PID
	k.until(t, func(r Report) bool { return r.Running })
	log := p.Stages[0].Start[0].Log
	eventually(t, "the process is in the control group", func() bool { b, _ := os.ReadFile(log); return strings.Contains(string(b), "done\n") })
	if err := k.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the node's first process is gone", gone(pid))
	if groups(t, p.Cgroup) == 0 {
		t.Error("the keeper was killed: who removed its control groups?")
	}
	again := start(t, p)
	again.until(t, func(r Report) bool { return r.Running })
	_ = again.life.Close()
	_ = again.Wait()
	if n := groups(t, p.Cgroup); n != 0 {
		t.Errorf("%d control groups are left", n)
	}
}

func TestKeeperSaysWhy(t *testing.T) {
	need(t)
	cases := map[string]struct {
		reason string
		change func(*Plan)
		want   string
	}{
		"Program": {"A program that isn't there is named.", func(p *Plan) { p.Stages[0].Start[0].Path = "/does/not/exist" }, "/does/not/exist"},
		"Ends": {"A program that ends before it's ready says its last words.", func(p *Plan) {
			p.Stages[0].Start[0].Args = []string{"-c", "echo no luck; exit 3"}
			p.Stages[0].Await = []Ready{{Process: "sleeper", Socket: "/does/not/exist"}}
		}, "no luck"},
		"Later": {"A program that ends later does too.", func(p *Plan) {
			p.Stages[0].Start[0].Args = []string{"-c", "sleep 1; echo no luck; exit 3"}
		}, "no luck"},
		"Await":  {"Only what was started can be waited for.", func(p *Plan) { p.Stages[0].Await = []Ready{{Process: "other"}} }, "other"},
		"Mount":  {"A mount that can't be made is named.", func(p *Plan) { p.Mounts[0].To = "/does/not/exist" }, "/does/not/exist"},
		"Link":   {"A link that can't be made is named.", func(p *Plan) { p.Links[0].Kind = "wireless" }, "wireless"},
		"Sysctl": {"A setting that there isn't is named.", func(p *Plan) { p.Sysctls = map[string]string{"net/no": "1"} }, "net/no"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := small(t)
			tc.change(&p)
			k := start(t, p)
			if r := k.until(t, func(r Report) bool { return r.Failed != "" }); !strings.Contains(r.Failed, tc.want) {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.want, r.Failed)
			}
			_ = k.life.Close()
			_ = k.Wait()
			if n := groups(t, p.Cgroup); n != 0 {
				t.Errorf("%s\n%d control groups are left", tc.reason, n)
			}
		})
	}
}
