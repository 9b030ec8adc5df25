package dhcp6

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv6"
)

var update = flag.Bool("update", false, "write the golden files")

// shownAnswer is an answer as golden files hold it: who asked, where it goes, and its options by number.
func shownAnswer(tb testing.TB, a Answer, asked []byte) string {
	tb.Helper()
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "  %s %s 61=%d: %s", a.Facts.Type, a.Facts.Client, a.Facts.Arch, a.Reason)
	if a.Packet == nil {
		return b.String() + "\n"
	}
	_, _ = fmt.Fprintf(&b, " to %s", a.To)
	if a.Stage != "" {
		_, _ = fmt.Fprintf(&b, ", stage %s", a.Stage)
	}
	d, err := dhcpv6.FromBytes(a.Packet)
	if err != nil {
		tb.Fatalf("our own answer can't be read: %v", err)
	}
	if r, ok := d.(*dhcpv6.RelayMessage); ok {
		_, _ = fmt.Fprintf(&b, "\n  RELAY-REPL link=%s peer=%s", r.LinkAddr, r.PeerAddr)
	}
	m, err := d.GetInnerMessage()
	if err != nil {
		tb.Fatalf("our own answer has no message in it: %v", err)
	}
	_, _ = fmt.Fprintf(&b, "\n  %s", m.MessageType)
	for _, o := range slices.SortedFunc(slices.Values(m.Options.Options), func(a, b dhcpv6.Option) int { return int(a.Code()) - int(b.Code()) }) {
		b.WriteString(shown(o.Code(), o.ToBytes(), asked))
	}
	return b.String() + "\n"
}

// shown is one option. What a client said of itself isn't in golden files, nor are tokens.
func shown(code dhcpv6.OptionCode, v, asked []byte) string {
	if theirs := append(binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, uint16(code)), uint16(len(v))), v...); code == dhcpv6.OptionClientID && bytes.Contains(asked, theirs) { //nolint:gosec // An option.
		return fmt.Sprintf(" %d=as-it-came", code)
	}
	if code == dhcpv6.OptionBootfileURL {
		return fmt.Sprintf(" %d=%q", code, untold(string(v)))
	}
	if len(v) > 4 && !bytes.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Sprintf(" %d=%q", code, v)
	}
	return fmt.Sprintf(" %d=%x", code, v)
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

// broken says which rule an answer breaks, whatever it answers (RFC 8415 §18.3).
func broken(asked []byte, a Answer) (bad []string) {
	if a.Packet == nil {
		if a.Reason == "" || a.Stage != "" {
			bad = append(bad, fmt.Sprintf("silence, and the reason is %q, the stage %q", a.Reason, a.Stage))
		}
		return bad
	}
	if a.Plan == nil || a.To.Addr().IsMulticast() || a.To.Port() == 0 {
		bad = append(bad, fmt.Sprintf("an answer to %s without a plan or somewhere to go", a.To))
	}
	d, err := dhcpv6.FromBytes(a.Packet)
	if err != nil {
		return append(bad, err.Error())
	}
	m, err := d.GetInnerMessage()
	if err != nil {
		return append(bad, err.Error())
	}
	if m.TransactionID != dhcpv6.TransactionID(asked[1:4]) || m.Options.ServerID() == nil {
		bad = append(bad, "the number isn't the client's, or no server is named")
	}
	for _, ia := range m.Options.IANA() {
		for _, x := range ia.Options.Addresses() {
			if x.ValidLifetime > 0 && !x.IPv6Addr.Equal(net.IP(a.address().Addr().AsSlice())) {
				bad = append(bad, fmt.Sprintf("address %s isn't the machine's", x.IPv6Addr))
			}
		}
	}
	return bad
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

// golden compares the answers to some packets, in each situation, with those that are committed.
func golden(t *testing.T, list []recording) {
	t.Helper()
	for name, s := range situations() {
		path := filepath.Join("testdata", "golden", name+".txt")
		want := blocks(t, path)
		kept := maps.Clone(want)
		for _, r := range list {
			a, text := s.meets(t, r)
			for _, bad := range broken(r.data, a) {
				t.Errorf("%s (%s), %s: %s", name, s.reason, r.name, bad)
			}
			if s.stranger && a.Packet != nil {
				t.Errorf("%s: a stranger is answered: %s", name, r.name)
			}
			kept[r.name] = text
			if diff := cmp.Diff(want[r.name], text); diff != "" && !*update {
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

// TestGoldenOthers does so with what real firmware, switches and servers have sent.
func TestGoldenOthers(t *testing.T) { golden(t, others(t)) }
