package redfish

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// names is a resolver that knows what it's told.
type names map[string][]string

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	known, ok := n[host]
	if !ok {
		return nil, errors.New("no such host")
	}
	var out []netip.Addr
	for _, a := range known {
		out = append(out, netip.MustParseAddr(a))
	}

	return out, nil
}

func TestDialIsGuardedAfterDNS(t *testing.T) {
	resolver := names{
		"bmc.example":    {"10.0.7.12"},
		"two.example":    {"10.0.7.12", "10.0.7.13"},
		"out.example":    {"192.0.2.1"},
		"mixed.example":  {"10.0.7.12", "192.0.2.1"},
		"home.example":   {"10.0.7.12", "127.0.0.1"},
		"mapped.example": {"::ffff:10.0.7.12"},
		"none.example":   {},
	}
	cases := map[string]struct {
		reason string
		host   string
		// down are the addresses where nobody answers.
		down []string
		// want are the addresses that were dialled, in order.
		want []string
		kind Kind
	}{
		"Name":       {reason: "The address that was checked is dialled, not the name once more.", host: "bmc.example", want: []string{"10.0.7.12:443"}},
		"Address":    {reason: "An address needs no name server.", host: "10.0.7.12", want: []string{"10.0.7.12:443"}},
		"Mapped":     {reason: "What was checked as IPv4 is dialled as IPv4.", host: "mapped.example", want: []string{"10.0.7.12:443"}},
		"Second":     {reason: "Where the first doesn't answer the next may.", host: "two.example", down: []string{"10.0.7.12:443"}, want: []string{"10.0.7.12:443", "10.0.7.13:443"}},
		"Outside":    {reason: "Nothing is dialled out of bounds.", host: "out.example", kind: NotAllowed},
		"OutsideRaw": {reason: "Nor where it's written as an address.", host: "192.0.2.1", kind: NotAllowed},
		"SecondOut":  {reason: "One address out of bounds refuses the name: else the password would go there once the first doesn't answer.", host: "mixed.example", down: []string{"10.0.7.12:443"}, kind: NotAllowed},
		"SecondHome": {reason: "The same for loopback.", host: "home.example", kind: NotAllowed},
		"Unknown":    {reason: "A name that doesn't resolve may do so later.", host: "gone.example", kind: Unreachable},
		"NoAddress":  {reason: "Nor does one without an address.", host: "none.example", kind: Unreachable},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			d := dialer{
				guard: Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("10.0.7.0/24")}}, resolver: resolver,
				dial: func(_ context.Context, _, address string) (net.Conn, error) {
					got = append(got, address)
					if slices.Contains(tc.down, address) {
						return nil, errors.New("nobody answers")
					}
					near, _ := net.Pipe()

					return near, nil
				},
			}
			conn, err := d.DialContext(t.Context(), "tcp", net.JoinHostPort(tc.host, "443"))
			if conn != nil {
				defer func() { _ = conn.Close() }()
			}
			if (err == nil) != (tc.kind == "") || err != nil && KindOf(err) != tc.kind {
				t.Errorf("\n%s\nDialContext(%q): got error %v, want kind %q", tc.reason, tc.host, err, tc.kind)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nDialContext(%q) dialled (-want +got):\n%s", tc.reason, tc.host, diff)
			}
		})
	}
}
