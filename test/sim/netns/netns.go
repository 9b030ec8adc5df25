// Package netns runs a program again in network, process and mount namespaces of its own, so that what it serves on
// port 67 reaches its own machines only, and nothing that it starts outlives it.
package netns

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

const marker = "BAREMETAL_TEST_NAMESPACE"

// Missing says in one line why this process can't make namespaces; nil: it can.
func Missing() error {
	if os.Geteuid() != 0 {
		return errors.New("network namespaces need root: run this as root")
	}
	if _, err := os.Stat("/dev/net/tun"); err != nil {
		return fmt.Errorf("tap devices need /dev/net/tun, which \"modprobe tun\" makes: %w", err)
	}
	return nil
}

// Isolated tells whether this process runs in namespaces that Run made.
func Isolated() bool { return os.Getenv(marker) != "" }

// grace is how long the program in the namespaces may take to end when it's asked to.
const grace = 15 * time.Second

// Run runs this program again, with the same arguments, in namespaces of its own and returns its exit code. The child has
// to call Enter before anything else; files are its descriptors from 3 on. When ctx ends the child is asked to end, and
// killed where it doesn't. It's killed too when this process dies in whatever way, and with it whatever it started.
func Run(ctx context.Context, files ...*os.File) (int, error) {
	runtime.LockOSThread() // the child is killed when the thread that started it ends
	defer runtime.UnlockOSThread()
	self, err := os.Executable()
	if err != nil {
		return 1, fmt.Errorf("cannot find the program to run in a namespace: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, os.Args[1:]...) //nolint:gosec // itself
	cmd.Env = append(os.Environ(), marker+"=1")
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdout, os.Stderr, files
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS,
		Pdeathsig:  syscall.SIGKILL,
	}
	err = cmd.Run()
	if cmd.ProcessState != nil && cmd.ProcessState.Exited() {
		return cmd.ProcessState.ExitCode(), nil // it said why, also where it was asked to
	}
	if err != nil {
		return 1, fmt.Errorf("cannot run in namespaces of its own: %w", err)
	}
	return 0, nil
}

// Enter makes the namespaces habitable: /proc shows their processes, and loopback is up.
func Enter() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("cannot keep mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("cannot mount /proc: %w", err)
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("cannot find loopback: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("cannot bring loopback up: %w", err)
	}
	return nil
}

// Main runs a test package's tests in namespaces of their own where it can: TestMain of such a package is one line,
// os.Exit(netns.Main(m, prepare)). prepare runs before, outside, where the network is; it may be nil. Where namespaces
// can't be made the tests run without, and skip what needs them: see Isolated.
func Main(m interface{ Run() int }, prepare func() error) int {
	if Isolated() {
		if err := Enter(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}
	if Missing() != nil {
		return m.Run()
	}
	if prepare != nil {
		if err := prepare(); err != nil {
			fmt.Fprintln(os.Stderr, "not prepared:", err) // the tests say so again, each in its own words
		}
	}
	code, err := Run(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return code
}
