package bootd

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A ConfigError is one of what bootd was told, or found where it was told to look: it can't begin, and trying again doesn't mend that.
type ConfigError struct{ error }

// ExitCode is what a program ends with.
func (ConfigError) ExitCode() int { return 2 }

// Unwrap gives the cause.
func (m ConfigError) Unwrap() error { return m.error }

// onDevice stands between a protocol and the interface that it's served on.
const onDevice = " on interface "

// cannotListen says in one sentence why a socket can't be had, and what to do: what is the protocol, and the interface where there's one,
// network udp4, udp6, tcp or tcp6.
func cannotListen(what, network, address string, err error) error {
	return notHeard(what, network, address, err, func() string { return owner("/proc", network, address) })
}

// notHeard is the same, with a way of its own to find out who has the port.
func notHeard(what, network, address string, err error, owned func() string) error {
	switch {
	case errors.Is(err, unix.EADDRINUSE):
		return ConfigError{fmt.Errorf("cannot listen for %s: %s %s is in use by %s; stop it, or give bootd another address",
			what, strings.ToUpper(strings.TrimRight(network, "46")), address, owned())}
	case errors.Is(err, unix.ENODEV):
		_, device, _ := strings.Cut(what, onDevice)
		return ConfigError{fmt.Errorf("cannot listen for %s: there's no interface %q here; there are %s", what, device, strings.Join(deviceNames(), ", "))}
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return ConfigError{fmt.Errorf("cannot listen for %s on %s: this user may not: give bootd CAP_NET_BIND_SERVICE, which ports below 1024 take (on a named interface CAP_NET_RAW, too): %w", what, address, err)}
	case errors.Is(err, unix.EADDRNOTAVAIL):
		return ConfigError{fmt.Errorf("cannot listen for %s: no interface of this host has the address of %s", what, address)}
	}
	return ConfigError{fmt.Errorf("cannot listen for %s: %w", what, err)}
}

func deviceNames() []string {
	if names := interfacesHere(); len(names) > 0 {
		return names
	}
	return []string{"some that can't be listed"}
}

// owner names the process that has a port, as far as the system lets us see.
func owner(proc, network, address string) string {
	const unseen = "another process"
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		return unseen
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return unseen
	}
	host, _, _ := net.SplitHostPort(address)
	wanted, _ := netip.ParseAddr(host) // Invalid for all addresses.
	inodes := socketsOn(filepath.Join(proc, "net"), strings.TrimRight(network, "46"), wanted, uint16(port))
	if len(inodes) == 0 {
		return unseen
	}
	pids, err := os.ReadDir(proc)
	if err != nil {
		return unseen
	}
	for _, p := range pids {
		if _, err := strconv.Atoi(p.Name()); err != nil || !holds(filepath.Join(proc, p.Name(), "fd"), inodes) {
			continue
		}
		name, err := os.ReadFile(filepath.Join(proc, p.Name(), "comm"))
		if err != nil {
			return "the process " + p.Name()
		}
		return fmt.Sprintf("%s (pid %s)", strings.TrimSpace(string(name)), p.Name())
	}
	return unseen
}

// socketsOn gives the inodes of sockets that have a port, of an address that stands in the way of another (proc_net(5)).
func socketsOn(dir, network string, wanted netip.Addr, port uint16) (inodes []string) {
	for _, name := range []string{network, network + "6"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			f := strings.Fields(line)
			const address, state, inode, listens = 1, 3, 9, "0A"
			if len(f) <= inode || network == "tcp" && f[state] != listens {
				continue
			}
			host, text, ok := strings.Cut(f[address], ":")
			p, err := strconv.ParseUint(text, 16, 16)
			if !ok || err != nil || p != uint64(port) {
				continue
			}
			if everywhere := strings.Trim(host, "0") == ""; everywhere || !wanted.IsValid() || wanted.IsUnspecified() || host == hexOf(wanted) {
				inodes = append(inodes, "socket:["+f[inode]+"]")
			}
		}
	}
	return inodes
}

// hexOf is an IPv4 address as the kernel prints it: its octets from the last to the first.
func hexOf(a netip.Addr) string {
	b := a.Unmap().AsSlice()
	slices.Reverse(b)
	return fmt.Sprintf("%X", b)
}

// holds says whether a process has one of some sockets open.
func holds(fds string, inodes []string) bool {
	list, err := os.ReadDir(fds)
	if err != nil {
		return false
	}
	for _, e := range list {
		if to, err := os.Readlink(filepath.Join(fds, e.Name())); err == nil && slices.Contains(inodes, to) {
			return true
		}
	}
	return false
}
