package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// ErrExited is what waiting for a process's readiness returns when the process has ended instead.
var ErrExited = errors.New("process exited")

// grace is how long a process may take to end after SIGTERM before it's killed.
const grace = 5 * time.Second

// A Command says what to run.
type Command struct {
	// Name is what people call the process, for example "etcd".
	Name string
	// Path of the program.
	Path string
	// Args after the program's name.
	Args []string
	// Env entries are added to the parent's environment.
	Env []string
	// Dir is the working directory; empty is the parent's.
	Dir string
	// MayEnd says that the process is expected to end by itself: a test makes it crash. Failed then says nothing.
	MayEnd bool
	// Log is the file that standard output and error are appended to.
	Log string
}

// A Process is one running program. It can be ended and started again any number of times; its methods may be called
// concurrently.
type Process struct {
	cmd Command

	mu      sync.Mutex
	running *exec.Cmd
	done    chan struct{}
	err     error
	stopped bool
}

// Start runs the command as a child in a process group of its own. The kernel kills it when the parent dies in whatever way.
func Start(c Command) (*Process, error) {
	p := &Process{cmd: c}
	err := p.Start()
	return p, err
}

// Start runs the command again after it ended. It does nothing while the process is running.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running != nil && !isClosed(p.done) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(p.cmd.Log), 0o750); err != nil {
		return fmt.Errorf("cannot make the log folder of %s: %w", p.cmd.Name, err)
	}
	log, err := os.OpenFile(p.cmd.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("cannot open the log of %s: %w", p.cmd.Name, err)
	}
	cmd := command(p.cmd, log)
	done, started := make(chan struct{}), make(chan error)
	p.running, p.done, p.err, p.stopped = cmd, done, nil, false
	go p.run(cmd, log, started, done)
	if err := <-started; err != nil {
		return fmt.Errorf("cannot start %s: %w", p.cmd.Name, err)
	}
	return nil
}

// run starts and waits for the program on one OS thread, because the parent-death signal is sent when the thread that forked
// ends, not the process.
func (p *Process) run(cmd *exec.Cmd, log *os.File, started chan<- error, done chan<- struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(done)
	defer log.Close() // Nothing is buffered; the child wrote to the descriptor itself.

	err := cmd.Start()
	if err != nil {
		p.err = err
		started <- err
		return
	}
	started <- nil
	err = cmd.Wait()
	p.mu.Lock()
	p.err = err
	p.mu.Unlock()
}

func command(c Command, log *os.File) *exec.Cmd {
	cmd := exec.Command(c.Path, c.Args...) //nolint:gosec,noctx // Running what the caller names is the job; its methods end it.
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Dir = c.Dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = childAttributes()
	return cmd
}

// Name is what people call the process.
func (p *Process) Name() string { return p.cmd.Name }

// Log is the path of its log file.
func (p *Process) Log() string { return p.cmd.Log }

// PID of the running process, 0 when it isn't running.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil || p.running.Process == nil || isClosed(p.done) {
		return 0
	}
	return p.running.Process.Pid
}

// Done is closed when the process that runs now has ended.
func (p *Process) Done() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

// Failed is an error that says how the process ended, when it ended without being asked to; otherwise nil.
func (p *Process) Failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !isClosed(p.done) || p.stopped || p.cmd.MayEnd {
		return nil
	}
	if p.err != nil {
		return fmt.Errorf("%s ended by itself (%w): %w; its log is %s", p.cmd.Name, p.err, ErrExited, p.cmd.Log)
	}
	return fmt.Errorf("%s ended by itself: %w; its log is %s", p.cmd.Name, ErrExited, p.cmd.Log)
}

// Stop asks the process group to end and kills it when it hasn't after five seconds. It returns when the process is gone.
func (p *Process) Stop() {
	p.end(syscall.SIGTERM)
	select {
	case <-p.Done():
	case <-time.After(grace):
		p.Kill()
	}
}

// Kill ends the process group with SIGKILL, as a crash would, and returns when the process is gone.
func (p *Process) Kill() {
	p.end(syscall.SIGKILL)
	<-p.Done()
}

// Pause freezes the process without its consent (SIGSTOP), as a lagging machine would be.
func (p *Process) Pause() { p.signal(syscall.SIGSTOP) }

// Resume lets a paused process go on.
func (p *Process) Resume() { p.signal(syscall.SIGCONT) }

func (p *Process) end(s syscall.Signal) {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.signal(s)
}

// signal goes to the whole group: the process is its leader. Only a process that hasn't been waited for is signalled, so
// that a reused PID is never hit.
func (p *Process) signal(s syscall.Signal) {
	pid := p.PID()
	if pid == 0 {
		return
	}
	_ = syscall.Kill(-pid, s) // It may just have ended, which is as good.
}

// Await calls ready until it returns nil and gives up when the process ends or the context does; then the error says which,
// and what ready said last.
func (p *Process) Await(ctx context.Context, ready func(context.Context) error) error {
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.Done():
			return fmt.Errorf("%s ended before it was ready: %w; its last lines:\n%s", p.cmd.Name, ErrExited, Tail(p.cmd.Log, 10))
		case <-ctx.Done():
			return fmt.Errorf("%s isn't ready (%w): %w; its last lines:\n%s", p.cmd.Name, err, ctx.Err(), Tail(p.cmd.Log, 10))
		case <-tick.C:
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Succeeded says whether the process has ended by itself with exit code 0.
func (p *Process) Succeeded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return isClosed(p.done) && !p.stopped && p.err == nil
}
