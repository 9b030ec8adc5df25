package bootd

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/certificate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
)

// TLS is how machines are served by HTTPS, beside HTTP.
type TLS struct {
	// Listen is an address with a port; empty: there's no HTTPS.
	Listen string
	// Cert and Key are files in PEM, which are read again when they change.
	Cert, Key string
	// Host is what the certificate names; empty: the address that machines are told.
	Host string
	// For says who is told HTTPS; whoever isn't is told HTTP, and may use HTTPS.
	For []string
}

// Who may be told HTTPS.
const (
	// TLSFirmware is UEFI HTTP Boot, whose firmware has the certificate's issuer among its own.
	TLSFirmware = "firmware"
	// TLSIPXE is an iPXE that was built with the certificate's issuer. None of Debian's was, nor has HTTPS at all.
	TLSIPXE = "ipxe"
	// TLSInstaller is what runs after that: callbacks, user data, images.
	TLSInstaller = "installer"
)

func (t TLS) check(http string) error {
	switch {
	case t.Listen == "" && (t.Cert+t.Key+t.Host != "" || len(t.For) > 0):
		return errors.New("a TLS certificate, its name and who is told HTTPS go with an address to serve HTTPS on")
	case t.Listen == "":
		return nil
	case http == "":
		return errors.New("HTTPS is served beside HTTP, which has no address")
	case t.Cert == "" || t.Key == "":
		return errors.New("HTTPS needs a TLS certificate and its key (--tls-cert, --tls-key)")
	case strings.ContainsAny(t.Host, "/@?#: "):
		return fmt.Errorf("%q isn't the name of a host", t.Host)
	}
	for _, who := range t.For {
		if !slices.Contains([]string{TLSFirmware, TLSIPXE, TLSInstaller}, who) {
			return fmt.Errorf("HTTPS is for %s, %s or %s, not for %q", TLSFirmware, TLSIPXE, TLSInstaller, who)
		}
	}
	return nil
}

func (t TLS) serves(who string) bool { return t.Listen != "" && slices.Contains(t.For, who) }

// A hearer hears of hosts that machines are told.
type hearer interface{ Told(host string) }

// secured gives base URLs by HTTPS, and tells of each one's host; nil where there's none.
func (t TLS) secured(l net.Listener, hears hearer) func(base string) string {
	if l == nil {
		return nil
	}
	a, _ := l.Addr().(*net.TCPAddr)
	if a == nil {
		return nil
	}
	port := strconv.Itoa(a.Port)
	return func(base string) string {
		host := t.Host
		if u, err := url.Parse(base); err == nil && host == "" {
			host = u.Hostname()
		}
		hears.Told(host)
		return "https://" + net.JoinHostPort(host, port)
	}
}

func (d *daemon) secured(l listeners) func(base string) string {
	return d.c.TLS.secured(l.https, d.certificate)
}

// secure says who is told HTTPS by DHCP.
func (d *daemon) secure(l listeners) dhcp.Secure {
	return dhcp.Secure{Base: d.secured(l), Firmware: d.c.TLS.serves(TLSFirmware), IPXE: d.c.TLS.serves(TLSIPXE)}
}

// installers gives the base URL that what runs after a first stage is told; nil: the same.
func (d *daemon) installers(l listeners) func(base string) string {
	if !d.c.TLS.serves(TLSInstaller) {
		return nil
	}
	return d.secured(l)
}

// certificate is what HTTPS is served with; nil where there's none.
func (c Config) certificate() (*certificate.Pair, error) {
	if c.TLS.Listen == "" {
		return nil, nil //nolint:nilnil // There's none.
	}
	return certificate.Read(c.TLS.Cert, c.TLS.Key, c.Now, c.Logger) //nolint:wrapcheck // It says which file, and how it's wrong.
}
