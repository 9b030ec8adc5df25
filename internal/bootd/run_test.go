package bootd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

const plans = `
kind: BootNetwork
metadata: {namespace: lab, name: rack}
spec:
  subnets: [{cidr: 127.0.0.0/8}]
  dhcp: {mode: RelayOnly, relays: [127.0.0.1/32]}
---
kind: BootEntry
metadata: {namespace: lab, name: m1, uid: u1}
status:
  atProvider:
    plan:
      entryUID: u1
      macs: ["52:54:00:00:00:01"]
      network: {namespace: lab, name: rack, address: 127.0.0.11/8}
      mode: Live
      method: Kernel
      artifacts: [{arch: amd64, kernel: {url: "%s", digest: "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}}]
`

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func config(t *testing.T) Config {
	t.Helper()
	return Config{
		Name: "b", StateDir: t.TempDir(), DHCPListen: freeUDP(t), TFTPListen: freeUDP(t), HTTPListen: freePort(t),
		TFTPDir: t.TempDir(), Artifacts: artifacts.Guard{Local: true}, TraceBytes: 1 << 20,
	}
}

// running runs a bootd for as long as the test lasts.
func running(t *testing.T, c Config) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, c) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	address := c.HTTPListen
	if c.HealthListen != "" {
		address = c.HealthListen
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if status, _ := get(t, "http://"+address+"/readyz"); status == http.StatusOK {
			return
		}
		if time.Now().After(end) {
			t.Fatal("bootd doesn't get ready")
		}
	}
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	resp, err := http.Get(url) //nolint:gosec // A test's own server.
	if err != nil {
		return 0, ""
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// request asks as a relay on loopback does for an iPXE, and gives the boot file of the answer.
func request(t *testing.T, server string) string {
	t.Helper()
	return exchange(t, server, "52:54:00:00:00:01").BootFileNameOption()
}

// exchange is what a machine's iPXE is answered, by way of a relay.
func exchange(t *testing.T, server, from string, with ...dhcpv4.Modifier) *dhcpv4.DHCPv4 {
	t.Helper()
	conn, err := net.Dial("udp4", server)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	mac, _ := net.ParseMAC(from)
	p, err := dhcpv4.NewDiscovery(mac,
		dhcpv4.WithRelay(net.IPv4(127, 0, 0, 1)), dhcpv4.WithOption(dhcpv4.OptClassIdentifier("PXEClient:Arch:00000:UNDI:002001")),
		dhcpv4.WithOption(dhcpv4.OptGeneric(dhcpv4.OptionUserClassInformation, []byte("iPXE"))),
		dhcpv4.WithOption(dhcpv4.OptGeneric(dhcpv4.OptionClientSystemArchitectureType, []byte{0, 0})),
		dhcpv4.WithOption(dhcpv4.OptGeneric(dhcpv4.GenericOptionCode(175), []byte{0x13, 1, 1})),
		dhcpv4.WithOption(dhcpv4.OptRelayAgentInfo(dhcpv4.OptGeneric(dhcpv4.GenericOptionCode(19), nil))),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range with {
		change(p)
	}
	if _, err := conn.Write(p.ToBytes()); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 2000)
	n, err := conn.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	offer, err := dhcpv4.FromBytes(b[:n])
	if err != nil {
		t.Fatal(err)
	}
	return offer
}

func TestRunFromAFolder(t *testing.T) {
	web, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	files := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "x")
	})}
	go func() { _ = files.Serve(web) }()
	t.Cleanup(func() { _ = files.Close() })
	c := config(t)
	c.PlansDir = t.TempDir()
	text := fmt.Sprintf(plans, "http://"+web.Addr().String())
	if err := os.WriteFile(filepath.Join(c.PlansDir, "a.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	running(t, c)
	url := request(t, c.DHCPListen)
	if !strings.HasPrefix(url, "http://"+c.HTTPListen+"/v1/boot/") {
		t.Fatalf("DHCP advertises %q", url)
	}
	status, script := get(t, url)
	kernel := regexp.MustCompile(`kernel \S+ --name \S+ (\S+)`).FindStringSubmatch(script)
	if status != http.StatusOK || kernel == nil {
		t.Fatalf("%d %s", status, script)
	}
	if status, body := get(t, kernel[1]); status != http.StatusOK || body != "x" {
		t.Errorf("kernel: %d %q", status, body)
	}
	explained(t, c)
	_, metrics := get(t, "http://"+c.HTTPListen+"/metrics")
	for _, want := range []string{
		`bootd_decisions_total{answer="Live",reason="Live"} 1`, `bootd_dhcp_packets_total{client="iPXE",reason="Offered",type="DISCOVER"} 1`, "bootd_machines 1",
		`bootd_stage_seconds_count{stage="Kernel"} 1`, `bootd_http_sent_bytes_total{route="GET /v1/boot/{token}/files/{digest}"} 1`, "bootd_artifacts 1",
		"bootd_artifacts_bytes 1", "bootd_grants_unused 0", "bootd_installs_running 0", "bootd_snapshot_age_seconds ", "bootd_tftp_sent_bytes_total 0",
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
}

func TestConfig(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		config Config
		says   string
	}{
		"Name":   {Config{StateDir: dir, PlansDir: dir}, "name"},
		"State":  {Config{Name: "b", PlansDir: dir}, "state folder"},
		"Source": {Config{Name: "b", StateDir: dir}, "or a folder of plans"},
		"Both":   {Config{Name: "b", StateDir: dir, PlansDir: dir, Kube: &rest.Config{}}, "not from both"},
		"MTU":    {Config{Name: "b", StateDir: dir, PlansDir: dir, TFTPMTU: 575}, "less than any link has"},
		"Folder": {Config{Name: "b", StateDir: file, PlansDir: dir}, "cannot make the state folder"},
		"Listen": {Config{Name: "b", StateDir: dir, PlansDir: dir, TFTPDir: dir, HTTPListen: "127.0.0.1:x"}, "cannot listen for HTTP"},
		"Port":   {Config{Name: "b", StateDir: dir, PlansDir: dir, TFTPDir: dir, TFTPListen: "127.0.0.1:x"}, "cannot listen for TFTP"},
		"DHCP":   {Config{Name: "b", StateDir: dir, PlansDir: dir, TFTPDir: dir, DHCPListen: "67"}, "cannot listen for DHCP"},
		"Specs":  {Config{Name: "b", StateDir: dir, SpecDir: file}, "is no folder"},
		"TLS":    {Config{Name: "b", StateDir: dir, PlansDir: dir, HTTPListen: "127.0.0.1:0", TLS: TLS{Listen: "127.0.0.1:0"}}, "HTTPS needs a TLS certificate"},
		"Cert": {
			Config{Name: "b", StateDir: dir, PlansDir: dir, TFTPDir: dir, HTTPListen: "127.0.0.1:0", TLS: TLS{Listen: "127.0.0.1:0", Cert: file, Key: file}},
			"TLS certificate",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := Run(t.Context(), tc.config)
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v, want %q", err, tc.says)
			}
			if m, ok := errors.AsType[ConfigError](err); !ok || m.ExitCode() != 2 {
				t.Errorf("who starts it again doesn't learn that it's of no use: %v", err)
			}
		})
	}
}

func TestDamagedLogStopsTheStart(t *testing.T) {
	c := config(t)
	c.PlansDir = t.TempDir()
	if err := os.WriteFile(filepath.Join(c.StateDir, "consumed.log"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("what was consumed mustn't be forgotten: %v", err)
	}
}

// TestDamagedLogInAFolder: where one bootd is all that there is, addresses and boots from disk go on without the log. Nothing is installed.
func TestDamagedLogInAFolder(t *testing.T) {
	c, out := config(t), &text{}
	c.SpecDir, c.Logger = t.TempDir(), slog.New(slog.NewTextHandler(out, nil))
	specs, err := os.ReadFile("../../examples/bootd/edge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		os.WriteFile(filepath.Join(c.SpecDir, "edge.yaml"), specs, 0o600), //nolint:gosec // A test's own folder.
		os.WriteFile(filepath.Join(c.StateDir, "consumed.log"), []byte("x\n"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	running(t, c)
	if _, metrics := get(t, "http://"+c.HTTPListen+"/metrics"); strings.Contains(metrics, "bootd_machines 0") || !strings.Contains(metrics, "bootd_machines ") {
		t.Error("nobody is served")
	}
	if !out.has("nothing will be installed") || !out.has("line 1 of the log of consumed grants") {
		t.Error("it isn't said")
	}
}

func TestAddressIn(t *testing.T) {
	g := boot.Segment{Subnets: []netip.Prefix{netip.MustParsePrefix("10.77.0.0/24")}}
	addr := func(s string) net.Addr {
		ip, n, _ := net.ParseCIDR(s)
		n.IP = ip
		return n
	}
	if got := addressIn(g, []net.Addr{addr("10.1.0.1/8"), addr("10.77.0.5/24")}); got != "10.77.0.5" {
		t.Error(got)
	}
	if got := addressIn(g, []net.Addr{addr("10.1.0.1/8")}); got != "" {
		t.Error(got)
	}
	if got := advertised(netip.MustParseAddr("10.0.0.1"))(g); got != "10.0.0.1" {
		t.Error(got)
	}
	six := boot.Segment{Subnets: []netip.Prefix{netip.MustParsePrefix("fd00:77::/64")}}
	if got := advertised(netip.MustParseAddr("10.0.0.1"))(six); got != "" {
		t.Errorf("a segment of IPv6 alone is served from %s", got)
	}
	if got := advertised(netip.MustParseAddr("fd00:77::1"))(six); got != "fd00:77::1" {
		t.Error(got)
	}
}

func TestWanted(t *testing.T) {
	g := &boot.Grant{ID: "g"}
	install := &boot.Plan{Mode: boot.ModeInstall}
	cases := map[string]struct {
		plan    *boot.Plan
		session boot.Session
		want    bool
	}{
		"Live":     {&boot.Plan{Mode: boot.ModeLive}, boot.Session{}, true},
		"Granted":  {install, boot.Session{Grant: g}, true},
		"Consumed": {install, boot.Session{Grant: g, Consumed: &boot.Consumption{GrantID: "g"}}, false},
		"Nothing":  {install, boot.Session{}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := wanted(tc.plan, tc.session); got != tc.want {
				t.Error(got)
			}
		})
	}
}

func TestDeclinedIsSaid(t *testing.T) {
	store := &oneSession{}
	d := &daemon{sessions: session.New(session.Options{Store: store, Now: time.Now, Logger: slog.New(slog.DiscardHandler), Log: emptyLog(t)})}
	p := &boot.Plan{EntryUID: "u1", Network: boot.Network{Address: netip.MustParsePrefix("10.99.0.83/24")}}
	d.declined(p, "52:54:00:00:00:83", p.Network.Address.Addr(), time.Now())
	_ = d.sessions.Check(t.Context(), p, boot.Claims{}) // Any change writes what waits.
	if got := store.written.Progress.Report; !strings.Contains(got, "DHCPDECLINE") || !strings.Contains(got, "10.99.0.83") {
		t.Errorf("the session says %q", got)
	}
	if got := store.written.Progress.Declined; got.Address != "10.99.0.83" || got.MAC != "52:54:00:00:00:83" || got.At.IsZero() {
		t.Errorf("what the provider makes an Event of: %+v", got)
	}
}

// oneSession is a store that takes everything.
type oneSession struct{ written session.Record }

func (s *oneSession) Get(context.Context, boot.Name) (session.Record, error) { return s.written, nil }

func (s *oneSession) Update(_ context.Context, r session.Record) (session.Record, error) {
	s.written = r
	return r, nil
}

func emptyLog(t *testing.T) *session.Log {
	t.Helper()
	l, err := session.OpenLog(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestKindOf(t *testing.T) {
	if k, ok := kindOf(boot.StageBootedFromDisk); !ok || k != session.SawSystemDHCP {
		t.Error("a system's DHCP is a sign of its disk, which the session judges")
	}
	if _, ok := kindOf(boot.StageInstalled); ok {
		t.Error("DHCP can't see that")
	}
}
