package admin

import (
	"net/netip"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/trace"
)

const (
	portDHCP  = 67
	portProxy = 4011
)

// asks says whether a packet is a request by DHCP.
func asks(p trace.Packet) bool {
	return !p.Sent && (p.To.Port() == portDHCP || p.To.Port() == portProxy)
}

// machineOf is a plan for people: of user data it has the format alone.
func machineOf(p *boot.Plan) Machine {
	m := Machine{
		Entry: p.Entry.String(), EntryUID: p.EntryUID, HostUID: p.HostUID, UUID: p.UUID, Serial: p.Serial, Hostname: p.Hostname,
		Network: p.Network.String(), Mode: string(p.Mode), Method: string(p.Method), UserData: p.UserDataFormat, PlanDigest: p.Digest(),
		InstallGeneration: p.InstallGeneration, InstalledGeneration: p.InstalledGeneration, Otherwise: string(p.Otherwise), LocalBoot: string(p.LocalBoot),
		FirstStage: string(p.FirstStage),
	}
	for _, x := range p.MACs {
		m.MACs = append(m.MACs, string(x))
	}
	if p.Port != nil {
		m.Port = p.Port.String()
	}
	for _, x := range p.Artifacts {
		m.Architectures = append(m.Architectures, string(x.Arch))
	}
	if p.Network.Address.IsValid() {
		m.Address = p.Network.Address.String()
	}
	if p.Network.Gateway.IsValid() {
		m.Gateway = p.Network.Gateway.String()
	}
	if six := p.Network.Six; six != nil {
		m.Address6 = six.Address.String()
		if six.Gateway.IsValid() {
			m.Gateway6 = six.Gateway.String()
		}
	}
	return m
}

// session is what is known of a machine's grant; nil where there is neither a session nor a line in the log.
func (h *handler) session(st *boot.State, p *boot.Plan) *Session {
	x, ok := st.Sessions[p.EntryUID]
	logged := h.o.Logged(p.EntryUID, p.HostUID)
	if !ok && len(logged) == 0 {
		return nil
	}
	s := &Session{Revocation: x.Revocation, MaxScripts: boot.MaxOpens, Installed: resultOf(x.Installed), Failed: resultOf(x.Failed)}
	if g := x.Grant; g != nil {
		s.Grant = &Grant{
			ID: g.ID, Generation: g.Generation, Expires: g.Expires,
			Fits: g.PlanDigest == p.Digest() && g.HostUID == p.HostUID && g.EntryUID == p.EntryUID && g.Generation == p.InstallGeneration,
		}
		if x.OpenedGrantID == g.ID {
			s.Scripts = len(x.Served())
		}
	}
	if c := x.Consumed; c != nil {
		s.Consumed = &Use{GrantID: c.GrantID, Generation: c.Generation, At: c.At, By: c.By}
	}
	for _, c := range logged {
		s.Logged = append(s.Logged, c.Generation)
	}
	return s
}

func resultOf(r *boot.Result) *Result {
	if r == nil {
		return nil
	}
	return &Result{Generation: r.Generation, At: r.At, Message: r.Message}
}

// An Interface of this node.
type Interface struct {
	Name      string
	Index     int
	Addresses []netip.Addr
	// Six are its addresses of IPv6, without those of the link alone.
	Six []netip.Addr
}

// A way by which a machine's requests may come in.
type way struct {
	in          dhcp.Ingress
	relay, link netip.Addr
	text        string
}

// way says how requests come in from a segment, as it's described and as this node is connected: by broadcast where it has an address
// there, else through a relay.
func (h *handler) way(v dhcp.View, g boot.Segment) way {
	all := h.o.Interfaces()
	if g.Mode != boot.SegmentRelayOnly {
		for _, wanted := range []bool{true, false} { // Those that the segment names go first.
			for _, i := range all {
				if slices.ContainsFunc(i.Addresses, g.Contains) && (!wanted || slices.Contains(g.Interfaces, i.Name)) {
					in := dhcp.Ingress{
						From: netip.AddrPortFrom(netip.IPv4Unspecified(), 68), Interface: i.Name, Index: i.Index, Addresses: i.Addresses,
					}
					return way{in: in, text: "broadcast on " + i.Name}
				}
			}
		}
	}
	return h.viaRelay(v, g)
}

// relayOf is an address that a segment's relay may have, and one on the link that it speaks for where these differ.
func relayOf(g boot.Segment) (relay, link netip.Addr) {
	for _, s := range g.Subnets {
		if s.Addr().Is4() {
			relay = s.Masked().Addr().Next()
			break
		}
	}
	if len(g.Relays) == 0 {
		return relay, netip.Addr{}
	}
	link, relay = relay, g.Relays[0].Masked().Addr()
	if !g.Relays[0].IsSingleIP() {
		relay = relay.Next()
	}
	if g.Contains(relay) {
		link = netip.Addr{}
	}
	return relay, link
}

// heard says when somebody was last heard, and as what; false: the trace has nothing.
func (h *handler) heard(macs ...boot.MAC) (Exchange, bool) {
	for _, x := range slices.Backward(h.o.Trace.Of(macs...)) {
		m := &wire.Message{}
		if !asks(x) || m.Read(x.Data) != nil {
			continue
		}
		f := dhcp.Classify(m)
		at := x.At
		return Exchange{As: dhcp.Guise{Client: f.Client, Arch: f.Arch}.String() + behind(f.Relay), Asked: &at}, true
	}
	return Exchange{}, false
}
