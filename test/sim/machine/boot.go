package machine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/pin/tftp/v3"
)

// bootFrom runs one device of the boot order. An error that doesn't steer is why the firmware goes on with the next one.
func (m *Machine) bootFrom(ctx context.Context, d Device) error {
	switch d {
	case Network:
		return m.bootNetwork(ctx, speakerPXE)
	case HTTPBoot:
		return m.bootNetwork(ctx, speakerHTTP)
	case LocalDisk:
		return m.bootDisk(ctx)
	default:
		return fmt.Errorf("there is no device %q: %w", d, errNext)
	}
}

// bootNetwork is the firmware's network boot: an address and a file name, the file, and then iPXE.
func (m *Machine) bootNetwork(ctx context.Context, s speaker) error {
	l, err := m.exchange(ctx, s)
	if err != nil {
		return err
	}
	if err := m.at(ctx, StageFirstLoad, fmt.Sprintf("%q from %s", l.BootFile, l.NextServer)); err != nil {
		return err
	}
	load := m.loadTFTP
	if strings.HasPrefix(l.BootFile, "http") {
		load = m.loadHTTPBoot
	}
	digest, err := load(ctx, l)
	if err != nil {
		return fmt.Errorf("cannot load %q: %w", l.BootFile, err)
	}
	m.update(func(s *Status) {
		s.FirstLoads++
		s.Loaded = digest
	})
	return m.runIPXE(ctx)
}

// exchange gets an address as s, starting anew after a NAK as often as a DISCOVER is repeated.
func (m *Machine) exchange(ctx context.Context, s speaker) (Lease, error) {
	if err := m.at(ctx, StageDHCP, "as "+string(s)); err != nil {
		return Lease{}, err
	}
	l, err := m.lease(ctx, s)
	for n := 1; n < m.cfg.DHCPTries && err == errNAK; n++ { //nolint:errorlint // receive returns it bare.
		m.note(StageDHCP, err.Error())
		l, err = m.lease(ctx, s)
	}
	if err != nil {
		return Lease{}, fmt.Errorf("no address for %s as %s: %w", m.cfg.MAC, s, err)
	}
	m.note(StageDHCP, fmt.Sprintf("%s from %s as %s", l.Address, l.Server, s))
	m.update(func(st *Status) {
		st.DHCP[string(s)]++
		st.Lease = l
	})
	return l, nil
}

const (
	tftpBlock   = 1468 // what OVMF asks for: an Ethernet frame
	tftpTimeout = time.Second
	tftpTries   = 5
)

// loadTFTP fetches the boot file and returns its digest. pin/tftp knows no contexts, so the transfer runs beside and is
// left to die of its own timeout when the machine goes down.
func (m *Machine) loadTFTP(ctx context.Context, l Lease) (string, error) {
	if !l.NextServer.IsValid() {
		return "", fmt.Errorf("the DHCP answer of %s names no TFTP server", l.Server)
	}
	c, err := tftp.NewClient(net.JoinHostPort(l.NextServer.String(), strconv.Itoa(m.cfg.TFTPPort)))
	if err != nil {
		return "", fmt.Errorf("no TFTP client: %w", err)
	}
	c.SetBlockSize(tftpBlock)
	c.RequestTSize(true)
	c.SetTimeout(tftpTimeout)
	c.SetRetries(tftpTries)
	type result struct {
		digest string
		err    error
	}
	got := make(chan result, 1)
	m.loads.Go(func() {
		digest, err := m.receiveTFTP(ctx, c, l.BootFile)
		got <- result{digest, err}
	})
	select {
	case r := <-got:
		return r.digest, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (m *Machine) receiveTFTP(ctx context.Context, c *tftp.Client, file string) (string, error) {
	from, err := c.Receive(file, "octet")
	if err != nil {
		return "", fmt.Errorf("TFTP refused: %w", err)
	}
	var announced int64 = -1
	if in, ok := from.(tftp.IncomingTransfer); ok {
		if n, ok := in.Size(); ok {
			announced = n
		}
	}
	h := sha256.New()
	n, err := from.WriteTo(&guarded{ctx: ctx, w: h})
	if err != nil {
		return "", fmt.Errorf("TFTP broke off after %d bytes: %w", n, err)
	}
	if announced >= 0 && announced != n {
		return "", fmt.Errorf("TFTP sent %d bytes after announcing %d", n, announced)
	}
	if n == 0 {
		return "", fmt.Errorf("the file %q is empty", file)
	}
	m.update(func(s *Status) { s.NetworkLoad += n })
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// guarded stops writing when its machine has lost power.
type guarded struct {
	ctx context.Context //nolint:containedctx // it adapts a context to a library that has none.
	w   io.Writer
}

func (g *guarded) Write(p []byte) (int, error) {
	if err := g.ctx.Err(); err != nil {
		return 0, err
	}
	return g.w.Write(p)
}

// bootDisk starts what is on the disk.
func (m *Machine) bootDisk(ctx context.Context) error {
	d := m.Status().Disk
	if !d.Bootable {
		return fmt.Errorf("the disk holds no operating system: %w", errNext)
	}
	if err := m.at(ctx, StageDisk, "starting "+d.Image); err != nil {
		return err
	}
	m.update(func(s *Status) { s.DiskBoots++ })
	return m.runOS(ctx, d.Callback, d.Token)
}

// runOS is a running operating system: it gets its address, reports where there is something to report to, and stays
// until the power goes.
func (m *Machine) runOS(ctx context.Context, callback, token string) error {
	for {
		_, err := m.exchange(ctx, speakerOS)
		if err == nil {
			break
		}
		if steers(err) || ctx.Err() != nil {
			return err
		}
		m.fail(StageDHCP, err)
		if err := m.pause(ctx, m.cfg.BootRetry); err != nil {
			return err
		}
	}
	if callback != "" && !m.cfg.SilentOS {
		if err := m.call(ctx, callback, token, "booted", report{Message: "the installed system runs"}); err != nil {
			m.fail(StageRunning, err)
		}
	}
	if err := m.at(ctx, StageRunning, "an operating system runs"); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}
