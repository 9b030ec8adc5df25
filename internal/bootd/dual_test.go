package bootd

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/ownnet"
)

const dualPlans = `
kind: BootNetwork
metadata: {namespace: lab, name: rack}
spec:
  subnets: [{cidr: 127.0.0.0/8}, {cidr: "fd00:77::/64", dns: ["fd00:77::53"]}]
  dhcp: {mode: Authoritative, relays: [127.0.0.1/32]}
---
kind: BootEntry
metadata: {namespace: lab, name: m1, uid: u1}
status:
  atProvider:
    plan:
      entryUID: u1
      macs: ["52:54:00:00:00:01", "%s"]
      network:
        {namespace: lab, name: rack, address: 127.0.0.11/8, ipv6: {address: "fd00:77::11/64", dns: ["fd00:77::53"]}}
      mode: Live
      method: Kernel
      artifacts: [{arch: amd64, kernel: {url: "http://%s", digest: "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}}]
`

// TestBothFamiliesOnALink: one machine gets its address of IPv4 by DHCP and that of IPv6 by DHCPv6, and over each a script that says by which it came, also
// after a restart.
func TestBothFamiliesOnALink(t *testing.T) {
	if !ownnet.Inside(t) {
		return
	}
	theirs := link(t)
	web, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	files := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") })}
	go func() { _ = files.Serve(web) }()
	t.Cleanup(func() { _ = files.Close() })
	c := config(t)
	c.HTTPListen, c.TFTPListen, c.DHCP6Listen, c.HealthListen = "0.0.0.0:8480", "0.0.0.0:69", "[::]:547", "127.0.0.1:8481"
	c.PlansDir = t.TempDir()
	if err := os.WriteFile(c.PlansDir+"/plans.yaml", fmt.Appendf(nil, dualPlans, theirs.HardwareAddr, web.Addr()), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &sixMachine{t: t, on: theirs}
	m.listen()
	boots := func(t *testing.T) {
		t.Helper()
		running(t, c)
		four := request(t, c.DHCPListen)
		if status, body := get(t, four); status != http.StatusOK || !strings.Contains(body, " baremetal.address=127.0.0.11/8 ") || strings.Contains(body, "fd00") {
			t.Errorf("over IPv4, by %s: %d %s", four, status, body)
		}
		adv := m.ask(dhcpv6.MessageTypeSolicit, nil, "iPXE", 7)
		if a := adv.Options.OneIANA().Options.OneAddress(); a.IPv6Addr.String() != "fd00:77::11" {
			t.Errorf("DHCPv6 gives %s", adv.Summary())
		}
		six := adv.Options.BootFileURL()
		status, body := get(t, six)
		if status != http.StatusOK || !strings.HasPrefix(six, "http://[fd00:77::1]:8480/") || !strings.Contains(body, " baremetal.address=fd00:77::11/64 baremetal.dns=fd00:77::53 ") || strings.Contains(body, "127.0.0.") {
			t.Errorf("over IPv6, by %s: %d %s", six, status, body)
		}
	}
	t.Run("Plans", boots)
	b, err := os.ReadFile(c.StateDir + "/snapshot")
	if err != nil || !strings.HasPrefix(string(b), "bootd snapshot 3\n") {
		t.Errorf("its snapshot begins with %.20q, %v", b, err)
	}
	t.Run("Again", boots)
}
