package redfish

import (
	"context"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// captures are response trees of real BMCs, kept outside the repository.
const captures = "../../../../shared/testdata/redfish"

// replay serves one captured tree: paths without case and trailing slash, no
// authentication, nothing can be written.
type replay map[string][]byte

func loadCapture(t *testing.T, name string) replay {
	t.Helper()
	root := filepath.Join(captures, name)
	tree := replay{}
	files := os.DirFS(root)
	err := fs.WalkDir(files, ".", func(p string, d os.DirEntry, err error) error {
		if err != nil || d.Name() != "index.json" {
			return err
		}
		body, err := fs.ReadFile(files, p)
		tree["/"+strings.ToLower(path.Dir(p))] = body

		return err
	})
	if err != nil {
		t.Fatalf("cannot read capture %q: %v", name, err)
	}

	return tree
}

func (r replay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, ok := r[strings.ToLower(strings.TrimRight(req.URL.Path, "/"))]
	if !ok || req.Method != http.MethodGet {
		http.Error(w, "no", http.StatusNotFound)

		return
	}
	_, _ = w.Write(body)
}

// pedant is a replay that, as iLOs do, redirects to a resource's own spelling
// of its path.
type pedant struct{ replay }

func (p pedant) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var b struct {
		URI text `json:"@odata.id"`
	}
	body := p.replay[strings.ToLower(strings.TrimRight(req.URL.Path, "/"))]
	if decode(body, &b) == nil && lenient.SamePath(string(b.URI), req.URL.Path) && string(b.URI) != req.URL.Path {
		w.Header().Set("Location", string(b.URI))
		w.WriteHeader(http.StatusPermanentRedirect)

		return
	}
	p.replay.ServeHTTP(w, req)
}

// loopback is a Guard for tests.
func loopback() Guard {
	return Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}, AllowLoopback: true}
}

// connectTo starts a TLS server for h and connects with basic authentication.
func connectTo(t *testing.T, h http.Handler) *Client {
	t.Helper()
	srv := httptest.NewTLSServer(h)
	t.Cleanup(srv.Close)
	c, err := Connect(t.Context(), Config{
		Address: srv.URL, Username: "u", Password: "p", Auth: AuthBasic, TLS: TLS{Verify: VerifyNone},
		Guard: loopback(), RequestTimeout: 10 * time.Second, ReadBackInterval: time.Millisecond,
	})
	if err != nil {
		t.Fatalf("Connect(...): %v", err)
	}
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })

	return c
}

// reading is what a capture must be read as.
type reading struct {
	Kind Kind // of the error, or ""

	Name     string // in one word, Identity.Name
	Power    Power
	Health   string
	Boot     string // target, enabled, mode
	Graceful string // the ResetType that asks the OS
	Force    string
	MACs     int
}

func TestCaptures(t *testing.T) {
	if _, err := os.Stat(captures); err != nil {
		t.Skipf("no captures of real BMCs at %s: skipped", captures)
	}
	cases := map[string]struct {
		reason string
		want   Selector
		read   reading
	}{
		"dell-13g-idrac8-partial":           {reason: "No GracefulShutdown: the power button asks the OS. Rests at None/Once.", read: reading{Name: "CNIVC0076B0735", Power: PowerOn, Health: "OK", Boot: "None Once ", Graceful: "PushPowerButton", Force: "ForceOff", MACs: 4}},
		"dell-r750-idrac9-6.00.30":          {reason: "InfiniBand functions are NICs too.", read: reading{Name: "CNIVC0014M0388", Power: PowerOn, Health: "OK", Boot: "None Disabled UEFI", Graceful: "GracefulShutdown", Force: "ForceOff", MACs: 7}},
		"gigabyte-h262z63-ami-12.84":        {reason: "Duplicate MACs; Systems/Capabilities is no System; reset types in an ActionInfo.", read: reading{Name: "GJG9NF512A000302", Power: PowerOn, Health: "OK", Boot: "None Disabled Legacy", Graceful: "GracefulShutdown", Force: "ForceOff", MACs: 2}},
		"hpe-dl360gen10plus-ilo5-3.11":      {reason: "Ports know MACs that nothing else does.", read: reading{Name: "MXQ2390RHW", Power: PowerOn, Health: "OK", Boot: "None Disabled UEFI", Graceful: "GracefulShutdown", Force: "ForceOff", MACs: 8}},
		"hpe-dl380agen11-ilo6-1.66":         {reason: "iLO 6.", read: reading{Name: "2M2D2J00L4", Power: PowerOn, Health: "OK", Boot: "None Disabled UEFI", Graceful: "GracefulShutdown", Force: "ForceOff", MACs: 2}},
		"hpe-dl385gen10plusv2-ilo5-2.72":    {reason: "Trailing slashes in every link.", read: reading{Name: "MXQ302099S", Power: PowerOn, Health: "Critical", Boot: "None Disabled UEFI", Graceful: "GracefulShutdown", Force: "ForceOff", MACs: 9}},
		"hpecray-ex235n-nc-2node":           {reason: "Two nodes behind one BMC: it refuses to guess.", read: reading{Kind: Ambiguous}},
		"hpecray-ex235n-nc-2node/by-id":     {reason: "By id. Off instead of ForceOff never wins over ForceOff; no override; MACs that say Not Available, but not in boot paths.", want: Selector{ID: "Node1"}, read: reading{Name: "DP20300012", Power: PowerOn, Health: "OK", Boot: "  ", Force: "ForceOff", MACs: 5}},
		"hpecray-ex235n-nc-2node/by-serial": {reason: "The nodes share their serial.", want: Selector{Serial: "DP20300012"}, read: reading{Kind: Ambiguous}},
		"huawei-v5-ibmc-partial":            {reason: "The capture has no list of Systems: its manager names the one.", read: reading{Name: "2102311TYBN0J3000293", Power: PowerOn, Health: "Critical", Boot: "None Disabled Legacy", Graceful: "GracefulShutdown", Force: "ForceOff"}},
		"lenovo-sr670v2-xcc-2.83":           {reason: "ToManager is the BMC's NIC; one address is in the order of network boots only.", read: reading{Name: "J105958B", Power: PowerOn, Health: "OK", Boot: "None Disabled UEFI", Graceful: "GracefulShutdown", Force: "ForceOff", MACs: 5}},
		"nvidia-bluefield3-dpubmc-24.10":    {reason: "UUID null; Members null; its MACs are listed under its Manager; tmfifo's is everybody's.", read: reading{Name: "MT2423600ANG", Power: PowerOn, Health: "OK", Boot: "UefiHttp Disabled UEFI", Graceful: "GracefulShutdown", Force: "ForceOff", MACs: 3}},
		"nvidia-gb200nvl-openbmc-24.12":     {reason: "The System that can be reset is the host; serial null; MACs in boot paths only.", read: reading{Name: "501f2928-84ea-8579-cf52-dc2dbd2e4656", Power: PowerOn, Health: "OK", Boot: "None Disabled ", Graceful: "GracefulShutdown", Force: "ForceOff", MACs: 2}},
		"nvidia-gh200-openbmc-24.05":        {reason: "The same, resting at Continuous/Hdd.", read: reading{Name: "1e90aa6e-6d05-9589-2253-ce7672d02d26", Power: PowerOn, Health: "OK", Boot: "Hdd Continuous ", Graceful: "GracefulShutdown", Force: "ForceOff", MACs: 6}},
		"nvidia-nvswitchtray-n5110-openbmc": {reason: "A switch tray without NICs.", read: reading{Name: "MT2519600UDR", Power: PowerOn, Health: "OK", Boot: "None Disabled UEFI", Graceful: "GracefulShutdown", Force: "ForceOff"}},
		"openbmc-stock-2.15":                {reason: "Neither serial nor UUID: the URI is its name.", read: reading{Name: "/redfish/v1/Systems/system", Power: PowerOff, Health: "OK", Boot: "None Disabled UEFI", Graceful: "GracefulShutdown", Force: "ForceOff"}},
		"supermicro-sys510t-x12-partial":    {reason: "GracefulShutdownGracefulRestart is two values glued together.", read: reading{Name: "S482931X2814218", Power: PowerOn, Health: "Critical", Boot: "Hdd Continuous UEFI", Graceful: "GracefulShutdown", Force: "ForceOff"}},
		"supermicro-sys821ge-x13-11.01.01":  {reason: "Reset types in an ActionInfo; rests at Disabled/Pxe; the host interface's MAC is left out.", read: reading{Name: "S889914X3710910", Power: PowerOn, Health: "OK", Boot: "Pxe Disabled UEFI", Graceful: "GracefulShutdown", Force: "ForceOff", MACs: 11}},
		"supermicro-x10sdv-4.0":             {reason: "A serial of spaces; non-schema boot targets.", read: reading{Name: "00000000-0000-0000-0000-ac1f6b18a45a", Power: PowerOn, Health: "OK", Boot: "None Disabled ", Graceful: "GracefulShutdown", Force: "ForceOff", MACs: 4}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tree, _, _ := strings.Cut(name, "/")
			c := connectTo(t, pedant{loadCapture(t, tree)})
			if diff := cmp.Diff(tc.read, readAll(t, c, tc.want)); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if tc.read.Kind != "" {
				return
			}
			s, err := c.System(t.Context(), tc.want)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := c.Find(t.Context(), tc.want, s.URI); err != nil || again.Name() != s.Name() || again.path != s.path {
				t.Errorf("found again by the URI that is shown: %q at %q, %v; want %q at %q", again.Name(), again.path, err, s.Name(), s.path)
			}
		})
	}
}

func readAll(t *testing.T, c *Client, want Selector) reading {
	t.Helper()
	s, err := c.System(t.Context(), want)
	if err != nil {
		return reading{Kind: KindOf(err)}
	}
	inv, err := c.Inventory(t.Context(), s)
	if err != nil {
		t.Fatalf("Inventory(...): %v", err)
	}
	types, err := c.advertised(t.Context(), s)
	if err != nil {
		t.Fatalf("advertised(...): %v", err)
	}
	r := reading{
		Name: s.Name(), Power: s.Power, Health: s.Health, MACs: len(inv.MACs),
		Boot: strings.Join([]string{s.Boot.Target, s.Boot.Enabled, s.Boot.Mode}, " "),
	}
	r.Graceful, _ = chooseReset(types, ActGracefulOff, s.Power)
	r.Force, _ = chooseReset(types, ActForceOff, s.Power)

	return r
}
