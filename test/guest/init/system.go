package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/test/guest/cmdline"
)

// mount makes the three file systems that everything else reads.
func mount() error {
	for _, m := range []struct{ kind, at string }{{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}} {
		if err := unix.Mount(m.kind, m.at, m.kind, 0, ""); err != nil && !errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("cannot mount %s: %w", m.at, err)
		}
	}
	return nil
}

func loadModule(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return unix.FinitModule(int(f.Fd()), "", 0)
}

const (
	nicTries = 100
	nicPause = 50 * time.Millisecond
)

// bringUp gives the only NIC its address: the one on the command line, else the one that DHCP says.
func bringUp(ctx context.Context, p cmdline.Parameters) (netlink.Link, error) {
	if lo, err := netlink.LinkByName("lo"); err == nil {
		_ = netlink.LinkSetUp(lo)
	}
	link, err := nic(p.MAC)
	if err != nil {
		return nil, err
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return nil, fmt.Errorf("cannot bring %s up: %w", link.Attrs().Name, err)
	}
	if p.Address == "" {
		p.Address, p.Gateway, err = lease(ctx, link.Attrs().Name)
		if err != nil {
			return nil, err
		}
	}
	sayf("address %s gateway %q mac %s", p.Address, p.Gateway, link.Attrs().HardwareAddr)
	return link, assign(link, p.Address, p.Gateway)
}

// nic waits for the network device with this MAC; for the first one that has any where mac is empty.
func nic(mac string) (netlink.Link, error) {
	for range nicTries {
		links, err := netlink.LinkList()
		if err != nil {
			return nil, fmt.Errorf("cannot list network devices: %w", err)
		}
		for _, l := range links {
			if l.Type() == "device" && matches(l, mac) {
				return l, nil
			}
		}
		time.Sleep(nicPause)
	}
	return nil, fmt.Errorf("there is no network device with MAC %q", mac)
}

func matches(l netlink.Link, mac string) bool {
	return len(l.Attrs().HardwareAddr) > 0 && l.Attrs().Name != "lo" && (mac == "" || strings.EqualFold(l.Attrs().HardwareAddr.String(), mac))
}

func assign(link netlink.Link, address, gateway string) error {
	a, err := netlink.ParseAddr(address)
	if err != nil {
		return fmt.Errorf("cannot parse address %q: %w", address, err)
	}
	if a.IP.To4() == nil {
		a.Flags = unix.IFA_F_NODAD // It's used at once.
	}
	if err := netlink.AddrReplace(link, a); err != nil {
		return fmt.Errorf("cannot assign %s: %w", address, err)
	}
	if gateway == "" {
		return nil
	}
	route := &netlink.Route{LinkIndex: link.Attrs().Index, Gw: net.ParseIP(gateway)}
	if err := netlink.RouteReplace(route); err != nil {
		return fmt.Errorf("cannot route by %q: %w", gateway, err)
	}
	return nil
}

// down takes the link down: a virtio NIC that still has buffers may hang the firmware of the next boot.
func down(link netlink.Link) {
	if err := netlink.LinkSetDown(link); err != nil {
		sayf("link down: %v", err)
	}
}

func shutdown(how int) {
	unix.Sync()
	_ = unix.Reboot(how)
}

const (
	eventSize    = 24 // struct input_event on 64 bits: two longs of time, type, code, value
	eventTypeKey = 1
	keyPower     = 116
)

// watchPowerButton powers the machine off when its BMC asks gracefully.
func watchPowerButton() {
	paths, _ := filepath.Glob("/dev/input/event*")
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		go readEvents(f)
	}
}

func readEvents(f io.Reader) {
	event := make([]byte, eventSize)
	for {
		if _, err := io.ReadFull(f, event); err != nil {
			return
		}
		if binary.LittleEndian.Uint16(event[16:]) == eventTypeKey && binary.LittleEndian.Uint16(event[18:]) == keyPower {
			sayf("power button")
			shutdown(unix.LINUX_REBOOT_CMD_POWER_OFF)
		}
	}
}
