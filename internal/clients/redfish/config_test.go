package redfish

import (
	"net/netip"
	"testing"
)

func TestGuard(t *testing.T) {
	g := Guard{
		Allowed: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("0.0.0.0/1")},
		Denied:  []netip.Prefix{netip.MustParsePrefix("10.96.0.0/12")},
	}
	demo := g
	demo.AllowLoopback = true
	cases := map[string]struct {
		reason string
		guard  Guard
		addr   string
		ok     bool
	}{
		"Allowed":      {reason: "In a range.", guard: g, addr: "10.0.7.12", ok: true},
		"IPv6":         {reason: "In a range.", guard: g, addr: "2001:db8::7", ok: true},
		"Mapped":       {reason: "IPv4 in IPv6 clothes.", guard: g, addr: "::ffff:10.0.7.12", ok: true},
		"Outside":      {reason: "In no range.", guard: g, addr: "192.168.0.1"},
		"Cluster":      {reason: "A cluster range wins.", guard: g, addr: "10.96.0.1"},
		"Loopback":     {reason: "Loopback never, allowed or not.", guard: g, addr: "127.0.0.1"},
		"Loopback6":    {reason: "The same.", guard: g, addr: "::1"},
		"LoopbackMap":  {reason: "The same in IPv6 clothes.", guard: g, addr: "::ffff:127.0.0.1"},
		"Demo":         {reason: "Except where a flag says so.", guard: demo, addr: "127.0.0.1", ok: true},
		"DemoOutside":  {reason: "The flag isn't a range.", guard: demo, addr: "::1"},
		"Metadata":     {reason: "Link-local never.", guard: g, addr: "169.254.169.254"},
		"LinkLocal6":   {reason: "The same.", guard: g, addr: "fe80::1"},
		"Zone":         {reason: "Zones don't help.", guard: g, addr: "fe80::1%eth0"},
		"Multicast":    {reason: "Multicast never.", guard: g, addr: "224.0.0.1"},
		"Unspecified":  {reason: "0.0.0.0 is this machine.", guard: g, addr: "0.0.0.0"},
		"Unspecified6": {reason: "The same.", guard: g, addr: "::"},
		"Nobody":       {reason: "The zero guard allows nothing.", addr: "10.0.7.12"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tc.guard.Check(netip.MustParseAddr(tc.addr))
			if (err == nil) != tc.ok || (err != nil && KindOf(err) != NotAllowed) {
				t.Errorf("\n%s\nCheck(%s): got %v, want ok %v", tc.reason, tc.addr, err, tc.ok)
			}
		})
	}
}
