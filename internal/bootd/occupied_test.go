package bootd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOccupied: who has a port is named, so that nobody has to look for it.
func TestOccupied(t *testing.T) {
	udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = udp.Close() })
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tcp.Close() })
	me := fmt.Sprintf("(pid %d)", os.Getpid())
	cases := map[string]struct {
		reason string
		change func(*Config)
		says   []string
	}{
		"DHCP":      {"a DHCP server runs already", func(c *Config) { c.DHCPListen = udp.LocalAddr().String() }, []string{"cannot listen for DHCP: UDP " + udp.LocalAddr().String() + " is in use by ", me}},
		"HTTP":      {"so does a web server", func(c *Config) { c.HTTPListen = tcp.Addr().String() }, []string{"cannot listen for HTTP: TCP ", me, "stop it, or give bootd another address"}},
		"Address":   {"an address of another host", func(c *Config) { c.TFTPListen = "192.0.2.1:6969" }, []string{"cannot listen for TFTP: no interface of this host has the address of 192.0.2.1:6969"}},
		"Interface": {"no such interface", func(c *Config) { c.DHCPInterfaces = []string{"eth99"} }, []string{`there's no interface "eth99" here; there are `, "lo"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := config(t)
			c.PlansDir, c.Logger = t.TempDir(), nil
			tc.change(&c)
			err := Run(t.Context(), c)
			if name == "Interface" && errors.Is(err, unix.EPERM) {
				return // Whoever isn't root may bind to none.
			}
			m, ok := errors.AsType[ConfigError](err)
			if !ok || m.ExitCode() != 2 {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			for _, want := range tc.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v lacks %q", tc.reason, err, want)
				}
			}
		})
	}
	if got := owner(t.TempDir(), "udp4", "127.0.0.1:67"); got != "another process" {
		t.Errorf("where nothing can be seen it's %s", got)
	}
	boom := errors.New("boom")
	if err := cannotListen("DHCP", "udp4", ":67", boom); !errors.Is(err, boom) {
		t.Error(err)
	}
	denied := os.NewSyscallError("bind", unix.EACCES)
	if err := cannotListen("DHCP", "udp4", "0.0.0.0:67", denied); !errors.Is(err, unix.EACCES) || !strings.Contains(err.Error(), "cannot listen for DHCP on 0.0.0.0:67: this user may not: give bootd CAP_NET_BIND_SERVICE") {
		t.Error(err)
	}
}
