package dhcp

import (
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// bootsApart is how soon a machine can't have started again.
const bootsApart = time.Minute

// ScriptToken makes the script token of an exchange: derived, so that every replica gives the same one. The exchange is known by its
// number, as a text, and its minute: OVMF under Debian's iPXE has the same number at every boot, and a boot loop must not look like one
// boot that is told twice. behind says that the machine was seen behind its plan's port, where that has one. False: there's no key, the first of
// which makes it.
func ScriptToken(s *boot.State, keys [][]byte, p *boot.Plan, mac boot.MAC, exchange string, behind bool, now time.Time) (string, bool) {
	if len(keys) == 0 {
		return "", false
	}
	key, uid := keys[0], p.EntryUID
	c := boot.Claims{Kind: boot.TokenScript, Entry: boot.KeyOf(uid), Expires: expiry(nil, now)}
	if x, ok := s.Sessions[uid]; ok && x.Grant != nil {
		c.GrantID, c.Expires = x.Grant.ID, expiry(x.Grant, now)
	}
	minute := now.Truncate(bootsApart).UTC().Format(time.RFC3339)
	c.Nonce = p.Port.Mark(boot.Stamped(boot.DerivedNonce(key, string(mac), exchange, minute, uid, c.GrantID), now), behind)
	t, err := boot.Mint(key, c)
	return t, err == nil
}

// expiry of a script token: that of the grant while it lasts, else a day from the next full hour, which all replicas agree
// on but in the instant in which the hour turns.
func expiry(g *boot.Grant, now time.Time) time.Time {
	if g != nil && now.Before(g.Expires) {
		return g.Expires
	}
	return now.Truncate(time.Hour).Add(25 * time.Hour) //nolint:mnd // The hour that has begun, and a day.
}
