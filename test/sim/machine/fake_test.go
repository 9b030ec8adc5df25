package machine_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/pin/tftp/v3"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
)

const (
	imageText = "the image that is written to the disk"
	userData  = "#cloud-config\nhostname: web-1\n"
	token     = "t0ken"
)

// fake is the least that a machine can boot from: DHCP through a relay, one TFTP file, scripts and callbacks by HTTP.
type fake struct {
	t    *testing.T
	dhcp *net.UDPConn
	tftp *net.UDPConn
	http *httptest.Server

	mu       sync.Mutex
	script   func() string // asked anew for every request
	seen     []*dhcpv4.DHCPv4
	calls    []string
	reply    func(req, resp *dhcpv4.DHCPv4) // last word on every answer
	silent   bool
	handlers map[string]http.HandlerFunc // instead of the usual ones, by path
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{t: t, dhcp: listen(t), tftp: listen(t), handlers: map[string]http.HandlerFunc{}}
	f.http = httptest.NewServer(http.HandlerFunc(f.serveHTTP))
	// As bootd does. A machine that installed again and again would be past its first installation before a test has looked.
	f.script = func() string {
		if slices.Contains(f.made(), "installed") {
			return "#!ipxe\nexit\n"
		}
		return f.install()
	}
	ts := tftp.NewServer(func(name string, rf io.ReaderFrom) error {
		if name != "undionly.kpxe" && name != "snponly.efi" {
			return errors.New("no such file")
		}
		body := strings.Repeat("first stage ", 1000)
		rf.(tftp.OutgoingTransfer).SetSize(int64(len(body)))
		_, err := rf.ReadFrom(strings.NewReader(body))
		return err
	}, nil)
	var wg sync.WaitGroup
	wg.Go(func() { _ = ts.Serve(f.tftp) })
	wg.Go(f.serveDHCP)
	t.Cleanup(func() {
		_ = f.dhcp.Close()
		ts.Shutdown()
		f.http.Close()
		wg.Wait()
	})
	return f
}

func listen(t *testing.T) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (f *fake) serveDHCP() {
	buf := make([]byte, 4096)
	for {
		n, from, err := f.dhcp.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		if resp := f.answer(buf[:n], from); resp != nil {
			_, _ = f.dhcp.WriteToUDPAddrPort(resp.ToBytes(), from)
		}
	}
}

// answer does what the rules for relays ask of a server: echo option 82, answer to the source port where 82.19 says so.
func (f *fake) answer(data []byte, from netip.AddrPort) *dhcpv4.DHCPv4 {
	req, err := dhcpv4.FromBytes(data)
	if err != nil {
		f.t.Errorf("a DHCP packet from %s: %v", from, err)
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, req)
	if f.silent {
		return nil
	}
	kind := dhcpv4.MessageTypeOffer
	if req.MessageType() == dhcpv4.MessageTypeRequest {
		kind = dhcpv4.MessageTypeAck
	}
	resp, err := dhcpv4.NewReplyFromRequest(req, dhcpv4.WithMessageType(kind),
		dhcpv4.WithYourIP(net.IPv4(10, 77, 0, 11)), dhcpv4.WithServerIP(net.IPv4(127, 0, 0, 1)),
		dhcpv4.WithOption(dhcpv4.OptServerIdentifier(net.IPv4(127, 0, 0, 1))),
		dhcpv4.WithOptionCopied(req, dhcpv4.OptionRelayAgentInformation))
	if err != nil {
		f.t.Errorf("a DHCP reply: %v", err)
		return nil
	}
	switch {
	case req.ClassIdentifier() == "":
	case string(req.Options.Get(dhcpv4.OptionUserClassInformation)) == "iPXE":
		resp.UpdateOption(dhcpv4.OptBootFileName(f.http.URL + "/v1/boot/" + token + "/script.ipxe"))
	case strings.HasPrefix(req.ClassIdentifier(), "HTTPClient"):
		resp.UpdateOption(dhcpv4.OptClassIdentifier("HTTPClient"))
		resp.BootFileName = f.http.URL + "/snponly.efi"
	case len(req.ClientArch()) > 0 && req.ClientArch()[0] == 0:
		resp.BootFileName = "undionly.kpxe"
	default:
		resp.BootFileName = "snponly.efi"
	}
	if f.reply != nil {
		f.reply(req, resp)
	}
	return resp
}

func (f *fake) serveHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	h, script := f.handlers[r.URL.Path], f.script
	f.mu.Unlock()
	base := "/v1/boot/" + token + "/"
	switch {
	case h != nil:
		h(w, r)
	case r.URL.Path == base+"script.ipxe":
		_, _ = io.WriteString(w, script())
	case r.URL.Path == base+"image":
		http.ServeContent(w, r, "image", time.Time{}, strings.NewReader(imageText))
	case r.URL.Path == base+"user-data":
		_, _ = io.WriteString(w, userData)
	case r.URL.Path == "/vmlinuz", r.URL.Path == "/initrd", r.URL.Path == "/snponly.efi":
		http.ServeContent(w, r, r.URL.Path, time.Time{}, strings.NewReader("bytes of "+r.URL.Path))
	case r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, base):
		f.called(r, strings.TrimPrefix(r.URL.Path, base))
	default:
		http.NotFound(w, r)
	}
}

func (f *fake) called(r *http.Request, verb string) {
	var body struct {
		Message string `json:"message"`
		Percent int    `json:"percent"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		f.t.Errorf("callback %s: %v", verb, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, verb)
}

func (f *fake) set(change func(*fake)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *fake) made() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.calls...)
}

func (f *fake) packets() []*dhcpv4.DHCPv4 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*dhcpv4.DHCPv4(nil), f.seen...)
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// install is the script that makes a machine write its disk.
func (f *fake) install() string { return f.installWith(digestOf(imageText)) }

func (f *fake) installWith(digest string) string {
	base := f.http.URL + "/v1/boot/" + token
	return fmt.Sprintf("#!ipxe\nset base %s\n"+
		"kernel --name vmlinuz %s/vmlinuz console=ttyS0 baremetal.callback=${base} baremetal.image=${base}/image "+
		"baremetal.image-digest=%s baremetal.user-data=${base}/user-data || goto failed\n"+
		"initrd --name initrd.img %s/initrd || goto failed\nboot || goto failed\n:failed\nreboot\n",
		base, f.http.URL, digest, f.http.URL)
}

// config is a machine in front of f; tests change what they are about.
func (f *fake) config() machine.Config {
	return machine.Config{
		Name:      "m1",
		MAC:       net.HardwareAddr{0x52, 0x54, 0, 0, 0, 1},
		UUID:      uuid.MustParse("4c4c4544-0044-4a10-8051-b4c04f4a3140"),
		BootOrder: []machine.Device{machine.Network, machine.LocalDisk},
		Relay: machine.Relay{
			Servers: []netip.AddrPort{f.dhcp.LocalAddr().(*net.UDPAddr).AddrPort()},
			Link:    netip.MustParseAddr("10.77.0.1"),
		},
		TFTPPort:    f.tftp.LocalAddr().(*net.UDPAddr).Port,
		DHCPTimeout: 200 * time.Millisecond,
		TimeScale:   0.01,
		CallRetry:   5 * time.Second,
	}
}

// start makes a machine and ends it with the test.
func start(t *testing.T, c machine.Config) *machine.Machine {
	t.Helper()
	m, err := machine.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.Close()
		if t.Failed() {
			for _, e := range m.Events() {
				t.Log(e)
			}
		}
	})
	return m
}

// await waits up to ten seconds.
func await(t *testing.T, m *machine.Machine, what string, ok func(machine.Status) bool) machine.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	s, err := m.Wait(ctx, what, ok)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func running(s machine.Status) bool { return s.Stage == machine.StageRunning }
