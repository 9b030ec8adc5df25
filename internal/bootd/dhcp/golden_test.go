package dhcp

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

var update = flag.Bool("update", false, "write the golden files")

// described is an answer to a packet as golden files hold it: who asked, where the answer goes, its header, and its options by
// number. Their order on the wire isn't in it, nor what the machine said of itself.
func described(in raw, out []byte, a Answer) string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "  %s 93=%d: %s", a.Facts.Client, a.Facts.Arch, a.Reason)
	if out == nil {
		return b.String() + "\n"
	}
	_, _ = fmt.Fprintf(&b, " to %s", a.To)
	if a.From.IsValid() {
		_, _ = fmt.Fprintf(&b, " from %s", a.From)
	}
	if a.Stage != "" {
		_, _ = fmt.Fprintf(&b, ", stage %s", a.Stage)
	}
	p, err := dhcpv4.FromBytes(out)
	if err != nil {
		return b.String() + ": " + err.Error() + "\n"
	}
	_, _ = fmt.Fprintf(&b, "\n  ciaddr=%s yiaddr=%s siaddr=%s giaddr=%s flags=%#04x file=%q\n ",
		p.ClientIPAddr, p.YourIPAddr, p.ServerIPAddr, p.GatewayIPAddr, p.Flags, p.BootFileName)
	for _, code := range slices.Sorted(maps.Keys(p.Options)) {
		if said, ok := in.get(code); ok && givenBack(code) && bytes.Equal(said, p.Options[code]) {
			_, _ = fmt.Fprintf(&b, " %d=as-it-came", code)
			continue
		}
		b.WriteString(shown(code, p.Options[code]))
	}
	if _, ok := p.Options[52]; ok {
		b.WriteString("\n  in the server's name:")
		name := append(raw(bytes.Clone(out[:rawOptions])), out[rawSname:rawFile]...)
		list, _, _ := name.options()
		for _, o := range list {
			b.WriteString(shown(o.code, name[o.from+2:o.to]))
		}
	}
	return b.String() + "\n"
}

// givenBack says of which options a client has its own value back.
func givenBack(code byte) bool { return code == 61 || code == 82 || code == 97 }

func shown(code byte, v []byte) string {
	if printable(v) {
		return fmt.Sprintf(" %d=%q", code, v)
	}
	return fmt.Sprintf(" %d=%x", code, v)
}

func printable(b []byte) bool {
	return len(b) > 4 && !bytes.ContainsFunc(b, func(r rune) bool { return r < ' ' || r > '~' })
}

// blocks reads a golden file: the name of a packet, what it's answered, an empty line.
func blocks(tb testing.TB, path string) map[string]string {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		if *update {
			return map[string]string{}
		}
		tb.Fatal(err)
	}
	out := map[string]string{}
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		name, rest, _ := strings.Cut(block, "\n")
		if !strings.HasPrefix(name, "#") {
			out[name] = strings.TrimRight(rest, "\n") + "\n"
		}
	}
	return out
}

// golden compares the answers to some packets with those that are committed.
func golden(t *testing.T, list []recording) {
	t.Helper()
	for name, s := range situations() {
		path := filepath.Join("testdata", "golden", name+".txt")
		want, got := blocks(t, path), map[string]string{}
		kept := maps.Clone(want)
		for _, r := range list {
			scene := s.of(r.data)
			out, a := reply(scene.view, scene.data, scene.in)
			for _, bad := range broken(scene.data, out, a) {
				t.Errorf("%s (%s), %s: %s", name, s.reason, r.name, bad)
			}
			if s.stranger && out != nil {
				t.Errorf("%s: a stranger is answered: %s", name, r.name)
			}
			got[r.name] = described(scene.data, out, a)
			kept[r.name] = got[r.name]
			if *update {
				continue
			}
			if diff := cmp.Diff(want[r.name], got[r.name]); diff != "" {
				t.Errorf("%s (%s), %s (-want +got; -update writes it):\n%s", name, s.reason, r.name, diff)
			}
		}
		if *update {
			write(t, path, s.reason, kept)
		}
	}
}

// write keeps the blocks of packets that aren't here.
func write(tb testing.TB, path, reason string, all map[string]string) {
	tb.Helper()
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "# %s\n", reason)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		_, _ = fmt.Fprintf(&b, "\n%s\n%s", name, all[name])
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// TestGolden answers what firmware under QEMU really sent, in each situation.
func TestGolden(t *testing.T) { golden(t, recordings(t)) }

// TestGoldenOthers does so with packets of real machines, relays and BMCs, which aren't ours to give away.
func TestGoldenOthers(t *testing.T) { golden(t, others(t)) }

// TestOtherRecordings holds what else there is to the rules that every answer keeps.
func TestOtherRecordings(t *testing.T) {
	list := recorded(t, filepath.SplitList(os.Getenv("DHCP_RECORDINGS"))...)
	if len(list) == 0 {
		t.Skip("more recordings: DHCP_RECORDINGS names none, as ../shared/testdata has none of them")
	}
	for name, s := range situations() {
		for _, r := range list {
			scene := s.of(r.data)
			out, a := reply(scene.view, scene.data, scene.in)
			if s.stranger && out != nil {
				t.Errorf("%s: a stranger is answered: %s", name, r.name)
			}
			for _, bad := range broken(scene.data, out, a) {
				t.Errorf("%s (%s), %s: %s", name, s.reason, r.name, bad)
			}
		}
	}
}
