package grubboot

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

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tftp"
)

const (
	grantID      = "00000000000000aa"
	scriptNonce  = "0000000000000001"
	kernelDigest = "sha256:aaaa"
	initrdDigest = "sha256:bbbb"
	imageDigest  = "sha256:cccc"
	rawDigest    = "sha256:dddd"
)

var errBoom = errors.New("boom")

// sessions is a gate.Sessions that remembers what was asked, and answers with err.
type sessions struct {
	calls  []string
	sights []session.Kind
	sent   int64
	err    error
}

func (s *sessions) call(name string) error {
	s.calls = append(s.calls, name)
	return s.err
}

func (s *sessions) Logged(string, string) []boot.Consumption { return nil }
func (s *sessions) Open(context.Context, *boot.Plan, boot.Claims, boot.Exchange) error {
	return s.call("open")
}
func (s *sessions) Consume(context.Context, *boot.Plan, boot.Claims) error { return s.call("consume") }
func (s *sessions) OpenAndConsume(context.Context, *boot.Plan, boot.Claims, boot.Exchange) error {
	return s.call("open+consume")
}
func (s *sessions) Deliver(context.Context, *boot.Plan, boot.Claims) error { return s.call("deliver") }
func (s *sessions) Check(context.Context, *boot.Plan, boot.Claims) error   { return s.call("check") }
func (s *sessions) Unended(context.Context, *boot.Plan, boot.Claims) error { return s.call("check") }
func (s *sessions) Booted(context.Context, *boot.Plan, boot.Claims, string) error {
	return s.call("booted")
}
func (s *sessions) NewBoot(boot.Name, time.Time) bool     { return false }
func (s *sessions) Sight(_ boot.Name, x session.Sighting) { s.sights = append(s.sights, x.Kind) }
func (s *sessions) Sent(_ boot.Name, bytes int64)         { s.sent += bytes }

func (s *sessions) Report(context.Context, *boot.Plan, boot.Claims, bool, string) (bool, error) {
	return true, s.call("report")
}

// rig is a server with one machine.
type rig struct {
	t        testing.TB
	plan     boot.Plan
	session  boot.Session
	sessions sessions
	files    files
	synced   bool
	now      time.Time
	server   *Server
}

// newRig makes a machine with a live grant; change may make it another.
func newRig(tb testing.TB, change func(*rig)) *rig {
	tb.Helper()
	r := &rig{
		t: tb, synced: true, now: time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC), files: files{dir: tb.TempDir()},
		plan: boot.Plan{
			Entry: boot.Name{Namespace: "team", Name: "web"}, EntryUID: "entry", HostUID: "host", MACs: []boot.MAC{"52:54:00:00:00:01"},
			Mode: boot.ModeInstall, Method: boot.MethodDiskImage, InstallGeneration: 1, FirstStage: boot.FirstStageShim,
			Network: boot.Network{Address: netip.MustParsePrefix("10.77.0.11/24")},
			Artifacts: []boot.Artifacts{{
				Arch: boot.AMD64, Kernel: boot.Artifact{Digest: kernelDigest}, Initrds: []boot.Artifact{{Digest: initrdDigest}},
				Image: &boot.Image{Artifact: boot.Artifact{Digest: imageDigest}},
			}},
		},
	}
	for digest, text := range map[string]string{kernelDigest: "kernel", initrdDigest: "initrd"} {
		if err := os.WriteFile(filepath.Join(r.files.dir, strings.ReplaceAll(digest, ":", "-")), []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	r.session = boot.Session{EntryUID: "entry", Grant: &boot.Grant{
		ID: grantID, HostUID: "host", EntryUID: "entry", Generation: 1, Expires: r.now.Add(time.Hour),
	}}
	if change != nil {
		change(r)
	}
	if g := r.session.Grant; g != nil && g.PlanDigest == "" {
		g.PlanDigest = r.plan.Digest()
	}
	now := func() time.Time { return r.now }
	log := slog.New(slog.DiscardHandler)
	r.server = New(Options{
		State: r.state, Sightings: &r.sessions, Artifacts: &r.files, Signed: signed(tb), Now: now, Logger: log,
		Server: func(ours netip.Addr) (netip.Addr, string) { return ours, "http://" + ours.String() + ":8480" },
		Gate: gate.New(gate.Options{
			State: r.state, Keys: func() [][]byte { return [][]byte{[]byte("key")} }, Synced: func(*boot.Plan) bool { return r.synced },
			Held: func(*boot.Plan) bool { return false }, Sessions: &r.sessions, Artifacts: &r.files, Now: now, Logger: log,
		}),
	})
	return r
}

// signed has loaders for amd64.
func signed(tb testing.TB) map[boot.Arch]tftp.Signed {
	tb.Helper()
	dir := tb.TempDir()
	for _, name := range []string{"shim/shimx64.efi.signed", "grub/x86_64-efi-signed/grubnetx64.efi.signed"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(name), 0o600)); err != nil {
			tb.Fatal(err)
		}
	}
	f, _ := tftp.Load(dir).WithSigned(dir, "")
	return f.Signed
}

func (r *rig) state() *boot.State {
	return boot.NewState(nil, []boot.Plan{r.plan}, []boot.Session{r.session})
}

func (r *rig) token(kind boot.TokenKind) string {
	r.t.Helper()
	c := boot.Claims{Kind: kind, Entry: boot.KeyOf("entry"), GrantID: grantID, Nonce: scriptNonce, Expires: r.now.Add(time.Hour)}
	if kind == boot.TokenBoot {
		c.Nonce = gate.Nonce([]byte("key"), scriptNonce, grantID, boot.AMD64)
		if r.plan.Mode == boot.ModeLive {
			c.GrantID = gate.LiveID(&r.plan)
		}
	}
	s, err := boot.Mint([]byte("key"), c)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// get is a whole file; "" and an error where it's refused, and not even asked for where nothing is there.
func (r *rig) get(name string) (text string, c tftp.Content, err error) {
	r.t.Helper()
	f, ok := r.server.Own(name, netip.Addr{}, netip.MustParseAddr("10.77.0.1"))
	if !ok {
		return "", c, tftp.ErrNotFound
	}
	if f.Machine != boot.KeyOf("entry") {
		r.t.Errorf("%q is of machine %v", name, f.Machine)
	}
	if c, err = f.Open(r.t.Context()); err != nil {
		return "", c, err
	}
	if c.File == nil {
		return string(c.Data), c, nil
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
	return string(b), c, nil
}

// TestConfig: what a grub is told is what the gate says, and done before it's told.
func TestConfig(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*rig)
		says   string
		calls  []string
		sights []session.Kind
	}{
		"Install": {"a live grant is opened", nil, "install: Granted", []string{"open"}, nil},
		"Destroys": {
			"a kernel that destroys uses the grant at once", func(r *rig) { r.plan.Method, r.plan.Artifacts[0].Image = boot.MethodKernel, nil },
			"install: Granted", []string{"open+consume"}, nil,
		},
		"Script": {
			"so does a script of a profile's own, which is given once", func(r *rig) {
				r.plan.Method, r.plan.Artifacts[0].Image, r.plan.GrubScript = boot.MethodScript, nil, "linux {{ .kernel }} {{ .commandLine }}"
			},
			"install: Granted", []string{"open+consume", "deliver"}, nil,
		},
		"NoScript": {
			"what grub can't be told uses nothing", func(r *rig) { r.plan.Method, r.plan.Script = boot.MethodScript, "reboot" },
			"hold: ScriptInvalid", nil, []session.Kind{session.SawScript},
		},
		"Refused": {"what can't be written isn't told", func(r *rig) { r.sessions.err = boot.ErrConsumed }, "hold: GrantConsumed", []string{"open"}, []session.Kind{session.SawScript}},
		"Down":    {"nor while the API is down", func(r *rig) { r.sessions.err = errBoom }, "hold: APIUnavailable", []string{"open"}, []session.Kind{session.SawScript}},
		"NoGrant": {"no grant, no install", func(r *rig) { r.session.Grant = nil }, "local disk: NoGrant", nil, []session.Kind{session.SawScript}},
		"Other":   {"the grant of another plan", func(r *rig) { r.session.Grant.PlanDigest = "sha256:other" }, "hold: StaleGrant", nil, []session.Kind{session.SawScript}},
		"Behind":  {"one that lags installs nothing", func(r *rig) { r.synced = false }, "hold: NotSynced", nil, []session.Kind{session.SawScript}},
		"Disk":    {"generation 0", func(r *rig) { r.plan.InstallGeneration = 0 }, "local disk: BootsFromDisk", nil, []session.Kind{session.SawScript}},
		"Revoked": {"a released machine", func(r *rig) { r.session.Revocation = "r" }, "hold: Revoked", nil, []session.Kind{session.SawScript}},
		"Word":    {"a word that grub can't be told opens nothing", func(r *rig) { r.plan.CommandLine = []string{"a'b"} }, "hold: ScriptInvalid", nil, []session.Kind{session.SawScript}},
		"LiveWord": {
			"nor does it leave grub without an answer", func(r *rig) {
				r.plan.Mode, r.plan.Artifacts[0].Image, r.plan.CommandLine = boot.ModeLive, nil, []string{"a'b"}
			}, "hold: ScriptInvalid", nil, []session.Kind{session.SawScript},
		},
		"NoFile": {"nor does a file that isn't here", func(r *rig) { r.files.err = errBoom }, "hold: ", nil, []session.Kind{session.SawScript}},
		"Live":   {"each time", func(r *rig) { r.plan.Mode, r.plan.Artifacts[0].Image = boot.ModeLive, nil }, "live: Live", nil, []session.Kind{session.SawScript}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.change)
			text, _, err := r.get("/" + r.token(boot.TokenScript) + "/x64/grub.cfg")
			if err != nil || !strings.Contains(text, "echo 'team/web: "+tc.says) {
				t.Errorf("%s: %v\n%s", tc.reason, err, text)
			}
			if diff := cmp.Diff(tc.calls, r.sessions.calls); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.sights, r.sessions.sights); diff != "" {
				t.Errorf("%s: sights -want +got:\n%s", tc.reason, diff)
			}
			if installs := strings.Contains(text, "linux "); installs != (strings.HasPrefix(tc.says, "install") || strings.HasPrefix(tc.says, "live")) {
				t.Errorf("%s: it boots a kernel: %t\n%s", tc.reason, installs, text)
			}
		})
	}
}

// TestConfigNamesWhatIsServed: each file of a configuration is there, under the name that it has there.
func TestConfigNamesWhatIsServed(t *testing.T) {
	r := newRig(t, nil)
	text, _, err := r.get(r.token(boot.TokenScript) + "/x64/grub.cfg")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		path, ok := strings.CutPrefix(strings.Trim(word, "';"), "(tftp,10.77.0.1)")
		if !ok {
			continue
		}
		got, c, err := r.get(path)
		if err != nil || c.First {
			t.Errorf("%q: %v", path, err)
		}
		found[got] = true
	}
	if diff := cmp.Diff(map[string]bool{"kernel": true, "initrd": true}, found); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if r.files.open != 0 {
		t.Errorf("%d files are held", r.files.open)
	}
	if diff := cmp.Diff([]session.Kind{session.SawKernel}, r.sessions.sights); diff != "" {
		t.Errorf("a kernel is a sight, and an initrd isn't: -want +got:\n%s", diff)
	}
}

// TestLoaders: the way from what DHCP names to grub, which is by itself where firmware has no use for a shim.
func TestLoaders(t *testing.T) {
	r := newRig(t, nil)
	for name, first := range map[string]bool{"shimx64.efi": true, "grubx64.efi": false, "grubx64-alone.efi": true} {
		text, c, err := r.get(ipxe.LoaderPath(r.token(boot.TokenScript), boot.AMD64, name))
		if err != nil || text == "" || c.First != first || c.Name != name {
			t.Errorf("%s: %v, %q, first %t", name, err, text, c.First)
		}
	}
}

// TestStrangers: without a token of this machine's there's nothing, and with one no more than what it's for.
func TestStrangers(t *testing.T) {
	cases := map[string]struct {
		reason string
		name   func(script, boot string) string
	}{
		"NoToken":    {"a token that isn't ours", func(_, _ string) string { return "/AAAA/x64/grub.cfg" }},
		"Kind":       {"the token of a boot asks for no configuration", func(_, b string) string { return b + "/x64/grub.cfg" }},
		"OtherKind":  {"nor a script's for files", func(s, _ string) string { return s + "/files/sha256-aaaa" }},
		"Image":      {"an image takes its grant, by HTTP alone", func(_, b string) string { return b + "/files/sha256-cccc" }},
		"Other":      {"a file of no plan", func(_, b string) string { return b + "/files/sha256-eeee" }},
		"Traversal":  {"a name is no path", func(_, b string) string { return b + "/files/../../etc/passwd" }},
		"Arch":       {"an architecture that there are no loaders for", func(s, _ string) string { return s + "/aa64/shimaa64.efi" }},
		"Folder":     {"nor this", func(s, _ string) string { return s + "/mips/grub.cfg" }},
		"Revocation": {"the shim asks for more, and does without", func(s, _ string) string { return s + "/x64/revocations_sku.efi" }},
		"Deep":       {"nor below", func(s, _ string) string { return s + "/x64/x/grub.cfg" }},
		"Empty":      {"nothing", func(_, _ string) string { return "" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			text, _, err := r.get(tc.name(r.token(boot.TokenScript), r.token(boot.TokenBoot)))
			if !errors.Is(err, tftp.ErrNotFound) || len(r.sessions.calls) > 0 {
				t.Errorf("%s: %v %q, asked %v", tc.reason, err, text, r.sessions.calls)
			}
		})
	}
}

// TestKernelThatDestroys is given to the boot alone that used the grant, and noted before its first byte.
func TestKernelThatDestroys(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   error
	}{
		"Owner":  {"it used the grant", nil, nil},
		"Other":  {"another boot did: a refusal, for good", boot.ErrConsumed, boot.ErrConsumed},
		"Unsure": {"the API is down: it asks again", errBoom, tftp.ErrLater},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig) {
				r.plan.Method, r.plan.Artifacts[0].Image, r.sessions.err = boot.MethodKernel, nil, tc.err
			})
			text, _, err := r.get(r.token(boot.TokenBoot) + "/files/sha256-aaaa")
			if !errors.Is(err, tc.want) || (text == "kernel") != (tc.want == nil) || tc.want != nil && errors.Is(err, tftp.ErrLater) != errors.Is(tc.want, tftp.ErrLater) {
				t.Errorf("%s: %v, %q", tc.reason, err, text)
			}
			if diff := cmp.Diff([]string{"deliver"}, r.sessions.calls); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if r.files.open != 0 {
				t.Errorf("%d files are held", r.files.open)
			}
		})
	}
}

// TestForesee: what would be told is told, and nothing is done for it.
func TestForesee(t *testing.T) {
	r := newRig(t, nil)
	told, _, err := r.get(r.token(boot.TokenScript) + "/x64/grub.cfg")
	if err != nil {
		t.Fatal(err)
	}
	r = newRig(t, nil)
	a, text, err := r.server.Foresee(t.Context(), r.token(boot.TokenScript), "", 7)
	if err != nil || a.Answer != boot.AnswerInstall || len(r.sessions.calls)+len(r.sessions.sights) > 0 {
		t.Errorf("%v, %v, asked %v", err, a, r.sessions.calls)
	}
	if strings.Contains(text, r.token(boot.TokenBoot)) || strings.Count(text, shownBootToken) < 4 {
		t.Errorf("it shows a token, or none:\n%s", text)
	}
	if len(strings.Split(told, "\n")) != len(strings.Split(text, "\n")) {
		t.Errorf("told is\n%s\nand foretold\n%s", told, text)
	}
	if a, text, err := r.server.Foresee(t.Context(), "x", "", 7); err != nil || a.Reason != gate.ReasonToken || text != "" {
		t.Errorf("%v, %v, %q", err, a, text)
	}
}

// TestUnknownAddress: a configuration that names no server would lead nowhere.
func TestUnknownAddress(t *testing.T) {
	r := newRig(t, nil)
	f, ok := r.server.Own(r.token(boot.TokenScript)+"/x64/grub.cfg", netip.Addr{}, netip.Addr{})
	if !ok {
		t.Fatal("it isn't known")
	}
	if _, err := f.Open(t.Context()); !errors.Is(err, tftp.ErrLater) || len(r.sessions.calls) > 0 {
		t.Errorf("%v, asked %v", err, r.sessions.calls)
	}
}

// TestGivenUp: what was given up isn't a hold, for which grub would wait and its owner look.
func TestGivenUp(t *testing.T) {
	r := newRig(t, nil)
	r.files.err = context.Canceled
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f, ok := r.server.Own(r.token(boot.TokenScript)+"/x64/grub.cfg", netip.Addr{}, netip.MustParseAddr("10.77.0.1"))
	if !ok {
		t.Fatal("it isn't known")
	}
	if _, err := f.Open(ctx); !errors.Is(err, tftp.ErrLater) || len(r.sessions.calls)+len(r.sessions.sights) > 0 {
		t.Errorf("%v, asked %v, seen %v", err, r.sessions.calls, r.sessions.sights)
	}
}
