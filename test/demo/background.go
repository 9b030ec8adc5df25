package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// keeperVariable tells a demo that it's the one in the background.
const keeperVariable = "PROVIDER_BAREMETAL_DEMO_KEEPER"

// errSaid is returned where another process of the demo has said what failed.
var errSaid = errors.New("said already")

// readyFD is where the one in the background says that everything is up.
const readyFD = 3

// background runs the demo as a process of its own session, shows what it says, and leaves when everything is up.
func background(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot tell this program's path: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("cannot make a pipe: %w", err)
	}
	cmd := exec.Command(self, os.Args[1:]...) //nolint:gosec,noctx // Ourselves; it's to outlive this process.
	cmd.Env = append(os.Environ(), keeperVariable+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot start the demo: %w", err)
	}
	_ = w.Close()
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	defer stop()
	if n, err := r.Read(make([]byte, 1)); err == nil && n > 0 {
		return nil
	}
	return ending(cmd.Wait())
}

// ending is how the one in the background ended early. Who was killed couldn't say why.
func ending(err error) error {
	if exit := (&exec.ExitError{}); errors.As(err, &exit) && exit.Exited() {
		return errSaid
	}
	if err != nil {
		return fmt.Errorf("the demo in the background has ended: %w", err)
	}
	return nil
}

// keeper is where to say that everything is up, nil in a demo that isn't to be kept.
func keeper() *os.File {
	if os.Getenv(keeperVariable) == "" {
		return nil
	}
	// Its children must not hold it open: whoever waits would never see it close.
	unix.CloseOnExec(readyFD)
	return os.NewFile(readyFD, "ready")
}

// detach says that everything is up, and lets go of the terminal.
func detach(ready *os.File) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("cannot open %s: %w", os.DevNull, err)
	}
	for _, fd := range []int{1, 2} {
		if err := unix.Dup3(int(null.Fd()), fd, 0); err != nil {
			return fmt.Errorf("cannot let go of the terminal: %w", err)
		}
	}
	if _, err := ready.WriteString("ready"); err != nil {
		return fmt.Errorf("cannot say that everything is up: %w", err)
	}
	return ready.Close()
}
