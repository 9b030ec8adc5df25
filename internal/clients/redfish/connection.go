package redfish

// Connection is how a Client talks to its BMC.
type Connection struct {
	// Verify is how the certificate was judged, or VerifyPlain.
	Verify Verify
	// TLSVersion is TLS10, TLS11, TLS12, TLS13, or "".
	TLSVersion string
	// Auth is AuthSession or AuthBasic.
	Auth Auth
}

// Connection says how c talks to its BMC.
func (c *Client) Connection() Connection {
	out := Connection{Verify: c.cfg.TLS.Verify, TLSVersion: c.trust.version(), Auth: AuthBasic}
	if c.address.Plain {
		out.Verify = VerifyPlain
	}
	if c.token {
		out.Auth = AuthSession
	}

	return out
}

// Pin is the SHA-256 of the certificate that the BMC showed, in hex. With
// VerifyTrustOnFirstUse the caller stores it.
func (c *Client) Pin() string { return c.trust.seen() }
