package inside

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestDial echoes through a socket, and asks for what nobody serves.
func TestDial(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "dial")
	if err := serveDials(socket); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		b, _ := io.ReadAll(c) // Until the other side's end is passed on.
		_, _ = c.Write(slices.Concat([]byte("heard "), b))
		_ = c.Close()
	}()
	c, err := Dial(t.Context(), socket, l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "ok\nso far"); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(c)
	if diff := cmp.Diff("heard ok\nso far", string(b)); diff != "" || err != nil {
		t.Errorf("%v, -want, +got:\n%s", err, diff)
	}
	_ = l.Close()
	if _, err := Dial(t.Context(), socket, l.Addr().String()); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("Dial: want what the node says of a port that nobody serves, got %v", err)
	}
	if _, err := Dial(t.Context(), socket+"x", l.Addr().String()); err == nil {
		t.Error("Dial: want an error without a node")
	}
}

// TestDialGivesUp asks somebody who never answers.
func TestDialGivesUp(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "dial")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Dial(ctx, socket, "127.0.0.1:1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Dial: want the end of the context, got %v", err)
	}
}

func TestHierarchies(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  []string
		want   []string
		err    bool
	}{
		"Two":  {"Version 2 has one for all.", []string{"cgroup.controllers", "cgroup.procs", "system.slice/cgroup.procs"}, []string{""}, false},
		"One":  {"Version 1 has one for each controller.", []string{"cpu/cgroup.procs", "memory/cgroup.procs", "other/file"}, []string{"cpu", "memory"}, false},
		"None": {"Without any there are no pods.", nil, nil, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for _, f := range tc.files {
				put(t, filepath.Join(root, f), "")
			}
			got, err := hierarchies(root)
			for i := range got {
				got[i] = strings.TrimPrefix(strings.TrimPrefix(got[i], root), "/")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != tc.err {
				t.Errorf("%s\nhierarchies: %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

func TestInherit(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "x")
	put(t, filepath.Join(root, "cpuset.cpus"), "0-1\n")
	put(t, filepath.Join(dir, "cpuset.cpus"), "")
	for _, f := range []string{"cpuset.cpus", "cpuset.mems"} { // The second one isn't the root's to give.
		if err := inherit(root, dir, f); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "cpuset.cpus"))
	if diff := cmp.Diff("0-1", string(b)); diff != "" || err != nil {
		t.Errorf("%v, -want, +got:\n%s", err, diff)
	}
}

func TestPlanIsReadAsWritten(t *testing.T) {
	want := Plan{
		Hostname: "x", Mounts: []Mount{{To: "/run"}}, Sysctls: map[string]string{"a": "1"},
		Stages: []Stage{{Say: "s", Start: []Process{{Name: "p", Args: []string{"-a"}}}, Await: []Ready{{Process: "p", Socket: "/s"}}}},
	}
	path := filepath.Join(t.TempDir(), "plan")
	if err := want.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := read(path)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, -want, +got:\n%s", err, diff)
	}
}

func TestMainRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan")
	if err := (Plan{}).Write(path); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"Nothing": {"A person who starts it is told what it is.", nil, "started by package node"},
		"NoPlan":  {"A plan that isn't there is named.", []string{roleRunner, path + "x"}, path + "x"},
		"Role":    {"A role that there isn't is named.", []string{"sing", path}, `"sing"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := Main(tc.args); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nMain: want an error with %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
