package inside

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// cleanTimeout is how long the kernel may take to let go of what dead processes had.
const cleanTimeout = 10 * time.Second

// lockFile is the descriptor that the keeper holds until it has cleaned up.
const lockFile = 3

// Command is the keeper, which runs the plan. It ends when its standard input does, whatever becomes of who holds the other
// end; lock stays open until then. Its standard output has Reports.
func Command(ctx context.Context, program, plan string, lock *os.File) *exec.Cmd {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, roleKeeper, plan) //nolint:gosec // Our own program.
	// A group of its own, so that Ctrl-C reaches only the parent. No death signal: the keeper outlives its parent to clean up.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.ExtraFiles = []*os.File{lock}
	// What a person has in the environment, a proxy for HTTP first of all, isn't the node's.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/root"}
	return cmd
}

// keep runs the init in namespaces of its own and cleans up after it.
func keep(p Plan, plan string) error {
	syscall.CloseOnExec(lockFile)
	runtime.LockOSThread() // The init is killed when the thread that started it ends.
	defer runtime.UnlockOSThread()
	if err := removeCgroup(p.Cgroup); err != nil { // A keeper that was killed may have left it.
		return err
	}
	defer clean(p)
	if err := makeCgroup(p.Cgroup); err != nil {
		return err
	}
	cmd := exec.CommandContext(context.Background(), "/proc/self/exe", roleInit, plan) //nolint:gosec // Itself.
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL,
		Setpgid:    true,
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot make namespaces: %w", err)
	}
	report(Report{PID: cmd.Process.Pid})
	go endWithParent(cmd.Process)
	err := cmd.Wait()
	if exit := (&exec.ExitError{}); errors.As(err, &exit) {
		return nil // It said why itself, or it was killed, which is how it ends.
	}
	return err
}

// endWithParent kills the init, and so everything in the namespaces, when the parent's end of standard input is closed, or
// when somebody asks.
func endWithParent(first *os.Process) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_, _ = io.Copy(io.Discard, os.Stdin) // Its end is what is waited for.
	}()
	select {
	case <-asked:
	case <-closed:
	}
	_ = first.Kill() // It may have ended by itself, which is as good.
}

// clean removes what outlives processes: control groups and files.
func clean(p Plan) {
	var left []string
	for deadline := time.Now().Add(cleanTimeout); ; time.Sleep(50 * time.Millisecond) {
		err := removeCgroup(p.Cgroup)
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			left = append(left, err.Error())
			break
		}
	}
	for _, dir := range p.Scratch {
		if err := os.RemoveAll(dir); err != nil {
			left = append(left, err.Error())
		}
	}
	if len(left) > 0 {
		report(Report{Left: strings.Join(left, "; ")})
	}
}
