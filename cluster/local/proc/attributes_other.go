//go:build !linux

package proc

import "syscall"

// childAttributes put a child into a process group of its own. Only Linux can tie its life to the parent's.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
