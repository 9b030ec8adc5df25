package inside

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// first is the first process in the namespaces: it makes them a node, starts the runner, and buries whoever has no parent.
func first(p Plan, plan string) error {
	if err := setUp(p); err != nil {
		return err
	}
	runner, err := os.StartProcess("/proc/self/exe", []string{os.Args[0], roleRunner, plan}, &os.ProcAttr{ //nolint:gosec // Itself.
		Files: []*os.File{nil, os.Stdout, os.Stderr},
		Env:   os.Environ(),
	})
	if err != nil {
		return fmt.Errorf("cannot start the runner: %w", err)
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return fmt.Errorf("cannot wait for processes: %w", err)
		case pid == runner.Pid:
			return nil // It said why. Whatever still runs ends with this process.
		}
	}
}

func setUp(p Plan) error {
	if err := unix.Sethostname([]byte(p.Hostname)); err != nil {
		return fmt.Errorf("cannot set the host name: %w", err)
	}
	if err := mountAll(p.Mounts); err != nil {
		return err
	}
	if err := linkAll(p.Links); err != nil {
		return err
	}
	for name, value := range p.Sysctls {
		if err := os.WriteFile("/proc/sys/"+name, []byte(value), 0o600); err != nil {
			return fmt.Errorf("cannot set %s: %w", name, err)
		}
	}
	return nil
}

// mountAll takes all mounts away from the outside, then shares them: kubelet wants mounts that pods can pass on.
func mountAll(mounts []Mount) error {
	for _, how := range []uintptr{unix.MS_PRIVATE, unix.MS_SHARED} {
		if err := unix.Mount("", "/", "", unix.MS_REC|how, ""); err != nil {
			return fmt.Errorf("cannot keep mounts private: %w", err)
		}
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("cannot mount /proc: %w", err)
	}
	for _, m := range mounts {
		if err := m.mount(); err != nil {
			return err
		}
	}
	return nil
}

func (m Mount) mount() error {
	if m.From == "" {
		if err := unix.Mount("tmpfs", m.To, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755"); err != nil {
			return fmt.Errorf("cannot mount an empty %s: %w", m.To, err)
		}
		return nil
	}
	if err := m.target(); err != nil {
		return fmt.Errorf("cannot mount %s at %s: %w", m.From, m.To, err)
	}
	if err := unix.Mount(m.From, m.To, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("cannot mount %s at %s: %w", m.From, m.To, err)
	}
	// What is mounted below it isn't seen at From too, but by pods.
	for _, how := range []uintptr{unix.MS_PRIVATE, unix.MS_SHARED} {
		if err := unix.Mount("", m.To, "", how, ""); err != nil {
			return fmt.Errorf("cannot share %s with pods: %w", m.To, err)
		}
	}
	return nil
}

// target makes what is mounted, and what it's mounted on.
func (m Mount) target() error {
	if i, err := os.Stat(m.From); err != nil || i.IsDir() {
		return errors.Join(os.MkdirAll(m.From, 0o755), os.MkdirAll(m.To, 0o755)) //nolint:gosec // Pods of other users read some.
	}
	if to, err := os.Readlink(m.To); err == nil {
		return m.linked(to)
	}
	return nil // A plain file, which is there or is said not to be.
}

// linked makes what a link leads to where a mount before this one hides it: resolv.conf often is such a link.
func (m Mount) linked(to string) error {
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(m.To), to)
	}
	if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // As it's outside.
		return err
	}
	return os.WriteFile(to, nil, 0o644) //nolint:gosec // As it's outside.
}

func linkAll(links []Link) error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("cannot find loopback: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("cannot bring loopback up: %w", err)
	}
	for _, l := range links {
		if err := l.add(); err != nil {
			return fmt.Errorf("cannot make link %q: %w", l.Name, err)
		}
	}
	return nil
}

func (l Link) route(link netlink.Link, from *netlink.Addr) error {
	for _, r := range l.Routes {
		_, to, err := net.ParseCIDR(r)
		if err != nil {
			return fmt.Errorf("cannot understand its route: %w", err)
		}
		if err := netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Dst: to, Src: from.IP}); err != nil {
			return fmt.Errorf("cannot route %s by it: %w", r, err)
		}
	}
	return nil
}

func (l Link) add() error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = l.Name
	var link netlink.Link
	switch l.Kind {
	case Veth:
		link = &netlink.Veth{LinkAttrs: attrs, PeerName: l.Name + "-peer"}
	case Bridge:
		link = &netlink.Bridge{LinkAttrs: attrs}
	default:
		return fmt.Errorf("there is no kind %q", l.Kind)
	}
	addr, err := netlink.ParseAddr(l.Address)
	if err != nil {
		return fmt.Errorf("cannot understand its address: %w", err)
	}
	if err := netlink.LinkAdd(link); err != nil {
		return err
	}
	if err := netlink.AddrAdd(link, addr); err != nil {
		return fmt.Errorf("cannot give it %s: %w", l.Address, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("cannot bring it up: %w", err)
	}
	if err := l.route(link, addr); err != nil {
		return err
	}
	if l.Kind != Veth {
		return nil
	}
	// With both ends up there is a carrier, which a device needs to be a node's.
	peer, err := netlink.LinkByName(l.Name + "-peer")
	if err != nil {
		return fmt.Errorf("cannot find its other end: %w", err)
	}
	return netlink.LinkSetUp(peer)
}
