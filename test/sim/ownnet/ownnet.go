// Package ownnet runs one test once more in a network of its own, where ports, links and addresses are the test's. Package netns does so for a
// whole program, and for root alone.
package ownnet

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/able"
)

// marker is the variable that tells a test that it runs there.
const marker = "BAREMETAL_TEST_OWN_NETWORK"

// Inside tells whether a test runs in a network of its own, with no link but a loopback that is down. Where it doesn't, the test is run once more,
// there, and has failed by then if that did: what called has only to return. Where no network may be made the test is skipped, or fails where
// nothing may be skipped, and so is one that is skipped there.
func Inside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(marker) != "" {
		return true
	}
	runtime.LockOSThread() // What runs there ends with the thread that started it.
	defer runtime.UnlockOSThread()
	cmd := again(t, privileged())
	out, err := cmd.CombinedOutput()
	if cmd.Process == nil && os.Geteuid() == 0 { // Root of a container may be less than any user of a machine.
		first := err
		cmd = again(t, unprivileged())
		out, err = cmd.CombinedOutput()
		if cmd.Process == nil {
			err = errors.Join(first, err)
		}
	}
	if cmd.Process == nil {
		able.Need(t, fmt.Errorf("no network of a test's own may be made here: %w", err))
	}
	skipped, err := judge(t.Name(), string(out), err)
	able.Need(t, skipped)
	if err != nil {
		t.Error(err)
	}
	return false
}

// again is this test program with this test alone, and a little less time than there is, so that it's the one that says where it hangs.
func again(t *testing.T, in *syscall.SysProcAttr) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-test.run=^" + regexp.QuoteMeta(t.Name()) + "$", "-test.v", "-test.count=1"}
	if end, ok := t.Deadline(); ok {
		args = append(args, "-test.timeout="+max(time.Until(end)-10*time.Second, time.Second).String())
	}
	cmd := exec.CommandContext(t.Context(), self, args...) //nolint:gosec // This test itself.
	cmd.Env = append(os.Environ(), marker+"=1")
	cmd.SysProcAttr = in
	return cmd
}

// privileged is how root makes a network; whoever isn't root has to be root of users of its own before.
func privileged() *syscall.SysProcAttr {
	if os.Geteuid() != 0 {
		return unprivileged()
	}
	return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
}

func unprivileged() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}

// judge says of what a test printed there, and how it ended, whether it was skipped, or what is wrong. A program that ran no test at all ends well, too.
func judge(name, out string, ended error) (skipped, wrong error) {
	switch {
	case ended != nil:
		return nil, fmt.Errorf("in a network of its own: %w\n%s", ended, out)
	case strings.Contains(out, "--- SKIP: "+name): // Or a part of it.
		return fmt.Errorf("skipped in a network of its own:\n%s", out), nil
	case !strings.Contains(out, "--- PASS: "+name+" "):
		return nil, fmt.Errorf("in a network of its own it didn't run:\n%s", out)
	}
	return nil, nil
}
