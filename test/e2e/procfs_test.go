package e2e

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
)

// stopped returns nil when all threads of a process stand still: SIGSTOP takes a moment.
func stopped(pid int) error {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(threads) == 0 {
		return fmt.Errorf("there is no process %d: %w", pid, err)
	}
	for _, path := range threads {
		b, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("cannot read a thread's state: %w", err)
		}
		// The name before the state is in parentheses and may hold anything (proc_pid_stat).
		if _, after, ok := strings.Cut(string(b), ") "); !ok || !strings.HasPrefix(after, "T ") {
			return fmt.Errorf("a thread runs: %s", b)
		}
	}
	return nil
}

// unread returns nil when something was sent to a port that its server hasn't read: it's frozen, and asked for something.
func unread(at netip.AddrPort) error {
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return fmt.Errorf("cannot read the kernel's table of connections: %w", err)
	}
	if waiting(string(table), at) {
		return nil
	}
	return errors.New("nothing waits to be read")
}

// waiting says whether a connection of a local port, as in /proc/net/tcp (proc_net_tcp, Linux), has bytes to be read.
func waiting(table string, local netip.AddrPort) bool {
	a := local.Addr().As4()
	want := fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(a[:]), local.Port()) // The kernel prints the word as it lies in memory.
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		const localAddress, state, queues, established = 1, 3, 4, "01"
		if len(f) > queues && f[localAddress] == want && f[state] == established && !strings.HasSuffix(f[queues], ":00000000") {
			return true
		}
	}
	return false
}
