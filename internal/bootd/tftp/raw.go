package tftp

import (
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What follows never waits in the kernel, and Go's runtime isn't told of it: it would look every 20 µs whether the thread is stuck, which
// takes a fourteenth of the only processor, and interrupt the loop for it.

// turn is how long the loop may run on before others on its processor do: a runtime that isn't told can't see for 10 ms that they wait.
const turn = time.Millisecond

// readNow is recv(2) of a socket that doesn't block.
func readNow(fd int, b []byte) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), 0, 0, 0) //nolint:gosec // As unix.Recvfrom has it.
	return result(n, errno)
}

// writeNow is send(2) to a connected socket that doesn't block.
func writeNow(fd int, b []byte) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), 0, 0, 0) //nolint:gosec // As unix.Send has it.
	return result(n, errno)
}

// pollNow is what epoll_wait(2) has at once.
func pollNow(fd int, list []unix.EpollEvent) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(fd), uintptr(unsafe.Pointer(&list[0])), uintptr(len(list)), 0, 0, 0) //nolint:gosec // As unix.EpollWait has it.
	return result(n, errno)
}

func result(n uintptr, errno unix.Errno) (int, error) {
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// yield lets others run, once a turn is over.
func (l *loop) yield() {
	if l.now.Sub(l.yielded) >= turn {
		runtime.Gosched()
		l.yielded = l.now
	}
}
