package dhcp

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/httpboot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tftp"
)

// TestAdvertisedIsServed binds what DHCP names to what TFTP and HTTP serve.
func TestAdvertisedIsServed(t *testing.T) {
	files := tftp.Load(t.TempDir())
	web := httpboot.New(httpboot.Options{
		State: func() *boot.State { return nil }, Now: func() time.Time { return testNow },
		Gate:     gate.New(gate.Options{State: func() *boot.State { return nil }}),
		Firmware: func(name string) ([]byte, bool) { f, ok := files.Find(name); return f.Data, ok },
		Base:     func(netip.AddrPort) string { return "http://10.99.0.1:8080" },
		Decided:  func(boot.Decision) {}, Served: func(string, int) {}, Logger: slog.New(slog.DiscardHandler),
	}).Handler()
	v := testView(testState(nil, testPlan()))
	v.Files = Files{BIOS: files.Has(tftp.BIOS), UEFIAMD64: files.Has(tftp.UEFIAMD64), UEFIARM64: files.Has(tftp.UEFIARM64), NativeAMD64: files.Has(tftp.UEFIFull)}

	get := func(address string) string {
		t.Helper()
		u, err := url.Parse(address)
		if err != nil || u.Host != "10.99.0.1:8080" {
			t.Fatalf("%q isn't a URL of this bootd: %v", address, err)
		}
		w := httptest.NewRecorder()
		web.ServeHTTP(w, httptest.NewRequest(http.MethodGet, u.RequestURI(), http.NoBody))
		if w.Code != http.StatusOK {
			t.Fatalf("%q is served as %d", address, w.Code)
		}
		b, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for name, as := range map[string]dhcpv4.Modifier{"BIOS": asPXE(0), "UEFI": asPXE(7)} {
		if file := offer(t, v, as).BootFileName; files.Has(file) == "" {
			t.Errorf("%s is told to load %q, which TFTP doesn't serve", name, file)
		}
	}
	if file := offer(t, v, asPXE(11)).BootFileName; file != "" {
		t.Errorf("ARM64 is told to load %q, which TFTP doesn't serve", file)
	}
	httpBoot := offer(t, v, all(option(93, 0, 16), text(60, "HTTPClient:Arch:00016"))).BootFileName
	if f, _ := files.Find(tftp.UEFIAMD64); get(httpBoot) != string(f.Data) {
		t.Errorf("%q serves something else than TFTP", httpBoot)
	}
	v.State = testState(nil, testPlan(native))
	if file := offer(t, v, asPXE(7)).BootFileName; file != tftp.UEFIFull || files.Has(file) == "" {
		t.Errorf("with drivers of its own it's told to load %q", file)
	}
	httpBoot = offer(t, v, all(option(93, 0, 16), text(60, "HTTPClient:Arch:00016"))).BootFileName
	if f, _ := files.Find(tftp.UEFIFull); get(httpBoot) != string(f.Data) {
		t.Errorf("%q serves something else than TFTP", httpBoot)
	}
	if script := get(offer(t, v, asIPXE(7)).BootFileName); !strings.HasPrefix(script, "#!ipxe\n") {
		t.Errorf("iPXE's URL serves no script but %q", script)
	}
}
