package dhcp

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// reply is the whole way of a packet: bytes in, bytes out. out is nil for silence.
func reply(v View, data []byte, in Ingress) (out []byte, a Answer) {
	var req wire.Message
	if err := req.Read(data); err != nil {
		return nil, Answer{Reason: SilentMalformed}
	}
	a = Respond(v, &req, in)
	return a.Packet, a
}

// broken lists what is wrong with an answer, whatever was asked: it holds for packets that nobody has recorded yet.
func broken(req raw, out []byte, a Answer) []string {
	var bad []string
	wrong := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	if out == nil {
		if a.Reason == "" || a.Reason == Offered || a.Reason == Acknowledged || a.Reason == Informed || a.Reason == Refused {
			wrong("silence, and the reason is %q", a.Reason)
		}
		return bad
	}
	got := raw(out)
	if a.Plan == nil && !a.Lent.IsValid() && a.Reason != Refused || a.Reason == "" || !a.To.IsValid() || a.To.Port() == 0 {
		wrong("an answer to %s without a plan, a reason or somewhere to go", a.To)
	}
	if req[0] != 1 || got[0] != 2 {
		wrong("op %d answered by op %d", req[0], got[0])
	}
	bad = append(bad, header(req, got, a.Reason)...)
	list, end, ok := got.options()
	if !ok || len(bytes.Trim(got[end+1:], "\x00")) > 0 {
		wrong("the options don't end as they should: %x", out[rawOptions:])
	}
	size := 0
	for _, o := range list {
		size += o.to - o.from
	}
	if size != end-rawOptions {
		wrong("padding stands among the options; a Raspberry Pi 4 then ignores the packet")
	}
	id, _ := req.get(61)
	relay, _ := req.get(82)
	if most := req.most() + len(id) + len(relay); len(out) < 300 || len(out) > most { // What must be given back may be long.
		wrong("%d bytes, where 300 to %d are allowed", len(out), most)
	}
	if theirs, sent := req.get(82); sent {
		if ours, _ := got.get(82); !bytes.Equal(theirs, ours) || len(list) == 0 || list[len(list)-1].code != 82 {
			wrong("option 82 is %x, not %x at the end", ours, theirs)
		}
	}
	return append(bad, content(req, got, a)...)
}

// header compares what a relay and a client know their packet by.
func header(req, got raw, why Reason) []string {
	var bad []string
	for _, f := range []struct {
		name     string
		from, to int
	}{
		{"htype, hlen and hops", 1, 4}, {"xid", 4, 8}, {"flags", rawFlags, rawCiaddr}, {"giaddr", rawGiaddr, rawChaddr},
		{"chaddr", rawChaddr, rawChaddr + int(min(req[2], 16))},
	} {
		if f.name == "flags" && why == Refused && !bytes.Equal(req[rawGiaddr:rawChaddr], make([]byte, 4)) {
			continue // A relay broadcasts a NAK.
		}
		if !bytes.Equal(req[f.from:f.to], got[f.from:f.to]) {
			bad = append(bad, fmt.Sprintf("%s was %x and is %x", f.name, req[f.from:f.to], got[f.from:f.to]))
		}
	}
	return bad
}

// content checks what the answer says.
func content(req, got raw, a Answer) []string {
	var bad []string
	p, err := dhcpv4.FromBytes(got)
	if err != nil {
		return []string{"a client can't read it: " + err.Error()}
	}
	if id := p.ServerIdentifier(); id == nil || p.MessageType() == dhcpv4.MessageTypeNone {
		bad = append(bad, "no server identifier or no message type")
	}
	if given := wire.Address(p.YourIPAddr.To4()); given.IsValid() {
		if _, wanted := a.about(); given != wanted {
			bad = append(bad, fmt.Sprintf("gave %s, planned or lent is %s", given, wanted))
		}
		if p.SubnetMask() == nil || a.Plan != nil && a.Plan.Network.Gateway.IsValid() && len(p.Router()) == 0 {
			bad = append(bad, "an address without mask or router")
		}
	}
	if a.Plan == nil && (p.BootFileName != "" || p.BootFileNameOption() != "" || p.TFTPServerName() != "" || p.ClassIdentifier() != "") {
		bad = append(bad, "a machine that nobody knows is told to boot")
	}
	if a.Reason == Proxied {
		bad = append(bad, unproxied(got)...)
	}
	class, _ := req.get(60)
	_, arch := req.get(93)
	_, own := req.get(175)
	user, _ := req.get(77)
	firmware := arch || own || bytes.Contains(user, []byte("iPXE")) ||
		bytes.HasPrefix(class, []byte("PXEClient")) || bytes.HasPrefix(class, []byte("HTTPClient"))
	if id, said := req.get(97); said && a.Facts.Client == ClientPi && len(id) == 1+machineIDSize {
		firmware = true // A Raspberry Pi's REQUEST may say no more than that.
	}
	if _, vendor := got.get(43); vendor && !firmware {
		bad = append(bad, fmt.Sprintf("option 43 to class %q: it would reconfigure a BMC", class))
	}
	if !firmware && a.Facts.Client == ClientOS && (p.BootFileName != "" || p.BootFileNameOption() != "") {
		bad = append(bad, "what isn't firmware is told to boot")
	}
	return bad
}

// unproxied lists what an answer beside another server says that is that server's to say.
func unproxied(got raw) []string {
	var bad []string
	if given := wire.Address(got[rawCiaddr+4 : rawCiaddr+8]); given.IsValid() {
		bad = append(bad, "gave "+given.String()+" beside another server")
	}
	if kind, _ := got.get(53); len(kind) != 1 || kind[0] != 2 && kind[0] != 5 {
		bad = append(bad, fmt.Sprintf("neither OFFER nor ACK: %x", kind))
	}
	class, _ := got.get(60)
	if string(class) != "PXEClient" && string(class) != "HTTPClient" {
		bad = append(bad, fmt.Sprintf("class %q: a client that has an address from elsewhere drops it", class))
	}
	list, _, _ := got.options()
	for _, o := range list {
		if o.code == 175 && string(got[o.from+2:o.to]) == preferred { // The priority alone.
			continue
		}
		if !slices.Contains([]byte{43, 53, 54, 60, 61, 66, 67, 82, 97}, o.code) {
			bad = append(bad, fmt.Sprintf("option %d beside another server", o.code))
		}
	}
	return bad
}

// mutations are a packet's neighbours: cut anywhere, an option dropped, doubled, emptied, the class in other letters, octets of it at random.
func mutations(data []byte) map[string][]byte {
	p, out := raw(data), map[string][]byte{}
	for n := range data {
		if n >= rawOptions || n%16 == 0 {
			out[fmt.Sprintf("cut at %d", n)] = data[:n]
		}
	}
	for seed := range uint64(16) {
		changed, random := bytes.Clone(data), rand.New(rand.NewPCG(seed, uint64(len(data)))) //nolint:gosec // The same ones each time.
		for range 1 << (seed % 8) {
			changed[random.IntN(len(changed))] = byte(random.IntN(256)) //nolint:gosec // An octet.
		}
		out[fmt.Sprintf("random octets %d", seed)] = changed
	}
	list, end, _ := p.options()
	for _, o := range list {
		v := data[o.from+2 : o.to]
		out[fmt.Sprintf("without %d", o.code)] = p.without(o.code)
		doubled := append(append([]byte(nil), data[:end]...), data[o.from:o.to]...)
		out[fmt.Sprintf("%d twice", o.code)] = append(doubled, data[end:]...)
		out[fmt.Sprintf("%d empty", o.code)] = p.with(o.code)
		out[fmt.Sprintf("%d in capitals", o.code)] = p.with(o.code, bytes.ToUpper(v)...)
		out[fmt.Sprintf("%d with a NUL", o.code)] = p.with(o.code, append(bytes.Clone(v[:min(len(v), 254)]), 0)...)
	}
	return out
}

// TestMutations asks what nobody has recorded.
func TestMutations(t *testing.T) {
	all := situations()
	n := 0
	for _, r := range everything(t) {
		for _, name := range []string{"owner", "selected", "stranger", "relayed-82", "proxy", "proxy-4011", "lent"} {
			s := all[name]
			scene := s.of(r.data)
			for what, data := range mutations(scene.data) {
				n++
				out, a := reply(scene.view, data, scene.in)
				if len(data) < rawOptions {
					if out != nil {
						t.Fatalf("%s, %s, %s: half a header is answered", r.name, name, what)
					}
					continue
				}
				for _, bad := range broken(data, out, a) {
					t.Errorf("%s, %s, %s: %s", r.name, name, what, bad)
				}
				if s.stranger && out != nil {
					t.Errorf("%s, %s: a stranger is answered", r.name, what)
				}
			}
		}
	}
	t.Logf("\n| bootd: a packet of DHCP is cut off, or changed at random | %d | %d |", n, n)
}
