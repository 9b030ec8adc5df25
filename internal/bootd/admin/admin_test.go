package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/httpboot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/trace"
)

const (
	mac1    = boot.MAC("52:54:00:00:00:01")
	grantID = "00112233445566ff"
	secret  = "hunter2-and-more"
)

func start() time.Time { return time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC) }

// noSessions is a gate.Sessions that nobody may write.
type noSessions struct{ t *testing.T }

func (s noSessions) said(what string) error {
	s.t.Errorf("explaining called %s", what)
	return errors.New(what)
}

func (s noSessions) Logged(string, string) []boot.Consumption { return nil }

func (s noSessions) Open(context.Context, *boot.Plan, boot.Claims, boot.Exchange) error {
	return s.said("Open")
}

func (s noSessions) Consume(context.Context, *boot.Plan, boot.Claims) error { return s.said("Consume") }

func (s noSessions) OpenAndConsume(context.Context, *boot.Plan, boot.Claims, boot.Exchange) error {
	return s.said("OpenAndConsume")
}
func (s noSessions) Deliver(context.Context, *boot.Plan, boot.Claims) error { return s.said("Deliver") }
func (s noSessions) Check(context.Context, *boot.Plan, boot.Claims) error   { return s.said("Check") }
func (s noSessions) Unended(context.Context, *boot.Plan, boot.Claims) error { return s.said("Unended") }

func (s noSessions) Report(context.Context, *boot.Plan, boot.Claims, bool, string) (bool, error) {
	return false, s.said("Report")
}

func (s noSessions) Booted(context.Context, *boot.Plan, boot.Claims, string) error {
	return s.said("Booted")
}

func (s noSessions) NewBoot(boot.Name, time.Time) bool { return false }
func (s noSessions) Sight(boot.Name, session.Sighting) { _ = s.said("Sight") }

// files are all there.
type files struct{}

func (files) Await(context.Context, boot.Artifact) error { return nil }

func (files) DigestOf(a boot.Artifact) string { return a.Digest }

func (files) Open(boot.Artifact) (*os.File, func(), error) { return nil, nil, os.ErrNotExist }

// rig is a bootd with one machine that has a grant, and one more.
type rig struct {
	t                      *testing.T
	dir                    string
	segment                boot.Segment
	plan                   boot.Plan
	session                boot.Session
	state                  *boot.State
	key                    []byte
	held, synced, stopping bool
	why                    string
	dhcp                   *dhcp.Server
	ring                   *trace.Ring
	notified               []string
	turn                   time.Duration
	holders                *dhcp.Holders
}

func newRig(t *testing.T, change func(*rig)) *rig {
	t.Helper()
	r := &rig{
		t: t, dir: t.TempDir(), key: []byte("0123456789abcdef"), synced: true, ring: trace.New(trace.DefaultBytes),
		segment: boot.Segment{
			Name: boot.Name{Namespace: "lab", Name: "rack"}, Subnets: []netip.Prefix{netip.MustParsePrefix("10.77.0.0/24")}, Mode: boot.SegmentAuthoritative,
		},
		plan: boot.Plan{
			Entry: boot.Name{Namespace: "lab", Name: "m1"}, EntryUID: "entry-1", HostUID: "host-1", MACs: []boot.MAC{mac1},
			Mode: boot.ModeInstall, Method: boot.MethodDiskImage, InstallGeneration: 1, UserDataFormat: "CloudInit", UserDataSecret: secret,
			Network: boot.Network{Name: boot.Name{Namespace: "lab", Name: "rack"}, Address: netip.MustParsePrefix("10.77.0.11/24"), Gateway: netip.MustParseAddr("10.77.0.1")},
			Artifacts: []boot.Artifacts{{
				Arch: boot.AMD64, Kernel: boot.Artifact{URL: "http://x/k", Digest: "sha256:aaaa"}, Initrds: []boot.Artifact{{URL: "http://x/i", Digest: "sha256:bbbb"}},
			}},
		},
	}
	r.session = boot.Session{EntryUID: "entry-1", Grant: &boot.Grant{
		ID: grantID, HostUID: "host-1", EntryUID: "entry-1", Generation: 1, PlanDigest: r.plan.Digest(), Expires: start().Add(time.Hour),
	}}
	if change != nil {
		change(r)
	}
	other := r.plan
	other.Port, other.Entry.Name, other.EntryUID, other.MACs = nil, "m2", "entry-2", []boot.MAC{"52:54:00:00:00:02"}
	other.Network.Address = netip.MustParsePrefix("10.77.0.12/24")
	r.state = boot.NewState([]boot.Segment{r.segment}, []boot.Plan{r.plan, other}, []boot.Session{r.session})
	r.serve()
	return r
}

func (r *rig) serve() {
	now := start
	state, keys := func() *boot.State { return r.state }, func() [][]byte { return [][]byte{r.key} }
	log := slog.New(slog.DiscardHandler)
	r.dhcp = dhcp.New(dhcp.Config{
		Holders: r.holders, Proxy: func() bool { return true }, State: state, Keys: keys, Now: now, HTTPPort: 8480, Files: dhcp.Files{BIOS: "undionly.kpxe", UEFIAMD64: "snponly.efi"},
	})
	g := gate.New(gate.Options{
		State: state, Keys: keys, Synced: func(*boot.Plan) bool { return r.synced }, Held: func(*boot.Plan) bool { return r.held },
		Sessions: noSessions{r.t}, Artifacts: files{}, Now: now, Logger: log,
	})
	web := httpboot.New(httpboot.Options{
		State: state, Gate: g, Sightings: noSessions{r.t}, Artifacts: files{}, Decided: func(boot.Decision) { r.notified = append(r.notified, "decided") },
		Now: now, Logger: log,
	})
	l, err := Listen(r.t.Context(), r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- Serve(ctx, l, Handler(Options{
			Name: "node-1", View: r.dhcp.View, Script: web.Foresee, Why: func(*boot.Plan) string { return r.why }, Logged: func(string, string) []boot.Consumption { return nil },
			File: func(name string) (int, bool, bool) { return 1234, name == "snponly.efi", true },
			Interfaces: func() []Interface {
				return []Interface{{"lo", 1, []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil}, {"eth1", 3, []netip.Addr{netip.MustParseAddr("10.77.0.2")}, nil}}
			},
			Trace: r.ring, Now: now, Stopping: func(boot.MAC) bool { return r.stopping }, Turn: func(boot.MAC) time.Duration { return r.turn },
		}), log)
	}()
	r.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Error(err)
		}
	})
}

// explains asks, and holds that no token that's good for anything comes back.
func (r *rig) explains(q Query) Explanation {
	r.t.Helper()
	e, err := Explain(r.t.Context(), r.dir, q)
	if err != nil {
		r.t.Fatal(err)
	}
	raw, err := json.Marshal(e)
	if err != nil {
		r.t.Fatal(err)
	}
	all := string(raw) + e.Text()
	for _, run := range regexp.MustCompile(`[A-Za-z0-9_-]{66,}`).FindAllString(all, -1) {
		for i := range len(run) - 65 {
			if _, err := boot.Verify([][]byte{r.key}, run[i:i+66], start()); !errors.Is(err, boot.ErrToken) {
				r.t.Errorf("a token is shown: %s", run)
			}
		}
	}
	if strings.Contains(all, secret) {
		r.t.Error("it says where user data lies")
	}
	if len(r.notified) > 0 {
		r.t.Errorf("explaining is counted: %v", r.notified)
	}
	return e
}

func TestExplain(t *testing.T) {
	cases := map[string]struct {
		reason  string
		change  func(*rig)
		q       Query
		answers string // by DHCP: how many, and what each is
		script  string
		waits   string
		text    []string
	}{
		"Granted": {
			reason: "a machine that is to be installed and hasn't been seen", q: Query{MAC: "52-54-00-00-00-01"},
			answers: "6 OFFER", script: "Install Granted", waits: "DHCP: nothing was heard of it",
			text: []string{
				"lab/m1  52:54:00:00:00:01", "undionly.kpxe, 1234 bytes to 255.255.255.255:68 [broadcast on eth1]", "a stand-in of 1234 bytes",
				"http://10.77.0.2:8480/v1/boot/SCRIPT-TOKEN/script.ipxe?arch=0", "http://10.77.0.2:8480/v1/firmware/snponly.efi",
				"| kernel ${bootd-bound} --name vmlinuz http://10.77.0.2:8480/v1/boot/BOOT-TOKEN/files/sha256-aaaa", "0 of 5 scripts", "for this plan",
			},
		},
		"OneFirmware": {
			reason: "only what is asked about", q: Query{IP: "10.77.0.11", Firmware: "uefi-x64"}, answers: "3 OFFER", script: "Install Granted", waits: "DHCP",
		},
		"Held":      {reason: "the gate's word, not only the decision's", change: func(r *rig) { r.held = true }, q: Query{Entry: "m1"}, script: "Hold InstallsHeld", waits: "its script: hold (InstallsHeld)"},
		"NotSynced": {reason: "no install starts", change: func(r *rig) { r.synced = false }, q: Query{Entry: "lab/m1"}, script: "Hold NotSynced", waits: "(NotSynced): the API server"},
		"Stale": {
			reason: "a grant for another plan", change: func(r *rig) { r.plan.Hostname = "edited" }, q: Query{Entry: "m1"}, script: "Hold StaleGrant",
			waits: "StaleGrant", text: []string{"NOT for this plan"},
		},
		"Disk": {
			reason: "generation 0 boots from disk, and waits for nothing", change: func(r *rig) { r.plan.InstallGeneration = 0 }, q: Query{Entry: "m1", Firmware: "bios"},
			script: "LocalDisk BootsFromDisk", text: []string{"| sanboot"},
		},
		"Relay": {
			reason: "a segment that only relays reach", change: func(r *rig) {
				r.segment.Mode, r.segment.Relays = boot.SegmentRelayOnly, []netip.Prefix{netip.MustParsePrefix("10.1.0.5/32")}
			},
			q: Query{Entry: "m1", Firmware: "bios"}, answers: "3 OFFER", script: "Install Granted", waits: "DHCP", text: []string{"[relay 10.1.0.5]", "to 10.1.0.5:67"},
		},
		"Elsewhere": {
			reason: "a network that is served on another interface", change: func(r *rig) { r.segment.Interfaces = []string{"eth7"} }, q: Query{Entry: "m1", Firmware: "bios"},
			answers: "3 silence", script: "Install Granted", waits: "DHCP: none of its requests would be answered (InterfaceNotServed): the BootNetwork's serveOn.interfaces",
		},
		"Stopping": {
			reason: "a bootd that ends", change: func(r *rig) { r.stopping = true }, q: Query{Entry: "m1", Firmware: "bios"}, waits: "another bootd: this one is stopping",
		},
		"Second": {
			reason: "another one comes first", change: func(r *rig) { r.turn = 40 * time.Millisecond }, q: Query{Entry: "m1", Firmware: "bios"}, waits: "DHCP",
			text: []string{"another bootd offers first, and this one 40ms later"},
		},
		"Proxy": {
			reason: "beside another DHCP server", change: func(r *rig) { r.segment.Mode = boot.SegmentProxy }, q: Query{Entry: "m1", Firmware: "bios"},
			script: "Install Granted", waits: "DHCP: nothing was heard of it", text: []string{"OFFER, then undionly.kpxe, 1234 bytes", "its system             silence (NotANetworkBoot)"},
		},
		"NoSegment": {
			reason: "its network isn't served here", change: func(r *rig) { r.plan.Network.Name.Name = "another" }, q: Query{Entry: "m1", Firmware: "bios"},
			answers: "3 silence", waits: "DHCP: none of its requests would be answered (NoSegment)",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := newRig(t, tc.change).explains(tc.q)
			for _, x := range e.DHCP {
				if want := fmt.Sprint(len(e.DHCP), " ", x.Answer); tc.answers != "" && want != tc.answers {
					t.Errorf("%s: %s is answered by %s, one of %d", tc.reason, x.As, x.Answer, len(e.DHCP))
				}
			}
			if got := e.Scripts[0].Answer + " " + e.Scripts[0].Reason; tc.script != "" && got != tc.script {
				t.Errorf("%s: the script is %s", tc.reason, got)
			}
			if !strings.Contains(e.WaitsFor, tc.waits) || tc.waits == "" && e.WaitsFor != "" {
				t.Errorf("%s: it waits for %q", tc.reason, e.WaitsFor)
			}
			for _, want := range tc.text {
				if !strings.Contains(e.Text(), want) {
					t.Errorf("%s: the text lacks %q:\n%s", tc.reason, want, e.Text())
				}
			}
		})
	}
}

// TestLastAsked: what was really heard is answered anew, by what is known now.
func TestLastAsked(t *testing.T) {
	r := newRig(t, nil)
	for i, g := range []dhcp.Guise{{Client: dhcp.ClientPXE, Arch: dhcp.ArchBIOS}, {Client: dhcp.ClientHTTP, Arch: dhcp.ArchUEFIHTTPAMD64}} {
		data, err := dhcp.Discover(mac1, g, netip.Addr{}, netip.Addr{})
		if err != nil {
			t.Fatal(err)
		}
		r.ring.Add(mac1, true, trace.Packet{
			At: start().Add(time.Duration(i-10) * time.Second), From: netip.MustParseAddrPort("0.0.0.0:68"), To: netip.MustParseAddrPort("255.255.255.255:67"),
			Index: 3, Data: data,
		}, trace.Packet{})
	}
	e := r.explains(Query{MAC: string(mac1)})
	x := e.LastAsked
	if x == nil || x.As != "UEFI x64, HTTP Boot" || x.Answer != "OFFER" || x.Via != "broadcast on eth1" || e.At.Sub(*x.Asked) != 9*time.Second {
		t.Fatalf("%+v", x)
	}
	if e.WaitsFor != "its next boot from the network" || !strings.Contains(e.Text(), "9s ago as UEFI x64, HTTP Boot; now that would get: OFFER 10.77.0.11") {
		t.Error(e.WaitsFor, e.Text())
	}
	lost := boot.MAC("52:54:00:00:00:09")
	data, err := dhcp.Discover(lost, dhcp.Guise{Client: dhcp.ClientPXE, Arch: dhcp.ArchUEFIAMD64}, netip.Addr{}, netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	r.ring.Add(lost, false, trace.Packet{At: start(), To: netip.MustParseAddrPort("255.255.255.255:67"), Data: data}, trace.Packet{})
	_, err = Explain(t.Context(), r.dir, Query{MAC: string(lost)})
	if err == nil || !strings.Contains(err.Error(), "it was heard 0s ago (UEFI x64, PXE)") || !strings.Contains(err.Error(), "the nearest is 52:54:00:00:00:01 of BootEntry lab/m1") {
		t.Error(err)
	}
	pcap, err := Trace(t.Context(), r.dir, Query{MAC: string(lost)})
	if err != nil || !bytes.Contains(pcap, []byte("PXEClient:Arch:00007")) {
		t.Errorf("a stranger's packets: %v", err)
	}
	if pcap, err = Trace(t.Context(), r.dir, Query{Entry: "m1"}); err != nil || bytes.Count(pcap, []byte("Client:Arch:000")) != 2 {
		t.Errorf("a machine's packets: %v", err)
	}
}

func TestNobody(t *testing.T) {
	r := newRig(t, nil)
	cases := map[string]struct {
		reason string
		q      Query
		says   string
	}{
		"Nothing":       {"who is meant?", Query{}, "name a machine"},
		"MAC":           {"no MAC", Query{MAC: "52:54"}, `MAC "52:54" is malformed`},
		"Unknown":       {"nobody's, and nobody's is like it", Query{MAC: "aa:bb:cc:dd:ee:00"}, "no machine has MAC aa:bb:cc:dd:ee:00: no BootEntry that is served here names it (the log has what is wrong with others), and it gets silence"},
		"Nearest":       {"a digit is wrong", Query{MAC: "52:54:00:00:00:12"}, "the nearest is 52:54:00:00:00:02 of BootEntry lab/m2"},
		"IP":            {"no address", Query{IP: "ten"}, "isn't an IP address"},
		"UnknownIP":     {"nobody's", Query{IP: "10.77.0.99"}, "no machine that is served here has address 10.77.0.99"},
		"UnknownEntry":  {"no such entry", Query{Entry: "lab/zzz"}, "no BootEntry \"lab/zzz\" is served here"},
		"EntryLikeIt":   {"in another namespace", Query{Entry: "prod/m1"}, "there is lab/m1"},
		"NoSuchMachine": {"of firmware", Query{Entry: "m1", Firmware: "vax"}, "firmware is bios, raspberry-pi, uefi-arm64, uefi-http-arm64, uefi-http-x64, uefi-x64, not"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Explain(t.Context(), r.dir, tc.q)
			if err == nil || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
	if _, err := Trace(t.Context(), r.dir, Query{Entry: "m1"}); err == nil || !strings.Contains(err.Error(), "no packet of lab/m1 is kept") {
		t.Error(err)
	}
	r.state = nil
	if _, err := Explain(t.Context(), r.dir, Query{Entry: "m1"}); err == nil || !strings.Contains(err.Error(), "doesn't know any machine yet") {
		t.Error(err)
	}
}

func TestSocket(t *testing.T) {
	dir := t.TempDir()
	if _, err := Explain(t.Context(), dir, Query{Entry: "m1"}); err == nil || !strings.Contains(err.Error(), "no bootd runs with state folder") || strings.Contains(err.Error(), "http://") {
		t.Error(err)
	}
	deep := filepath.Join(dir, strings.Repeat("deep", 40))
	if err := os.Mkdir(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{dir, deep} {
		path := filepath.Join(folder, socketName)
		if err := os.WriteFile(path, nil, 0o644); err != nil { //nolint:gosec // What an earlier life may have left.
			t.Fatal(err)
		}
		l, err := Listen(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		if i, err := os.Stat(path); err != nil || i.Mode().Perm() != 0o600 || i.Mode().Type() != os.ModeSocket {
			t.Errorf("%v, %v", i, err)
		}
		accepted := make(chan error, 1)
		go func() {
			c, err := l.Accept()
			if err == nil {
				err = c.Close()
			}
			accepted <- err
		}()
		c, err := dial(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
		if err := <-accepted; err != nil {
			t.Error(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket is left behind: %v", err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a closed listener: %v", err)
		}
	}
	for uid, want := range map[uint32]bool{0: true, 1000: true, 1001: false} {
		if admitted(uid, 1000) != want {
			t.Errorf("user %d", uid)
		}
	}
}
