package bootd

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// asSystem asks for an address as a machine's operating system does, by a relay, and says whether it was given one.
func asSystem(t *testing.T, server, mac, address string) bool {
	t.Helper()
	hw, err := net.ParseMAC(mac)
	if err != nil {
		t.Fatal(err)
	}
	p, err := dhcpv4.NewDiscovery(hw, dhcpv4.WithMessageType(dhcpv4.MessageTypeRequest), dhcpv4.WithOption(dhcpv4.OptRequestedIPAddress(net.ParseIP(address))),
		dhcpv4.WithRelay(net.IPv4(127, 0, 0, 1)), dhcpv4.WithOption(dhcpv4.OptRelayAgentInfo(
			dhcpv4.OptGeneric(dhcpv4.GenericOptionCode(19), nil), dhcpv4.OptGeneric(dhcpv4.GenericOptionCode(5), []byte{127, 78, 0, 1}))))
	if err != nil {
		t.Fatal(err)
	}
	ack := dhcpAsk(t, "127.0.0.1", server, p, time.Second)
	return ack != nil && ack.MessageType() == dhcpv4.MessageTypeAck
}

// TestSilentInstaller installs the Talos of examples/bootd/installers.yaml as a machine does that never says so: it counts as installed once a
// system stayed on its disk, and not for what its installer asks, nor for coming back.
func TestSilentInstaller(t *testing.T) {
	const mac, address = "52:54:00:00:09:01", "127.78.0.11"
	c, ahead := config(t), atomic.Int64{}
	c.SpecDir, c.DHCPListen, c.Advertise = installersSite(t), freeUDP(t), netip.MustParseAddr("127.0.0.1")
	c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	running(t, c)
	later := func(d time.Duration) { ahead.Add(int64(d)) }
	system := func() {
		later(time.Minute)
		eventually(t, "an address for its system", func() bool { return asSystem(t, c.DHCPListen, mac, address) })
	}
	var urls []string // Of the scripts that it was told.
	told := func(what string) (script string) {
		later(time.Minute)
		eventually(t, what, func() bool {
			at := scriptURL(t, c.DHCPListen, mac)
			if _, script = get(t, at); strings.Contains(script, what) {
				urls = append(urls, at)
				return true
			}
			return false
		})
		return script
	}
	script := told("install: Granted")
	for _, word := range []string{" panic=0 ", " sysctl.kernel.kexec_load_disabled=1 "} {
		if !strings.Contains(script, word) {
			t.Errorf("its kernel isn't told %q:\n%s", word, script)
		}
	}
	_, rest, _ := strings.Cut(script, " talos.config=")
	url, _, _ := strings.Cut(rest, " ")
	if status, got := get(t, url); status != http.StatusOK || !strings.Contains(got, "controlPlane:") {
		t.Fatalf("%d %s", status, got)
	}
	awaits := func(when string) {
		later(10 * time.Minute)
		time.Sleep(50 * time.Millisecond)
		if status, _ := get(t, url); status != http.StatusOK {
			t.Errorf("%s: it's taken for installed", when)
		}
	}
	system()
	awaits("its installer asked for an address")
	told("local disk: GrantConsumed")
	awaits("it was sent to its disk")
	told("local disk: GrantConsumed")
	system()
	told("local disk: GrantConsumed")
	awaits("its system came back at once")
	system()
	later(time.Minute)
	time.Sleep(200 * time.Millisecond)                        // What was seen is written by then.
	for _, at := range []string{urls[0], urls[len(urls)-1]} { // Whoever has them from a log undoes nothing.
		if _, script := get(t, at); !strings.Contains(script, "local disk: GrantConsumed") {
			t.Errorf("what was told is asked for again:\n%s", script)
		}
	}
	for range 3 { // bootd counts from when it has read its own note of that.
		later(6 * time.Minute)
		for range 20 {
			if status, _ := get(t, url); status == http.StatusForbidden {
				told("local disk: Installed")
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	t.Error("its system stayed, and whoever asks has the answers still")
}
