package storm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// A Machine boots once.
type Machine struct {
	MAC   [6]byte
	Relay *Relay
	// UUID of its board, as option 97 has it; nil: it says none.
	UUID []byte
	// Pause before the next try after one that failed; 0: the 15 s of bootd's own script.
	Pause time.Duration
	// Compare takes the kernel's digest; else its octets are counted.
	Compare bool
}

// A Boot is what a machine was given, and how long it took.
type Boot struct {
	// Address that the machine has, and Server that gave it.
	Address, Server netip.Addr
	// Command line of its kernel, of Bytes octets. Digest is its sha256, where that was to be taken.
	Command string
	Bytes   int64
	Digest  string
	// Tries that it took, and Took from its first DISCOVER to the kernel's last octet. Failures say why tries failed.
	Tries    int
	Took     time.Duration
	Failures []string
}

const (
	// scriptPause is that of the script that bootd gives, before it begins anew.
	scriptPause = 15 * time.Second
	// clients of PXE say what they are by these (RFC 4578).
	class  = "PXEClient:Arch:00000:UNDI:002001"
	mostIn = 1472
)

// Boot goes from a DISCOVER to the kernel, again and again until it's there or ctx ends.
func (m *Machine) Boot(ctx context.Context) (Boot, error) {
	began := time.Now()
	var all []string
	for n := 1; ; n++ {
		b, err := m.once(ctx)
		if err == nil {
			b.Tries, b.Took, b.Failures = n, time.Since(began), all
			return b, nil
		}
		all = append(all, err.Error())
		pause := m.Pause
		if pause == 0 {
			pause = scriptPause
		}
		select {
		case <-ctx.Done():
			return Boot{Tries: n, Failures: all}, fmt.Errorf("machine %x after %d tries: %w", m.MAC, n, err)
		case <-time.After(pause):
		}
	}
}

func (m *Machine) once(ctx context.Context) (Boot, error) {
	b, script, err := m.Lease(ctx)
	if err != nil {
		return b, err
	}
	err = m.load(ctx, script, &b)
	return b, err
}

// Lease takes an address as iPXE does, and gives the URL of its script.
func (m *Machine) Lease(ctx context.Context) (b Boot, script string, err error) {
	var xid [4]byte
	_, _ = rand.Read(xid[:]) // It never fails.
	offer, err := m.Relay.ask(ctx, xid, wire.End(m.options(m.Relay.Message(wire.Discover, xid, m.MAC))), wire.Offer)
	if err != nil {
		return b, "", fmt.Errorf("OFFER: %w", err)
	}
	server, yours := offer.Address(wire.OptionServer), offer.Yours()
	request := m.options(m.Relay.Message(wire.Request, xid, m.MAC))
	request = wire.AppendOption(request, wire.OptionServer, server.AsSlice()...)
	request = wire.AppendOption(request, wire.OptionRequestedAddress, yours.AsSlice()...)
	ack, err := m.Relay.ask(ctx, xid, wire.End(request), wire.ACK)
	if err != nil {
		return b, "", fmt.Errorf("ACK: %w", err)
	}
	b.Address, b.Server = ack.Yours(), server
	if b.Address != yours {
		return b, "", fmt.Errorf("offered %s, and given %s", yours, b.Address)
	}
	return b, ack.BootFile(), nil
}

// options are those of an iPXE on a BIOS machine.
func (m *Machine) options(b []byte) []byte {
	b = wire.AppendOption(b, wire.OptionMaxSize, mostIn>>8, mostIn&0xff)
	b = wire.AppendOption(b, wire.OptionClass, []byte(class)...)
	b = wire.AppendOption(b, wire.OptionArchitecture, 0, 0)
	b = wire.AppendOption(b, wire.OptionUserClass, []byte("iPXE")...)
	b = wire.AppendOption(b, wire.OptionEtherboot, 0x13, 1, 1)
	if m.UUID != nil {
		b = wire.AppendOption(b, wire.OptionMachineID, append([]byte{0}, m.UUID...)...)
	}
	return wire.AppendOption(b, wire.OptionParameters, wire.OptionMask, wire.OptionRouter, wire.OptionDNS, wire.OptionHostname, wire.OptionTFTPServer, wire.OptionBootFile)
}

// kernelLine is that of bootd's script: the kernel's URL, and its command line.
var kernelLine = regexp.MustCompile(`(?m)^kernel \S+ --name \S+ (\S+) ?(.*?)(?: ?\|\| .*)?$`)

var errHeld = errors.New("it's held: its script names no kernel")

// load takes the script, and the kernel that it names, by one connection.
func (m *Machine) load(ctx context.Context, script string, b *Boot) error {
	c, err := dial(ctx, script, b.Address)
	if err != nil {
		return err
	}
	defer c.close()
	kernel, command, err := c.kernel(script)
	if err != nil {
		return err
	}
	b.Command = command
	if b.Bytes, b.Digest, err = c.file(kernel, m.Compare, m.Relay.nowhere); err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	return nil
}

// Kernel asks for a script, and gives the URL of the kernel that it names.
func Kernel(ctx context.Context, script string) (string, error) {
	c, err := dial(ctx, script, netip.Addr{})
	if err != nil {
		return "", err
	}
	defer c.close()
	kernel, _, err := c.kernel(script)
	return kernel, err
}

// kernel that a script names, and its command line.
func (c *client) kernel(script string) (address, command string, err error) {
	text, err := c.text(script)
	if err != nil {
		return "", "", fmt.Errorf("script: %w", err)
	}
	found := kernelLine.FindStringSubmatch(text)
	if found == nil {
		return "", "", errHeld
	}
	return found[1], found[2], nil
}
