package machine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// Machine is one simulated server. It implements bmc.Machine; every method may be called from any goroutine.
type Machine struct {
	cfg  Config
	http *http.Client

	power sync.Mutex // serialises On, Off, Restart and Close

	mu      sync.Mutex // guards the rest
	status  Status
	events  []Event
	changed chan struct{} // closed and replaced at every change
	faults  []*Fault
	deaf    bool // a hung machine ignores the power button
	stop    context.CancelFunc
	done    chan struct{} // closed when the running boot has ended

	loads sync.WaitGroup // TFTP transfers, which can't be interrupted at once
}

var _ bmc.Machine = (*Machine)(nil)

// New returns a machine that is off and whose disk is empty.
func New(c Config) (*Machine, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	return &Machine{
		cfg:     c,
		http:    &http.Client{Transport: &http.Transport{}},
		changed: make(chan struct{}),
		status: Status{Stage: StageOff, Counters: Counters{
			DHCP: map[string]int{}, Scripts: map[string]int{}, Callbacks: map[string]int{},
		}},
	}, nil
}

// Name returns the machine's name.
func (m *Machine) Name() string { return m.cfg.Name }

// Powered tells whether the machine has power.
func (m *Machine) Powered() bool { return m.Status().Powered }

// On applies power; the first boot is from target, later ones follow the boot order. On a machine that is on it does
// nothing, as a power button held by a BMC wouldn't.
func (m *Machine) On(target bmc.BootTarget) error {
	m.power.Lock()
	defer m.power.Unlock()
	if m.Powered() {
		return nil
	}
	m.update(func(s *Status) {
		s.Powered = true
		s.PowerOns++
	})
	m.launch(target)
	return nil
}

// Off removes power at once, whatever the machine is doing. A graceful request is a press of the power button: a machine
// that hangs doesn't hear it, and stays on.
func (m *Machine) Off(graceful bool) error {
	m.power.Lock()
	defer m.power.Unlock()
	m.mu.Lock()
	deaf := m.deaf
	m.mu.Unlock()
	if graceful && deaf {
		m.note(m.Status().Stage, "did not hear the power button")
		return nil
	}
	m.interrupt()
	if m.Powered() {
		m.lose("power removed")
	}
	return nil
}

// Restart resets a machine that is on; its next boot is from target.
func (m *Machine) Restart(target bmc.BootTarget) error {
	m.power.Lock()
	defer m.power.Unlock()
	m.interrupt()
	if !m.Powered() {
		return fmt.Errorf("cannot restart machine %q: it is off", m.cfg.Name)
	}
	m.note(m.Status().Stage, "reset")
	m.launch(target)
	return nil
}

// launch starts the boot of a machine that has just got power or was reset.
func (m *Machine) launch(target bmc.BootTarget) {
	m.interrupt() // a machine that switched itself off may not have ended yet
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	m.mu.Lock()
	m.stop, m.done = cancel, done
	m.mu.Unlock()
	go func() {
		defer close(done)
		defer cancel()
		m.run(ctx, target)
	}()
}

// interrupt ends the running boot, if there is one, and waits for its end.
func (m *Machine) interrupt() {
	m.mu.Lock()
	stop, done := m.stop, m.done
	m.mu.Unlock()
	if stop == nil {
		return
	}
	stop()
	<-done
	m.http.CloseIdleConnections()
}

// Close removes power and waits until nothing of the machine runs any more.
func (m *Machine) Close() {
	_ = m.Off(false)
	m.loads.Wait()
	m.http.CloseIdleConnections()
}

// lose is the moment at which the machine has no power any more.
func (m *Machine) lose(why string) {
	m.note(StageOff, why)
	m.update(func(s *Status) { s.Powered, s.Stage, s.Lease = false, StageOff, Lease{} })
}

// run boots until the power goes.
func (m *Machine) run(ctx context.Context, target bmc.BootTarget) {
	for {
		m.update(func(s *Status) { s.Boots++ })
		err := m.boot(ctx, target)
		target = ""
		if ctx.Err() != nil {
			return // whoever cut the power records it
		}
		switch {
		case errors.Is(err, errPowerLoss), errors.Is(err, errPowerOff):
			m.lose(err.Error())
			return
		case errors.Is(err, errReset):
			m.http.CloseIdleConnections()
		default:
			if err := m.at(ctx, StageHalted, fmt.Sprint(err)); err != nil {
				return
			}
			<-ctx.Done()
			return
		}
	}
}

// boot goes through the boot order until a device has taken over or the machine goes down; it never returns nil.
func (m *Machine) boot(ctx context.Context, target bmc.BootTarget) error {
	if err := m.at(ctx, StagePowerOn, fmt.Sprintf("%s starts, boot target %q", m.cfg.Firmware, target)); err != nil {
		return err
	}
	if target == bmc.BootBiosSetup {
		return fmt.Errorf("in the setup menu: %w", errHalt)
	}
	devices := bootOrder(m.cfg.BootOrder, target)
	for {
		for _, d := range devices {
			err := m.bootFrom(ctx, d)
			if steers(err) || ctx.Err() != nil {
				return err
			}
			m.returned(d, err)
		}
		devices = m.cfg.BootOrder
		if err := m.pause(ctx, m.cfg.BootRetry); err != nil {
			return err
		}
	}
}

// returned records that a device gave the machine back to its firmware.
func (m *Machine) returned(d Device, err error) {
	if errors.Is(err, errNext) {
		m.note(StagePowerOn, fmt.Sprintf("%s: %v", d, err))
		return
	}
	m.fail(StagePowerOn, fmt.Errorf("boot from %s: %w", d, err))
}

// steers tells whether err ends the boot, as opposed to one device of the boot order.
func steers(err error) bool {
	return slices.ContainsFunc([]error{errPowerLoss, errPowerOff, errReset, errHalt}, func(e error) bool { return errors.Is(err, e) })
}

// bootOrder returns what the firmware tries: the target of a one-time boot first, then its usual order.
func bootOrder(usual []Device, target bmc.BootTarget) []Device {
	var first Device
	switch target {
	case bmc.BootPxe:
		first = Network
		if !slices.Contains(usual, Network) && slices.Contains(usual, HTTPBoot) {
			first = HTTPBoot // Its NIC knows nothing else, and Redfish has one word for what NICs do.
		}
	case bmc.BootUefiHTTP:
		first = HTTPBoot
	case bmc.BootHdd:
		first = LocalDisk
	default: // "" and what this machine doesn't have
		return usual
	}
	rest := slices.DeleteFunc(slices.Clone(usual), func(d Device) bool { return d == first })
	return append([]Device{first}, rest...)
}
