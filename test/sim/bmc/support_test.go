package bmc_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// models are the two machine models: what holds for one must hold for both.
func models() map[string]bmc.Model {
	return map[string]bmc.Model{"Inline": bmc.ModelInline, "ActionInfo": bmc.ModelActionInfo}
}

const (
	serial = "EMU0001"
	uuid   = "11111111-2222-3333-4444-555555555555"
)

func macs() []net.HardwareAddr {
	return []net.HardwareAddr{{0x52, 0x54, 0, 0, 0, 1}, {0x52, 0x54, 0, 0, 0, 2}}
}

// emulator starts a BMC with one System of a model, and its machine.
func emulator(t *testing.T, model bmc.Model, change func(*bmc.Config)) (*bmc.Server, *bmc.Idle) {
	t.Helper()
	m := &bmc.Idle{}
	cfg := bmc.Config{Systems: []bmc.SystemConfig{{Model: model, Serial: serial, UUID: uuid, MACs: macs(), Machine: m}}}
	if change != nil {
		change(&cfg)
	}
	s, err := bmc.NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })

	return s, m
}

// settings for an emulated BMC.
func settings(s *bmc.Server) redfish.Config {
	return redfish.Config{
		Address: s.URL(), Username: bmc.DefaultUsername, Password: bmc.DefaultPassword,
		TLS:   redfish.TLS{Verify: redfish.VerifyPinned, Pins: []string{s.CertificateSHA256()}},
		Guard: redfish.Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, AllowLoopback: true},
		// The tests count retries, not seconds.
		RequestTimeout: 5 * time.Second, ReadBackInterval: time.Millisecond,
	}
}

// connect opens a client for the rest of a test.
func connect(t *testing.T, cfg redfish.Config) *redfish.Client {
	t.Helper()
	c, err := redfish.Connect(t.Context(), cfg)
	if err != nil {
		t.Fatalf("Connect(...): %v", err)
	}
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })

	return c
}

// system reads the only System.
func system(t *testing.T, c *redfish.Client) redfish.System {
	t.Helper()
	s, err := c.System(t.Context(), redfish.Selector{})
	if err != nil {
		t.Fatalf("System(...): %v", err)
	}

	return s
}

// reset tells the only System a power action.
func reset(t *testing.T, c *redfish.Client, act redfish.Act) error {
	t.Helper()
	_, err := c.Reset(t.Context(), system(t, c), act)

	return err
}

func cutAddr(addr string) (host, port string, err error) { return net.SplitHostPort(addr) }

func cmpAs(err error, target **redfish.Error) bool { return errors.As(err, target) }
