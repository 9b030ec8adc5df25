package gate

import (
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// Sighting is what an answer to a script request says of where its machine is; false: nothing. That of an install is part of the write that opens the grant.
func (g *Gate) Sighting(c Caller, a Answer, now time.Time) (session.Sighting, bool) {
	if a.Answer == boot.AnswerInstall || !g.tells(c, now) {
		return session.Sighting{}, false
	}
	return session.Sighting{
		Machine: c.Memo.Machine, Kind: session.SawScript, At: now, Reason: a.Reason, GrantID: c.GrantID(), Message: a.Message, Live: a.Answer == boot.AnswerLive,
		Disk: a.Answer == boot.AnswerLocalDisk, Silent: c.Plan.SilentInstaller, Exchange: c.Claims.Exchange(now).Began,
	}, true
}

// tells says whether a script request says anything of where its machine is. By a token of before its install began anybody asks who has seen it: that
// isn't the machine's own doing.
func (g *Gate) tells(c Caller, now time.Time) bool {
	s := c.Session
	if s == nil || s.Consumed == nil {
		return true
	}
	var nonces []string
	for _, key := range g.o.Keys() {
		nonces = append(nonces, boot.DerivedNonce(key, "boot", c.Claims.Nonce, s.Consumed.GrantID))
	}
	return !s.Before(c.Claims.Exchange(now), nonces...)
}

// nonce of the boot that a script request begins. It follows from the request alone, so that a repeat
// of the request is the same boot, whichever replica answers it and however often that was restarted in
// between. Each DHCP exchange makes another script token, and with it another boot.
func (g *Gate) nonce(c Caller, id string, arch boot.Arch) string {
	keys := g.o.Keys()
	if len(keys) == 0 {
		return ""
	}
	if s := c.Session; s != nil && len(s.Opened) > 0 { // A token that was served before the keys' turn began a boot that's known by the old one.
		for _, key := range keys[1:] {
			if n := Nonce(key, c.Claims.Nonce, id, arch); s.Began(n) {
				return n
			}
		}
	}
	return Nonce(keys[0], c.Claims.Nonce, id, arch)
}

// Nonce of the boot that a script token of nonce script begins, by a grant's id. It ends with a digit for the architecture, so that a
// boot's token says which image is its own.
func Nonce(key []byte, script, id string, arch boot.Arch) string {
	return boot.MarkedNonce(ArchDigit(arch)[0], key, "boot", script, id)
}
