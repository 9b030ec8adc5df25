package boot

import (
	"slices"
	"strconv"
	"time"
)

// An Exchange is the DHCP exchange by whose script token a machine asks for a script.
type Exchange struct {
	// Began is the minute in which it was.
	Began time.Time
	// GrantID is that of the grant that stood then; "" where none did, or its bootd hadn't heard of it.
	GrantID string
}

const (
	// justBegun is how old the exchange of a machine may be that has just begun: iPXE asks within a second.
	justBegun = 2 * time.Minute
	// repeats is for how long a script that was served is served again, as the newest: a machine whose download failed asks for a new one by DHCP.
	repeats = 15 * time.Minute
	// stampDigits begin the nonce of a script token: the minute of its exchange, modulo stamps, which is more than the day that it's good for.
	stampDigits = 3
	stamps      = 1 << (4 * stampDigits)
	// ahead is by how many minutes another bootd's clock may be ahead of ours.
	ahead = 60
)

// Stamped is the nonce of a script token that says when its exchange was.
func Stamped(nonce string, at time.Time) string {
	if len(nonce) < stampDigits {
		return nonce
	}
	const digits = "0123456789abcdef"
	b, m := []byte(nonce), minute(at)
	for i := stampDigits - 1; i >= 0; i-- {
		b[i], m = digits[m&0xf], m>>4 //nolint:mnd // A digit has four bits.
	}
	return string(b)
}

func minute(at time.Time) int64 { return at.Unix() / int64(time.Minute/time.Second) }

// Exchange that a script token is of. One that doesn't say when it was is as old as can be.
func (c Claims) Exchange(now time.Time) Exchange {
	x := Exchange{GrantID: c.GrantID}
	if len(c.Nonce) < stampDigits {
		return x
	}
	stamp, err := strconv.ParseInt(c.Nonce[:stampDigits], 16, 64)
	if err != nil {
		return x
	}
	age := ((minute(now)-stamp)%stamps + stamps) % stamps
	if age > stamps-ahead {
		age = 0
	}
	x.Began = now.Truncate(time.Minute).Add(-time.Duration(age) * time.Minute)
	return x
}

// Before says whether a script token is of before the grant was used that its session has an install by: of an exchange that was over by then, or one
// whose script was served for that grant. Of whoever asks by it nothing is known but that he has seen it: the machine itself, if it begins again,
// has another one. nonces are those of the boots that the token began, by each key.
func (s *Session) Before(x Exchange, nonces ...string) bool {
	if s == nil || s.Consumed == nil {
		return false
	}
	if !x.Began.Add(time.Minute).After(s.Consumed.At) {
		return true
	}
	return slices.ContainsFunc(nonces, func(n string) bool {
		return ofOneToken(n, s.Consumed.Nonce) || s.OpenedGrantID == s.Consumed.GrantID && s.Began(n)
	})
}

// Began says whether a script was served by the token that a boot is of, to whichever architecture, or asked for after the last one.
func (s *Session) Began(nonce string) bool {
	return slices.ContainsFunc(s.Opened, func(o Opened) bool { return ofOneToken(o.Nonce, nonce) })
}

// Outdated says whether the script that exchange x asks for, with that nonce, would take the place of a later one: by a token that was seen on the
// wire, or in a log. A script that was served is served again, for a while, as long as it's the newest, to the same architecture: no firmware says two by
// one token. Another is served to a machine that has just begun, and later, as to one that waited, if the grant stood already then and nobody was served
// since. A machine that is told so by mistake begins again with DHCP, whose token is good.
func Outdated(s Session, nonce string, x Exchange, now time.Time) bool {
	if s.Grant == nil {
		return false
	}
	opened := s.Opened
	if s.OpenedGrantID != s.Grant.ID {
		opened = nil
	}
	for _, o := range opened {
		if last := opened[len(opened)-1]; ofOneToken(o.Nonce, nonce) {
			return last.Nonce != nonce || now.Sub(last.At) >= repeats
		}
	}
	if now.Sub(x.Began) < justBegun {
		return false
	}
	if x.GrantID != s.Grant.ID {
		return true
	}
	n := len(opened)
	// By the clock of a bootd that is ahead nothing is said of what was first: else each boot would be too early until that time has come.
	return n > 0 && !opened[n-1].At.Before(x.Began) && !opened[n-1].At.After(now)
}

// ofOneToken says whether two boots were begun by one script token. The last digit of a boot's nonce is its architecture's, which the request names.
func ofOneToken(a, b string) bool {
	return a == b || len(a) == len(b) && len(a) > 1 && a[:len(a)-1] == b[:len(b)-1]
}
