package redfish

import (
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Address is where a BMC is, taken apart.
type Address struct {
	// Host is host:port, lower-case.
	Host string
	// Plain says that it's spoken to without TLS.
	Plain bool
	// Prefix comes before /redfish/v1, such as /bmc-7 behind a proxy; "" mostly.
	Prefix string
	// System is the id of the System that the address names, or "".
	System string
}

const (
	defaultPort      = "443"
	defaultPortPlain = "80"
)

// ParseAddress reads an address as people write it: host, host:port, [v6],
// [v6]:port, a bare IPv6 address, or an https or http URL. A URL may have a
// prefix, and may be that of the service root or of a System, as copied from a
// browser. Its error is of kind Invalid.
func ParseAddress(address string) (Address, error) {
	var a Address
	host, port := strings.TrimSpace(address), defaultPort
	scheme, rest, isURL := strings.Cut(host, "://")
	switch {
	case !isURL:
	case strings.EqualFold(scheme, "https"):
		host = rest
	case strings.EqualFold(scheme, "http"):
		host, port, a.Plain = rest, defaultPortPlain, true
	default:
		return a, failf(Invalid, "cannot use BMC address %q: only https is supported, and http in test labs", address)
	}
	if ip, err := netip.ParseAddr(unbracketed(strings.TrimRight(host, "/"))); err == nil && ip.Zone() == "" {
		a.Host = net.JoinHostPort(ip.String(), port)

		return a, nil
	}
	u, err := url.Parse("https://" + host)
	if err != nil || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || !isHost(u.Hostname()) || !isPort(u.Port()) || u.Path != "" && !isURL {
		return a, failf(Invalid, "cannot use BMC address %q: it must be a host, host:port, [v6] or an https URL without user, query and fragment", address)
	}
	if u.Port() != "" {
		port = u.Port()
	}
	name := strings.ToLower(u.Hostname())
	if ip, err := netip.ParseAddr(name); err == nil {
		name = ip.String()
	}
	a.Host = net.JoinHostPort(name, port)
	var ok bool
	if a.Prefix, a.System, ok = parsePath(u.Path); !ok {
		return a, failf(Invalid, "cannot use BMC address %q: its path may have a prefix, /redfish/v1, and /Systems with an id, in this order, and nothing else", address)
	}

	return a, nil
}

func unbracketed(host string) string {
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		return host[1 : len(host)-1]
	}

	return host
}

// segment is one of a path that we send: nothing that means another one, and
// nothing that needs an escape.
var segment = regexp.MustCompile(`^[A-Za-z0-9_~-][A-Za-z0-9._~-]*$`)

// parsePath takes a path apart, as people copy one: what comes before /redfish
// is a prefix.
func parsePath(path string) (prefix, system string, ok bool) {
	names := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	for i, name := range names {
		if strings.EqualFold(name, "redfish") {
			system, ok = parseResource(names[i+1:])

			return prefix, system, ok
		}
		if !segment.MatchString(name) {
			return "", "", false
		}
		prefix += "/" + name
	}

	return prefix, "", true
}

// parseResource reads what comes behind /redfish: nothing, v1, v1/Systems, or
// v1/Systems with an id.
func parseResource(names []string) (system string, ok bool) {
	for i, want := range []string{"v1", "Systems"} {
		if len(names) <= i {
			return "", true
		}
		if !strings.EqualFold(names[i], want) {
			return "", false
		}
	}
	const withID = 3
	if len(names) == withID {
		return names[2], true
	}

	return "", len(names) < withID
}

// URL is the address up to its prefix.
func (a Address) URL() string {
	if a.Plain {
		return "http://" + a.Host + a.Prefix
	}

	return "https://" + a.Host + a.Prefix
}

// Key is the address in one spelling, without the System: host:port where that
// says all.
func (a Address) Key() string {
	if a.Plain || a.Prefix != "" {
		return a.URL()
	}

	return a.Host
}

// path puts the prefix before a link that lacks it.
func (a Address) path(link string) string {
	if a.Prefix == "" || link == a.Prefix || strings.HasPrefix(link, a.Prefix+"/") {
		return link
	}

	return a.Prefix + link
}

// own is the path of a link that names this BMC in full, as some do in place of a
// path, and any other link as it is.
func (a Address) own(link string) string {
	if strings.HasPrefix(link, "/") {
		return link
	}
	u, err := url.Parse(link)
	if err != nil || u.User != nil || u.Fragment != "" || !strings.HasPrefix(u.Path, "/") {
		return link
	}
	to, err := ParseAddress(u.Scheme + "://" + u.Host)
	if err != nil || to.Host != a.Host || to.Plain != a.Plain {
		return link
	}

	return u.RequestURI()
}

// Endpoint turns an address as people write it into the key of a BMC.
func Endpoint(address string) (string, error) {
	a, err := ParseAddress(address)
	if err != nil {
		return "", err
	}

	return a.Key(), nil
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,252})$`)

// isHost says whether s is a name or an address without a zone.
func isHost(s string) bool {
	ip, err := netip.ParseAddr(s)

	return hostName.MatchString(s) || (err == nil && ip.Zone() == "")
}

// isPort says whether s is a port, or nothing.
func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)

	return s == "" || (err == nil && n > 0)
}
