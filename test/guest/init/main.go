// Command init is process 1 of the tests' virtual machines: from an initramfs it installs the machine as bootd says, from
// the installed disk it asks for an address and stays.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/test/guest/agent"
	"github.com/crossplane-contrib/provider-baremetal/test/guest/cmdline"
)

const (
	patience    = 2 * time.Minute
	dialTimeout = 10 * time.Second
)

func main() {
	err := run(context.Background())
	sayf("FATAL %v", err)
	time.Sleep(time.Second) // for the serial port
	shutdown(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

// sayf prints a line that the tests read from the serial port.
func sayf(format string, args ...any) {
	fmt.Fprintf(os.Stdout, "GUEST "+format+"\n", args...)
}

// run does what the command line says. It returns only when it can't.
func run(ctx context.Context) error {
	if err := mount(); err != nil {
		return err
	}
	line, err := os.ReadFile("/proc/cmdline")
	if err != nil {
		return fmt.Errorf("cannot read the command line: %w", err)
	}
	p := cmdline.Parse(string(line))
	_, efi := os.Stat("/sys/firmware/efi")
	sayf("hello role=%q efi=%t install=%t", p.Role, efi == nil, p.Image != "")
	loadModules("/modules.list")
	go watchPowerButton()
	link, err := bringUp(ctx, p)
	if err != nil {
		return err
	}
	if p.Image == "" {
		return stay(p)
	}
	a := &agent.Agent{HTTP: client(), Log: sayf, Patience: patience}
	if err := a.Install(ctx, p, openDisk); err != nil {
		return err
	}
	sayf("installed")
	down(link)
	shutdown(unix.LINUX_REBOOT_CMD_RESTART)
	return nil
}

// stay is the running system.
func stay(p cmdline.Parameters) error {
	if p.Role == cmdline.RoleDisk {
		sayf("running from disk")
	} else {
		sayf("running from memory")
	}
	select {}
}

func client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext, DisableKeepAlives: true,
	}}
}

// openDisk returns the first disk there is, waiting a moment for its driver.
func openDisk() (agent.Disk, error) {
	var last error
	for range 100 {
		for _, path := range []string{"/dev/vda", "/dev/nvme0n1", "/dev/sda"} {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err == nil {
				return f, nil
			}
			last = err
		}
		time.Sleep(50 * time.Millisecond) //nolint:mnd // twenty tries a second, for five
	}
	return nil, fmt.Errorf("there is no disk: %w", last)
}

// loadModules loads what the list names, in its order. A driver that this machine has no use for may fail.
func loadModules(list string) {
	names, err := os.ReadFile(list)
	if err != nil {
		sayf("no modules: %v", err)
		return
	}
	for name := range strings.FieldsSeq(string(names)) {
		if err := loadModule(name); err != nil {
			sayf("module %s: %v", name, err)
		}
	}
}
