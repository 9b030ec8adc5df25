package netbox

import "net/netip"

// A host is an address in a table: that of the VRF of this number, or the global one with 0. The mask is none of it.
type host struct {
	address netip.Addr
	vrf     int64
}

func hostOf(ip IPAddress) host {
	h := host{address: ip.Address.Addr()}
	if ip.VRF != nil {
		h.vrf = ip.VRF.ID
	}
	return h
}

// hosts say which record was seen with an address: one of several, where a table takes it more than once.
type hosts map[host]int64

func hostsOf(seen map[int64]sighting) hosts {
	h := make(hosts, len(seen))
	for _, s := range seen {
		h.put(s.ip)
	}
	return h
}

func (h hosts) put(ip IPAddress) {
	if _, there := h[hostOf(ip)]; !there {
		h[hostOf(ip)] = ip.ID
	}
}

func (h hosts) drop(ip IPAddress) {
	if h[hostOf(ip)] == ip.ID {
		delete(h, hostOf(ip))
	}
}

// Displaced is another record of ours that was last seen with the address that NetBox has just given this one, in the same table. Where that has
// each address once, it doesn't have it any more: somebody deleted or moved it since. So nothing is known of it from now on.
func (c *Client) Displaced(by IPAddress) (was IPAddress, ok bool) {
	if was, ok = c.view.holder(by); ok {
		c.Forget(was.ID)
		c.view.index(by.ID)
	}
	return was, ok
}

// holder is the other record that was last seen with a record's address.
func (v *view) holder(of IPAddress) (IPAddress, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s, ok := v.seen[v.hosts[hostOf(of)]]
	return s.ip, ok && s.ip.ID != of.ID
}

// index notes which address a record was seen with, where no other one was.
func (v *view) index(number int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s, ok := v.seen[number]; ok {
		v.hosts.put(s.ip)
	}
}
