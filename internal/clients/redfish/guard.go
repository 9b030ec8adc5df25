package redfish

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"time"
)

// Guard decides which addresses a credential may go to. It is asked after name
// resolution and the address that it passed is the one that is dialled, so that
// a name can't resolve to something else in between.
type Guard struct {
	// Allowed ranges; none means that nothing is allowed.
	Allowed []netip.Prefix
	// Denied ranges win over Allowed: the cluster's own Service and pod ranges.
	Denied []netip.Prefix
	// AllowLoopback lifts the ban on loopback, for local demos and tests. The
	// address must still be in Allowed.
	AllowLoopback bool
}

// Check returns nil when a credential may go to addr, else why it may not.
func (g Guard) Check(addr netip.Addr) error {
	addr = addr.Unmap().WithZone("")
	if reason := g.never(addr); reason != "" {
		return failf(NotAllowed, "cannot use BMC address %s: %s", addr, reason)
	}
	within := func(p netip.Prefix) bool { return p.Contains(addr) }
	if slices.ContainsFunc(g.Denied, within) {
		return failf(NotAllowed, "cannot use BMC address %s: it is in a range of the cluster itself", addr)
	}
	if !slices.ContainsFunc(g.Allowed, within) {
		return failf(NotAllowed, "cannot use BMC address %s: it isn't in allowedAddresses of the provider config", addr)
	}

	return nil
}

func (g Guard) never(addr netip.Addr) string {
	switch {
	case !addr.IsValid() || addr.IsUnspecified():
		return "it is no address"
	case addr.IsLoopback() && !g.AllowLoopback:
		return "loopback addresses are never BMCs"
	case addr.IsLinkLocalUnicast():
		return "link-local addresses are never BMCs"
	case addr.IsMulticast():
		return "multicast addresses are never BMCs"
	default:
		return ""
	}
}

// dialer resolves, checks every address and dials a checked one. One address
// that isn't allowed refuses the name: what a name resolves to may change with
// every lookup, and a name that points out of bounds at all isn't to be trusted.
type dialer struct {
	guard    Guard
	resolver Resolver
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
}

const dialTimeout = 10 * time.Second

// DialContext is what http.Transport calls.
func (d dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, failf(Invalid, "cannot use BMC address %q: it has no port", address)
	}
	addrs, err := d.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	for _, a := range addrs {
		if err := d.guard.Check(a); err != nil {
			return nil, err
		}
	}
	var conn net.Conn
	for _, a := range addrs {
		if conn, err = d.dial(ctx, network, net.JoinHostPort(a.Unmap().String(), port)); err == nil {
			return conn, nil
		}
	}

	return nil, err
}

func (d dialer) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	addrs, err := d.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, &Error{Kind: Unreachable, what: "cannot resolve the BMC's name", cause: plain(err)}
	}
	if len(addrs) == 0 {
		return nil, failf(Unreachable, "cannot resolve the BMC's name %q: it has no address", host)
	}

	return addrs, nil
}
