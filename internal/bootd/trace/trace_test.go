package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	ours  = boot.MAC("52:54:00:00:00:01")
	other = boot.MAC("52:54:00:00:00:02")
)

func start() time.Time { return time.Date(2026, 8, 1, 10, 0, 0, 123456000, time.UTC) }

func request(at time.Time, data string) Packet {
	return Packet{
		At: at, From: netip.MustParseAddrPort("0.0.0.0:68"), To: netip.MustParseAddrPort("255.255.255.255:67"), Index: 3, Data: []byte(data),
	}
}

func answer(at time.Time, data string) Packet {
	return Packet{
		At: at, From: netip.MustParseAddrPort("10.0.0.1:67"), To: netip.MustParseAddrPort("10.0.0.11:68"), Sent: true, Data: []byte(data),
	}
}

// texts of packets.
func texts(ps []Packet) (out []string) {
	for _, p := range ps {
		out = append(out, string(p.Data))
	}
	return out
}

func TestRingGivesWhatItWasGiven(t *testing.T) {
	r := New(DefaultBytes)
	r.Add(ours, true, request(start(), "discover"), answer(start().Add(time.Millisecond), "offer"))
	r.Add(other, true, request(start(), "another"), Packet{})
	r.Add(ours, true, request(start().Add(time.Second), "request"), Packet{})
	got := r.Of(ours)
	if s := strings.Join(texts(got), " "); s != "discover offer request" {
		t.Fatal(s)
	}
	want := request(start(), "discover")
	if g := got[0]; !g.At.Equal(want.At) || g.From != want.From || g.To != want.To || g.Index != 3 || g.Sent || g.Size != 8 {
		t.Errorf("%+v", g)
	}
	if !got[1].Sent {
		t.Error("the answer is ours")
	}
	if s := strings.Join(texts(r.Of(ours, other)), " "); s != "discover another offer request" && s != "another discover offer request" {
		t.Errorf("of two NICs: %s", s)
	}
	if n, b := r.Machines(); n != 2 || b != 2*perMachine {
		t.Errorf("%d machines, %d bytes", n, b)
	}
	var none *Ring
	none.Add(ours, true, request(start(), "x"), Packet{})
	if New(0) != nil || none.Of(ours) != nil {
		t.Error("a ring of nothing keeps nothing")
	}
}

// TestRingIsBounded: in machines, in bytes, in packets, whatever comes; and who is known keeps its place whoever shouts.
func TestRingIsBounded(t *testing.T) {
	const machines = 8
	r := New(machines * perMachine)
	r.Add(ours, true, request(start(), "mine"), Packet{})
	for i := range 10_000 {
		mac := boot.MAC(fmt.Sprintf("02:00:00:00:%02x:%02x", i>>8, i&255))
		r.Add(mac, false, request(start(), strings.Repeat("shout", 400)), Packet{})
	}
	if len(r.Of(ours)) != 1 {
		t.Error("strangers took a known machine's place")
	}
	if n, b := r.Machines(); n != 1+strangers || b != perMachine+strangers*perStranger {
		t.Errorf("%d machines, %d bytes", n, b)
	}
	for i := range machines {
		r.Add(boot.MAC(fmt.Sprintf("52:54:00:00:01:%02x", i)), true, request(start(), "known"), Packet{})
	}
	if len(r.Of(ours)) != 0 {
		t.Error("who was silent for longest goes first")
	}
	if n, _ := r.Machines(); n != machines+strangers {
		t.Errorf("%d machines", n)
	}
	for i := range 5000 {
		r.Add(other, true, request(start().Add(time.Duration(i)), strings.Repeat("x", i%2000)), answer(start().Add(time.Duration(i)), "a"))
	}
	got := r.Of(other)
	total := 0
	for i, p := range got {
		total += header(0) + len(p.Data)
		if (p.Size > longest) != (p.Size > len(p.Data)) || i > 0 && p.At.Before(got[i-1].At) {
			t.Fatalf("packet %d: %d octets of %d", i, len(p.Data), p.Size)
		}
	}
	if len(got) == 0 || len(got) > maxCount || total > perMachine {
		t.Errorf("%d packets of %d bytes", len(got), total)
	}
	if last := got[len(got)-1]; !last.Sent || string(last.Data) != "a" {
		t.Error("the newest stays")
	}
	for i := range 1000 {
		r.Add(ours, true, request(start(), fmt.Sprint(i)), Packet{})
	}
	if got := r.Of(ours); len(got) > maxCount || string(got[len(got)-1].Data) != "999" {
		t.Errorf("%d short packets", len(got))
	}
}

// TestOrderOfMachines: the list in which machines are heard holds together, whatever the order.
func TestOrderOfMachines(t *testing.T) {
	r := New(4 * perMachine)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // A test's.
	var heard []boot.MAC
	for range 2000 {
		mac := boot.MAC(fmt.Sprintf("52:54:00:00:00:%02x", random.IntN(9)))
		r.Add(mac, true, request(start(), "x"), Packet{})
		heard = append(heard, mac)
		kept := map[boot.MAC]bool{}
		for i := len(heard) - 1; i >= 0 && len(kept) < 4; i-- {
			kept[heard[i]] = true
		}
		n := 0
		for b := r.known.newest; b != nil; b = b.older {
			if !kept[b.mac] || r.known.of[b.mac] != b {
				t.Fatalf("%s is kept, and wasn't heard lately", b.mac)
			}
			n++
		}
		if n != len(kept) || n != len(r.known.of) {
			t.Fatalf("%d of %d are in the list", n, len(kept))
		}
	}
}

// TestNoToken: wherever a token stands in a packet, and whatever is around it, it isn't kept.
func TestNoToken(t *testing.T) {
	key, random := []byte("key"), rand.New(rand.NewPCG(3, 4)) //nolint:gosec // A test's.
	for i := range 3000 {
		token, err := boot.Mint(key, boot.Claims{
			Kind: boot.TokenScript, Entry: boot.KeyOf(fmt.Sprint(i)), Nonce: fmt.Sprintf("%016x", i), Expires: start().Add(time.Hour),
		})
		if err != nil || len(token) != boot.TokenLength {
			t.Fatal(token, err)
		}
		data := strings.Repeat("\x00", random.IntN(400)) + "/v1/boot/" + token + "/script.ipxe?arch=7" + strings.Repeat("\xff", random.IntN(100))
		r := New(DefaultBytes)
		r.Add(ours, true, request(start(), data), Packet{})
		kept := r.Of(ours)[0].Data
		if bytes.Contains(kept, []byte(token)) || bytes.Contains(kept, []byte(token[:20])) || bytes.Contains(kept, []byte(token[46:])) {
			t.Fatalf("a token was kept: %q", kept)
		}
		if len(kept) != len(data) || !bytes.Contains(kept, []byte("/v1/boot/***")) || !bytes.Contains(kept, []byte("*/script.ipxe?arch=7")) {
			t.Fatalf("what is around it isn't: %q", kept)
		}
	}
	b := []byte("snponly.efi")
	Mask(b)
	if string(b) != "snponly.efi" {
		t.Errorf("%q", b)
	}
}

func FuzzMask(f *testing.F) {
	f.Add([]byte(strings.Repeat("A", 70)), 3)
	f.Fuzz(func(t *testing.T, data []byte, at int) {
		token := strings.Repeat("aB3-_x", 11)
		at = min(max(at, 0), len(data))
		b := append(append(append([]byte{}, data[:at]...), token...), data[at:]...)
		Mask(b)
		if len(b) != len(data)+len(token) {
			t.Fatal("a packet keeps its length")
		}
		run := 0
		for _, c := range b {
			run++
			if !inToken(c) {
				run = 0
			}
			if run >= boot.TokenLength {
				t.Fatalf("a token is left: %q", b)
			}
		}
	})
}

// TestPCAP: another library reads what was written, headers and all, and tcpdump where there is one.
func TestPCAP(t *testing.T) {
	r := New(DefaultBytes)
	r.Add(ours, true, request(start(), strings.Repeat("d", 300)), answer(start().Add(time.Millisecond), strings.Repeat("o", 2000)))
	var file bytes.Buffer
	if err := WritePCAP(&file, ours, r.Of(ours)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "boot.pcap")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := pcapgo.NewReader(&file)
	if err != nil || reader.LinkType() != layers.LinkTypeEthernet {
		t.Fatal(err)
	}
	wants := []struct {
		from, to   string
		ports      string
		kept, size int
	}{
		{"52:54:00:00:00:01", "ff:ff:ff:ff:ff:ff", "0.0.0.0:68 255.255.255.255:67", 300, 342},
		{"02:00:00:00:00:01", "52:54:00:00:00:01", "10.0.0.1:67 10.0.0.11:68", longest, 2042},
	}
	for i, want := range wants {
		data, info, err := reader.ReadPacketData()
		if err != nil {
			t.Fatal(err)
		}
		p := gopacket.NewPacket(data, layers.LayerTypeEthernet, gopacket.Default)
		eth, ok := p.LinkLayer().(*layers.Ethernet)
		if !ok || eth.SrcMAC.String() != want.from || eth.DstMAC.String() != want.to {
			t.Errorf("packet %d: %v", i, p)
		}
		ip, isIP := p.NetworkLayer().(*layers.IPv4)
		udp, isUDP := p.TransportLayer().(*layers.UDP)
		if !isIP || !isUDP {
			t.Fatalf("packet %d: %v", i, p)
		}
		if got := fmt.Sprintf("%s:%d %s:%d", ip.SrcIP, udp.SrcPort, ip.DstIP, udp.DstPort); got != want.ports {
			t.Errorf("packet %d is of %s", i, got)
		}
		head := data[ethernetSize : ethernetSize+ipSize]
		if checksum(head) != 0 {
			t.Errorf("packet %d: the checksum is wrong", i)
		}
		if got := len(data) - ethernetSize - ipSize - udpSize; got != want.kept || info.Length != want.size {
			t.Errorf("packet %d: %d octets are kept, of %d", i, got, info.Length)
		}
		if at := start().Add(time.Duration(i) * time.Millisecond); !info.Timestamp.Equal(at) {
			t.Errorf("packet %d: at %s", i, info.Timestamp)
		}
	}
	if _, _, err := reader.ReadPacketData(); !errors.Is(err, io.EOF) {
		t.Errorf("there's more: %v", err)
	}
	tcpdump(t, path)
}

// tcpdump is what people read it with; a machine without it has the library's word alone.
func tcpdump(t *testing.T, path string) {
	t.Helper()
	program, err := exec.LookPath("tcpdump")
	if err != nil {
		return
	}
	out, err := exec.CommandContext(t.Context(), program, "-n", "-r", path).CombinedOutput() //nolint:gosec // A file of this test.
	if err != nil || !strings.Contains(string(out), "0.0.0.0.68 > 255.255.255.255.67") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestPCAPToNowhere(t *testing.T) {
	boom := errors.New("boom")
	if err := WritePCAP(refusing{boom}, ours, nil); !errors.Is(err, boom) {
		t.Error(err)
	}
}

type refusing struct{ err error }

func (r refusing) Write([]byte) (int, error) { return 0, r.err }

func BenchmarkAdd(b *testing.B) {
	r := New(64 * perMachine)
	macs := make([]boot.MAC, 1000)
	for i := range macs {
		macs[i] = boot.MAC(fmt.Sprintf("52:54:00:00:%02x:%02x", i>>8, i&255))
		r.Add(macs[i], true, request(start(), "x"), Packet{})
	}
	in, out := request(start(), strings.Repeat("d", 300)), answer(start(), strings.Repeat("o", 400))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		r.Add(macs[i%len(macs)], true, in, out)
		i++
	}
}
