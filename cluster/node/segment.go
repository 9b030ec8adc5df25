package node

import (
	"fmt"
	"os"
	"runtime"
	"strconv"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Join connects the caller's network namespace with the node's segment, as a cable would: here is a new link of that name,
// which is up and has no address, and its other end is a port of the node's bridge SegmentLink. To connect virtual machines,
// make the link a port of their bridge. The link goes with the cluster, or with the caller's namespace. The caller's
// namespace is that of its thread.
func (c *Cluster) Join(name string) error {
	node, err := os.Open(c.namespace("net"))
	if err != nil {
		return fmt.Errorf("cannot open the node's network namespace: %w", err)
	}
	defer node.Close() // Only held to name it.
	link := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: "port-" + name, PeerNamespace: netlink.NsFd(node.Fd()),
	}
	if len(link.PeerName) >= unix.IFNAMSIZ {
		return fmt.Errorf("cannot join the segment as %q: the name has more than %d bytes", name, unix.IFNAMSIZ-len("port-")-1)
	}
	if err := netlink.LinkAdd(link); err != nil {
		return fmt.Errorf("cannot join the segment as %q: %w", name, err)
	}
	if err := within(node, func() error { return plug(link.PeerName) }); err != nil {
		return fmt.Errorf("cannot join the segment as %q: %w", name, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("cannot bring %q up: %w", name, err)
	}
	return nil
}

// Inside does something in the node's network namespace, on a thread of its own. A socket that is made there stays there, whoever
// uses it; what is called there must not start goroutines that make others.
func (c *Cluster) Inside(do func() error) error {
	node, err := os.Open(c.namespace("net"))
	if err != nil {
		return fmt.Errorf("cannot open the node's network namespace: %w", err)
	}
	defer node.Close() // Only held to name it.
	return within(node, do)
}

func (c *Cluster) namespace(kind string) string {
	return "/proc/" + strconv.Itoa(c.PID()) + "/ns/" + kind
}

// plug makes a link a port of the segment.
func plug(port string) error {
	bridge, err := netlink.LinkByName(SegmentLink)
	if err != nil {
		return fmt.Errorf("cannot find the segment: %w", err)
	}
	link, err := netlink.LinkByName(port)
	if err != nil {
		return fmt.Errorf("cannot find the other end: %w", err)
	}
	if err := netlink.LinkSetMaster(link, bridge); err != nil {
		return fmt.Errorf("cannot make it a port of the segment: %w", err)
	}
	return netlink.LinkSetUp(link)
}

// within does something in a network namespace, on a thread that ends with it: a thread that has been elsewhere is of no use
// to others.
func within(namespace *os.File, do func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == os.Getpid() {
			// The first thread doesn't end with its goroutine, and it's where /proc says the process is. It waits for another one.
			defer runtime.UnlockOSThread()
			done <- within(namespace, do)
			return
		}
		if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); err != nil {
			done <- fmt.Errorf("cannot enter the network namespace: %w", err)
			return
		}
		done <- do()
	}()
	return <-done
}
