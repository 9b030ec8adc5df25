package netboxipaddress

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// due returns the sources that are to be looked at now, as they are, and lets go of those that are of no use any more. It returns no more
// of one provider config than make most looks at once, and those that wait for longest. The caller must begin at once, and end with
// learn or failed for each.
func (s *stocks) due(unused time.Duration, most int) []stock {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for uid, w := range s.waiters {
		if now.Sub(w.seen) > lookAnyway {
			s.forget(uid)
		}
	}
	var late []*stock
	looking := map[types.UID]int{}
	for key, k := range s.all {
		switch {
		case k.looking:
			looking[key.config]++
		case len(k.waiting) == 0 && now.Sub(k.used) > unused:
			delete(s.all, key)
		case !now.Before(k.next):
			late = append(late, k)
		}
	}
	slices.SortFunc(late, func(a, b *stock) int { return cmp.Or(a.next.Compare(b.next), cmp.Compare(a.key.id, b.key.id)) })
	var out []stock
	for _, k := range late {
		if looking[k.key.config] < most {
			looking[k.key.config]++
			k.looking = true
			out = append(out, k.asked(now))
		}
	}
	return out
}

// news are what a look at a source shows: who is to be woken, and what its owner is to be told, if anything.
type news struct {
	wake    []types.NamespacedName
	of      config.Identity
	warning string
}

// learn takes over what a look at a source showed.
func (s *stocks) learn(key stockKey, p netbox.Parent, u netbox.Usage) news {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.all[key]
	if !ok {
		return news{}
	}
	now := s.now()
	first, before := k.looked.IsZero(), u.Free+k.taken
	if now.Before(k.doubted) {
		u.Free, u.AtLeast = 0, false
	}
	if now.Sub(k.read) >= parentAge {
		k.read = now
	}
	k.parent, k.known, k.usage, k.looked, k.taken, k.looking = p, true, u, now, 0, false
	out := news{of: k.of}
	low := k.threshold() > 0 && u.Free <= k.threshold()
	if low && !k.low && (!first || before > k.threshold()) { // Low from the start isn't a crossing: it was told by whoever ran then.
		out.warning = k.warning()
	}
	if low || k.doubts == 0 { // Who listed free addresses and gave none may do so again: that it isn't low isn't believed.
		k.low = low
	}
	left, _ := k.left("", now)
	if left == 0 && u.Free == 0 {
		if k.since.IsZero() {
			k.since = now
		}
	} else {
		k.since = time.Time{}
	}
	// Who is woken goes to the end of the line: one that doesn't come any more must not keep others from being woken.
	n := min(int64(len(k.waiting)), left)
	for _, uid := range k.waiting[:n] {
		out.wake = append(out.wake, s.waiters[uid].name)
	}
	k.waiting = slices.Concat(k.waiting[n:], k.waiting[:n])
	s.count(k)
	k.next = now.Add(s.pause(k, now))
	return out
}

// freed notes that an address may be free again, of whichever source it is: those that somebody waits for are looked at soon, though not
// more often than one that has just been found to be full.
func (s *stocks) freed(of types.UID, address netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, shares := s.now(), 0.0
	if !address.IsValid() {
		shares = s.shares(of)
	}
	for key, k := range s.all {
		if key.config != of || len(k.waiting) == 0 || address.IsValid() && !k.parent.Contains(address) {
			continue
		}
		at := k.looked.Add(fullFirst)
		if !address.IsValid() {
			at = k.looked.Add(max(fullFirst, k.turn(shares)))
		}
		if at.Before(now) {
			at = now
		}
		s.soon(k, at)
	}
}

// failed notes that a source couldn't be looked at. Whoever needs it says so by himself.
func (s *stocks) failed(key stockKey, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.all[key]
	if !ok {
		return
	}
	k.looking = false
	k.next = s.now().Add(takenLook)
	if gone && len(k.waiting) == 0 {
		delete(s.all, k.key)
	}
}
