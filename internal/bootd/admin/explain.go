package admin

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

const (
	// silence is the answer of who gets none.
	silence = "silence"
	// shownToken stands in the place of a script token, and unknownBase in that of this bootd's address where no answer says it.
	shownToken  = "SCRIPT-TOKEN"
	unknownBase = "http://BOOTD"
	// filesPatience is how long a foretold script waits for files that are on their way.
	filesPatience = 500 * time.Millisecond
	// minted is how long a token is good that nobody gets.
	minted = time.Minute
)

// firmwares are what may be asked about, by the names that people give them.
func firmwares() map[string][]dhcp.Guise {
	return map[string][]dhcp.Guise{
		"bios":            {{Client: dhcp.ClientPXE, Arch: dhcp.ArchBIOS}, {Client: dhcp.ClientIPXE, Arch: dhcp.ArchBIOS}},
		"uefi-x64":        {{Client: dhcp.ClientPXE, Arch: dhcp.ArchUEFIAMD64}, {Client: dhcp.ClientIPXE, Arch: dhcp.ArchUEFIAMD64}},
		"uefi-http-x64":   {{Client: dhcp.ClientHTTP, Arch: dhcp.ArchUEFIHTTPAMD64}, {Client: dhcp.ClientIPXE, Arch: dhcp.ArchUEFIAMD64}},
		"uefi-arm64":      {{Client: dhcp.ClientPXE, Arch: dhcp.ArchUEFIARM64}, {Client: dhcp.ClientIPXE, Arch: dhcp.ArchUEFIARM64}},
		"raspberry-pi":    {{Client: dhcp.ClientPi, Arch: dhcp.ArchBIOS}},
		"uefi-http-arm64": {{Client: dhcp.ClientHTTP, Arch: dhcp.ArchUEFIHTTPARM64}, {Client: dhcp.ClientIPXE, Arch: dhcp.ArchUEFIARM64}},
	}
}

// guises that a machine may ask in, over one family: those of one firmware, or of all that its plan has files for; its system's is the last one.
func guises(p *boot.Plan, firmware string, six bool) (all []dhcp.Guise) {
	names := []string{firmware}
	if firmware == "" {
		names = nil
		if _, ok := p.For(boot.AMD64); ok || len(p.Artifacts) == 0 {
			names = append(names, "bios", "uefi-x64", "uefi-http-x64")
			if six {
				names = names[1:] // No BIOS has a ROM that speaks IPv6, but an iPXE.
			}
		}
		if f, ok := p.For(boot.ARM64); ok {
			names = append(names, "uefi-arm64", "uefi-http-arm64")
			if f.RaspberryPi != nil && !six {
				names = append(names, "raspberry-pi")
			}
		}
	}
	for _, n := range names {
		for _, g := range firmwares()[n] {
			if !slices.Contains(all, g) {
				all = append(all, g)
			}
		}
	}
	return append(all, dhcp.Guise{Client: dhcp.ClientOS})
}

// explain says what a machine would get. mac is the NIC that is asked about.
func (h *handler) explain(ctx context.Context, p *boot.Plan, mac boot.MAC, firmware string) (Explanation, error) {
	v := h.o.View()
	e := Explanation{
		At: v.Now, Server: h.o.Name, NotServed: h.o.NotServed, Machine: machineOf(p), Session: h.session(v.State, p), LastAsked: h.lastAsked(v, p),
	}
	if h.o.Why != nil {
		e.Held = h.o.Why(p)
	}
	if mac, ok := holderOf(v, p); ok {
		e.Machine.BehindPort = string(mac)
	}
	e.Stopping = h.o.Stopping != nil && h.o.Stopping(mac)
	if h.o.Turn != nil {
		if d := h.o.Turn(mac); d > 0 {
			e.OffersAfter = d.String()
		}
	}
	g, _ := v.State.Segment(p.Network.Name)
	for _, six := range familiesOf(p) {
		for _, as := range guises(p, firmware, six) {
			if err := h.asking(ctx, &e, asker{v, g, p, mac, as, six}); err != nil {
				return e, err
			}
		}
	}
	e.WaitsFor = waitsFor(&e)
	return e, nil
}

// exchange says what a request would get.
func (h *handler) exchange(v dhcp.View, request []byte, in dhcp.Ingress, via string) (Exchange, dhcp.Answer, error) {
	a, as, err := dhcp.Foresee(v, request, in)
	if err != nil {
		return Exchange{}, a, err //nolint:wrapcheck // It says what is wrong.
	}
	x := Exchange{As: as.String(), Via: via, Answer: silence, Reason: string(a.Reason), Because: becauseDHCP(a.Reason)}
	if a.Packet == nil {
		return x, a, nil
	}
	m := &wire.Message{}
	if err := m.Read(a.Packet); err != nil {
		return x, a, fmt.Errorf("cannot read what bootd would answer: %w", err)
	}
	x.Answer, x.To = m.Type().String(), a.To.String()
	if y := m.Yours(); y.IsValid() {
		x.Address = y.String()
	}
	file := m.BootFile()
	x.File = shown(file)
	if _, _, name, ok := ipxe.LoaderOf(file); ok {
		file = name
	}
	if as.Client == dhcp.ClientPXE && file != "" {
		x.TFTP = h.file(file)
	}
	return x, a, nil
}

// file says what TFTP has under a name.
func (h *handler) file(name string) string {
	size, standIn, ok := h.o.File(name)
	switch {
	case slices.Contains(h.o.NotServed, "TFTP"):
		return "which isn't loaded from here: TFTP isn't served"
	case !ok:
		return "there's no such file"
	case standIn:
		return fmt.Sprintf("a stand-in of %d bytes, which real firmware can't boot: see --tftp-dir", size)
	}
	return fmt.Sprintf("%d bytes", size)
}

// shown is a boot file without the token in it.
func shown(file string) string {
	if token, _, _, ok := ipxe.LoaderOf(file); ok {
		return strings.Replace(file, token, shownToken, 1)
	}
	base, rest, ok := strings.Cut(file, ipxe.PathBoot)
	if !ok {
		return file
	}
	_, rest, _ = strings.Cut(rest, "/")
	return base + ipxe.PathBoot + shownToken + "/" + rest
}

// baseOf is where an iPXE that got this answer reaches bootd.
func baseOf(a dhcp.Answer) string {
	m := &wire.Message{}
	if a.Packet == nil || m.Read(a.Packet) != nil {
		return unknownBase
	}
	base, _, ok := strings.Cut(m.BootFile(), ipxe.PathBoot)
	if !ok {
		return unknownBase
	}
	return base
}

// script says what iPXE would be told, or grub, or a Raspberry Pi. It has a token of its own, which goes nowhere: a token of a DHCP exchange says nothing more.
func (h *handler) script(ctx context.Context, by asker, base string,
	ask func(ctx context.Context, token, base string, arch uint16) (gate.Answer, string, error),
) (Script, error) {
	v, p, as := by.v, by.p, by.as
	s := Script{As: as.String()}
	token := ""
	if len(v.Keys) > 0 {
		nonce := p.Port.Mark(boot.Stamped(boot.DerivedNonce(v.Keys[0], "explain", p.EntryUID), v.Now), !by.six) // Over IPv6 nobody says a port.
		c := boot.Claims{Kind: boot.TokenScript, Entry: boot.KeyOf(p.EntryUID), Nonce: nonce, Expires: v.Now.Add(minted)}
		if x, ok := v.State.Sessions[p.EntryUID]; ok && x.Grant != nil {
			c.GrantID = x.Grant.ID
		}
		var err error
		if token, err = boot.Mint(v.Keys[0], c); err != nil {
			return s, fmt.Errorf("cannot ask for the script: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, filesPatience)
	defer cancel()
	a, text, err := ask(ctx, token, base, as.Arch)
	if err != nil {
		return s, fmt.Errorf("cannot make the script: %w", err)
	}
	s.Answer, s.Reason, s.Because, s.Message, s.Text = string(a.Answer), a.Reason, becauseScript(a.Reason), a.Message, text
	return s, nil
}

// lastAsked is the last request of a machine that the trace holds, and what it would get now; nil where there's none.
func (h *handler) lastAsked(v dhcp.View, p *boot.Plan) *Exchange {
	packets := h.o.Trace.Of(macsOf(v, p)...)
	for _, x := range slices.Backward(packets) {
		if asks6(x) {
			if e, ok := h.lastAsked6(x); ok {
				return &e
			}
		}
		if !asks(x) {
			continue
		}
		in := dhcp.Ingress{From: x.From, Index: x.Index, Proxy: x.To.Port() == portProxy}
		for _, i := range h.o.Interfaces() {
			if i.Index == x.Index {
				in.Interface, in.Addresses = i.Name, i.Addresses
			}
		}
		via := "broadcast"
		if x.To.Addr() != netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
			in.To, via = x.To.Addr(), "unicast from "+x.From.Addr().String()
		}
		if in.Interface != "" {
			via += " on " + in.Interface
		}
		e, a, err := h.exchange(v, x.Data, in, via)
		if err != nil || a.Facts.Type != wire.Discover && a.Facts.Type != wire.Request {
			continue
		}
		if r := a.Facts.Relay.Address; r.IsValid() {
			e.Via = "relay " + r.String() + behind(a.Facts.Relay)
		}
		at := x.At
		e.Asked = &at
		return &e
	}
	return nil
}

// othersAnswer says whether silence is as it should be: another server gives the addresses.
func othersAnswer(r dhcp.Reason) bool {
	return r == dhcp.SilentProxied || r == dhcp.SilentNoNetboot || r == dhcp.SilentOff
}

// waitsFor says what has to happen before the machine goes on.
func waitsFor(e *Explanation) string {
	if slices.Contains(e.NotServed, "DHCP") {
		return "another bootd: this one was started without DHCP"
	}
	if e.Stopping {
		return "another bootd: this one is stopping, and leaves new boots to that"
	}
	if x := e.LastAsked; x != nil && x.Answer == silence && !othersAnswer(dhcp.Reason(x.Reason)) {
		return fmt.Sprintf("DHCP: what it asked last isn't answered (%s)%s", x.Reason, after(": ", x.Because))
	}
	answered := false
	for _, x := range e.DHCP {
		answered = answered || x.Answer != silence
	}
	if !answered && len(e.DHCP) > 0 {
		return fmt.Sprintf("DHCP: none of its requests would be answered (%s)%s", e.DHCP[0].Reason, after(": ", e.DHCP[0].Because))
	}
	for _, s := range e.Scripts {
		if s.Answer == string(boot.AnswerHold) && s.Reason != boot.DecidedNoArtifacts {
			return fmt.Sprintf("its script: hold (%s)%s", s.Reason, after(": ", cmp.Or(e.Held, s.Message, s.Because)))
		}
	}
	for _, s := range e.Scripts {
		boots := s.Answer == string(boot.AnswerInstall) || s.Answer == string(boot.AnswerLive)
		switch {
		case boots && e.LastAsked == nil:
			return "DHCP: nothing was heard of it. Is it on, plugged into this segment, and is the network first in its boot order?"
		case boots:
			return "its next boot from the network"
		}
	}
	return ""
}
