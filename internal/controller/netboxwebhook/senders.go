package netboxwebhook

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// perSecond and burst bound deliveries of one sender that nobody we know has signed. Signed ones cost it nothing: what they can cause is
	// bounded by itself.
	perSecond, burst = 20, 200
	// crowdPerSecond and crowdBurst bound how many deliveries are looked at all the same of senders that have sent too many of those: behind
	// a proxy, NetBox has the address of whoever else comes through it.
	crowdPerSecond, crowdBurst = 200, 2000
	// mostSenders are told apart at once; more of them share one bound.
	mostSenders = 4096
	// forgetSender is after which time without a delivery a sender has all of its burst again.
	forgetSender = burst / perSecond * time.Second
)

// senders bound what each address from which deliveries come can have us look at in vain, so that who can't sign doesn't keep others from
// being heard.
type senders struct {
	now func() time.Time

	mu   sync.Mutex
	each map[netip.Prefix]*sender
	rest *rate.Limiter
	// crowd is what all that have sent too much have in common.
	crowd *rate.Limiter
}

type sender struct {
	limiter *rate.Limiter
	last    time.Time
}

func newSenders(now func() time.Time) *senders {
	return &senders{
		now: now, each: map[netip.Prefix]*sender{}, rest: rate.NewLimiter(perSecond, burst), crowd: rate.NewLimiter(crowdPerSecond, crowdBurst),
	}
}

// of returns what bounds the sender of a request. An IPv6 host has a whole /64 of addresses.
func (s *senders) of(remote string) *rate.Limiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return s.rest
	}
	a := at.Addr().Unmap().WithZone("")
	bits := 32
	if a.Is6() {
		bits = 64
	}
	key, _ := a.Prefix(bits)
	now := s.now()
	known := s.each[key]
	if known == nil {
		if len(s.each) >= mostSenders {
			s.forget(now)
		}
		if len(s.each) >= mostSenders {
			return s.rest
		}
		known = &sender{limiter: rate.NewLimiter(perSecond, burst)}
		s.each[key] = known
	}
	known.last = now
	return known.limiter
}

// forget those that sent nothing for so long that nothing is known of them any more.
func (s *senders) forget(now time.Time) {
	for key, k := range s.each {
		if now.Sub(k.last) > forgetSender {
			delete(s.each, key)
		}
	}
}

// spent says that a sender has sent too much in vain.
func (s *senders) spent(remote string) bool { return s.of(remote).TokensAt(s.now()) < 1 }

// crowded says that a delivery of a sender that has sent too much isn't looked at, since there are too many of those.
func (s *senders) crowded() bool { return !s.crowd.AllowN(s.now(), 1) }

// vain notes a delivery that nobody we know has signed.
func (s *senders) vain(remote string) { s.of(remote).AllowN(s.now(), 1) }
