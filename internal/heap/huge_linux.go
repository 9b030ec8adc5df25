package heap

import (
	"bytes"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// OfHall is what a bootd keeps of a hundred thousand machines, and more than it keeps of ten thousand that boot, in bytes.
const OfHall = 128 << 20

// Huge has the first so many bytes of the heap lie in huge pages, where the host has them for who asks (transparent huge pages, "madvise": admin-guide/mm/transhuge
// of Linux): of thousands of machines nothing is in a cache, nor is where it lies, and a guest asks its host's tables, too. Go's runtime can't be told to ask for
// them. But what is made and let go keeps its place, and what that place was told: so it's to be called before anything else is made. It takes addresses, and no memory.
func Huge(size int) {
	if !spacious() {
		return
	}
	_ = unix.Madvise(make([]byte, size), unix.MADV_HUGEPAGE) // Where there are none it's all as it was.
	debug.FreeOSMemory()
}

// spacious says that addresses cost nothing: neither are they bounded, nor promised as memory (proc_sys_vm(5), overcommit_memory). Where they do, a program ends
// that asks for too many.
func spacious() bool {
	var most unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &most); err != nil || most.Cur != unix.RLIM_INFINITY {
		return false
	}
	b, err := os.ReadFile("/proc/sys/vm/overcommit_memory")
	return err == nil && string(bytes.TrimSpace(b)) != "2"
}
