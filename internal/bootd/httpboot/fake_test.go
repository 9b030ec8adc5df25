package httpboot

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// sessions is a gate.Sessions that remembers what was asked, and answers with err.
type sessions struct {
	mu      sync.Mutex
	calls   []string
	sights  []session.Sighting
	sent    int64
	logged  []boot.Consumption
	err     error
	newBoot bool
}

func (s *sessions) call(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, name)
	return s.err
}

func (s *sessions) Logged(string, string) []boot.Consumption { return s.logged }

func (s *sessions) Open(_ context.Context, _ *boot.Plan, t boot.Claims, _ boot.Exchange) error {
	return s.call("open " + t.Nonce)
}

func (s *sessions) Consume(ctx context.Context, _ *boot.Plan, t boot.Claims) error {
	return errors.Join(ctx.Err(), s.call("consume "+t.Nonce))
}

func (s *sessions) OpenAndConsume(_ context.Context, _ *boot.Plan, t boot.Claims, _ boot.Exchange) error {
	return s.call("open+consume " + t.Nonce)
}

func (s *sessions) Deliver(_ context.Context, _ *boot.Plan, t boot.Claims) error {
	return s.call("deliver " + t.Nonce)
}

func (s *sessions) Check(ctx context.Context, _ *boot.Plan, _ boot.Claims) error {
	return errors.Join(ctx.Err(), s.call("check"))
}

func (s *sessions) Unended(context.Context, *boot.Plan, boot.Claims) error {
	return s.call("unended")
}

func (s *sessions) Report(ctx context.Context, _ *boot.Plan, _ boot.Claims, installed bool, message string) (bool, error) {
	if installed {
		return true, errors.Join(ctx.Err(), s.call("installed "+message))
	}
	return true, errors.Join(ctx.Err(), s.call("failed "+message))
}

func (s *sessions) Booted(ctx context.Context, _ *boot.Plan, _ boot.Claims, message string) error {
	return errors.Join(ctx.Err(), s.call("booted "+message))
}

func (s *sessions) Sight(_ boot.Name, x session.Sighting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sights = append(s.sights, x)
}

func (s *sessions) Sent(_ boot.Name, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent += bytes
}

func (s *sessions) NewBoot(boot.Name, time.Time) bool { return s.newBoot }

// files is an Artifacts of files that are all there, unless err says otherwise.
type files struct {
	dir string
	err error
	// lost says that what was unpacked went for others.
	lost bool
	// opened and sent count what was handed out, and what is done with.
	opened, sent atomic.Int32
}

func (f *files) Await(context.Context, boot.Artifact) error { return f.err }

// DigestOf gives rawDigest for an image that is unpacked, and Open the file of that name.
func (f *files) DigestOf(a boot.Artifact) string {
	switch {
	case a.Unpack && f.lost:
		return ""
	case a.Unpack:
		return rawDigest
	}
	return a.Digest
}

func (f *files) Open(a boot.Artifact) (*os.File, func(), error) {
	if f.err != nil {
		return nil, nil, artifacts.ErrFetching
	}
	file, err := os.Open(filepath.Join(f.dir, strings.ReplaceAll(f.DigestOf(a), ":", "-")))
	f.opened.Add(1)
	return file, func() { f.sent.Add(1) }, err
}

const (
	// liveBurst is how often a machine may ask for what the API must be asked about, at once.
	liveBurst = 32

	grantID      = "00000000000000aa"
	scriptNonce  = "0000000000000001"
	kernelDigest = "sha256:aaaa"
	initrdDigest = "sha256:bbbb"
	imageDigest  = "sha256:cccc"
	rawDigest    = "sha256:dddd"
)

// rig is a server with one machine.
type rig struct {
	t        testing.TB
	plan     boot.Plan
	session  boot.Session
	sessions sessions
	files    files
	data     map[string][]byte
	dataErr  error
	synced   bool
	skewed   bool
	held     bool
	reread   func(context.Context, *boot.Plan) bool
	asks     bool
	stateNil bool
	// known is what doesn't change any more; nil: it's made anew each time.
	known    *boot.State
	starting bool
	now      time.Time
	key      []byte
	decided  []boot.Decision
	log      strings.Builder
	http     *httptest.Server
}

// newRig makes a machine with a live grant; change may make it another.
func newRig(tb testing.TB, change func(*rig)) *rig {
	tb.Helper()
	r := &rig{
		t: tb, synced: true, now: time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC), key: []byte("key"),
		files: files{dir: tb.TempDir()}, data: map[string][]byte{"user-data": []byte("#cloud-config\n{}\n")},
		plan: boot.Plan{
			Entry: boot.Name{Namespace: "team", Name: "web"}, EntryUID: "entry", HostUID: "host", MACs: []boot.MAC{"52:54:00:00:00:01"},
			Mode: boot.ModeInstall, Method: boot.MethodDiskImage, InstallGeneration: 1, Otherwise: boot.OtherwiseLocalDisk,
			UserDataFormat: "CloudInit", UserDataSecret: "data",
			Network: boot.Network{Address: netip.MustParsePrefix("10.77.0.11/24")},
			Artifacts: []boot.Artifacts{{
				Arch: boot.AMD64, Kernel: boot.Artifact{URL: "http://x/k", Digest: kernelDigest},
				Initrds: []boot.Artifact{{URL: "http://x/i", Digest: initrdDigest}},
				Image:   &boot.Image{Artifact: boot.Artifact{URL: "http://x/img", Digest: imageDigest}, Format: "Raw"},
			}},
		},
	}
	for digest, text := range map[string]string{kernelDigest: "kernel", initrdDigest: "initrd", imageDigest: "0123456789", rawDigest: "a raw disk"} {
		if err := os.WriteFile(filepath.Join(r.files.dir, strings.ReplaceAll(digest, ":", "-")), []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	r.session = boot.Session{EntryUID: "entry", Grant: &boot.Grant{
		ID: grantID, HostUID: "host", EntryUID: "entry", Generation: 1, PlanDigest: r.plan.Digest(), Expires: r.now.Add(time.Hour),
	}}
	if change != nil {
		change(r)
	}
	r.http = httptest.NewServer(New(r.options()).Handler())
	tb.Cleanup(r.http.Close)
	return r
}

func (r *rig) state() *boot.State {
	if r.stateNil || r.known != nil {
		return r.known
	}
	return boot.NewState(nil, []boot.Plan{r.plan}, []boot.Session{r.session})
}

// gate that asks some sessions.
func (r *rig) gate(s gate.Sessions) *gate.Gate {
	return gate.New(gate.Options{
		State: r.state, Keys: func() [][]byte { return [][]byte{r.key} }, Synced: func(*boot.Plan) bool { return r.synced },
		Held: func(*boot.Plan) bool { return r.held }, Reread: r.reread, Asks: func(*boot.Plan) bool { return r.asks }, Skewed: func() bool { return r.skewed },
		Sessions: s, Artifacts: &r.files, Now: func() time.Time { return r.now }, Logger: r.logger(),
	})
}

func (r *rig) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (r *rig) options() Options {
	return Options{
		State: r.state, Ready: func() bool { return !r.starting }, Gate: r.gate(&r.sessions), Sightings: &r.sessions, Artifacts: &r.files,
		Data:     func(context.Context, string) (map[string][]byte, error) { return r.data, r.dataErr },
		Firmware: func(name string) ([]byte, bool) { return []byte("ipxe"), name == "snponly.efi" },
		Base:     func(a netip.AddrPort) string { return "http://" + a.String() },
		Decided:  func(d boot.Decision) { r.decided = append(r.decided, d) },
		Served:   func(string, int) {},
		Now:      func() time.Time { return r.now },
		Logger:   r.logger(),
	}
}

func (r *rig) mint(c boot.Claims) string {
	r.t.Helper()
	if c.Entry == (boot.EntryKey{}) {
		c.Entry = boot.KeyOf("entry")
	}
	if c.Expires.IsZero() {
		c.Expires = r.now.Add(time.Hour)
	}
	s, err := boot.Mint(r.key, c)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func (r *rig) scriptToken() string {
	return r.mint(boot.Claims{Kind: boot.TokenScript, GrantID: grantID, Nonce: scriptNonce})
}

// nonce of the boot that the rig's script token begins.
func (r *rig) nonce() string { return gate.Nonce(r.key, scriptNonce, grantID, boot.AMD64) }

func (r *rig) bootToken() string {
	return r.mint(boot.Claims{Kind: boot.TokenBoot, GrantID: grantID, Nonce: r.nonce()})
}

// reply is what a machine gets.
type reply struct {
	status int
	body   string
	header http.Header
}

func (r *rig) do(method, path, body string, header ...string) reply {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.http.URL+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return reply{resp.StatusCode, string(b), resp.Header}
}

func (r *rig) script(method string) reply {
	r.t.Helper()
	return r.do(method, "/v1/boot/"+r.scriptToken()+"/script.ipxe?arch=0", "")
}
