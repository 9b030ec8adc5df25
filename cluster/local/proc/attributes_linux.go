package proc

import "syscall"

// childAttributes put a child into a process group of its own, so that Ctrl-C reaches only the parent, which ends its children
// in order; and have the kernel kill the child when the parent dies without doing so.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
