package node_test

import (
	"context"
	"net"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
)

// segment lets a machine without an address broadcast as firmware does: what runs on the node's network answers.
func segment(t *testing.T, c *node.Cluster) {
	t.Helper()
	done := make(chan string)
	go func() {
		runtime.LockOSThread() // It has a network of its own from here on, and ends with the goroutine.
		done <- broadcast(c)
	}()
	if got, want := <-done, "offer to a machine"; got != want {
		t.Errorf("a machine that broadcasts: want answer %q, got %q\nits last lines: %s", want, got, c.Tail("kubelet", 3))
	}
	if err := c.Join("much-too-long-a-name"); err == nil {
		t.Error("Join: want an error for a name that the kernel doesn't take")
	}
}

// broadcast connects a network namespace of its own with the segment and returns what a DISCOVER there is answered.
func broadcast(c *node.Cluster) string {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err.Error()
	}
	if err := c.Join("eth0"); err != nil {
		return err.Error()
	}
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var inner error
		err := raw.Control(func(fd uintptr) {
			inner = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_BROADCAST, 1)
			if inner == nil {
				inner = unix.BindToDevice(int(fd), "eth0")
			}
		})
		if err != nil {
			return err
		}
		return inner
	}}
	conn, err := lc.ListenPacket(context.Background(), "udp4", ":68")
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	b := make([]byte, 1500)
	for range 10 {
		if _, err := conn.WriteTo([]byte("a machine"), &net.UDPAddr{IP: net.IPv4bcast, Port: 67}); err != nil {
			return err.Error()
		}
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
		if n, _, err := conn.ReadFrom(b); err == nil {
			return string(b[:n])
		}
	}
	return "nobody answers"
}
