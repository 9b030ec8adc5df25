package bootd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

// text is a log that is read while it's written.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *text) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *text) has(s string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.b.String(), s)
}

// large is more than the sockets of a connection hold.
const large = 32 << 20

// draining is a bootd of one machine whose kernel is large, and a download of it that has begun.
func draining(t *testing.T, c Config) (stop func(), ended chan error, log *text, script string, rest io.ReadCloser) {
	t.Helper()
	kernel := make([]byte, large)
	sum := sha256.Sum256(kernel)
	web, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	files := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(kernel) })}
	go func() { _ = files.Serve(web) }()
	t.Cleanup(func() { _ = files.Close() })
	c.PlansDir, log = t.TempDir(), &text{}
	c.Logger = slog.New(slog.NewTextHandler(log, nil))
	spec := regexp.MustCompile(`sha256:[0-9a-f]{64}`).ReplaceAllString(fmt.Sprintf(plans, "http://"+web.Addr().String()), "sha256:"+hex.EncodeToString(sum[:]))
	if err := os.WriteFile(filepath.Join(c.PlansDir, "a.yaml"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended = make(chan error, 1)
	go func() { ended <- Run(ctx, c) }()
	t.Cleanup(cancel)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if status, _ := get(t, "http://"+c.HTTPListen+"/readyz"); status == http.StatusOK {
			break
		}
		if time.Now().After(end) {
			t.Fatal("bootd doesn't get ready")
		}
	}
	script = request(t, c.DHCPListen)
	var found []string
	for end := time.Now().Add(20 * time.Second); found == nil; time.Sleep(20 * time.Millisecond) { // It's fetched first.
		_, body := get(t, script)
		found = regexp.MustCompile(`kernel \S+ --name \S+ (\S+)`).FindStringSubmatch(body)
		if time.Now().After(end) {
			t.Fatalf("no kernel is served:\n%s", body)
		}
	}
	resp, err := http.Get(found[1])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return cancel, ended, log, script, resp.Body
}

// TestDrain: a bootd that is told to stop finishes the boot that runs, answers its questions meanwhile, and ends.
func TestDrain(t *testing.T) {
	c := config(t)
	c.Drain, c.calm = time.Minute, 10*time.Millisecond
	stop, ended, log, script, rest := draining(t, c)
	defer func() { _ = rest.Close() }()
	stop()
	for !log.has("stopping: boots that run are finished") {
		time.Sleep(time.Millisecond)
	}
	if status, body := get(t, script); status != http.StatusOK || !strings.Contains(body, "kernel") {
		t.Errorf("a boot that runs asks: %d %s", status, body)
	}
	if n, err := io.Copy(io.Discard, rest); err != nil || n != large-1 {
		t.Errorf("%d bytes of the kernel arrived: %v", n, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestDrainScript: a bootd that is told to stop between the ACK of an iPXE that PXE has loaded and its script waits for that one. It's another exchange of
// the boot that the ROM began.
func TestDrainScript(t *testing.T) {
	c := config(t)
	c.Drain, c.calm = time.Minute, 600*time.Millisecond // 2 s from an ACK to a script.
	stop, ended, log, _, rest := draining(t, c)
	if _, err := io.Copy(io.Discard, rest); err != nil {
		t.Fatal(err)
	}
	_ = rest.Close()
	const mac = "52:54:00:00:00:01"
	offer := exchange(t, c.DHCPListen, mac)
	selects := func(p *dhcpv4.DHCPv4) {
		p.UpdateOption(dhcpv4.OptMessageType(dhcpv4.MessageTypeRequest))
		p.UpdateOption(dhcpv4.OptServerIdentifier(offer.ServerIdentifier()))
		p.UpdateOption(dhcpv4.OptRequestedIPAddress(offer.YourIPAddr))
	}
	rom := func(p *dhcpv4.DHCPv4) {
		selects(p)
		p.Options.Del(dhcpv4.OptionUserClassInformation)
		p.Options.Del(dhcpv4.GenericOptionCode(175))
	}
	if ack := exchange(t, c.DHCPListen, mac, rom); ack.MessageType() != dhcpv4.MessageTypeAck {
		t.Fatalf("the ROM is answered %s", ack.MessageType())
	}
	time.Sleep(2100 * time.Millisecond) // What it may take for its first stage is over.
	script := exchange(t, c.DHCPListen, mac, selects).BootFileNameOption()
	stop()
	for !log.has("stopping: boots that run are finished") {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(800 * time.Millisecond)
	if status, body := get(t, script); status != http.StatusOK || !strings.Contains(body, "kernel") {
		t.Errorf("its script is %d %s", status, body)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestDrainEnds: one transfer keeps no bootd for longer than it was told.
func TestDrainEnds(t *testing.T) {
	log := &text{}
	d := &daemon{c: Config{Drain: time.Millisecond, Logger: slog.New(slog.NewTextHandler(log, nil))}, activity: newActivity(time.Millisecond)}
	d.activity.running.Add(1)
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	d.drain(stopped, t.Context())
	if !d.activity.stopping.Load() || !log.has("before all transfers have ended") {
		t.Error("it isn't said")
	}
}

// TestCalm: what keeps a bootd that is stopping.
func TestCalm(t *testing.T) {
	a := newActivity(time.Hour)
	if !a.calm() {
		t.Error("nobody has asked for anything yet")
	}
	serve := func(path string) {
		a.watch(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			if a.calm() {
				t.Errorf("%s is being served", path)
			}
		})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, http.NoBody))
	}
	serve("/v1/boot/token/script.ipxe")
	if !a.calm() {
		t.Error("a machine that is held asks for ever")
	}
	serve("/v1/boot/token/image")
	if a.calm() {
		t.Error("an install is on its way")
	}
}

// TestExpected: a machine that was given an address, or a first stage, may take its time until it asks for its script, and other machines' steps
// make that no shorter.
func TestExpected(t *testing.T) {
	cases := map[string]struct {
		reason string
		do     func(a *activity)
		want   time.Duration
	}{
		"Nothing":    {"nobody has asked for anything", func(*activity) {}, 0},
		"Offer":      {"UEFI asks for its address after four seconds", func(a *activity) { a.answered(dhcp.ClientPXE, dhcp.Offered) }, calmAfter},
		"Proxy":      {"and for its first stage of a proxy", func(a *activity) { a.answered(dhcp.ClientPXE, dhcp.Proxied) }, calmAfter},
		"Advertise":  {"over IPv6, too", func(a *activity) { a.answered(dhcp.ClientPXE, dhcp6.Advertised) }, calmAfter},
		"Silent":     {"whoever was answered by nothing asks for nothing", func(a *activity) { a.answered(dhcp.ClientPXE, dhcp.SilentNoFile) }, 0},
		"Other":      {"while it's stopping an offer is another one's", func(a *activity) { a.stopping.Store(true); a.answered(dhcp.ClientPXE, dhcp.Offered) }, 0},
		"ACK":        {"iPXE waits for a router", func(a *activity) { a.saw(boot.StageDHCP) }, beforeScript},
		"IPXE":       {"nor is one that PXE has loaded seen anew", func(a *activity) { a.answered(dhcp.ClientIPXE, dhcp.Acknowledged) }, beforeScript},
		"IPXELate":   {"also while it's stopping", func(a *activity) { a.stopping.Store(true); a.answered(dhcp.ClientIPXE, dhcp.Acknowledged) }, beforeScript},
		"IPXEProxy":  {"or by a proxy", func(a *activity) { a.answered(dhcp.ClientIPXE, dhcp.Proxied) }, beforeScript},
		"FirstStage": {"iPXE has its own DHCP before it", func(a *activity) { a.saw(boot.StageFirmware) }, beforeScript},
		"HTTPBoot": {"and so has one that came by HTTP", func(a *activity) {
			a.watch(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, ipxe.PathFirmware+"snponly.efi", http.NoBody))
		}, beforeScript},
		"Disk": {"who runs its disk asks for nothing", func(a *activity) { a.saw(boot.StageBootedFromDisk) }, 0},
		"Both": {"the one that waits longest counts", func(a *activity) { a.expect(beforeScript); a.touch() }, beforeScript},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newActivity(calmAfter)
				tc.do(a)
				time.Sleep(tc.want - time.Millisecond)
				if tc.want > 0 && a.calm() {
					t.Errorf("%s: it's calm before %s", tc.reason, tc.want)
				}
				time.Sleep(2 * time.Millisecond)
				if !a.calm() {
					t.Errorf("%s: it isn't calm after %s", tc.reason, tc.want)
				}
			})
		})
	}
}
