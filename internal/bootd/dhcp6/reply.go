package dhcp6

import (
	"encoding/hex"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6/wire"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

const (
	defaultLease = 12 * time.Hour
	// leastRefresh is how soon options may be asked for again at the earliest (IRT_MINIMUM, RFC 8415 §7.6).
	leastRefresh = 10 * time.Minute
	// maxAssociations of one kind are answered, more than any client has.
	maxAssociations = 4
	// most is the highest preference: who hears it takes this offer without waiting for others (RFC 8415 §18.2.1).
	most = 255
)

// give makes an ADVERTISE or a REPLY with everything that the machine needs.
func (e *exchange) give(t wire.Type, why dhcp.Reason) Answer {
	w := e.begin(t)
	if why == dhcp.Informed {
		w.Uint32(wire.OptionRefresh, wire.Seconds(max(e.lease(), leastRefresh)))
	} else {
		e.associations(w)
	}
	if t == wire.Advertise && !e.wantsPrefix() {
		w.Bytes(wire.OptionPreference, []byte{most})
	}
	if t == wire.Reply && e.facts.Type == wire.Solicit {
		w.Bytes(wire.OptionRapidCommit, nil)
	}
	e.network(w)
	if why := e.boot(w); why != "" {
		return e.silence(why)
	}
	return e.answer(w, why)
}

// status makes a REPLY that says how it is, and nothing else.
func (e *exchange) status(s wire.Status, why dhcp.Reason) Answer {
	w := e.begin(wire.Reply)
	w.Status(s, "")
	return e.answer(w, why)
}

// begin begins an answer with what every one has: who asks, and who we are.
func (e *exchange) begin(t wire.Type) *wire.Writer {
	w := &wire.Writer{}
	w.Begin(e.buf, t, e.req.XID, e.req.Relays)
	if len(e.facts.ID) > 0 {
		w.Bytes(wire.OptionClientID, e.facts.ID)
	}
	w.Bytes(wire.OptionServerID, e.id)
	return w
}

func (e *exchange) lease() time.Duration {
	if l := e.plan.Network.Lease; l > 0 {
		return l
	}
	return defaultLease
}

// associations gives the planned address to the first one, takes back from any what isn't planned, and says of the rest that there's
// nothing for it (RFC 8415 §18.3.2, 18.3.4 and 18.3.5).
func (e *exchange) associations(w *wire.Writer) {
	planned, n := e.planned(), 0
	for ia := range e.req.IAs() {
		n++
		if n > maxAssociations {
			break
		}
		if n > 1 {
			w.OpenIA(wire.OptionIANA, ia.ID, 0, 0)
			e.takeBack(w, ia, netip.Addr{})
			w.Status(wire.NoAddresses, "one address is planned")
			w.Close()
			continue
		}
		lease := e.lease()
		w.OpenIA(wire.OptionIANA, ia.ID, lease/2, lease*4/5) //nolint:mnd // T1 and T2 as RFC 8415 §21.4 recommends.
		w.Address(planned, lease)
		e.takeBack(w, ia, planned)
		w.Close()
	}
	e.refuseOthers(w, wire.OptionIATA, 4, wire.NoAddresses)
	e.refuseOthers(w, wire.OptionIAPD, 12, wire.NoPrefixes)
}

// takeBack says of addresses that a client has, and that aren't planned, that they're good no more. What one that asks anew would like to
// have isn't answered.
func (e *exchange) takeBack(w *wire.Writer, ia wire.IA, planned netip.Addr) {
	if e.facts.Type != wire.Renew && e.facts.Type != wire.Rebind {
		return
	}
	n := 0
	for a := range ia.Addresses() {
		n++
		if n > maxAssociations {
			return
		}
		if a != planned {
			w.Address(a, 0)
		}
	}
}

// refuseOthers says of associations of another kind, each with a header of so many octets, that there's nothing for them.
func (e *exchange) refuseOthers(w *wire.Writer, code uint16, header int, s wire.Status) {
	n := 0
	for v := range e.req.Options.All(code) {
		n++
		if n > maxAssociations || len(v) < header {
			return
		}
		w.OpenIA(code, [4]byte(v[:4]), 0, 0)
		w.Status(s, "")
		w.Close()
	}
}

// network adds what makes the address useful, as far as it's asked for. The gateway and the length of the prefix aren't DHCPv6's to say:
// routers do.
func (e *exchange) network(w *wire.Writer) {
	if e.req.Asked(wire.OptionDNS) {
		w.Addresses(wire.OptionDNS, e.place6.DNS)
	}
	if domain := e.plan.Network.Domain; domain != "" && e.req.Asked(wire.OptionDomain) {
		w.Domain(wire.OptionDomain, domain)
	}
	if e.req.Asked(wire.OptionNTP) {
		w.NTP(e.place6.NTP)
	}
	if e.req.Asked(wire.OptionSNTP) {
		w.Addresses(wire.OptionSNTP, e.place6.NTP)
	}
}

// boot adds what a network boot goes on with; a reason: then silence is better.
func (e *exchange) boot(w *wire.Writer) dhcp.Reason {
	if e.view.HTTPPort == 0 {
		return "" // What is loaded first goes on by HTTP, and would load itself over and over without.
	}
	name := e.view.Files.Unsigned(e.plan.FirstStage, e.facts.Firmware) // None with Secure Boot: shim isn't given over IPv6.
	switch e.facts.Client {
	case dhcp.ClientPXE:
		// EDK2 loads what an answer without a class names; one of class PXEClient sends it to port 4011 first.
		if name != "" && e.view.TFTP {
			w.Text(wire.OptionBootFile, "tftp://["+e.server.String()+"]/"+url.PathEscape(name))
		}
	case dhcp.ClientHTTP:
		// Firmware takes no answer for one of HTTP Boot that hasn't the class (UEFI 2.10 §24.7.3).
		if name != "" {
			w.Text(wire.OptionBootFile, ipxe.FirmwareURL(e.base(e.view.Secure.Firmware), name))
			w.Bytes(wire.OptionVendorClass, e.class())
		}
	case dhcp.ClientIPXE:
		token, ok := dhcp.ScriptToken(e.view.State, e.view.Keys, e.plan, e.mac, "dhcp6 "+hex.EncodeToString(e.req.XID[:]), false, e.view.Now)
		if !ok {
			return dhcp.SilentNoKeys
		}
		w.Text(wire.OptionBootFile, ipxe.ScriptURL(e.base(e.view.Secure.IPXE), token, e.facts.Arch))
	case dhcp.ClientOther, dhcp.ClientPi, dhcp.ClientOS: // No Raspberry Pi is told by DHCPv6 what it is.
	}
	return ""
}

// class is option 16 with HTTPClient in it, of whose number the client's has: Intel's is what UEFI sends.
func (e *exchange) class() []byte {
	const enterprise, intel = 4, "\x00\x00\x01\x57"
	b := []byte(intel)
	if v, ok := e.req.Options.Get(wire.OptionVendorClass); ok && len(v) >= enterprise {
		copy(b, v)
	}
	return append(append(b, 0, byte(len(classHTTP))), classHTTP...)
}

func (e *exchange) base(secured bool) string {
	base := "http://" + netip.AddrPortFrom(e.server, e.view.HTTPPort).String()
	if secured && e.view.Secure.Base != nil {
		return e.view.Secure.Base(base)
	}
	return base
}

// answer addresses a packet (RFC 8415 §18.3.10): to the client on its link, or to the relay, at the port it has or asks for (RFC 8357).
func (e *exchange) answer(w *wire.Writer, why dhcp.Reason) Answer {
	a := e.silence(why)
	a.Packet, a.From = w.End(), e.in.To
	a.To = netip.AddrPortFrom(e.in.From.Addr(), portClient)
	if len(e.req.Relays) > 0 {
		a.To = netip.AddrPortFrom(e.in.From.Addr(), portServer)
		if e.req.Relays[0].Options.Has(wire.OptionRelayPort) && e.in.From.Port() != 0 {
			a.To = e.in.From
		}
	}
	return a
}

// Serves says whether a segment is one on which DHCPv6 is answered: it has a subnet of IPv6, and machines have their addresses from us.
func Serves(g boot.Segment) bool {
	return g.GivesAddresses() && slices.ContainsFunc(g.Subnets, func(p netip.Prefix) bool { return p.Addr().Is6() })
}
