package lab

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sort"
	"strconv"

	"github.com/google/uuid"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
)

// The account of every emulated BMC.
const (
	BMCUser     = "crossplane"
	BMCPassword = bmc.Secret
)

// A Host is one emulated machine and its BMC.
type Host struct {
	// Name is the one that its RedfishHost has.
	Name string
	// Serial as its BMC tells it.
	Serial string
	// MAC of its only NIC.
	MAC     net.HardwareAddr
	BMC     *bmc.Server
	Machine *machine.Machine

	log *os.File
}

// A HostSpec describes a machine to emulate. Only Name is needed.
type HostSpec struct {
	Name     string
	Serial   string
	MAC      string
	Model    bmc.Model
	Firmware machine.Firmware
	// More are NICs that its BMC lists beside the one that it boots by.
	More []net.HardwareAddr
	// Change, if set, changes the machine's description before it's made.
	Change func(*machine.Config)
}

// DemoHosts are the machines of examples/demo: one pair of either model and firmware.
func DemoHosts() []HostSpec {
	return []HostSpec{
		{Name: "r7-u12", Serial: "R7U12", MAC: "52:54:00:00:07:12", Model: bmc.ModelInline, Firmware: machine.BIOS},
		{Name: "r7-u13", Serial: "R7U13", MAC: "52:54:00:00:07:13", Model: bmc.ModelInline, Firmware: machine.UEFI},
		{Name: "r7-u14", Serial: "R7U14", MAC: "52:54:00:00:07:14", Model: bmc.ModelActionInfo, Firmware: machine.BIOS},
		{Name: "r7-u15", Serial: "R7U15", MAC: "52:54:00:00:07:15", Model: bmc.ModelActionInfo, Firmware: machine.UEFI},
	}
}

// AddHost emulates one more machine, which is off, and its BMC.
func (l *Lab) AddHost(s HostSpec) (*Host, error) {
	n := l.count()
	if s.Serial == "" {
		s.Serial = fmt.Sprintf("LAB%05d", n)
	}
	if s.MAC == "" {
		s.MAC = fmt.Sprintf("52:54:00:01:%02x:%02x", n>>8&0xff, n&0xff)
	}
	mac, err := net.ParseMAC(s.MAC)
	if err != nil {
		return nil, fmt.Errorf("cannot emulate host %q: %w", s.Name, err)
	}
	h := &Host{Name: s.Name, Serial: s.Serial, MAC: mac}
	// A port is never given twice: the provider remembers whose certificate it has once trusted at an address.
	port, err := l.ports.Next()
	if err == nil {
		err = h.start(l.machineConfig(s, mac), s, port, filepath.Join(l.LogDir(), "machines", s.Name+".log"))
	}
	if err != nil {
		h.close()
		return nil, fmt.Errorf("cannot emulate host %q: %w", s.Name, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if old := l.hosts[s.Name]; old != nil {
		h.close()
		return nil, fmt.Errorf("there is a host %q already", s.Name)
	}
	l.hosts[s.Name] = h
	return h, nil
}

// RemoveHost ends a machine and its BMC.
func (l *Lab) RemoveHost(name string) {
	l.mu.Lock()
	h := l.hosts[name]
	delete(l.hosts, name)
	l.mu.Unlock()
	if h != nil {
		h.close()
	}
}

// Host of that name, nil where there is none.
func (l *Lab) Host(name string) *Host {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hosts[name]
}

// Hosts are all machines by name.
func (l *Lab) Hosts() []*Host {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]*Host, 0, len(l.hosts))
	for _, h := range l.hosts {
		out = append(out, h)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// count numbers machines; no number is given twice.
func (l *Lab) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made++
	return l.made
}

func (l *Lab) machineConfig(s HostSpec, mac net.HardwareAddr) machine.Config {
	c := machine.Config{
		Name:     s.Name,
		MAC:      mac,
		UUID:     uuid.NewSHA1(uuid.NameSpaceOID, []byte(s.Serial)),
		Serial:   s.Serial,
		Product:  string(s.Model),
		Firmware: s.Firmware,
		Relay:    machine.Relay{Link: netip.MustParseAddr(gateway)},
		TFTPPort: l.bootdPorts.tftp,
	}
	for i := range l.opts.Bootds {
		c.Relay.Servers = append(c.Relay.Servers, netip.AddrPortFrom(bootdAddress(i), uint16(l.bootdPorts.dhcp))) //nolint:gosec // A port.
	}
	if s.Change != nil {
		s.Change(&c)
	}
	return c
}

func (h *Host) start(c machine.Config, s HostSpec, port int, log string) error {
	if err := os.MkdirAll(filepath.Dir(log), 0o750); err != nil {
		return fmt.Errorf("cannot make the folder of its log: %w", err)
	}
	var err error
	if h.log, err = os.Create(log); err != nil {
		return fmt.Errorf("cannot make its log: %w", err)
	}
	c.Log = slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if h.Machine, err = machine.New(c); err != nil {
		return err
	}
	h.BMC, err = bmc.NewServerAt(net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), bmc.Config{
		Username: BMCUser,
		Password: BMCPassword,
		Systems: []bmc.SystemConfig{{
			Model: s.Model, Serial: s.Serial, UUID: c.UUID.String(), MACs: append([]net.HardwareAddr{h.MAC}, s.More...), Machine: h.Machine,
		}},
	})
	return err
}

func (h *Host) close() {
	var errs []error
	if h.BMC != nil {
		errs = append(errs, h.BMC.Close())
	}
	if h.Machine != nil {
		h.Machine.Close()
	}
	if h.log != nil {
		errs = append(errs, h.log.Close())
	}
	_ = errors.Join(errs...) // It goes with the process.
}
