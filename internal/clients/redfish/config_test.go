package redfish

import (
	"net/netip"
	"testing"
)

func TestEndpoint(t *testing.T) {
	cases := map[string]struct {
		reason  string
		address string
		want    string // "" is an error
	}{
		"Host":       {reason: "A name.", address: "BMC.example", want: "bmc.example:443"},
		"HostPort":   {reason: "A name with a port.", address: "bmc.example:8443", want: "bmc.example:8443"},
		"IPv4":       {reason: "An address.", address: "10.0.7.12", want: "10.0.7.12:443"},
		"IPv6":       {reason: "A bare IPv6 address has no port.", address: "2001:DB8::1", want: "[2001:db8::1]:443"},
		"Brackets":   {reason: "One in brackets.", address: "[2001:db8::1]", want: "[2001:db8::1]:443"},
		"IPv6Port":   {reason: "With a port.", address: "[2001:db8::1]:8443", want: "[2001:db8::1]:8443"},
		"URL":        {reason: "A URL.", address: "https://bmc.example/", want: "bmc.example:443"},
		"URLPort":    {reason: "With a port.", address: "HTTPS://bmc.example:8443", want: "bmc.example:8443"},
		"Spaces":     {reason: "As copied.", address: " 10.0.7.12 ", want: "10.0.7.12:443"},
		"HTTP":       {reason: "A password never travels in the open.", address: "http://bmc.example"},
		"Path":       {reason: "Redfish is at the root.", address: "https://bmc.example/redfish"},
		"User":       {reason: "No credentials in URLs.", address: "https://user:x@bmc.example"}, //nolint:gosec // No password.
		"UserHost":   {reason: "The same without a scheme.", address: "user@bmc.example"},
		"Query":      {reason: "Nor queries.", address: "bmc.example?x"},
		"Fragment":   {reason: "Nor fragments.", address: "bmc.example#x"},
		"Zone":       {reason: "Zones are for link-local addresses, which are never BMCs.", address: "[fe80::1%25eth0]"},
		"BareZone":   {reason: "The same.", address: "fe80::1%eth0"},
		"BadPort":    {reason: "No port.", address: "bmc.example:0"},
		"BadName":    {reason: "Not a name.", address: "bmc_example!"},
		"Empty":      {reason: "Nothing.", address: ""},
		"PortOnly":   {reason: "No host.", address: ":443"},
		"Unfinished": {reason: "Not a URL.", address: "[::1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Endpoint(tc.address)
			if got != tc.want || (err == nil) != (tc.want != "") {
				t.Errorf("\n%s\nEndpoint(%q): got %q, %v; want %q", tc.reason, tc.address, got, err, tc.want)
			}
			if err != nil && KindOf(err) != Invalid {
				t.Errorf("\n%s\nEndpoint(%q): got kind %q, want Invalid", tc.reason, tc.address, KindOf(err))
			}
		})
	}
}

func FuzzEndpoint(f *testing.F) {
	for _, s := range []string{"bmc.example", "[::1]:1", "https://x/", "::ffff:1.2.3.4", "a@b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := Endpoint(s)
		if err != nil {
			return
		}
		if again, err := Endpoint(got); err != nil || again != got {
			t.Errorf("Endpoint(%q) is %q, whose endpoint is %q, %v", s, got, again, err)
		}
	})
}

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
