package gate

import "github.com/crossplane-contrib/provider-baremetal/internal/boot"

// Tells says whether a script request says anything of where its machine is. By a token of before its install began anybody asks who has seen it: that
// isn't the machine's own doing.
func (g *Gate) Tells(c Caller) bool {
	s := c.Session
	if s == nil || s.Consumed == nil {
		return true
	}
	var nonces []string
	for _, key := range g.o.Keys() {
		nonces = append(nonces, boot.DerivedNonce(key, "boot", c.Claims.Nonce, s.Consumed.GrantID))
	}
	return !s.Before(c.Claims.Exchange(g.o.Now()), nonces...)
}

// nonce of the boot that a script request begins. It follows from the request alone, so that a repeat
// of the request is the same boot, whichever replica answers it and however often that was restarted in
// between. Each DHCP exchange makes another script token, and with it another boot.
func (g *Gate) nonce(c Caller, id string, arch boot.Arch) string {
	keys := g.o.Keys()
	if len(keys) == 0 {
		return ""
	}
	for _, key := range keys[1:] { // A token that was served before the keys' turn began a boot that's known by the old one.
		if n := Nonce(key, c.Claims.Nonce, id, arch); c.Session.Began(n) {
			return n
		}
	}
	return Nonce(keys[0], c.Claims.Nonce, id, arch)
}

// Nonce of the boot that a script token of nonce script begins, by a grant's id. It ends with a digit for the architecture, so that a
// boot's token says which image is its own.
func Nonce(key []byte, script, id string, arch boot.Arch) string {
	n := boot.DerivedNonce(key, "boot", script, id)
	return n[:len(n)-1] + ArchDigit(arch)
}
