package heap

import (
	"bytes"
	"os"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"
)

// OfHall is what a bootd keeps of a hundred thousand machines, and more than it keeps of ten thousand that boot, in bytes.
const OfHall = 128 << 20

// Huge has the first so many bytes of the heap lie in huge pages, where the host has them for who asks (transparent huge pages, "madvise": admin-guide/mm/transhuge
// of Linux): of thousands of machines nothing is in a cache, nor is where it lies, and a guest asks its host's tables, too. Go's runtime can't be told to ask for
// them. But what is made and let go keeps its place, and what that place was told: so it's to be called before much is made. It takes addresses, and no memory.
func Huge(size int) {
	if !spacious() || !usual() || strings.Contains(os.Getenv("GODEBUG"), "disablethp=1") {
		return
	}
	_ = unix.Madvise(make([]byte, size), unix.MADV_HUGEPAGE) // Where there are none it's all as it was.
	debug.FreeOSMemory()
}

// usual says that huge pages are of 2 MB: where a page has 16 kB they're of 32, and a few of those are more than a small bootd takes.
func usual() bool {
	b, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
	return err == nil && string(bytes.TrimSpace(b)) == "2097152"
}

// spacious says that addresses cost nothing: neither are they bounded, nor promised as memory (proc_sys_vm(5), overcommit_memory). Where they do, a program ends
// that asks for too many.
func spacious() bool {
	for _, of := range []int{unix.RLIMIT_AS, unix.RLIMIT_DATA} { // What is private and may be written counts for the latter, be it there or not.
		var most unix.Rlimit
		if err := unix.Getrlimit(of, &most); err != nil || most.Cur != unix.RLIM_INFINITY {
			return false
		}
	}
	b, err := os.ReadFile("/proc/sys/vm/overcommit_memory")
	return err == nil && string(bytes.TrimSpace(b)) != "2"
}
