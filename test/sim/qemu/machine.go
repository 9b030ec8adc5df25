package qemu

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// Machine is one virtual machine. It implements bmc.Machine; every method may be called from any goroutine.
type Machine struct {
	cfg Config

	power sync.Mutex // serialises On, Off and Restart

	mu         sync.Mutex // guards the rest
	process    *process   // nil: off, unless restarting
	restarting bool
	starts     int
}

// process is a running QEMU.
type process struct {
	cmd     *exec.Cmd
	stderr  *bytes.Buffer
	monitor *monitor
	exited  chan struct{}
}

var _ bmc.Machine = (*Machine)(nil)

// New returns a machine that is off, whose disk is empty and whose NVRAM is as OVMF ships it.
func New(c Config) (*Machine, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("cannot make %q: %w", c.Dir, err)
	}
	disk, err := os.Create(c.disk())
	if err != nil {
		return nil, fmt.Errorf("cannot make the disk of %q: %w", c.Name, err)
	}
	if err := errors.Join(disk.Truncate(c.DiskSize), disk.Close()); err != nil {
		return nil, fmt.Errorf("cannot make the disk of %q: %w", c.Name, err)
	}
	if c.Firmware != BIOS {
		if err := copyFile(c.nvram(), c.vars()); err != nil {
			return nil, fmt.Errorf("cannot make the NVRAM of %q: %w", c.Name, err)
		}
	}
	if c.Trusts != nil {
		if err := os.WriteFile(c.authorities(), signatureList(c.Trusts), 0o600); err != nil {
			return nil, fmt.Errorf("cannot write whom %q trusts: %w", c.Name, err)
		}
	}
	return &Machine{cfg: c}, nil
}

// signatureList is an EFI_SIGNATURE_LIST with one certificate, of no owner (UEFI 2.10 §32.4.1).
func signatureList(der []byte) []byte {
	const guid, numbers = 16, 3 * 4
	b := []byte{0xa1, 0x59, 0xc0, 0xa5, 0xe4, 0x94, 0xa7, 0x4a, 0x87, 0xb5, 0xab, 0x15, 0x5c, 0x2b, 0xf0, 0x72} // EFI_CERT_X509_GUID
	entry := guid + len(der)
	for _, n := range []int{guid + numbers + entry, 0, entry} { // the list, its header, an entry
		b = binary.LittleEndian.AppendUint32(b, uint32(n)) //nolint:gosec // A certificate is a few thousand bytes long.
	}
	return append(append(b, make([]byte, guid)...), der...)
}

func copyFile(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o600) //nolint:gosec // a test's own folder
}

// Powered tells whether the machine has power.
func (m *Machine) Powered() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.process != nil || m.restarting
}

// Starts tells how often power was applied.
func (m *Machine) Starts() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.starts
}

// On starts QEMU; the first boot is from target, later ones follow the normal order. It does nothing on a machine that is on.
func (m *Machine) On(target bmc.BootTarget) error {
	m.power.Lock()
	defer m.power.Unlock()
	if m.Powered() {
		return nil
	}
	if err := m.boot(target); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.starts++
	return nil
}

// boot starts QEMU with the order of this boot, and sets that of later ones before it lets the firmware run: QEMU hands
// the order to the firmware when it resets the machine, which it has done once when it can be talked to.
func (m *Machine) boot(target bmc.BootTarget) error {
	p, err := m.start(m.cfg.order(target))
	if err != nil {
		return fmt.Errorf("cannot start %q: %w", m.cfg.Name, err)
	}
	if err := errors.Join(p.monitor.setOrder(m.cfg.order(bmc.BootNormal)), p.monitor.run("cont", nil)); err != nil {
		p.kill()
		return fmt.Errorf("cannot start %q: %w", m.cfg.Name, err)
	}
	return nil
}

// Off kills QEMU; graceful presses the power button, which the guest may take a while to obey, or may not hear.
func (m *Machine) Off(graceful bool) error {
	m.power.Lock()
	defer m.power.Unlock()
	p := m.running()
	if p == nil {
		return nil
	}
	if graceful {
		return p.monitor.run("system_powerdown", nil)
	}
	p.kill()
	return nil
}

// Restart resets a machine that is on; its next boot is from target. It does so by a new QEMU: after a reset by QMP SeaBIOS
// resets the machine once more by itself, and nothing tells when the order of the boot after this one may be set.
func (m *Machine) Restart(target bmc.BootTarget) error {
	m.power.Lock()
	defer m.power.Unlock()
	p := m.running()
	if p == nil {
		return fmt.Errorf("cannot restart %q: it is off", m.cfg.Name)
	}
	m.resetting(true)
	defer m.resetting(false)
	p.kill()
	return m.boot(target)
}

// resetting makes the machine look powered while its QEMU is replaced.
func (m *Machine) resetting(now bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.restarting = now
}

// Close ends QEMU.
func (m *Machine) Close() { _ = m.Off(false) }

// Serial returns what the machine has printed on its serial port since it was made.
func (m *Machine) Serial() string {
	b, err := os.ReadFile(m.cfg.serial())
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(string(b), "\r", "")
}

const (
	serialPause = 50 * time.Millisecond
	// stuck is how long a machine may say nothing. What is emulated is slow, and firmware waits for networks in silence; but a kernel that hangs,
	// as one under emulation does once in a while, isn't worth a whole test's patience.
	stuck = 6 * time.Minute
)

// WaitSerial waits until the serial port has shown text n times, unless it shows nothing new for minutes. Its error shows the last lines.
func (m *Machine) WaitSerial(ctx context.Context, text string, n int) error {
	said, since := -1, time.Now()
	for {
		s := m.Serial()
		if strings.Count(s, text) >= n {
			return nil
		}
		if len(s) != said {
			said, since = len(s), time.Now()
		}
		if time.Since(since) > stuck {
			return fmt.Errorf("machine %q: waited for %d × %q, and it has said nothing for %s; its serial port ends with:\n%s", m.cfg.Name, n, text, stuck, tail(s))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("machine %q: waited for %d × %q: %w; its serial port ends with:\n%s",
				m.cfg.Name, n, text, ctx.Err(), tail(s))
		case <-time.After(serialPause): // a file tells nobody when it grows
		}
	}
}

const tailSize = 1500

func tail(s string) string { return s[max(0, len(s)-tailSize):] }

// Disk opens the machine's disk for reading.
func (m *Machine) Disk() (io.ReadCloser, error) { return os.Open(m.cfg.disk()) }

func (m *Machine) running() *process {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.process
}

// start runs QEMU, paused, and connects to it.
func (m *Machine) start(i indices) (*process, error) {
	_ = os.Remove(m.cfg.socket())
	p := &process{stderr: &bytes.Buffer{}, exited: make(chan struct{})}
	p.cmd = exec.CommandContext(context.Background(), m.cfg.Binary, m.cfg.args(i)...) //nolint:gosec // a test's own configuration
	p.cmd.Stderr = p.stderr
	// A process group of its own: Ctrl-C ends the parent, which ends its machines, and doesn't look like a power failure.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go m.supervise(p, started)
	if err := <-started; err != nil {
		return nil, err
	}
	var err error
	if p.monitor, err = connect(m.cfg.socket(), p.exited); err != nil {
		p.kill()
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(p.stderr.String()))
	}
	return p, nil
}

// supervise starts QEMU and waits for its end. It holds its thread all the while: Linux sends the death signal, by which
// no QEMU outlives its test, when the thread that started the child ends.
func (m *Machine) supervise(p *process, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	m.mu.Lock()
	m.process = p
	m.mu.Unlock()
	started <- nil
	_ = p.cmd.Wait() // how it ended says nothing: a killed machine is a normal one
	m.mu.Lock()
	m.process = nil
	m.mu.Unlock()
	close(p.exited)
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}
