package rpiboot

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tftp"
)

const (
	grantID = "00000000000000aa"
	piMAC   = boot.MAC("dc:a6:32:ec:fc:3c")
	serial  = "e0ff06da"
)

var (
	errBoom = errors.New("boom")
	address = netip.MustParseAddr("10.77.0.11")
	ours    = netip.MustParseAddr("10.77.0.1")
)

// machineID is what a Pi 4 says in option 97.
var machineID = []byte("RPi4\x30\x31\xc0\x00\x32\xec\xfc\x3c\xda\x06\xff\xe0")

// files is a tftp.Artifacts of a folder; a file's digest is its name.
type files struct {
	dir  string
	err  error
	open int
}

func (f *files) Await(context.Context, boot.Artifact) error { return f.err }

// DigestOf gives rawDigest for an image that is unpacked, and Open the file of that name.
func (f *files) DigestOf(a boot.Artifact) string {
	if a.Unpack {
		return rawDigest
	}
	return a.Digest
}

func (f *files) Open(a boot.Artifact) (*os.File, func(), error) {
	file, err := os.Open(filepath.Join(f.dir, strings.ReplaceAll(f.DigestOf(a), "/", "-")))
	f.open++
	return file, func() { f.open-- }, err
}

// rig is a server with one machine, and the record of its boots: by the rules of boot, as the session's manager keeps it.
type rig struct {
	t       testing.TB
	plan    boot.Plan
	session boot.Session
	// delivered says that a kernel went out which destroys, started when the firmware was last seen to start.
	delivered bool
	started   time.Time
	files     files
	synced    bool
	now       time.Time
	err       error // of what asks the API

	calls  []string
	sights []session.Kind
	last   session.Sighting
	seen   []boot.Stage
	sent   int64
	server *Server
}

const rawDigest = "sha256:dddd"

func newRig(tb testing.TB, change func(*rig)) *rig {
	tb.Helper()
	file := func(name string) boot.Artifact { return boot.Artifact{URL: "http://x/" + name, Digest: name} }
	r := &rig{t: tb, synced: true, now: time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC), files: files{dir: tb.TempDir()}}
	pi := &boot.RaspberryPi{Config: []string{"enable_uart=1"}}
	for _, name := range []string{
		"bootcode.bin", "start.elf", "fixup.dat", "start4.elf", "fixup4.dat", "bcm2710-rpi-3-b-plus.dtb", "bcm2711-rpi-4-b.dtb", "bcm2712-rpi-5-b.dtb",
		"overlays/overlay_map.dtb",
	} {
		pi.Files = append(pi.Files, boot.NamedArtifact{Name: name, Artifact: file(name)})
	}
	r.plan = boot.Plan{
		Entry: boot.Name{Namespace: "edge", Name: "pi-1"}, EntryUID: "entry", HostUID: "host", MACs: []boot.MAC{piMAC},
		Mode: boot.ModeInstall, Method: boot.MethodDiskImage, InstallGeneration: 1, UserDataFormat: boot.UserDataCloudInit,
		Network: boot.Network{Address: netip.PrefixFrom(address, 24)},
		Artifacts: []boot.Artifacts{{
			Arch: boot.ARM64, Kernel: file("kernel"), Initrds: []boot.Artifact{file("initrd")},
			Image: &boot.Image{Artifact: file("image")}, RaspberryPi: pi,
		}},
	}
	for _, x := range append(pi.Files, boot.NamedArtifact{Name: "kernel"}, boot.NamedArtifact{Name: "initrd"}) {
		if err := os.WriteFile(filepath.Join(r.files.dir, strings.ReplaceAll(x.Name, "/", "-")), []byte("this is "+x.Name), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	r.session = boot.Session{EntryUID: "entry", Grant: &boot.Grant{ID: grantID, HostUID: "host", EntryUID: "entry", Generation: 1, Expires: r.now.Add(time.Hour)}}
	if change != nil {
		change(r)
	}
	if g := r.session.Grant; g != nil && g.PlanDigest == "" {
		g.PlanDigest = r.plan.Digest()
	}
	now := func() time.Time { return r.now }
	log := slog.New(slog.DiscardHandler)
	r.server = New(Options{
		Sightings: r, Artifacts: &r.files, Now: now, Logger: log,
		Base: func(asked netip.Addr) string {
			if !asked.IsValid() {
				return ""
			}
			return "http://" + asked.String() + ":8480"
		},
		Gate: gate.New(gate.Options{
			State: r.state, Keys: keys, Synced: func(*boot.Plan) bool { return r.synced }, Held: func(*boot.Plan) bool { return false },
			Sessions: r, Artifacts: &r.files, Now: now, Logger: log,
		}),
	})
	return r
}

func keys() [][]byte { return [][]byte{[]byte("key")} }

// destroys makes its kernel one that writes the disk without asking again.
func destroys(r *rig) { r.plan.Method, r.plan.Artifacts[0].Image = boot.MethodKernel, nil }

// live makes it netboot each time.
func live(r *rig) {
	r.plan.Mode, r.plan.Method, r.plan.Artifacts[0].Image = boot.ModeLive, boot.MethodKernel, nil
}

func (r *rig) state() *boot.State {
	return boot.NewState(nil, []boot.Plan{r.plan}, []boot.Session{r.session})
}

func (r *rig) Logged(string, string) []boot.Consumption { return nil }

func (r *rig) Open(_ context.Context, _ *boot.Plan, t boot.Claims, x boot.Exchange) error {
	if r.err != nil {
		return r.err
	}
	if n := len(r.session.Opened); n > 0 && r.session.OpenedGrantID == t.GrantID && r.session.Opened[n-1].Nonce == t.Nonce {
		return nil
	}
	r.calls = append(r.calls, "open")
	var err error
	r.session, err = boot.Open(r.session, t.Nonce, x, "b", r.now)
	return err
}

func (r *rig) OpenAndConsume(ctx context.Context, p *boot.Plan, t boot.Claims, x boot.Exchange) error {
	if boot.Owns(r.session, t) == nil {
		if r.delivered {
			return boot.ErrConsumed
		}
		return nil
	}
	if err := r.Open(ctx, p, t, x); err != nil {
		return err
	}
	return r.Consume(ctx, p, t)
}

func (r *rig) Consume(_ context.Context, _ *boot.Plan, t boot.Claims) (err error) {
	r.calls = append(r.calls, "consume")
	r.session, err = boot.Consume(r.session, t, "b", r.now)
	return err
}

func (r *rig) Deliver(_ context.Context, _ *boot.Plan, t boot.Claims) error {
	r.calls = append(r.calls, "deliver")
	if err := boot.Owns(r.session, t); err != nil {
		return err
	}
	r.delivered = true
	return r.err
}
func (r *rig) Check(context.Context, *boot.Plan, boot.Claims) error          { return errBoom }
func (r *rig) Unended(context.Context, *boot.Plan, boot.Claims) error        { return errBoom }
func (r *rig) Booted(context.Context, *boot.Plan, boot.Claims, string) error { return errBoom }
func (r *rig) Report(context.Context, *boot.Plan, boot.Claims, bool, string) (bool, error) {
	return false, errBoom
}
func (r *rig) NewBoot(_ boot.Name, since time.Time) bool { return r.started.After(since) }
func (r *rig) Sight(_ boot.Name, x session.Sighting)     { r.sights, r.last = append(r.sights, x.Kind), x }
func (r *rig) Sent(_ boot.Name, bytes int64)             { r.sent += bytes }
func (r *rig) Seen(_ *boot.Plan, _ boot.MAC, s boot.Stage, _ boot.Firmware, at time.Time) {
	r.seen = append(r.seen, s)
	if s == boot.StageDHCP {
		r.started = at
	}
}

// asksDHCP is an exchange with the number that every Pi 3 has in each. A confirmed one's sighting is DHCP's own.
func (r *rig) asksDHCP(confirmed bool) {
	r.t.Helper()
	r.now = r.now.Add(time.Second)
	plan := r.plan
	token, ok := dhcp.ScriptToken(r.state(), keys(), &plan, piMAC, "0x26f30339", false, r.now)
	if !ok {
		r.t.Fatal("no token")
	}
	r.server.Began(dhcp.Pi{Plan: &plan, MAC: piMAC, MachineID: machineID, Token: token, At: r.now, Confirmed: confirmed})
	if confirmed {
		r.started = r.now
	}
	r.now = r.now.Add(time.Second)
}

// from asks for a file from an address; tftp.ErrNotFound where there's none of the name.
func (r *rig) from(client netip.Addr, name string) (string, error) {
	r.t.Helper()
	f, ok := r.server.Own(name, client, ours)
	if !ok {
		return "", tftp.ErrNotFound
	}
	if f.Machine != boot.KeyOf("entry") {
		r.t.Errorf("%q is of machine %v", name, f.Machine)
	}
	c, err := f.Open(r.t.Context())
	if err != nil {
		if c.File != nil || len(c.Data) > 0 {
			r.t.Errorf("%q: refused, and there is a file", name)
		}
		return "", err
	}
	if c.File == nil {
		return string(c.Data), nil
	}
	b, err := io.ReadAll(c.File)
	if err != nil || len(b) != c.Size {
		r.t.Errorf("%q: %d bytes, and said to be %d: %v", name, len(b), c.Size, err)
	}
	_ = c.File.Close()
	c.Done()
	if c.Arrived != nil {
		c.Arrived(int64(len(b)))
	}
	return string(b), nil
}

func (r *rig) get(name string) (string, error) { return r.from(address, name) }

// boots asks for all that a boot needs, each of it twice as firmware does, and says what came of it: the last file that was refused, and why.
func (r *rig) boots(names ...string) (refused string, err error) {
	r.t.Helper()
	for _, name := range names {
		for range 2 {
			if text, e := r.get(name); e != nil {
				refused, err = name, e
			} else if text == "" {
				r.t.Errorf("%q is empty", name)
			}
		}
	}
	return refused, err
}

// four is what a Pi 4 asks for, and finds, in its order.
func four() []string {
	return []string{
		serial + "/start4.elf", serial + "/config.txt", serial + "/fixup4.dat", serial + "/config.txt", serial + "/initrd0", serial + "/bcm2711-rpi-4-b.dtb",
		serial + "/overlays/overlay_map.dtb", serial + "/config.txt", serial + "/cmdline.txt", serial + "/kernel8.img",
	}
}
