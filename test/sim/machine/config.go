package machine

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Firmware says what starts the machine, and with it how its network ROM identifies itself.
type Firmware string

// The firmwares that a machine can have.
const (
	BIOS Firmware = "BIOS" // option 93 is 0
	UEFI Firmware = "UEFI" // option 93 is 7, or 16 for HTTP Boot
)

// Device is one entry of the firmware's boot order.
type Device string

// The devices that a machine can boot from.
const (
	Network   Device = "Network"
	HTTPBoot  Device = "HTTPBoot" // UEFI only
	LocalDisk Device = "Disk"
)

// Relay is the emulated DHCP relay between the machine's segment and the DHCP servers.
type Relay struct {
	// Servers are the addresses of the DHCP servers; like a real relay it hands each broadcast to all of them.
	Servers []netip.AddrPort
	// Address is giaddr and the address that replies come back to; the zero value is 127.0.0.1.
	Address netip.Addr
	// Link is an address of the machine's segment, sent as link selection (sub-option 5, RFC 3527).
	Link netip.Addr
	// CircuitID is the switch port (sub-option 1); the zero value is derived from the machine's name.
	CircuitID string
}

// Relay6 is the emulated relay of DHCPv6. A machine that has one with servers boots over IPv6 alone.
type Relay6 struct {
	// Servers are the addresses of the DHCPv6 servers.
	Servers []netip.AddrPort
	// Link is an address of the machine's segment (RFC 8415, link-address).
	Link netip.Addr
}

// on says whether there is such a relay.
func (r Relay6) on() bool { return len(r.Servers) > 0 }

// Config describes one machine. MAC and at least one server of Relay, or of Six, are required; every other field has a default.
type Config struct {
	// Name appears in logs and errors; the zero value is the MAC.
	Name string
	// MAC is the address of the only NIC, six bytes.
	MAC net.HardwareAddr
	// UUID is the SMBIOS UUID, sent in SMBIOS byte order in option 97; nil UUID: the option is left out.
	UUID uuid.UUID
	// Serial and Product are what iPXE's ${serial} and ${product} expand to.
	Serial, Product string
	// Firmware is BIOS (the zero value) or UEFI.
	Firmware Firmware
	// BootOrder is tried from the left on every power-on; the zero value is disk, then network.
	BootOrder []Device
	// Relay carries the DHCP packets.
	Relay Relay
	// Six, with servers, carries those of DHCPv6 in the place of them. UEFI only.
	Six Relay6
	// TFTPPort is where the TFTP server listens that DHCP names; 0 means 69.
	TFTPPort int

	// DHCPTimeout is how long one DISCOVER or REQUEST waits for its answer, DHCPTries how often it is sent; the zero
	// values are 1 s and 4. (PXE ROMs wait 4, 8, 16 and 32 s.)
	DHCPTimeout time.Duration
	DHCPTries   int
	// BootRetry is how long the firmware waits before it tries its boot order again after every device failed; 0: 1 s.
	BootRetry time.Duration
	// CallRetry is how long the installer goes on trying a callback or a download that fails for want of an answer; 0:
	// 1 min. An answer of 4xx is never retried.
	CallRetry time.Duration
	// TimeScale multiplies what a script asks to sleep and every wait between tries; 0 means 1. It doesn't change DHCPTimeout.
	TimeScale float64
	// SilentOS stops the installed system from reporting `booted`: then only its DHCP request shows that it runs.
	SilentOS bool

	// Log receives one line an event at debug level; nil discards them.
	Log *slog.Logger
	// Now is the clock that stamps events; nil means time.Now.
	Now func() time.Time
}

const (
	defaultDHCPTimeout = time.Second
	defaultDHCPTries   = 4
	defaultBootRetry   = time.Second
	defaultCallRetry   = time.Minute
	defaultTFTPPort    = 69
	macLength          = 6
)

// withDefaults returns c with every zero value replaced by its default.
func (c Config) withDefaults() Config {
	c.Name = orElse(c.Name, c.MAC.String())
	c.Firmware = orElse(c.Firmware, BIOS)
	c.Relay.Address = orElse(c.Relay.Address, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	c.Relay.CircuitID = orElse(c.Relay.CircuitID, "sim/"+c.Name)
	c.TFTPPort = orElse(c.TFTPPort, defaultTFTPPort)
	c.DHCPTimeout = orElse(c.DHCPTimeout, defaultDHCPTimeout)
	c.DHCPTries = orElse(c.DHCPTries, defaultDHCPTries)
	c.BootRetry = orElse(c.BootRetry, defaultBootRetry)
	c.CallRetry = orElse(c.CallRetry, defaultCallRetry)
	c.TimeScale = orElse(c.TimeScale, 1)
	if len(c.BootOrder) == 0 {
		c.BootOrder = []Device{LocalDisk, Network}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// validate says what keeps a machine of this description from being built.
func (c Config) validate() error {
	if len(c.MAC) != macLength {
		return fmt.Errorf("cannot simulate a machine with MAC %q: it needs six bytes", c.MAC)
	}
	if len(c.Relay.Servers) == 0 && !c.Six.on() {
		return errors.New("cannot simulate a machine without a DHCP server: Relay.Servers is empty")
	}
	if c.Six.on() && (c.Firmware != UEFI || !c.Six.Link.Is6()) {
		return errors.New("cannot simulate a boot over IPv6: that takes UEFI firmware, and an address of the machine's segment in Six.Link")
	}
	if c.Firmware != BIOS && c.Firmware != UEFI {
		return fmt.Errorf("cannot simulate firmware %q: it is neither BIOS nor UEFI", c.Firmware)
	}
	if c.Firmware == BIOS && slices.Contains(c.BootOrder, HTTPBoot) {
		return errors.New("cannot simulate HTTP Boot with BIOS firmware: only UEFI has it")
	}
	return nil
}

// orElse returns v, or def where v is the zero value.
func orElse[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}
