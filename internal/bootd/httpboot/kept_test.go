package httpboot

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

// TestKeptTexts: a text that's kept is what would be rendered, whatever changes between two requests.
func TestKeptTexts(t *testing.T) {
	s := &Server{anyToken: anyToken()}
	token := func(c string) string { return strings.Repeat(c, boot.TokenLength) }
	live := boot.Decision{Answer: boot.AnswerLive, Reason: boot.DecidedLive}
	disk := boot.Decision{Answer: boot.AnswerLocalDisk, Reason: boot.DecidedInstalled}
	cases := map[string]struct {
		reason string
		change func(*ipxe.Input)
	}{
		"Again":     {reason: "nothing changes"},
		"Token":     {reason: "each boot has its token, everywhere", change: func(in *ipxe.Input) { in.Token = token("b") }},
		"Firmware":  {reason: "a machine may come by another firmware", change: func(in *ipxe.Input) { in.Firmware.Kind = boot.FirmwareUEFI }},
		"Base":      {reason: "or by another address of ours", change: func(in *ipxe.Input) { in.Base = "http://10.0.0.2:80" }},
		"Installer": {reason: "its installer may be told another", change: func(in *ipxe.Input) { in.Installer = "https://b" }},
		"NoAddress": {reason: "another server may give its address", change: func(in *ipxe.Input) { in.NoAddress = true }},
		"Six":       {reason: "and so may the family that it came over", change: func(in *ipxe.Input) { in.Six = true }},
		"Wait":      {reason: "it may wait for longer", change: func(in *ipxe.Input) { in.Wait = time.Minute }},
		"Disk":      {reason: "its answer may be another", change: func(in *ipxe.Input) { in.Decision, in.Token = disk, "" }},
		"Hold":      {reason: "or that it waits", change: func(in *ipxe.Input) { in.Decision, in.Token = gate.Hold("x").Decision, "" }},
		"Told":      {reason: "what it's told of its image may be another plan", change: func(in *ipxe.Input) { p := *in.Plan; p.Hostname, in.Plan = "other", &p }},
	}
	for name, tc := range cases {
		r := newRig(t, func(r *rig) { r.plan.Mode, r.plan.Method, r.plan.Hostname = boot.ModeLive, boot.MethodKernel, "web" })
		r.plan.Network.Six = &boot.Place{Address: netip.MustParsePrefix("fd00::11/64")}
		c := gate.Caller{Plan: &r.plan, Memo: &gate.Memo{}}
		first := ipxe.Input{
			Plan: c.Plan, Decision: live, Firmware: boot.Firmware{Kind: boot.FirmwareBIOS, Arch: boot.AMD64}, Base: "http://10.0.0.1:80", Token: token("a"),
		}
		second := first
		if tc.change != nil {
			tc.change(&second)
		}
		for _, in := range []ipxe.Input{first, second, first} {
			want, err := ipxe.Render(in)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.render(c, in)
			if err != nil {
				t.Fatal(err)
			}
			if got.Len() != len(want) {
				t.Errorf("%s: it's said to have %d bytes, and has %d", tc.reason, got.Len(), len(want))
			}
			if diff := cmp.Diff(want, got.String()); diff != "" {
				t.Errorf("%s: %s\n-want +got:\n%s", name, tc.reason, diff)
			}
		}
	}
}

// TestNotKept: what is too long to be kept, or has its token too often, is as it's rendered all the same.
func TestNotKept(t *testing.T) {
	s := &Server{anyToken: anyToken()}
	cases := map[string]struct {
		reason string
		change func(*boot.Plan)
	}{
		"Initrds": {"each initrd's URL has the token", func(p *boot.Plan) {
			for i := range 2 * maxTokens {
				p.Artifacts[0].Initrds = append(p.Artifacts[0].Initrds, boot.Artifact{URL: "http://x/i", Digest: "sha256:" + strconv.Itoa(i)})
			}
		}},
		"Long": {"a command line may be long", func(p *boot.Plan) { p.CommandLine = []string{"a=" + strings.Repeat("b", 1400)} }},
	}
	for name, tc := range cases {
		r := newRig(t, func(r *rig) { r.plan.Mode, r.plan.Method = boot.ModeLive, boot.MethodKernel; tc.change(&r.plan) })
		c := gate.Caller{Plan: &r.plan, Memo: &gate.Memo{}}
		for _, token := range []string{"a", "b"} {
			in := ipxe.Input{
				Plan: c.Plan, Decision: boot.Decision{Answer: boot.AnswerLive, Reason: boot.DecidedLive}, Firmware: boot.Firmware{Kind: boot.FirmwareBIOS, Arch: boot.AMD64},
				Base: "http://10.0.0.1:80", Token: strings.Repeat(token, boot.TokenLength),
			}
			want, err := ipxe.Render(in)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.render(c, in)
			if err != nil || got.String() != want || got.Len() != len(want) {
				t.Errorf("%s: %s: %d bytes, want %d; %v", name, tc.reason, got.Len(), len(want), err)
			}
		}
		if c.Memo.Text.Load() != nil {
			t.Errorf("%s: it's kept", name)
		}
	}
}

// TestScriptPaths: the way in front of http.ServeMux is for what that would take for a script, and for nothing else.
func TestScriptPaths(t *testing.T) {
	mux := http.NewServeMux()
	token := ""
	mux.HandleFunc(routeScript, func(_ http.ResponseWriter, r *http.Request) { token = r.PathValue("token") })
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodOptions} {
		for _, path := range []string{
			"/v1/boot/abc/script.ipxe", "/v1/boot//script.ipxe", "/v1/boot/a/b/script.ipxe", "/v1/boot/script.ipxe", "/v1/boot/abc/script.ipxe/",
			"/v1/boot/abc/image", "/v1/firmware/abc/script.ipxe", "/v1/boot/abc/script.ipxe?arch=0&held", "/v1/boot/a%2Fb/script.ipxe", "/v1/boot/..%2f/script.ipxe",
		} {
			r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
			got, ok := scriptToken(r)
			token = ""
			mux.ServeHTTP(httptest.NewRecorder(), r)
			if ok && got != token || !ok && token != "" && r.URL.RawPath == "" {
				t.Errorf("%s %s: token %q, %t; http.ServeMux reads %q", method, path, got, ok, token)
			}
		}
	}
}

// FuzzPlainPath: what's taken as it stands is what cleaning would leave.
func FuzzPlainPath(f *testing.F) {
	for _, p := range []string{"/", "/a", "//a", "/a/./b", "/a/../b", "/a//", "/.a", "/a/.", "/%2e/b", "/ü", "*"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		u, err := url.ParseRequestURI(p)
		if err != nil || !plainPath(u) {
			return
		}
		if clean, ok := cleanPath(u.EscapedPath()); !ok || clean != u.EscapedPath() {
			t.Errorf("%q is %q when it's clean, %t", u.EscapedPath(), clean, ok)
		}
	})
}

// deadlines is a connection that remembers the deadlines it was set.
type deadlines struct {
	net.Conn

	set []time.Time
}

func (d *deadlines) SetWriteDeadline(t time.Time) error { d.set = append(d.set, t); return nil }

// TestDeadlinesMoveWhenTheyMatter: one that's as good as the one before costs no call, and none is ever later or much earlier than asked.
func TestDeadlinesMoveWhenTheyMatter(t *testing.T) {
	now := time.Now()
	cases := map[string]struct {
		reason string
		asked  []time.Duration
		set    int
	}{
		"Same":    {reason: "the same once more", asked: []time.Duration{time.Minute, time.Minute + time.Millisecond}, set: 1},
		"Second":  {reason: "a second later matters to a minute", asked: []time.Duration{time.Minute, 61 * time.Second}, set: 2},
		"Earlier": {reason: "an earlier one always counts", asked: []time.Duration{time.Minute, time.Minute - time.Millisecond}, set: 2},
		"Short":   {reason: "what matters to a short one is less", asked: []time.Duration{time.Second, time.Second + 20*time.Millisecond}, set: 2},
		"Past":    {reason: "one that's over is replaced", asked: []time.Duration{-time.Second, -time.Second + time.Millisecond}, set: 2},
	}
	for name, tc := range cases {
		d := &deadlines{}
		c := &counted{Conn: d}
		for _, at := range tc.asked {
			_ = c.SetWriteDeadline(now.Add(at))
		}
		if len(d.set) != tc.set {
			t.Errorf("%s: %s\nset %d times, want %d", name, tc.reason, len(d.set), tc.set)
		}
	}
	d := &deadlines{}
	c := &counted{Conn: d}
	for _, at := range []time.Time{now.Add(time.Minute), {}, now.Add(time.Minute)} {
		_ = c.SetWriteDeadline(at)
	}
	if len(d.set) != 3 {
		t.Errorf("set %d times: none at all is another deadline", len(d.set))
	}
}
