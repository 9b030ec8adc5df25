package bootd

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
)

func freeUDP(t *testing.T) string {
	t.Helper()
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	return c.LocalAddr().String()
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// TestProxyPort: the port is open while a segment needs it, and nothing is half served where it's taken.
func TestProxyPort(t *testing.T) {
	c, err := Config{Name: "b", StateDir: t.TempDir(), PlansDir: t.TempDir(), ProxyListen: freeUDP(t)}.complete()
	if err != nil {
		t.Fatal(err)
	}
	p := &proxyPort{c: c}
	srv := dhcp.New(dhcp.Config{State: func() *boot.State { return nil }, Keys: func() [][]byte { return nil }})
	defer p.close()
	taken := func() bool {
		x, err := net.ListenPacket("udp4", c.ProxyListen)
		if err == nil {
			_ = x.Close()
		}
		return err != nil
	}
	proxy := boot.Segment{Mode: boot.SegmentProxy}
	p.turn(t.Context(), false, srv)
	if p.Open() || taken() {
		t.Error("nobody needs the port, and it's open")
	}
	other, err := net.ListenPacket("udp4", c.ProxyListen)
	if err != nil {
		t.Fatal(err)
	}
	p.turn(t.Context(), true, srv)
	self := filepath.Base(os.Args[0])[:5]
	if got := p.Problem(proxy); p.Open() || !strings.Contains(got, "in use by "+self) || !strings.Contains(got, "(pid "+strconv.Itoa(os.Getpid())+")") {
		t.Errorf("taken by another: open %v, problem %q", p.Open(), got)
	}
	if got := p.Problem(boot.Segment{Mode: boot.SegmentAuthoritative}); got != "" {
		t.Errorf("a segment that doesn't need the port has a problem: %s", got)
	}
	_ = other.Close()
	p.turn(t.Context(), true, srv)
	if !p.Open() || !taken() || p.Problem(proxy) != "" {
		t.Errorf("free again: open %v, problem %q", p.Open(), p.Problem(proxy))
	}
	p.turn(t.Context(), false, srv)
	if p.Open() || taken() {
		t.Error("nobody needs the port any more, and it's open")
	}
}

// TestProxyPortIsTakenForLong: who has the port is searched for less and less often, though the port is tried all the time. Once it's free
// it's had at once, and a later one who has it is searched for anew.
func TestProxyPortIsTakenForLong(t *testing.T) {
	var mu sync.Mutex
	now := time.Now()
	c, err := Config{Name: "b", StateDir: t.TempDir(), PlansDir: t.TempDir(), ProxyListen: freeUDP(t), Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}}.complete()
	if err != nil {
		t.Fatal(err)
	}
	searched := 0
	p := &proxyPort{c: c, owned: sighted{find: func(string, string) string {
		searched++
		return "somebody"
	}}}
	srv := dhcp.New(dhcp.Config{State: func() *boot.State { return nil }, Keys: func() [][]byte { return nil }})
	defer p.close()
	take := func() func() {
		other, err := net.ListenPacket("udp4", c.ProxyListen)
		if err != nil {
			t.Fatal(err)
		}
		return func() { _ = other.Close() }
	}
	free := take()
	const hour = int(time.Hour / proxyEvery)
	for range hour {
		p.turn(t.Context(), true, srv)
		mu.Lock()
		now = now.Add(proxyEvery)
		mu.Unlock()
	}
	if searched < 60 || searched > 70 || !strings.Contains(p.Problem(boot.Segment{Mode: boot.SegmentProxy}), "in use by somebody") {
		t.Errorf("searched for %d times in an hour: %s", searched, p.Problem(boot.Segment{Mode: boot.SegmentProxy}))
	}
	free()
	p.turn(t.Context(), true, srv)
	if !p.Open() {
		t.Fatal("the port is free, and it isn't open")
	}
	p.turn(t.Context(), false, srv)
	before := searched
	defer take()()
	p.turn(t.Context(), true, srv)
	if searched != before+1 {
		t.Errorf("another one who has it is searched for %d times", searched-before)
	}
}

// TestProxyAtPorts: a bootd opens the port for a folder that has such a segment.
func TestProxyAtPorts(t *testing.T) {
	c := config(t)
	c.PlansDir, c.DHCPListen, c.ProxyListen = t.TempDir(), freeUDP(t), freeUDP(t)
	write := func(mode string) {
		t.Helper()
		text := strings.Replace(strings.ReplaceAll(plans, "%s", "http://127.0.0.1:1/x"), "mode: RelayOnly", "mode: "+mode, 1)
		if err := os.WriteFile(filepath.Join(c.PlansDir, "plans.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("Proxy")
	log := &lines{}
	c.Logger = slogTo(log)
	running(t, c)
	eventually(t, "port "+c.ProxyListen+" is open", func() bool { return strings.Contains(log.String(), "for=proxyDHCP") })
	if file := request(t, c.DHCPListen); !strings.Contains(file, "/v1/boot/") {
		t.Errorf("iPXE is told %q", file)
	}
	if file := request(t, c.ProxyListen); !strings.Contains(file, "/v1/boot/") {
		t.Errorf("at the other port iPXE is told %q", file)
	}
}

func slogTo(l *lines) *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// lines are what a bootd says.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestProxyAddress: the port goes with that of DHCP.
func TestProxyAddress(t *testing.T) {
	for reason, tc := range map[string]struct{ dhcp, proxy, want string }{
		"all addresses":        {"0.0.0.0:67", "", "0.0.0.0:4011"},
		"one address":          {"10.0.0.1:67", "", "10.0.0.1:4011"},
		"no host":              {":67", "", ":4011"},
		"as it's said":         {"10.0.0.1:67", "10.0.0.2:14011", "10.0.0.2:14011"},
		"port 67 is another's": {"", ":4011", ":4011"},
		"no DHCP at all":       {"", "", ""},
	} {
		c := Config{Name: "b", StateDir: t.TempDir(), PlansDir: "x", DHCPListen: tc.dhcp, ProxyListen: tc.proxy}
		c, err := c.complete()
		if err != nil || c.ProxyListen != tc.want {
			t.Errorf("%s: %q, %v, want %q", reason, c.ProxyListen, err, tc.want)
		}
	}
}
