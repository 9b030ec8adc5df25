package vm

import (
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
)

// serialLines is how much of a serial port's end is shown where something went wrong.
const serialLines = 12

// A HostSpec describes a virtual machine and its BMC.
type HostSpec struct {
	Name, Serial, MAC string
	Firmware          qemu.Firmware
	Model             bmc.Model
}

// Specs are the machines of examples/demo-vm: one with SeaBIOS and iPXE, one with OVMF's own PXE client.
func Specs() []HostSpec {
	return []HostSpec{
		{Name: "r7-bios", Serial: "R7BIOS", MAC: "52:54:00:77:00:01", Firmware: qemu.BIOS, Model: bmc.ModelInline},
		{Name: "r7-uefi", Serial: "R7UEFI", MAC: "52:54:00:77:00:02", Firmware: qemu.UEFI, Model: bmc.ModelActionInfo},
	}
}

// A Host is one virtual machine and its BMC.
type Host struct {
	HostSpec

	Machine *qemu.Machine
	BMC     *bmc.Server

	dir string
}

// AddHost makes a machine, which is off, and its BMC.
func (r *Rack) AddHost(s HostSpec) (*Host, error) {
	mac, err := net.ParseMAC(s.MAC)
	if err != nil {
		return nil, fmt.Errorf("cannot make host %q: %w", s.Name, err)
	}
	tap, err := r.segment.Tap("tap-" + s.Name)
	if err != nil {
		return nil, err
	}
	h := &Host{HostSpec: s, dir: filepath.Join(r.state, "machines", s.Name)}
	id := uuid.NewSHA1(uuid.NameSpaceOID, []byte(s.Serial))
	h.Machine, err = qemu.New(qemu.Config{
		Name: s.Name, MAC: mac, UUID: id, Serial: s.Serial, Firmware: s.Firmware, Dir: h.dir, Netdev: tap,
	})
	if err != nil {
		return nil, err
	}
	h.BMC, err = bmc.NewServer(bmc.Config{
		Username: lab.BMCUser, Password: lab.BMCPassword,
		Systems: []bmc.SystemConfig{{Model: s.Model, Serial: s.Serial, UUID: id.String(), MACs: []net.HardwareAddr{mac}, Machine: h.Machine}},
	})
	if err != nil {
		return nil, err
	}
	r.hosts = append(r.hosts, h)
	return h, nil
}

// Host of that name, nil where there is none.
func (r *Rack) Host(name string) *Host {
	for _, h := range r.hosts {
		if h.Name == name {
			return h
		}
	}
	return nil
}

// SerialLog is the file of what the machine prints.
func (h *Host) SerialLog() string { return filepath.Join(h.dir, "serial.log") }

// SerialPorts shows the end of what each machine that was ever on has printed.
func (r *Rack) SerialPorts() string {
	var b strings.Builder
	for _, h := range r.hosts {
		if h.Machine.Starts() > 0 {
			fmt.Fprintf(&b, "machine %s: powered %t, power-ons %d, last lines of its serial port, %s:\n%s\n",
				h.Name, h.Machine.Powered(), h.Machine.Starts(), h.SerialLog(), legible(proc.TailOf(h.SerialLog(), serialLines, inked)))
		}
	}
	return b.String()
}

// control matches what firmware sends to a terminal beside text.
var control = regexp.MustCompile(`\x1b\[[0-9;=?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]`)

// legible leaves out what would move a terminal's cursor.
func legible(s string) string { return control.ReplaceAllString(s, "") }

// inked says whether a line shows anything.
func inked(line string) bool { return strings.TrimSpace(legible(line)) != "" }

func (h *Host) close() {
	h.Machine.Close()
	_ = h.BMC.Close() // Nobody talks to it any more.
}
