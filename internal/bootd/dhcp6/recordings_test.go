package dhcp6

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv6"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6/wire"
)

var update = flag.Bool("update", false, "write the golden files")

// described is an answer as golden files hold it. What a machine said of itself and the tokens in URLs aren't in it.
func described(tb testing.TB, a Answer, asked []byte) string {
	tb.Helper()
	said := fmt.Sprintf("  %s 61=%d: %s", a.Facts.Client, a.Facts.Arch, a.Reason)
	if a.Packet == nil {
		return said + "\n"
	}
	said += fmt.Sprintf(" to %s", a.To)
	if a.Stage != "" {
		said += ", stage " + string(a.Stage)
	}
	m, err := dhcpv6.MessageFromBytes(a.Packet)
	if err != nil {
		tb.Fatalf("our own answer can't be read: %v", err)
	}
	said += "\n  " + m.MessageType.String()
	for _, o := range m.Options.Options {
		switch v := o.ToBytes(); {
		case len(v) >= 12 && bytes.Contains(asked, v):
			said += fmt.Sprintf(" %d=as-it-came", o.Code())
		case o.Code() == dhcpv6.OptionBootfileURL:
			said += fmt.Sprintf(" 59=%q", untold(string(v)))
		case o.Code() == dhcpv6.OptionIANA:
			ia, ok := o.(*dhcpv6.OptIANA)
			if !ok {
				tb.Fatalf("option 3 is %T", o)
			}
			said += fmt.Sprintf(" 3=%s", ia.Options.OneAddress().IPv6Addr)
		default:
			said += fmt.Sprintf(" %d=%x", o.Code(), v)
		}
	}
	return said + "\n"
}

// untold leaves a token out of a URL.
func untold(url string) string {
	head, tail, ok := strings.Cut(url, "/v1/boot/")
	if !ok {
		return url
	}
	_, tail, _ = strings.Cut(tail, "/")
	return head + "/v1/boot/TOKEN/" + tail
}

// TestRealFirmware: what each recorded packet of firmware's is answered, in each situation.
func TestRealFirmware(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "recordings.txt"))
	if err != nil {
		t.Fatal(err)
	}
	server := netip.MustParseAddr("fd00:88::3")
	cases := map[string]struct {
		reason  string
		plan    func(*boot.Plan)
		segment func(*boot.Segment)
		link    netip.Addr
	}{
		"owner":    {"a machine that's ours boots", nil, nil, testLink},
		"shim":     {"what mustn't run what's unsigned gets its address, and no file", func(p *boot.Plan) { p.FirstStage = boot.FirstStageShim }, nil, testLink},
		"off":      {"a segment that's off is silent", nil, func(g *boot.Segment) { g.Mode = boot.SegmentOff }, testLink},
		"stranger": {"whom nobody knows hears nothing", nil, nil, otherLink},
		"unproven": {"a UUID that was seen with its MAC is worth an address to a system, and to firmware nothing", nil, nil, private},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			plan := testPlan(func(p *boot.Plan) {
				p.Network.Address = netip.MustParsePrefix("fd00:88::11/64")
				if tc.plan != nil {
					tc.plan(p)
				}
			})
			v := testView(testState(func(g *boot.Segment) {
				g.Subnets = []netip.Prefix{netip.MustParsePrefix("fd00:88::/64")}
				if tc.segment != nil {
					tc.segment(g)
				}
			}, plan))
			if tc.link == private {
				v.Learnt = func([]byte) (boot.MAC, bool) { return testMAC, true }
			}
			in := onLink(tc.link)
			in.Addresses = []netip.Addr{server}
			var got strings.Builder
			for line := range strings.Lines(string(text)) {
				name, digits, ok := strings.Cut(strings.TrimSpace(line), " ")
				if !ok || name == "#" {
					continue
				}
				asked, err := hex.DecodeString(digits)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				m := &wire.Message{}
				if err := m.Read(bytes.Clone(asked)); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				got.WriteString(name + "\n" + described(t, Respond(v, m, in, nil), asked) + "\n")
			}
			golden(t, name, tc.reason, got.String())
		})
	}
}

func golden(t *testing.T, name, reason, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: -want +got:\n%s", reason, diff)
	}
}
