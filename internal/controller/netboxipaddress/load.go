package netboxipaddress

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// mostStocks bounds what is known of the sources of one provider config that have an address to give: the ones used last. It's also how
	// many metrics are of.
	mostStocks = 256
	// mostFull bounds what is known of those that are full. That one is full is dearly learnt, and who forgets it asks it again.
	mostFull = 20480 // More than any filter finds.
	// looksApart is between looks at the sources of one provider config that somebody waits for, on average: ten a second, however many
	// there are. idleApart is between those at full ones that nobody waits for.
	looksApart, idleApart = 100 * time.Millisecond, time.Second
)

// makeRoom lets go of the source that was of use longest ago, where a provider config has too many, of such as are full or of others.
func (s *stocks) makeRoom(of types.UID) {
	if len(s.all) < mostStocks {
		return
	}
	var open, full []*stock
	for _, k := range s.all {
		switch {
		case k.key.config != of || len(k.waiting) > 0:
		case k.since.IsZero():
			open = append(open, k)
		default:
			full = append(full, k)
		}
	}
	last := func(a, b *stock) int { return a.used.Compare(b.used) }
	if len(open) >= mostStocks {
		delete(s.all, slices.MinFunc(open, last).key)
	}
	if len(full) >= mostFull {
		delete(s.all, slices.MinFunc(full, last).key)
	}
}

// crowded says that a provider config has more full sources than can be known.
func (s *stocks) crowded(of types.UID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.full(of) >= mostFull
}

// full is how many sources of a provider config are. The lock must be held.
func (s *stocks) full(of types.UID) int {
	n := 0
	for _, k := range s.all {
		if k.key.config == of && !k.since.IsZero() {
			n++
		}
	}
	return n
}

// staleAfter is how old the news that a source is full may be for a resource to believe them: the older, the more there are.
func (s *stocks) staleAfter(of types.UID) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(fullStale, time.Duration(s.full(of))*looksApart)
}

// pause until the next look at a source.
func (s *stocks) pause(k *stock, now time.Time) time.Duration {
	switch {
	case len(k.waiting) == 0 && k.since.IsZero():
		return idleLook
	case len(k.waiting) == 0:
		return max(idleLook, time.Duration(s.full(k.key.config))*idleApart)
	case k.since.IsZero():
		return max(fullFirst, k.turn(s.shares(k.key.config)))
	}
	return max(min(now.Sub(k.since)/10, fullMost), fullFirst, k.turn(s.shares(k.key.config)))
}

// turn is how long it takes until it's a source's turn, of so many shares in all.
func (k *stock) turn(shares float64) time.Duration {
	return time.Duration(shares / k.share() * float64(looksApart))
}

// share of the looks that a source has: all of whoever waits for it alone, and the less the more he waits for. So who waits for hundreds
// doesn't have those wait who wait for one.
func (k *stock) share() float64 { return 1 / float64(max(k.fewest, 1)) }

// shares are those of all sources of a provider config that somebody waits for. The lock must be held.
func (s *stocks) shares(of types.UID) float64 {
	sum := 0.0
	for _, k := range s.all {
		if k.key.config == of && len(k.waiting) > 0 {
			sum += k.share()
		}
	}
	return sum
}

// count finds out how many sources those wait for who wait for one.
func (s *stocks) count(k *stock) {
	k.fewest = 0
	for _, uid := range k.waiting {
		if n := len(s.waiters[uid].keys); k.fewest == 0 || n < k.fewest {
			k.fewest = n
		}
	}
}

// join has a resource wait for sources, which are looked at as soon as it's their turn. The lock must be held.
func (s *stocks) join(uid types.UID, keys []stockKey) {
	now, shares := s.now(), -1.0
	for _, key := range keys {
		k, ok := s.all[key]
		if !ok || slices.Contains(k.waiting, uid) {
			continue
		}
		if shares < 0 {
			shares = s.shares(key.config)
		}
		from := k.looked
		if len(k.waiting) == 0 {
			from = now
		} else {
			shares -= k.share()
		}
		if len(k.waiting) == 0 || len(keys) < k.fewest { // As count finds out anew at each look.
			k.fewest = len(keys)
		}
		k.waiting = append(k.waiting, uid)
		shares += k.share()
		at := now.Add(fullFirst)
		if turn := from.Add(k.turn(shares)); turn.After(at) {
			at = turn
		}
		s.soon(k, at)
	}
}

// shown are the sources that metrics are of, of each provider config at most so many: before full ones those that aren't.
func (s *stocks) shown(most int) []*stock {
	of := map[types.UID][]*stock{}
	for _, k := range s.all {
		if !k.looked.IsZero() {
			of[k.key.config] = append(of[k.key.config], k)
		}
	}
	var out []*stock
	for _, all := range of {
		slices.SortFunc(all, func(a, b *stock) int {
			switch {
			case a.since.IsZero() == b.since.IsZero():
				return cmp.Or(cmp.Compare(a.key.kind, b.key.kind), cmp.Compare(a.key.id, b.key.id))
			case a.since.IsZero():
				return -1
			}
			return 1
		})
		out = append(out, all[:min(len(all), most)]...)
	}
	return out
}
