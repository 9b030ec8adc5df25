package stage

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/google/uuid"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
)

const (
	rackBridge = "rack0"
	// rackAddress is of no use to anybody (RFC 5737): a bridge must have one.
	rackAddress = "192.0.2.1/24"
	// rackCable is the rack's end of the cable to the node.
	rackCable = "uplink0"
)

// A Rack is a network namespace with a switch, that a cable connects with the node's segment, and virtual machines on it.
type Rack struct {
	stage   *Stage
	space   *space
	segment *qemu.Segment
}

// Rack makes one. It ends with the stage.
func (s *Stage) Rack() (*Rack, error) {
	sp, err := newSpace()
	if err != nil {
		return nil, err
	}
	s.keep(sp)
	r := &Rack{stage: s, space: sp}
	if err := sp.do(r.wire); err != nil {
		return nil, fmt.Errorf("cannot make a rack: %w", err)
	}
	return r, nil
}

// wire is called in the rack's namespace.
func (r *Rack) wire() error {
	var err error
	if r.segment, err = qemu.NewSegment(rackBridge, rackAddress); err != nil {
		return err
	}
	if err := r.stage.Join(rackCable); err != nil {
		return err
	}
	bridge, err := netlink.LinkByName(rackBridge)
	if err != nil {
		return fmt.Errorf("cannot find the bridge: %w", err)
	}
	cable, err := netlink.LinkByName(rackCable)
	if err != nil {
		return fmt.Errorf("cannot find the cable: %w", err)
	}
	if err := netlink.LinkSetMaster(cable, bridge); err != nil {
		return fmt.Errorf("cannot plug the cable: %w", err)
	}
	return nil
}

// A Host is a virtual machine and its BMC.
type Host struct {
	*qemu.Machine

	Name, Serial string
	MAC          net.HardwareAddr
	// BMC is reached from pods at its Addr. Whatever makes it listen again would do so outside of the cluster.
	BMC *bmc.Server
}

// Add puts a machine that is off into the rack, whose BMC has a port of the segment's address. number tells its MAC from others.
func (r *Rack) Add(name string, number byte, f qemu.Firmware, model bmc.Model) (*Host, error) {
	return r.Place(HostSpec{
		Name: name, Serial: "VM" + strings.ToUpper(name), MAC: net.HardwareAddr{0x52, 0x54, 0, 0x99, 0, number}, Firmware: f, Model: model,
		// BMCs aren't at the node's address: that is in the range of Services that providers are told to keep off by custom.
		BMC: node.SegmentAddress + ":0",
	})
}

// A HostSpec describes a machine and its BMC.
type HostSpec struct {
	Name, Serial string
	MAC          net.HardwareAddr
	Firmware     qemu.Firmware
	Model        bmc.Model
	// BMC is the host and port that its BMC listens at: an address of the node.
	BMC string
}

// Place puts a machine that is off into the rack.
func (r *Rack) Place(spec HostSpec) (*Host, error) {
	h := &Host{Name: spec.Name, Serial: spec.Serial, MAC: spec.MAC}
	id := uuid.NewSHA1(uuid.NameSpaceOID, []byte(h.Serial))
	var netdev string
	err := r.space.do(func() (err error) {
		netdev, err = r.segment.Tap("tap-" + h.Name)
		return err
	})
	if err != nil {
		return nil, err
	}
	dir := r.stage.in("machines", h.Name)
	binary, err := r.binary(dir)
	if err != nil {
		return nil, err
	}
	h.Machine, err = qemu.New(qemu.Config{
		Name: h.Name, MAC: h.MAC, UUID: id, Serial: h.Serial, Firmware: spec.Firmware, Dir: dir, Netdev: netdev, Binary: binary,
	})
	if err != nil {
		return nil, err
	}
	r.stage.keep(closer(func() error { h.Close(); return nil }))
	h.BMC, err = r.stage.BMC(spec.BMC, bmc.SystemConfig{Model: spec.Model, Serial: h.Serial, UUID: id.String(), MACs: []net.HardwareAddr{h.MAC}, Machine: h.Machine})
	return h, err
}

// binary is a program that runs QEMU in the rack's namespace.
func (r *Rack) binary(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", fmt.Errorf("cannot make a machine's folder: %w", err)
	}
	path := filepath.Join(dir, "qemu")
	script := "#!/bin/sh\nexec nsenter --net=" + r.space.path + " qemu-system-x86_64 \"$@\"\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil { //nolint:gosec // It's run.
		return "", fmt.Errorf("cannot write what runs a machine: %w", err)
	}
	return path, nil
}

// A space is a thread in a network namespace of its own. The namespace goes with it, when nobody else is there any more.
type space struct {
	path  string
	tasks chan func()
}

func newSpace() (*space, error) {
	s := &space{tasks: make(chan func())}
	made := make(chan error)
	go func() {
		runtime.LockOSThread() // Never unlocked: the thread is of no use to others, and ends with the goroutine.
		err := unix.Unshare(unix.CLONE_NEWNET)
		s.path = fmt.Sprintf("/proc/%d/task/%d/ns/net", os.Getpid(), unix.Gettid())
		made <- err
		for f := range s.tasks {
			f()
		}
	}()
	if err := <-made; err != nil {
		return nil, errors.Join(fmt.Errorf("cannot make a network namespace: %w", err), s.Close())
	}
	return s, nil
}

// do does something there.
func (s *space) do(f func() error) error {
	done := make(chan error)
	s.tasks <- func() { done <- f() }
	return <-done
}

// Close ends the thread.
func (s *space) Close() error {
	close(s.tasks)
	return nil
}
